"""Settings: one file per environment, read once at start."""

import tomllib


def load(path):
    """The settings of one environment."""
    with open(path, "rb") as file:
        return tomllib.load(file)

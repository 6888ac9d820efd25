"""The command line: `handoff`. Nothing heavy is imported before a command is chosen."""


def main() -> int:
    """Run the command line; the value is the exit code."""
    import sys

    from actors.cli.door import run

    return run(sys.argv[1:])

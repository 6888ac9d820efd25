"""The launcher: the embedded bus, and actors as processes that are started together and restarted when they die."""

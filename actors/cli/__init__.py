"""The command line: `handoff`. Nothing heavy is imported before a command is chosen."""


def main() -> int:
    """Run the command line; the value is the exit code."""
    import sys

    from actors.cli.exit_code import INTERRUPTED

    try:
        from actors.cli.door import run
    except KeyboardInterrupt:  # loading takes a moment, and a person may think better of it
        return INTERRUPTED
    return run(sys.argv[1:])

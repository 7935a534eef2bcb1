"""``captious`` and ``python -m captious``: the command line."""

import sys
from contextlib import suppress


def main() -> None:
    """Run the command line and exit.

    ``captious run SCRIPT`` has no options to parse: all words that follow are those of the script. It starts without
    importing the command line, which takes longer than many scripts.
    """
    if sys.argv[1:2] == ["run"] and sys.argv[2:] and not sys.argv[2].startswith("-"):
        from captious.compat import programs
        from captious.errors import ParameterError

        with suppress(ParameterError):  # which the command line shows
            sys.exit(programs.run(programs.command(sys.argv[2], sys.argv[3:])))
    from captious import cli

    cli.main()


if __name__ == "__main__":
    main()

"""``python -m captious.compat SCRIPT [ARGUMENTS]``: run a script with its imported toolkits replaced."""

import sys

from captious.compat.programs import command, run

if __name__ == "__main__":
    _usage = "usage: python -m captious.compat SCRIPT [ARGUMENTS]"
    if sys.argv[1:2] in (["-h"], ["--help"]):
        print(_usage)
        sys.exit()
    if len(sys.argv) < 2:
        sys.exit(_usage)
    sys.exit(run(command(sys.argv[1], sys.argv[2:])))

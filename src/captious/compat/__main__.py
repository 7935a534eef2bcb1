"""``python -m captious.compat SCRIPT [ARGUMENTS]``: run a script with the toolkits that it imports replaced."""

import os
import sys

from captious.compat.running import command

if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("usage: python -m captious.compat SCRIPT [ARGUMENTS]")
    _line, _environment = command(sys.argv[1], sys.argv[2:])
    os.execve(_line[0], _line, _environment)

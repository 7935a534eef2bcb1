"""``python -m captious``: the command line."""

from captious.cli import main

if __name__ == "__main__":
    main()

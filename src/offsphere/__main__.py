"""The command line, run as ``python -m offsphere``."""

from offsphere.cli import main

if __name__ == "__main__":
    main()

"""``python -m onlinekern`` is the command ``onlinekern``."""

from onlinekern.cli import main

if __name__ == "__main__":
    main()

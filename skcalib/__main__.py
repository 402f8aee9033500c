"""``python -m skcalib``: the command line without its script."""

import sys

from .cli import main

if __name__ == "__main__":
    sys.exit(main())

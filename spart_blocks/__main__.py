"""`python -m spart_blocks` is the command `spart`."""

from __future__ import annotations

import sys

from spart_blocks.cli import main

if __name__ == "__main__":
    sys.exit(main())

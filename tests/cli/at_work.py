"""When a process is in the middle of its work, told by the processor time that it has used."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path


def let_work(child, seconds):
    """Wait until a process has used the processor for so long, however busy the machine is."""
    if not sys.platform.startswith("linux"):
        time.sleep(2 * seconds)
        return
    begun = used(child)
    while used(child) < begun + seconds:
        assert child.poll() is None
        time.sleep(0.02)


def used(child):
    """The time for which a process has used the processor [s]; see proc(5)."""
    fields = Path(f"/proc/{child.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

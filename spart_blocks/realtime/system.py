"""What a real-time loop needs of the operating system: Linux's clocks, threads and sockets."""

from __future__ import annotations

import sys

from spart_blocks.base.errors import Fault, InputError


def has_loops() -> bool:
    """Whether real-time loops can run on this system."""
    return sys.platform.startswith("linux")


def check_system() -> None:
    """Raise InputError where real-time loops cannot run."""
    if not has_loops():
        hint = "export the C code instead: spart export c"
        text = f"the real-time loop needs Linux's clock_nanosleep, which {sys.platform} lacks"
        raise InputError(Fault(text, hint=hint))

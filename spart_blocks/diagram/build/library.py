"""bdsim's library of block types, which the diagrams of all files share.

bdsim is imported when the library is first asked for, not before.
"""

from __future__ import annotations

from contextlib import redirect_stdout
from functools import cache
from io import StringIO
from threading import RLock
from typing import Any

from spart_blocks.diagram.build.lazy_modules import imported_later
from spart_blocks.diagram.check.wrong_names import tell_names
from spart_blocks.diagram.standard import PACKAGE

# Types that cannot come from a file, and what to do instead.
REFUSED = {
    "FUNCTION": "it takes a Python function: make this block in Python",
    "ANIMATION": "it takes Python functions: make this block in Python; robots move in 3-D by "
    "spart animate, and by spart run --animate PAGE.html",
    "EVENT": "it takes a Python function: make this block in Python; RESET_INTEGRATOR and "
    "HYBRID_SYSTEM reset states by signals and formulas",
    "SUBSYSTEM": "write it under subsystems: and give its name as the type",
    "INPORT": "a subsystem's inputs: are the outputs of its block `in`",
    "OUTPORT": "a subsystem's outputs: are the inputs of its block `out`",
}
_LOCK = RLock()


@cache
def runtime() -> Any:
    """The bdsim runtime that all diagrams of files share.

    bdsim 1.4.0 keeps the block library on the class BDSim, filled by the first instance. If the
    user created that, our library is read separately and theirs is kept.
    """
    with _LOCK, imported_later("scipy.integrate", "scipy.signal"):
        import bdsim
        import bdsim.blocks.continuous

    tell_names(library_names)
    with _LOCK, redirect_stdout(StringIO()):
        earlier = bdsim.BDSim._blocklibrary
        if earlier is not None and not any(i["package"] == PACKAGE for i in earlier.values()):
            bdsim.BDSim._blocklibrary = None
        sim = bdsim.BDSim(
            banner=False,
            packages=PACKAGE,
            sysargs=False,
            graphics=False,
            toolboxes=False,
            progress=False,
        )
        if earlier is not None:
            bdsim.BDSim._blocklibrary = {**earlier, **bdsim.BDSim._blocklibrary}
    return sim


def library_names() -> list[str]:
    """The types of the library that a file can name, sorted."""
    return sorted(
        name
        for name, info in runtime()._blocklibrary.items()
        if not info.get("deprecated") and not (info["package"] == "bdsim" and name in REFUSED)
    )


def in_library(name: str) -> bool:
    """Whether bdsim, this package or a package that the user has named has a block of this name."""
    info = runtime()._blocklibrary.get(name)
    return info is not None and not info.get("deprecated")

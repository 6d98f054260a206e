"""What is wrong with a user's code: where a trace broke off, and what it gives."""

from __future__ import annotations

import traceback
from pathlib import Path

import casadi as ca
import numpy as np
import scipy

from spart_blocks.program.symbol import TraceError

_MACHINERY = tuple(
    str(Path(str(file)).parent) for file in (__file__, np.__file__, scipy.__file__, ca.__file__)
)


def located(what: str, error: Exception) -> TraceError:
    """The error with what was traced, and the last line of its code, or of what that
    called, before NumPy's and ours."""
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame for frame in frames if not frame.filename.startswith(_MACHINERY)]
    where = f" ({lines[-1].filename}:{lines[-1].lineno})" if lines else ""
    text = str(error) if isinstance(error, TraceError) else f"{type(error).__name__}: {error}"
    return TraceError(f"{what}{where}: {text}")

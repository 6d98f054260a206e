"""Memory for the rows of record.c and the panels of measure.c in a compiled run, and
access to it.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spart_blocks.run.measure.gauges import NODES, Panels
from spart_blocks.run.record.record import PART, STEP_ROWS

_COUNTS = ["width", "rows", "room", "step_rows", "budget", "crowded", "looks", "trusted"]
_COUNTS += ["marks", "mark", "nx", "passed"]
_NUMBERS = ["part", "coarse"]
_ARRAYS = ["t", "row", "held", "t_past", "past", "marked", "least", "most", "blur", "tolerance"]
_ARRAYS += ["low", "high", "curve", "off", "before", "last", "now"]
_LATEST = ["t_before", "t_last", "step", "stride", "crowded_at"]
_PANELS = 4096
_ROOM = 2_000_000
"""Largest count of numbers in the rows of one step."""
_DEEP = 88
"""Rows of memory that are needed for evaluations between two rows: SB_START plus two."""

_PAST = 16
"""Largest number of consecutive steps in which signals are not evaluated: SB_PAST."""

Floats = NDArray[np.float64]


class LogStruct(ctypes.Structure):
    """The struct sb_log of record.c, field by field."""

    _fields_ = (
        [(name, ctypes.c_longlong) for name in _COUNTS]
        + [(name, ctypes.c_double) for name in _NUMBERS]
        + [(name, ctypes.c_void_p) for name in _ARRAYS]
        + [(name, ctypes.c_double) for name in _LATEST]
        + [(name, ctypes.c_int) for name in ("pending", "known", "smooth", "probed", "winds")]
    )


class GaugeStruct(ctypes.Structure):
    """The struct sb_gauge of measure.c, field by field."""

    _fields_ = (
        [(name, ctypes.c_longlong) for name in ("width", "count", "room")]
        + [("coarse", ctypes.c_double)]
        + [(name, ctypes.c_void_p) for name in ("t", "y", "least", "most")]
    )


class CompiledGauge:
    """Memory for panels of signals with `width` entries, which measure.c writes.

    coarse: longest panel [s].
    """

    def __init__(self, width: int, coarse: float) -> None:
        self.struct = GaugeStruct(width=width, room=_PANELS, coarse=coarse)
        self.arrays = {
            "t": np.empty((_PANELS, 2)),
            "y": np.empty((_PANELS, len(NODES), width)),
            "least": np.full(width, np.inf),
            "most": np.full(width, -np.inf),
        }
        for name, array in self.arrays.items():
            setattr(self.struct, name, array.ctypes.data)

    @property
    def address(self) -> int:
        """The address of the struct."""
        return ctypes.addressof(self.struct)

    def drained(self) -> Panels:
        """Return all panels and remove them."""
        count, self.struct.count = int(self.struct.count), 0
        t = self.arrays["t"][:count].copy()
        return Panels(t[:, 0], t[:, 1], self.arrays["y"][:count].copy())


class CompiledRecord:
    """Memory for rows of numbers, with nx continuous and nd discrete states.

    blur: for each number of a row the deviation from a line that is always allowed. coarse:
    longest interval between evaluations [s]. marks: times (m,) [s] that are always kept. winds:
    whether blocks step by themselves, so that signals may wind within a step.
    """

    def __init__(
        self, blur: Floats, nx: int, nd: int, coarse: float, marks: Floats, *, winds: bool
    ) -> None:
        self.struct = LogStruct()
        width = len(blur)
        step = min(max(_ROOM // max(width + nd, 1), 64), STEP_ROWS)
        room = 4 * step + len(marks)
        self.arrays: dict[str, NDArray[Any]] = {
            "t": np.empty(room),
            "row": np.empty((room, width)),
            "held": np.empty((room, nd)),
            "t_past": np.empty(_PAST),
            "past": np.empty((_PAST, nx)),
            "marked": np.ascontiguousarray(marks),
            "least": np.full(width, np.inf),
            "most": np.full(width, -np.inf),
            "blur": blur,
            **{name: np.zeros(width) for name in ("tolerance", "curve", "off", "before", "last")},
            **{name: np.zeros(width) for name in ("low", "high")},
            "now": np.zeros((_DEEP, width)),
        }
        for name, array in self.arrays.items():
            setattr(self.struct, name, array.ctypes.data if array.size else None)
        numbers = {"width": width, "room": room, "step_rows": step, "marks": len(marks), "nx": nx}
        numbers["winds"] = int(winds)
        for name, value in {**numbers, "part": PART, "coarse": coarse}.items():
            setattr(self.struct, name, value)

    @property
    def address(self) -> int:
        """The address of the struct."""
        return ctypes.addressof(self.struct)

    @property
    def crowded_at(self) -> float | None:
        """The time [s] at which a step first needed more rows than allowed; None if none did."""
        return float(self.struct.crowded_at) if self.struct.crowded else None

    @property
    def count(self) -> int:
        """The number of kept rows without the last one, at which the next line starts."""
        return max(int(self.struct.rows) - 1, 0)

    def waiting(self, rows: slice) -> tuple[Floats, Floats, Floats]:
        """A copy of some of the kept rows, as `drained` has them."""
        t, values, held = (self.arrays[name][rows].copy() for name in ("t", "row", "held"))
        return t, values, held

    def drained(self, *, all_of_it: bool = False) -> tuple[Floats, Floats, Floats]:
        """Return the kept rows and remove them: times (N,), values (N, width), discrete states (N,
        nd). The last row stays, since the next line starts there; with all_of_it, it is returned
        too, as is the pending row.
        """
        struct = self.struct
        rows, pending = int(struct.rows), int(struct.pending)
        taken = rows + pending if all_of_it else max(rows - 1, 0)
        parts = tuple(self.arrays[name][:taken].copy() for name in ("t", "row", "held"))
        left = rows + pending - taken
        for name in ("t", "row", "held"):
            self.arrays[name][:left] = self.arrays[name][taken : rows + pending]
        struct.rows = left - pending if not all_of_it else 0
        struct.pending = 0 if all_of_it else pending
        return parts[0], parts[1], parts[2]

"""Rows of a tape with their changes by a compiled loop, over directions in lanes."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import casadi as ca
import numpy as np

from spart_blocks.base.tableaus import Tableau
from spart_blocks.gradients.place import Place
from spart_blocks.gradients.seeded import Seeded, seeded
from spart_blocks.gradients.tangents import Directions, Floats
from spart_blocks.program.c.compiler import loaded_library
from spart_blocks.program.c.text import header, macros
from spart_blocks.run.constants import INSIDE, LENGTHEN, SAFETY_OF_STEPS, SHORTEN
from spart_blocks.run.tape import HEAD
from spart_blocks.sweeps.run.lane_setup import usual_lanes

FLAGS = ("-O2", "-fno-math-errno", "-Wno-psabi")
ALLOWED = 10.0
"""The error of changes in a step that is not repeated in shorter parts, relative to their
tolerance: run and changes have errors of one kind, and only changes that need shorter steps than
the run, as those of a fast mode at rest, exceed it."""
LEAST = 1e-6
"""Shortest part of a step, as a fraction of it."""
ROUNDED = 1e-13
"""Differences from the run's states that are due to rounding."""
_ALIGNED = 64

_TABLES = ("A", "b", "c", "e", "p", "dp", "size")
_PLACE = ("x", "xd", "dx", "dxd", "sum")
_ROOM = ("start", "slopes", "x_stage", "x_after", "w", "w_project")
_ROOM_OF_CHANGES = ("changes", "dx_stage", "dx_after", "added")


class _Struct(ctypes.Structure):
    """The struct sb_tangents of tangent_rows.h, field by field."""

    _fields_ = (
        ("blocks", ctypes.c_longlong),
        *((name, ctypes.c_void_p) for name in _TABLES),
        *((name, ctypes.c_double) for name in ("rtol", "atol", "same", "exponent", "t")),
        *((name, ctypes.c_void_p) for name in _PLACE),
        *((name, ctypes.c_double) for name in ("low", "high")),
        ("wanted", ctypes.c_void_p),
        ("next", ctypes.c_longlong),
        ("last", ctypes.c_longlong),
        ("dense", ctypes.c_void_p),
        ("order", ctypes.c_longlong),
        ("read_x", ctypes.c_void_p),
        ("off", ctypes.c_double),
        ("read_dx", ctypes.c_void_p),
        ("known", ctypes.c_longlong),
        *((name, ctypes.c_void_p) for name in (*_ROOM, *_ROOM_OF_CHANGES)),
    )


@dataclass(frozen=True)
class _Library:
    """The loop over the functions of a program, compiled. lanes: directions of a block. rooms:
    numbers in w and in w_project.
    """

    loaded: ctypes.CDLL
    lanes: int
    rooms: tuple[int, int]


class CompiledRows:
    """Repeats steps of a method with changes along directions. Arrays are as those of forward.py,
    with a column for each direction; in C, blocks of directions stand side by side.
    """

    def __init__(
        self,
        directions: Directions,
        method: Tableau,
        rates: Any,
        summed: Any,
        tolerances: tuple[float, float, float],
    ) -> None:
        """rates, summed: Functions of the rates and of the integrands, None without any.
        tolerances: rtol, atol, and the size of a difference from the run. Raises LookupError where
        there is no machine code.
        """
        engine, m = directions.engine, directions.m
        program = engine.program
        lanes = _lanes(m)
        project = program.project if engine.drifting else None
        key = ("tangent rows", program.run.solver, directions.entries, lanes)
        library: _Library | None = engine.derived(
            key, lambda: _compiled(method, rates, summed, project, directions.entries, lanes)
        )
        if library is None:
            raise LookupError("not compiled")
        self._library, self.m = library, m
        nx, nd = len(program.x0), len(program.xd0)
        k = 0 if summed is None else summed.numel_out(0)
        s = len(method.c)
        self._blocks = blocks = -(-m // lanes)
        tables = {"A": method.A, "b": method.b, "c": method.c, "p": program.p}
        tables |= {} if method.e is None else {"e": method.e}
        arrays = {name: np.ascontiguousarray(a, float) for name, a in tables.items()}
        arrays["dp"] = self._packed(directions.dp)
        arrays["size"] = self._packed(directions.size[None])
        arrays["size"][arrays["size"] == 0] = 1.0
        self._dense = None if method.P is None else np.ascontiguousarray(method.P)
        plain = {
            "x": (nx,),
            "xd": (nd,),
            "start": (nx,),
            "slopes": (s, nx),
            "x_stage": (nx,),
            "x_after": (nx,),
            "w": (library.rooms[0],),
            "w_project": (library.rooms[1],),
        }
        rows = {"dx": (nx,), "dxd": (nd,), "sum": (k,), "dx_stage": (nx,), "dx_after": (nx,)}
        rows["added"] = (k,)
        arrays |= {name: _aligned(shape) for name, shape in plain.items()}
        arrays |= {name: _aligned((blocks, *shape, lanes)) for name, shape in rows.items()}
        arrays["changes"] = _aligned((s, blocks, nx + k, lanes))
        self._arrays = arrays
        rtol, atol, same = tolerances
        self._struct = _Struct(
            blocks=blocks, rtol=rtol, atol=atol, same=same, exponent=1 / method.order,
            **{name: array.ctypes.data for name, array in arrays.items()},
        )  # fmt: skip

    @property
    def off(self) -> float:
        """By how much the states at the row that `rows` stopped at differ from the run's."""
        return float(self._struct.off)

    @property
    def reads(self) -> bool:
        """Whether the method has a dense output."""
        return self._dense is not None

    def rows(
        self, at: Place, integral: Floats, tape: Floats, *, starts: bool, wanted: Sequence[float]
    ) -> tuple[int, Place, Floats, Floats, Floats]:
        """Repeat rows of a tape, all of which end plainly.

        at: the states at the start of the first. integral (k, m): the changes of integrals there.
        starts: whether the first begins at a stop. wanted: ascending times to read the states at,
        by the dense output of a method that has one. Returns the number of rows at whose starts the
        states were the run's, and at the end of the last the states and integral; and the states
        read (n, nx), with their changes (n, nx, m).
        """
        q, arrays = self._struct, self._arrays
        self._set(at)
        arrays["sum"][:] = self._packed(integral)
        q.known, q.next, q.last = 0, 0, len(wanted)
        times = np.array(wanted, float)
        read_x = np.empty((len(times), len(at.x)))
        read_dx = _aligned((len(times), *arrays["dx"].shape))
        q.wanted, q.read_x, q.read_dx = times.ctypes.data, read_x.ctypes.data, read_dx.ctypes.data
        q.dense = q.order = 0
        if len(times):
            assert self._dense is not None
            q.dense, q.order = self._dense.ctypes.data, self._dense.shape[1]
        tape = np.ascontiguousarray(tape)
        call = self._library.loaded.sb_tangent_rows
        count = int(call(ctypes.byref(q), tape.ctypes.data, len(tape), int(starts)))
        dx, dxd, total = (self._unpacked(arrays[name]) for name in ("dx", "dxd", "sum"))
        after = replace(
            at, t=float(q.t), x=arrays["x"].copy(), xd=arrays["xd"].copy(), dx=dx, dxd=dxd
        )
        return count, after, total, read_x, self._unpacked(read_dx)

    def attempt(
        self, at: Place, h: float, inside: tuple[float, float], start: Floats
    ) -> tuple[Floats, Floats, Floats, Floats, Floats, float]:
        """One step of length h from a place. start: the states at the start of the run's step.
        Returns the slopes (s, nx) and changes (s, nx, m) of the stages, the sums (k, m), x and dx
        after it, and the error of the changes.
        """
        q, arrays = self._struct, self._arrays
        self._set(at)
        arrays["start"][:] = start
        q.t, q.known = at.t, 0
        q.low, q.high = inside
        error = self._library.loaded.sb_tangent_try(ctypes.byref(q), h)
        changes = self._unpacked(arrays["changes"])[:, : len(at.x)]
        sums, dx = self._unpacked(arrays["added"]), self._unpacked(arrays["dx_after"])
        return arrays["slopes"].copy(), changes, sums, arrays["x_after"].copy(), dx, error

    def _set(self, at: Place) -> None:
        arrays = self._arrays
        arrays["x"][:], arrays["xd"][:] = at.x, at.xd
        arrays["dx"][:], arrays["dxd"][:] = self._packed(at.dx), self._packed(at.dxd)

    def _packed(self, columns: Floats) -> Floats:
        """Columns (n, m) in blocks (blocks, n, lanes)."""
        n, lanes = len(columns), self._library.lanes
        wide = np.zeros((n, self._blocks * lanes))
        wide[:, : self.m] = columns
        found = _aligned((self._blocks, n, lanes))
        found[:] = wide.reshape(n, self._blocks, lanes).transpose(1, 0, 2)
        return found

    def _unpacked(self, blocks: Floats) -> Floats:
        """Blocks (..., blocks, n, lanes) as columns (..., n, m)."""
        *lead, count, n, lanes = blocks.shape
        columns = np.moveaxis(blocks, -3, -2).reshape(*lead, n, count * lanes)
        return np.array(columns[..., : self.m])


def _lanes(m: int) -> int:
    """Directions in a block."""
    found = usual_lanes()
    while found > 1 and found // 2 >= m:
        found //= 2
    return found


def _aligned(shape: tuple[int, ...]) -> Floats:
    """Zeros at an address that suits a vector of numbers."""
    size = int(np.prod(shape)) * 8
    room = np.zeros(size + _ALIGNED, np.uint8)
    begin = -room.ctypes.data % _ALIGNED
    return room[begin : begin + size].view(np.float64).reshape(shape)


# --- the library ----------------------------------------------------------------------------------


def _compiled(
    method: Tableau, rates: Any, summed: Any, project: Any, entries: Sequence[int], lanes: int
) -> _Library | None:
    """The library of a program; None where it cannot be compiled."""
    try:
        made = [seeded("tangent", tangent_of(rates, summed, entries), _seeds_of(rates))]
        if project is not None:
            made.append(seeded("project", tangent_of(project, None, entries), _seeds_of(project)))
    except LookupError:
        return None
    loaded = loaded_library(_source(method, rates, summed, made, entries, lanes), FLAGS)
    if loaded is None:
        return None
    loaded.sb_tangent_rows.restype = ctypes.c_longlong
    loaded.sb_tangent_rows.argtypes = [
        *(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_longlong, ctypes.c_int)
    ]
    loaded.sb_tangent_try.restype = ctypes.c_double
    loaded.sb_tangent_try.argtypes = [ctypes.c_void_p, ctypes.c_double]
    return _Library(loaded, lanes, (made[0].room, made[-1].room if len(made) > 1 else 0))


def _source(
    method: Tableau,
    rates: Any,
    summed: Any,
    made: Sequence[Seeded],
    entries: Sequence[int],
    lanes: int,
) -> str:
    holds = rates.n_in() > _PLAIN
    start = ", start" if holds else ""
    defined = {
        "SB_SEEDS": lanes,
        **sizes_of(rates, summed, entries),
        "SB_STAGES": len(method.c),
        "SB_HEAD": HEAD,
        "SB_HOLDS": int(holds),
        "SB_PROJECTS": int(len(made) > 1),
        "SB_LAST": int(method.P is not None),
        "SB_ALLOWED": ALLOWED,
        "SB_LEAST": LEAST,
        "SB_ROUNDED": ROUNDED,
        "SB_SHORTEN": SHORTEN,
        "SB_LENGTHEN": LENGTHEN,
        "SB_SAFETY": SAFETY_OF_STEPS,
        "SB_INSIDE": INSIDE,
        "SB_POINT(t, x, xd, p, start, value, w)": f"tangent_point(t, x, xd, p{start}, value, w)",
    }
    called = dict.fromkeys(text for one in made for text in one.called)
    return "\n".join(
        [
            macros(defined),
            header("gradients/c/seeds.h"),
            *called,
            *(one.text for one in made),
            header("gradients/c/tangent_rows.h"),
        ]
    )


_PLAIN = 4
"""Arguments of a function that limits do not act in: t, x, xd, p."""


def sizes_of(rates: Any, summed: Any, entries: Sequence[int]) -> dict[str, int]:
    """The sizes of the functions, by their names in C."""
    return {
        "SB_NX": rates.numel_in(1),
        "SB_ND": rates.numel_in(2),
        "SB_NE": len(entries),
        "SB_NK": 0 if summed is None else summed.numel_out(0),
    }


def _seeds_of(function: Any) -> range:
    """The numbers of the seeds among the arguments of `tangent_of`."""
    return range(function.n_in(), function.n_in() + 3)


def tangent_of(function: Any, summed: Any, entries: Sequence[int]) -> Any:
    """The Function (t, x, xd, p, ..., dx, dxd, dp) -> the values of a function, and the changes of
    these and of the integrands `summed` along a direction. dp: changes of these entries of p.
    """
    arguments = function.sx_in()
    t, x, xd, p = arguments[:_PLAIN]
    value = ca.densify(function(*arguments))
    column = value if summed is None else ca.vertcat(value, ca.densify(summed(t, x, xd, p)))
    chosen = p[list(entries)] if entries else ca.SX(0, 1)
    given = {"dx": x, "dxd": xd, "dp": chosen}
    seeds = [ca.SX.sym(name, one.numel()) for name, one in given.items()]
    change = ca.jtimes(column, ca.veccat(*given.values()), ca.veccat(*seeds))
    found = ca.cse([value, ca.densify(change)])
    names = [*("t", "x", "xd", "p", "start")[: len(arguments)], *given]
    return ca.Function("tangent", [*arguments, *seeds], found, names, ["value", "out"])

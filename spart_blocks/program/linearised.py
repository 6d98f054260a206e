"""The derivatives of a program's rates, for linearly implicit steps, and the sparsity of their
factors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from spart_blocks.base.tableaus import Tableau
from spart_blocks.program.program import Program
from spart_blocks.program.tracing.columns import Places, by_columns

Floats = NDArray[np.float64]
PATTERN = ("order", "starts", "columns", "diagonal")
"""The tables of the pattern, in the order of sb_program."""


@dataclass(frozen=True, eq=False)
class Linearised:
    """J = dxdot/dx and dxdot/dt of a program, and the pattern in which I / gamma - h J is factored
    into L U without exchanging rows: states in an order in which few entries are added.

    function: (t, x, xd, p), and x at the start of the step where limits act by it, -> one column:
    the m entries of the factors, each that of J or zero, row by row; then dxdot/dt (n,). order
    (n,): the states in the order of the rows. starts (n+1,): where rows begin. columns (m,): in
    that order, and ascending in each row. diagonal (n,): where a row's diagonal entry is.
    """

    function: Any
    order: Sequence[int]
    starts: Sequence[int]
    columns: Sequence[int]
    diagonal: Sequence[int]

    @property
    def pattern(self) -> dict[str, Sequence[int]]:
        return {name: getattr(self, name) for name in PATTERN}

    def parted(self, column: Floats) -> tuple[Floats, Floats]:
        """J (n,n) and dxdot/dt (n,) of a result of the function."""
        n, m, order = len(self.order), len(self.columns), np.array(self.order, int)
        J = np.zeros((n, n))
        rows = np.repeat(np.arange(n), np.diff(self.starts))
        J[order[rows], order[np.array(self.columns, int)]] = column[:m]
        return J, column[m:]


LONGEST = 120_000
"""Derivatives of more instructions are not written: a compiler takes minutes for them."""
_BY_COLUMNS = 3
"""Length of derivatives by columns, as a multiple of that of the rates."""


def _length(rates: Any) -> int:
    """The length of the derivatives of rates that are written out, estimated as that of the rates
    for each group of columns.
    """
    return int(rates.n_instructions() * rates.jac_sparsity(0, 1).uni_coloring().size2())


def can_linearise(program: Program) -> bool:
    """Whether the derivatives of a program's rates are short enough to be written, at least by
    columns.
    """
    rates = program.held or program.rates
    count: int = rates.n_instructions()
    if not len(program.x0) or count > LONGEST:
        return False
    return _BY_COLUMNS * count <= LONGEST or _length(rates) <= LONGEST


def linearised(program: Program) -> Linearised:
    """The derivatives of a program's rates, with their pattern. They are written out, or, where
    this would be too long, found by columns (see tracing/columns.py).
    """
    rates = program.held or program.rates
    arguments = rates.sx_in()
    xdot = rates(*arguments)
    found = rates.jac_sparsity(0, 1)
    order, rows = _filled(found)
    columns = [column for row in rows for column in row]
    starts = np.cumsum([0, *map(len, rows)]).tolist()
    diagonal = [
        start + row.index(i) for i, (start, row) in enumerate(zip(starts, rows, strict=False))
    ]
    pairs = [(order[i], order[j]) for i, row in enumerate(rows) for j in row]
    known = set(zip(*found.get_triplet(), strict=True))
    places = {pair: k for k, pair in enumerate(pairs) if pair in known}
    write = _written if _length(rates) <= LONGEST else _by_columns
    column = write(xdot, arguments, places, len(pairs))
    function = ca.Function("linearised", arguments, [column], rates.name_in(), ["y"])
    return Linearised(function, order, starts, columns, diagonal)


def _written(xdot: Any, arguments: Sequence[Any], places: Places, size: int) -> Any:
    """The derivatives by the states at their places, and those by time, as one column."""
    J = ca.jacobian(xdot, arguments[1])
    entries = [ca.SX(0)] * size
    for pair, value in zip(
        zip(*J.sparsity().get_triplet(), strict=True), J.nonzeros(), strict=True
    ):
        entries[places[pair]] = value
    drift = ca.densify(ca.jacobian(xdot, arguments[0]))
    return ca.cse(ca.densify(ca.vertcat(*entries, drift)))


def _by_columns(xdot: Any, arguments: Sequence[Any], places: Places, size: int) -> Any:
    """The same by columns, of which time is the last."""
    t, x = arguments[:2]
    n = x.numel()
    drift = {(i, n): size + i for i in ca.jacobian_sparsity(xdot, t).row()}
    given = ca.veccat(*arguments)
    return by_columns(xdot, ca.vertcat(x, t), given, {**places, **drift}, size + n)


def linearised_for(program: Program, method: Tableau) -> Linearised | None:
    """The derivatives that steps of a method need; None for explicit ones, and without states."""
    needed = method.implicit is not None and len(program.x0) > 0
    return linearised(program) if needed else None


def _filled(pattern: Any) -> tuple[list[int], list[list[int]]]:
    """An order of the states by minimum degree, and the columns of each row of the factors."""
    n = pattern.size1()
    order = [int(k) for k in (pattern + pattern.T).amd()] if n else []
    place = {state: k for k, state in enumerate(order)}
    rows = [1 << i for i in range(n)]  # sets of columns, as bits
    for i, j in zip(*pattern.get_triplet(), strict=True):
        rows[place[i]] |= 1 << place[j]
    for i in range(n):
        below = rows[i] & ((1 << i) - 1)
        while below:
            k = (below & -below).bit_length() - 1
            rows[i] |= rows[k] >> k << k
            below = (rows[i] >> (k + 1) << (k + 1)) & ((1 << i) - 1)
    return order, [_bits(row) for row in rows]


def _bits(number: int) -> list[int]:
    found = []
    while number:
        lowest = number & -number
        found.append(lowest.bit_length() - 1)
        number ^= lowest
    return found

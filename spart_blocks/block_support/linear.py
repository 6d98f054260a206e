"""Linear systems of blocks: their realisations, elementwise on the entries of a signal, and their
twins at the ticks of a clock.

A transfer function is (num, den), the coefficients of its numerator and denominator, the highest
power first; a coefficient is a number or has an entry for each channel. The input feeds through
where both have one length.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np

from spart_blocks.base.errors import Fault, InputError, brief
from spart_blocks.base.spatial import Array
from spart_blocks.block_support.channels import Channels
from spart_blocks.block_support.declared import PortSpec
from spart_blocks.block_support.values import numbers

METHODS = ("zoh", "tustin")
MOST_STATES = 1_000
"""Largest number of states of a linear system."""

Polynomials = tuple[Sequence[Any], Sequence[Any]]


class Matrices(NamedTuple):
    """x' = A x + B u, y = C x + D u, or x(k+1) likewise. A (n, n), B (n, m), C (p, n), D (p, m)."""

    A: Array
    B: Array
    C: Array
    D: Array

    def at(self, T: float, method: str) -> Matrices:
        """The system at the ticks of a clock of period T [s]."""
        from scipy.signal import cont2discrete

        *found, _ = cont2discrete(self, T, method="bilinear" if method == "tustin" else "zoh")
        return Matrices(*found)

    def at_rest(self, u: Array, sampled: bool = False) -> Array:
        """The state (n, m) at which constant inputs leave the system, from its first part on where
        parts are in series: as one their matrix is nearly singular.
        """
        drive = self.B @ u.reshape(1, -1)
        x = np.zeros_like(drive)
        if not u.any():
            return x
        left = np.eye(len(self.A)) - self.A if sampled else -self.A
        start = 0
        for end in _ends_of_parts(left):
            part = left[start:end, start:end]
            if np.linalg.matrix_rank(part) < end - start:
                hint = "leave out u0"
                raise InputError(Fault("it integrates: it is at rest under no u0 but 0", hint=hint))
            before = left[start:end, :start] @ x[:start]
            x[start:end] = np.linalg.solve(part, drive[start:end] - before)
            start = end
        return x


def _ends_of_parts(A: Array) -> Array:
    """The indices up to which the first rows of a square matrix have no other columns."""
    index = np.arange(len(A))
    reach = np.maximum.accumulate(np.max(np.where(A != 0, index, index[:, None]), axis=1))
    ends: Array = index[reach == index] + 1
    return ends


def matrices(A: Any, B: Any, C: Any, D: Any) -> Matrices:
    """Four matrices that fit; an InputError names the one that does not."""
    a = np.atleast_2d(numbers(A, "A"))
    n = len(a)
    if a.shape != (n, n) or not 0 < n <= MOST_STATES:
        raise InputError(f"A must be a square matrix, not {a.shape}")
    b, c = numbers(B, "B"), numbers(C, "C")
    b = b.reshape(-1, 1) if b.ndim < 2 else b
    c = c.reshape(1, -1) if c.ndim < 2 else c
    if b.ndim > 2 or len(b) != n or not b.size:
        raise InputError(f"B must have {n} rows, as A has, not shape {np.shape(B)}")
    if c.ndim > 2 or c.shape[1] != n or not c.size:
        raise InputError(f"C must have {n} columns, as A has, not shape {np.shape(C)}")
    size = (len(c), b.shape[1])
    d = np.zeros(size) if D is None else numbers(D, "D")
    if d.ndim < 2 and d.size == size[0] * size[1]:
        d = d.reshape(size)
    if d.shape != size:
        raise InputError(f"D must have shape {size}, the rows of C and columns of B, not {d.shape}")
    return Matrices(a, b, c, d)


def state_of_size(x0: Any, n: int) -> Array:
    """A state (n,), of a number or n numbers."""
    found = numbers(x0, "x0")
    if found.shape not in ((), (n,)):
        raise InputError(f"x0 has shape {found.shape}, the system has {n} states")
    return np.broadcast_to(found, (n,)).copy()


def observer_form(num: Any, den: Any) -> Matrices:
    """A transfer function in observer form, whose first state is the output but for what feeds
    through: the transposed direct form II.
    """
    a, n = np.asarray(den, dtype=float) / den[0], len(den) - 1
    b = np.concatenate([np.zeros(n + 1 - len(num)), np.asarray(num, dtype=float) / den[0]])
    A = np.eye(n, k=1)
    A[:, 0] -= a[1:]
    return Matrices(A, (b[1:] - a[1:] * b[0])[:, None], np.eye(1, n), b[:1, None])


def shifted(law: Polynomials, X: Any, u: Any) -> tuple[Any, Any]:
    """y (w,) and the derivative, or the next state (n, w), of `observer_form` at the state X
    (n, w), for symbols too. u is None if nothing feeds through and only y is asked for.
    """
    num, den = law
    y = X[0] + num[0] / den[0] * u if len(num) == len(den) else X[0]
    if u is None:
        return y, None
    rows = [below - a / den[0] * y for below, a in zip([*X[1:], 0.0], den[1:], strict=True)]
    for power, b in enumerate(reversed(num[-len(rows) :]), start=1):
        rows[-power] = rows[-power] + b / den[0] * u
    return y, np.concatenate(rows)


def in_series(sections: Array) -> Matrices:
    """Second-order sections (k, 6), [b0, b1, b2, a0, a1, a2], one after the other. A section of
    first or no order has zeros in front.
    """
    whole = Matrices(np.zeros((0, 0)), np.zeros((0, 1)), np.zeros((1, 0)), np.eye(1))
    for row in sections:
        first = int(np.flatnonzero(row[3:])[0])
        one = observer_form(row[first:3], row[3 + first :])
        whole = Matrices(
            np.block([[whole.A, np.zeros((len(whole.A), len(one.A)))], [one.B @ whole.C, one.A]]),
            np.concatenate([whole.B, one.B @ whole.D]),
            np.concatenate([one.D @ whole.C, one.C], axis=1),
            one.D @ whole.D,
        )
    return whole


def sections_of(zeros: Any, poles: Any, gain: float, analog: bool) -> Array:
    """Second-order sections for `in_series`."""
    from scipy.signal import zpk2sos

    found = zpk2sos(zeros, poles, gain, pairing="minimal", analog=analog)
    for row in found:  # in z, a section of first order has a zero and a pole at 0
        while not analog and row[2] == 0 and row[5] == 0 and row[3]:
            row[:] = [0.0, *row[:2], 0.0, *row[3:5]]
    return np.asarray(found)


def leveled(sections: Array, gain: float, analog: bool) -> Array:
    """Sections of a low-pass filter, each scaled to the gain 1 for constant inputs, the first to
    that of the filter: so no state is far below the others, and no digits of the filter are lost.
    """
    ends = sections[:, [2, 5]] if analog else sections.reshape(-1, 2, 3).sum(axis=2)
    scale = ends[:, 1] / ends[:, 0]
    scale[0] *= gain
    found = sections.copy()
    found[:, :3] *= scale[:, None]
    return found


def polynomial(value: Any, name: str) -> Array:
    """Coefficients, highest power first, without leading zeros."""
    found = np.atleast_1d(numbers(value, name))
    if found.ndim > 1 or not 0 < found.size <= MOST_STATES or not found.any():
        raise InputError(f"{name} must be a list of numbers, not all zero, not {brief(value)}")
    return found[np.flatnonzero(found)[0] :]


def roots(value: Any, name: str) -> Array:
    """Zeros or poles, real or in conjugate pairs; strings such as "-1+2j" are complex numbers."""
    entries = value if isinstance(value, (list, tuple, np.ndarray)) else [value]
    try:
        found = np.array([complex(entry) for entry in entries], dtype=complex)
    except (TypeError, ValueError):
        hint = 'write complex numbers as "-1+2j"'
        raise InputError(Fault(f"{name} must be numbers, not {brief(value)}", hint=hint)) from None
    if not np.isfinite(found).all() or len(found) > MOST_STATES:
        raise InputError(f"{name} must be finite numbers, at most {MOST_STATES}")
    pairs = found[found.imag != 0]
    if not np.allclose(np.sort_complex(pairs), np.sort_complex(pairs.conj()), rtol=1e-9):
        raise InputError(f"complex {name} must come in conjugate pairs, not {brief(value)}")
    return found


def refuse_improper(zeros: int, poles: int, where: str) -> None:
    """InputError unless a transfer function is proper and has a state."""
    if not poles:
        raise InputError(Fault(f"{where} has no pole", hint="use a GAIN"))
    if zeros > poles:
        raise InputError(f"{where} has {zeros} zeros and {poles} poles; it needs as many poles")


class System(Channels):
    """A linear system that works on each entry of a signal: its state is (n, w) in rows."""

    takes: ClassVar[tuple[PortSpec, ...]] = (PortSpec("u", "float or n", "", "any signal"),)
    gives = (PortSpec("y", "float or n", "", "the signal behind the system"),)
    delays = True

    def _rows(self, x: Any) -> Any:
        return np.reshape(x, (-1, self._width))

    def _entries(self, inputs: list[Any]) -> Any:
        """The input (w,); None where it is not known."""
        return None if inputs[0] is None else self._each(inputs[0])

    def _arguments(self, start: Array, shape: tuple[int, ...], direct: bool) -> dict[str, Any]:
        """The arguments of bdsim's constructor for a state (n, w)."""
        if start.size > MOST_STATES * 10:
            raise InputError(f"it would have {start.size:,} states, at most {MOST_STATES * 10:,}")
        return {"x0": start.ravel(), "feedthrough": direct, **self.resolve_ports(n=shape)}


class Rational(System):
    """A transfer function whose coefficients are formulas of tunable parameters, `law`."""

    def law(self) -> Polynomials:
        """Its coefficients."""
        raise NotImplementedError

    def build(self, u0: Any, width: Any) -> dict[str, Any]:
        shape = self.shared_shape(width, u0=u0)
        each = by_channel(self.law(), shape)
        start = np.concatenate(
            [one.at_rest(u) for one, u in zip(each, _inputs_at(u0, shape), strict=True)], axis=1
        )
        num, den = self.law()
        return self._arguments(start, shape, len(num) == len(den))

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        return [self._signal(shifted(self.law(), self._rows(x), self._entries(inputs))[0])]

    def deriv(self, t: float, inputs: list[Any], x: Any) -> Any:
        return shifted(self.law(), self._rows(x), self._entries(inputs))[1]


class Cascade(System):
    """Constant matrices in continuous time, the same for all entries."""

    def _start(self, one: Matrices, u0: Any, width: Any) -> dict[str, Any]:
        """Keep the matrices; returns the arguments of bdsim's constructor, at rest under u0."""
        shape = self.shared_shape(width, u0=u0)
        self._A, self._B = one.A, one.B
        self._C, self._D = one.C[0], float(one.D[0, 0])
        start = np.concatenate([one.at_rest(u) for u in _inputs_at(u0, shape)], axis=1)
        return self._arguments(start, shape, bool(self._D))

    def _y(self, inputs: list[Any], x: Any) -> Any:
        """The output (w,) before any gain."""
        y = self._C @ self._rows(x)
        return y + self._D * self._entries(inputs) if self._D else y

    def deriv(self, t: float, inputs: list[Any], x: Any) -> Any:
        return np.ravel(self._A @ self._rows(x) + self._B * self._entries(inputs))


class Discretised(System):
    """Constant matrices at the ticks of a clock: A (n, n, w), B and C (n, w), D (w,); w is 1 where
    they are those of all entries. `gain` multiplies the output.
    """

    gain: Any = 1.0

    def _start(self, each: Sequence[Matrices], u0: Any, width: Any) -> dict[str, Any]:
        """Keep the matrices of each channel; returns the arguments of bdsim's constructor."""
        shape = self.shared_shape(width, u0=u0)
        self._A = np.stack([one.A for one in each], axis=-1)
        self._B = np.stack([one.B[:, 0] for one in each], axis=-1)
        self._C = np.stack([one.C[0] for one in each], axis=-1)
        self._D = np.array([one.D[0, 0] for one in each])
        inputs = _inputs_at(u0, shape)
        of = each if len(each) == len(inputs) else [*each] * len(inputs)
        start = np.concatenate(
            [one.at_rest(u, sampled=True) for one, u in zip(of, inputs, strict=True)], axis=1
        )
        return self._arguments(start, shape, bool(self._D.any()))

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        y = np.sum(self._C * self._rows(x), axis=0)
        if self._D.any():
            y = y + self._D * self._entries(inputs)
        return [self._signal(self.gain * y)]

    def next(self, t: float, inputs: list[Any], x: Any) -> Any:
        X = self._rows(x)
        moved = np.sum(self._A * X[None], axis=1)
        return np.ravel(moved + self._B * self._entries(inputs))


def by_channel(law: Polynomials, shape: tuple[int, ...]) -> list[Matrices]:
    """The observer form of each channel; of one, where the shape is ()."""
    w = shape[0] if shape else 1
    num, den = (np.array([np.broadcast_to(c, w) for c in side], dtype=float) for side in law)
    return [observer_form(num[:, k], den[:, k]) for k in range(w)]


def discretised(T: float, law: Polynomials, shape: tuple[int, ...], method: str) -> list[Matrices]:
    """The matrices of each channel at the ticks of a clock of the period T [s]."""
    return [one.at(T, method) for one in by_channel(law, shape)]


def _inputs_at(u0: Any, shape: tuple[int, ...]) -> Array:
    """The input of each channel before the start (w, 1)."""
    return np.broadcast_to(u0, shape or (1,)).reshape(-1, 1)

"""The Robotics Toolbox's link object: Denavit-Hartenberg parameters, mass, motor, friction.

    standard   A(q) = Rz(theta) Tz(D) Tx(A) Rx(alpha)      alpha, A of the link itself
    modified   A(q) = Rx(alpha) Tx(A) Rz(theta) Tz(D)      alpha, A of the link before

Sources: P. I. Corke, "A Robotics Toolbox for MATLAB", IEEE Robotics and Automation Magazine
3 (1996), and the toolbox's own help of its link object; J. J. Craig, "Introduction to
Robotics" (1989), for the modified convention.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from spart_blocks.base.errors import Fault, RobotError, did_you_mean
from spart_blocks.robot._faults import quote
from spart_blocks.robot._record import Floats
from spart_blocks.robot._transforms import rotation_x, rotation_z, translation
from spart_blocks.robot.checks import MAGNITUDE_LIMIT

CONVENTIONS = ("standard", "modified")
DH = ("alpha", "A", "theta", "D", "sigma")
DYN = ("m", "r", "I", "Jm", "G", "B", "Tc")
DYN_LENGTH = 20
ROWS = ("dh", "dyn")
_SHORTEST_PREFIX = 3
_SYMMETRIC = 1e-9  # relative: what rounding leaves of the symmetry of an inertia


class ReadOnlyError(RobotError, AttributeError):
    """An attribute that is read-only or does not exist."""


class Link:
    """A link of a serial robot with the joint that moves it, and that joint's motor.

    Link(): defaults only. Link(row): 4 or 5 numbers are alpha, A, theta, D, sigma; 6
    to 20 go on with m, r (3), I (Ixx Iyy Izz Ixy Iyz Ixz), Jm, G, B, Tc+, Tc-, of which
    those that are missing keep their defaults: 0, and 1 for G. Link(other): a copy that
    shares nothing. convention: "standard" (the default) or "modified", or the first three
    or more letters of either. name: of the joint, in a robot. Others by keyword: Link(A=0.4).

    Attributes, checked when they are assigned:
    alpha, theta [rad], A, D [m]; sigma: 0 revolute, else prismatic; mdh: 0 standard, 1
    modified. offset [rad, m]: added to the joint variable, which is negated first where flip
    is true. theta of a revolute joint and D of a prismatic one are what the variable
    replaces. qlim: (lowest, highest) of the variable [rad, m], or None.
    m [kg]; r (3,) [m]: centre of mass in the link's frame; I (3,3) [kg m^2]: about it, in
    the axes of that frame, assigned as a matrix or as 6 numbers in the order above.
    G: gear ratio, 0 where there is no motor. At the motor: its inertia Jm [kg m^2], viscous
    friction B [N m s/rad], and Coulomb friction Tc [N m], (Tc+, Tc-), assigned as a pair or
    as one number for (Tc, -Tc). dh (5,) and dyn (20,): rows as above, of 4 or 5 and of 6 to
    20 numbers when assigned. Read only: RP. Arrays are read-only.
    Raises RobotError for a wrong row, shape or figure, and for an unknown attribute.
    """

    name: str | None
    alpha: float
    A: float
    theta: float
    D: float
    sigma: float
    mdh: int
    offset: float
    flip: bool
    qlim: tuple[float, float] | None
    m: float
    r: Floats
    I: Floats
    Jm: float
    G: float
    B: float
    Tc: tuple[float, float]

    def __init__(
        self,
        row: Sequence[float] | Floats | Link | None = None,
        convention: str | None = None,
        **fields: Any,
    ) -> None:
        for name, default in _DEFAULTS.items():
            setattr(self, name, default)
        if isinstance(row, Link):
            if convention is not None:
                raise RobotError("a copy keeps its convention; assign mdh of the copy")
            for name in _DEFAULTS:
                setattr(self, name, getattr(row, name))
        else:
            self.mdh = 0 if convention is None else _convention(convention)
            if row is not None:
                self._read(row)
        for name, value in fields.items():
            setattr(self, name, value)

    def _read(self, row: Any) -> None:
        """Take over a DH row or a DYN row."""
        numbers = _row("a row of a link", row, 4, DYN_LENGTH)
        full = Link().dyn
        full[: len(numbers)] = numbers
        for name, value in zip(DH, full, strict=False):
            setattr(self, name, value)
        self.m, self.r, self.I = full[5], full[6:9], full[9:15]
        self.Jm, self.G, self.B = full[15:18]
        self.Tc = full[18], full[19]

    def _take(self, names: Sequence[str], row: Floats) -> None:
        """Take over some attributes of the link that a row describes; none of a wrong row."""
        described = Link(row)
        for name in names:
            setattr(self, name, getattr(described, name))

    def __setattr__(self, name: str, value: Any) -> None:
        if name in ROWS:
            object.__setattr__(self, name, value)
            return
        if name not in _CHECKS:
            raise ReadOnlyError(_cannot_assign(name))
        object.__setattr__(self, name, _CHECKS[name](name, value))

    def __delattr__(self, name: str) -> None:
        raise ReadOnlyError(f"{name} of a link cannot be taken away")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Link):
            return NotImplemented
        return all(np.array_equal(getattr(self, n), getattr(other, n)) for n in _DEFAULTS)

    __hash__ = None  # type: ignore[assignment]

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():  # NumPy forgets the read-only flag in a pickle
            setattr(self, name, value)

    # --- what follows from the parameters -----------------------------------------------

    @property
    def RP(self) -> str:
        """The type of the joint: "R" for revolute, "P" for prismatic."""
        return "R" if self.sigma == 0 else "P"

    @property
    def convention(self) -> str:
        """The name of the convention."""
        return CONVENTIONS[self.mdh]

    @property
    def dh(self) -> Floats:
        """A row of the toolbox's DH matrix (5,): alpha, A, theta, D, sigma."""
        return np.array([getattr(self, name) for name in DH])

    @dh.setter
    def dh(self, row: Any) -> None:
        self._take(DH, _row("dh", row, 4, len(DH)))

    @property
    def dyn(self) -> Floats:
        """A row of the toolbox's DYN matrix (20,): that of dh, m, r, I, Jm, G, B, Tc+, Tc-."""
        I = self.I
        moments = [I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[1, 2], I[0, 2]]
        motor = [self.Jm, self.G, self.B, *self.Tc]
        return np.array([*self.dh, self.m, *self.r, *moments, *motor])

    @dyn.setter
    def dyn(self, row: Any) -> None:
        self._take((*DH, *DYN), _row("dyn", row, len(DH) + 1, DYN_LENGTH))

    def islimit(self, q: float) -> int:
        """-1 where q [rad or m] lies below the lower limit, 1 above the upper one, else 0."""
        q = _number("q", q)
        low, high = self.qlim or (-math.inf, math.inf)
        return int(q > high) - int(q < low)

    def link(self, q: float) -> Floats:
        """The transform A(q) (4,4) [m] from the frame of the link before to this link's, at
        the joint variable q [rad or m]."""
        value = (-1 if self.flip else 1) * _number("q", q) + self.offset
        theta, D = (value, self.D) if self.sigma == 0 else (self.theta, value)
        along_z = rotation_z(theta) @ translation([0, 0, D])
        along_x = translation([self.A, 0, 0]) @ rotation_x(self.alpha)
        return along_x @ along_z if self.mdh else along_z @ along_x

    __call__ = link

    def friction(self, qd: float) -> float:
        """The load [N m or N] at the joint that moves at qd [rad/s or m/s]: B G^2 qd + |G| Tc,
        of Tc the one for the sign of qd, and none at rest. It has the sign of qd."""
        qd = _number("qd", qd)
        coulomb = 0.0 if qd == 0 else self.Tc[0] if qd > 0 else self.Tc[1]
        return self.B * self.G**2 * qd + abs(self.G) * coulomb

    # --- as text --------------------------------------------------------------------------

    def __str__(self) -> str:
        values = " ".join(f"{name}={getattr(self, name):.6g}" for name in DH[:4])
        label = f"{self.name}: " if self.name else ""
        return f"{label}{values} {self.RP} ({self.convention})"

    def __repr__(self) -> str:
        return f"<Link {self}>"

    def show(self) -> str:
        """All data of the link as text, one line for each; print it."""
        rows = [("name", self.name or "none"), ("mdh", f"{self.mdh} ({self.convention})")]
        rows += [(name, _shown(getattr(self, name))) for name in DH]
        rows += [("RP", self.RP)]
        rows += [(name, _shown(getattr(self, name))) for name in _DEFAULTS if name not in _FIRST]
        return "\n".join(f"{name:<11}{text}" for name, text in rows)


# --- checks ---------------------------------------------------------------------------------


def _numbers(name: str, value: Any) -> Floats:
    """Finite numbers of any shape."""
    try:
        array = np.asarray(value)
    except (ValueError, TypeError):
        array = np.empty(0, dtype=object)
    if array.dtype.kind not in "iuf":
        raise RobotError(f"{name} must be numbers, not {quote(value)}")
    # Also of whole numbers, whose magnitude may be beyond what a float can hold.
    if not (np.abs(array.astype(float)) <= MAGNITUDE_LIMIT).all():
        raise RobotError(f"{name} is {quote(value)}; its numbers must be finite")
    return array.astype(float)


def _row(name: str, value: Any, shortest: int, longest: int) -> Floats:
    """Finite numbers in a row, which is no shorter and no longer than this."""
    numbers = _numbers(name, value)
    if numbers.ndim != 1 or not shortest <= len(numbers) <= longest:
        got = f"{len(numbers)} numbers" if numbers.ndim == 1 else f"shape {numbers.shape}"
        kinds = [(4, len(DH), "DH"), (len(DH) + 1, DYN_LENGTH, "DYN")]
        taken = [f"{a} to {b} ({kind})" for a, b, kind in kinds if a >= shortest and b <= longest]
        hint = "alpha A theta D [sigma [m r(3) I(6) Jm G B Tc+ Tc-]]"
        raise RobotError(Fault(f"{name} has {got}; it takes {', or '.join(taken)}", hint=hint))
    return numbers


def _number(name: str, value: Any) -> float:
    array = _numbers(name, value)
    if array.shape != ():
        raise RobotError(f"{name} must be one number, not {quote(value)}")
    return float(array)


def _not_negative(name: str, value: Any) -> float:
    number = _number(name, value)
    if number < 0:
        raise RobotError(f"{name} is {number:g}; it must not be negative")
    return number


def _modified(name: str, value: Any) -> int:
    if isinstance(value, (bool, np.bool_)):
        return int(value)
    number = _number(name, value)
    if number not in (0, 1):
        raise RobotError(f"mdh is {number:g}; it must be 0 (standard) or 1 (modified)")
    return int(number)


def _flag(name: str, value: Any) -> bool:
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    number = _number(name, value)
    if number not in (0, 1):
        raise RobotError(f"{name} is {number:g}; it must be true or false")
    return bool(number)


def _text(name: str, value: Any) -> str | None:
    if value is not None and (not isinstance(value, str) or not value):
        raise RobotError(f"{name} must be a text, not {quote(value)}")
    return value


def _vector(name: str, value: Any) -> Floats:
    array = _numbers(name, value)
    if array.shape not in ((3,), (3, 1), (1, 3)):
        raise RobotError(f"{name} has shape {array.shape}; it must be (3,)")
    return _read_only(array.reshape(3))


def _inertia(name: str, value: Any) -> Floats:
    array = _numbers(name, value)
    if array.shape in ((6,), (1, 6), (6, 1)):
        xx, yy, zz, xy, yz, xz = array.reshape(6)
        return _read_only(np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]))
    if array.shape != (3, 3):
        raise RobotError(
            f"{name} has shape {array.shape}; it must be (3, 3), or (6,) for Ixx Iyy Izz Ixy "
            "Iyz Ixz"
        )
    if np.abs(array - array.T).max() > _SYMMETRIC * np.abs(array).max():
        raise RobotError(f"{name} is not symmetric: {quote(array.tolist())}")
    return _read_only((array + array.T) / 2)


def _coulomb(name: str, value: Any) -> tuple[float, float]:
    array = _numbers(name, value)
    if array.shape not in ((), (1,), (2,), (1, 2), (2, 1)):
        raise RobotError(f"{name} has shape {array.shape}; it must be one number or a pair")
    forward, backward = (array.item(), -array.item()) if array.size == 1 else array.reshape(2)
    if forward < 0 or backward > 0:
        raise RobotError(
            f"{name} is [{forward:g}, {backward:g}]; the first, which brakes a joint that moves "
            "forwards, must not be negative, and the second not positive"
        )
    return float(forward), float(backward)


def _limits(name: str, value: Any) -> tuple[float, float] | None:
    if value is None or (isinstance(value, (list, tuple)) and not value):
        return None
    try:
        array = np.asarray(value)
    except ValueError:
        array = np.empty(0)
    if array.dtype.kind not in "iuf" or array.size != 2 or np.isnan(array).any():
        raise RobotError(f"{name} must be a pair [lowest, highest], not {quote(value)}")
    low, high = array.astype(float).reshape(2).tolist()
    if low > high:
        raise RobotError(f"{name} is [{low:g}, {high:g}]; the lower limit is above the upper one")
    return low, high


def _convention(value: Any) -> int:
    """0 for standard, 1 for modified Denavit-Hartenberg parameters, from the name of the convention
    or its first three or more letters. Raises RobotError.
    """
    if isinstance(value, str) and len(value) >= _SHORTEST_PREFIX:
        for mdh, name in enumerate(CONVENTIONS):
            if name.startswith(value):
                return mdh
    hint = "it is 'standard' or 'modified', or the first three or more letters of either"
    raise RobotError(Fault(f"no convention {quote(value)}", hint=hint))


def _read_only(array: Floats) -> Floats:
    array = array + 0.0  # a copy, without zeros of negative sign
    array.setflags(write=False)
    return array


def _cannot_assign(name: str) -> Fault:
    if name == "RP":
        return Fault("RP of a link is read only", hint="assign sigma: 0 revolute, 1 prismatic")
    if isinstance(getattr(Link, name, None), property):
        return Fault(f"{name} of a link is read only", hint="assign mdh")
    return Fault(f"a link has no attribute {name!r}", hint=did_you_mean(name, _CHECKS))


def _shown(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, np.ndarray):
        return np.array2string(value, precision=6).replace("\n", "\n" + " " * 11)
    return "none" if value is None else str(value)


_CHECKS: dict[str, Callable[[str, Any], Any]] = {
    **dict.fromkeys(("alpha", "A", "theta", "D", "sigma", "offset", "G"), _number),
    **dict.fromkeys(("m", "Jm", "B"), _not_negative),
    "name": _text,
    "mdh": _modified,
    "flip": _flag,
    "qlim": _limits,
    "r": _vector,
    "I": _inertia,
    "Tc": _coulomb,
}
_DEFAULTS: dict[str, Any] = {
    "name": None,
    **dict.fromkeys(DH, 0.0),
    "mdh": 0,
    "offset": 0.0,
    "flip": False,
    "qlim": None,
    "m": 0.0,
    "r": np.zeros(3),
    "I": np.zeros((3, 3)),
    "Jm": 0.0,
    "G": 1.0,
    "B": 0.0,
    "Tc": (0.0, 0.0),
}
_FIRST = ("name", "mdh", *DH)

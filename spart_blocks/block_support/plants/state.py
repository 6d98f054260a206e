"""The state of a plant: its parts, their names, and initial values from users."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from spart_blocks.base import spatial
from spart_blocks.base.errors import Fault, InputError, did_you_mean
from spart_blocks.base.spatial import Array, array
from spart_blocks.block_support.plants.joint_values import joint_values
from spart_blocks.dynamics import joint_effects
from spart_blocks.robot import Robot

BaseFrame = Literal["com", "urdf"]
STATE_UNITS = {
    "r0": "m", "angles321": "rad", "omega0": "rad/s", "v0": "m/s", "u0": "rad/s, m/s",
    "qm": "rad, m", "um": "rad/s, m/s",
}  # fmt: skip
"""The units of the entries of an initial state."""
STABILISATION = 1.0
"""Stabilisation rate [1/s] of the quaternion's length; it vanishes on the unit sphere."""

_POSE_KEYS = ("r0", "quaternion", "angles321", "qm")
_RATE_KEYS = ("u0", "omega0", "v0", "um")


class Parts(NamedTuple):
    """R0 (3,3), r0 (3,), qm (nq,), u0 (6,), um (nu,) in the conventions of the package, and
    modes (n_s,) of the joints that can stick."""

    R0: Array
    r0: Array
    qm: Array
    u0: Array
    um: Array
    modes: Array


@dataclass(frozen=True)
class PlantState:
    """The layout [quaternion, r0, qm, u0, um, modes] of a floating robot's state, [qm, um,
    modes] of a fixed one's; without rates and modes where `rates` is false."""

    robot: Robot
    rates: bool = True

    @property
    def floating(self) -> bool:
        return self.robot.base == "floating"

    @property
    def sticking(self) -> tuple[int, ...]:
        """Indices in um of the joints that can stick, with one mode each."""
        return joint_effects(self.robot).sticking if self.rates else ()

    @property
    def names(self) -> tuple[str, ...]:
        """A name for each entry, such as q0.x, r0.z, qm.elbow."""
        positions, rates = self.robot.position_names, self.robot.rate_names
        base = [f"q0.{c}" for c in "xyzw"] + [f"r0.{c}" for c in "xyz"] if self.floating else []
        names = base + [f"qm.{name}" for name in positions]
        if self.rates and self.floating:
            names += [f"omega0.{c}" for c in "xyz"] + [f"v0.{c}" for c in "xyz"]
        if self.rates:
            names += [f"um.{name}" for name in rates]
        names += [f"mode.{rates[k]}" for k in self.sticking]
        return tuple(names)

    def split(self, x: Array, base_pose: tuple[Array, Array]) -> Parts:
        """The parts of a state x; the pose of a fixed base is constant."""
        nq, nu = self.robot.nq, self.robot.nu
        R0, r0 = base_pose
        u0, um = np.zeros(6), np.zeros(nu)
        if self.floating:
            R0, r0, x = spatial.quaternion_rotation(spatial.normalised(x[:4])), x[4:7], x[7:]
        qm, x = self.robot.with_unit_quaternions(x[:nq]), x[nq:]
        if self.rates and self.floating:
            u0, x = x[:6], x[6:]
        if self.rates:
            um, x = x[:nu], x[nu:]
        return Parts(R0, r0, qm, u0, um, x)

    def switched(self, x: Array, um: Array, modes: Array) -> Array:
        """The state x with other joint rates and modes."""
        rest = len(x) - len(um) - len(modes)
        return np.concatenate([x[:rest], um, modes])

    def project(self, x: Array) -> Array:
        """The state on its constraints."""
        return self.normalised(x)

    def normalised(self, x: Array) -> Array:
        """The state with its quaternions at unit length."""
        if self.robot.balls:
            k = 7 if self.floating else 0
            qm = self.robot.with_unit_quaternions(x[k : k + self.robot.nq])
            x = np.concatenate([x[:k], qm, x[k + self.robot.nq :]])
        if not self.floating:
            return x
        return np.concatenate([spatial.normalised(x[:4]), x[4:]])

    def pose_rates(self, x: Array, u0: Array, um: Array) -> list[Array]:
        """The rates of the state's quaternion, r0 and qm at the rates u0 (6,) and um (nu,); a
        stabilisation term keeps its quaternions near unit length.
        """
        k = 7 if self.floating else 0
        positions = self.robot.position_rates(x[k : k + self.robot.nq], um, STABILISATION)
        if not self.floating:
            return [positions]
        return [spatial.quaternion_rate(x[:4], u0[:3], STABILISATION), u0[3:], positions]

    def initial(
        self, given: Mapping[str, Any] | None, base_frame: BaseFrame = "com"
    ) -> tuple[tuple[Array, Array], Array]:
        """The base pose (R0, r0) and the state vector that the user's `initial` means.

        Raises InputError listing all that is wrong.
        """
        given = {} if given is None else given
        self._check(given, base_frame)
        q = _base_quaternion(given)
        r = array(given.get("r0", np.zeros(3)), (3,), "initial r0")
        u0 = array(given.get("u0", np.zeros(6)), (6,), "initial u0").copy()
        if "omega0" in given:
            u0[:3] = array(given["omega0"], (3,), "initial omega0")
        if "v0" in given:
            u0[3:] = array(given["v0"], (3,), "initial v0")
        qm = joint_values(given.get("qm"), "qm", self.robot)
        um = joint_values(given.get("um"), "um", self.robot)
        R = spatial.quaternion_rotation(q)
        if base_frame == "urdf":
            R, r, u0 = _to_center_of_mass(self.robot, R, r, u0)
            q = spatial.dcm_quat(R.T)
        parts = ([q, r] if self.floating else []) + [qm]
        if self.rates:
            parts += ([u0] if self.floating else []) + [um, np.sign(um[list(self.sticking)])]
        state = np.concatenate(parts)
        if not np.isfinite(state).all():
            raise InputError("initial holds a number that is not finite")
        return (R, r), state

    def _check(self, given: Any, base_frame: str) -> None:
        if base_frame not in ("com", "urdf"):
            raise InputError(f"base_frame is {base_frame!r}; it must be 'com' or 'urdf'")
        if not isinstance(given, Mapping):
            raise InputError(f"initial must be a mapping such as {{qm: [0, 1]}}, not {given!r}")
        rates = _RATE_KEYS if self.rates else ()
        faults = [
            Fault(f"initial has no entry {key!r}", hint=did_you_mean(str(key), _POSE_KEYS + rates))
            for key in given
            if key not in _POSE_KEYS + rates
        ]
        pairs = [("quaternion", "angles321"), ("u0", "omega0"), ("u0", "v0")]
        faults += [
            Fault(f"initial gives both {a} and {b}", hint="give one of them")
            for a, b in pairs
            if a in given and b in given
        ]
        if not self.floating and any(np.any(given.get(k, 0)) for k in ("u0", "omega0", "v0")):
            faults.append(Fault("initial gives base rates, but the base is fixed"))
        if faults:
            raise InputError(faults)


def _base_quaternion(given: Mapping[str, Any]) -> Array:
    if "angles321" in given:
        return spatial.dcm_quat(spatial.angles321_dcm(given["angles321"]))
    return spatial.unit_quaternion(given.get("quaternion", (0, 0, 0, 1)), "initial quaternion")


def _to_center_of_mass(robot: Robot, R: Array, r: Array, u0: Array) -> tuple[Array, Array, Array]:
    """Pose and rates of the base's centre-of-mass frame from those of its URDF frame."""
    T = robot.base_link.T
    arm = R @ T[:3, 3]
    omega = R @ u0[:3]
    out = np.concatenate([T[:3, :3].T @ u0[:3], u0[3:] + np.cross(omega, arm)])
    return R @ T[:3, :3], r + arm, out

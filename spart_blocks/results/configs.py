"""The motion of a robot's joints by name, from the states of its plant."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from numpy.typing import NDArray

from spart_blocks.errors import Fault, InputError, did_you_mean
from spart_blocks.results.model import RATES

if TYPE_CHECKING:
    from spart_blocks.results.model import Results

Array = NDArray[Any]
POSITION, RATE = "qm.", "um."
"""What the names of a plant's states begin with; the joint's name follows."""


class JointState(NamedTuple):
    """Position q [rad or m], rate dq and acceleration ddq of a joint at one time."""

    q: float
    dq: float
    ddq: float


@dataclass(frozen=True)
class JointMotion:
    """The motion of one configuration variable of the robot of a plant.

    q (N,) [rad or m], dq (N,) [rad/s or m/s], ddq (N,) [rad/s^2 or m/s^2], at results.t.
    ddq is the plant's signal umdot if that was kept, and else computed from the states.
    final: the three at the last sample.
    """

    results: Results
    block: str
    name: str

    @property
    def q(self) -> Array:
        return self._state(POSITION)

    @property
    def dq(self) -> Array:
        return self._state(RATE)

    @property
    def ddq(self) -> Array:
        kept = f"{self.block}.umdot"
        if kept in self.results:
            joints = [n for n in self.results.state_names[self.block] if n.startswith(RATE)]
            column: Array = self.results[kept][:, joints.index(RATE + self.name)]
            return column
        if self.results.recompute is None:
            hint = f"keep it in the run: run: {{log: [{kept}]}}"
            raise InputError(
                Fault(f"these results do not have {kept}, the accelerations of joints", hint=hint)
            )
        return self.results[RATES + self.block][:, self._place(RATE)]

    @property
    def final(self) -> JointState:
        """The motion at the end of the run."""
        return JointState(float(self.q[-1]), float(self.dq[-1]), float(self.ddq[-1]))

    def _state(self, kind: str) -> Array:
        column: Array = self.results.states[self.block][:, self._place(kind)]
        return column

    def _place(self, kind: str) -> int:
        names = self.results.state_names[self.block]
        if kind + self.name not in names:
            text = f"{self.block} has no rates of joints among its states"
            raise InputError(Fault(text, hint="only a plant such as MULTIBODY has"))
        return names.index(kind + self.name)


def configs_of(results: Results, block: str) -> Mapping[str, JointMotion]:
    """The motion of each joint of a plant's robot; see Results.configs."""
    plants = [
        name
        for name, names in results.state_names.items()
        if name in results.states and any(n.startswith(POSITION) for n in names)
    ]
    if block not in plants:
        hint = did_you_mean(block, plants) or "no block of this run has joints as states"
        raise InputError(Fault(f"no plant {block!r} in the results", hint=hint))
    joints = [n for n in results.state_names[block] if n.startswith(POSITION)]
    names = [name.removeprefix(POSITION) for name in joints]
    return {name: JointMotion(results, block, name) for name in names}


def config_of(results: Results, block: str, joint: str) -> JointMotion:
    """The motion of one joint of a plant's robot; see Results.config."""
    found = configs_of(results, block)
    if joint not in found:
        raise InputError(Fault(f"no joint {joint!r} on {block}", hint=did_you_mean(joint, found)))
    return found[joint]

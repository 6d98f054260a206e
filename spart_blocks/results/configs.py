"""The motion of a robot's joints by name, from the states of its plant."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spart_blocks.base.argument_checks import as_text
from spart_blocks.base.errors import Fault, InputError, did_you_mean
from spart_blocks.results.signal_names import RATES

if TYPE_CHECKING:
    from spart_blocks.results.run_data import RunData

Array = NDArray[Any]
POSITION, RATE = "qm.", "um."
"""Prefixes of the names of a plant's states; the joint's name follows."""


_SPHERICAL = {POSITION: (".qx", ".qy", ".qz", ".qw"), RATE: (".x", ".y", ".z")}


class JointState(NamedTuple):
    """Position q [rad or m], rate dq and acceleration ddq of a joint at one time; of a
    spherical joint q (4,), dq (3,) and ddq (3,)."""

    q: float | Array
    dq: float | Array
    ddq: float | Array


def spherical_states(names: Sequence[str]) -> dict[str, slice]:
    """The slices of the states of a plant with quaternion and rate of each spherical joint, by
    'qm.joint' and 'um.joint'."""
    found: dict[str, slice] = {}
    for k, name in enumerate(names):
        for kind, ends in _SPHERICAL.items():
            joint, part = name.removeprefix(kind).removesuffix(ends[0]), slice(k, k + len(ends))
            if tuple(names[part]) == tuple(f"{kind}{joint}{end}" for end in ends):
                found[kind + joint] = part
    return {name: part for name, part in found.items() if POSITION + name[len(RATE) :] in found}


@dataclass(frozen=True)
class JointMotion:
    """The motion of one configuration variable of the robot of a plant.

    q (N,) [rad or m], dq (N,) [rad/s or m/s], ddq (N,) [rad/s^2 or m/s^2], at results.t; of
    a spherical joint q (N,4), a unit quaternion, and dq, ddq (N,3) in its child's axes.
    ddq is the plant's signal umdot if that was kept, otherwise computed from the states.
    final: the three at the last sample.
    """

    results: RunData
    block: str
    name: str

    @property
    def q(self) -> Array:
        q = self._state(POSITION)  # between steps a quaternion is a little off unit length
        return q if q.ndim == 1 else q / np.linalg.norm(q, axis=1, keepdims=True)

    @property
    def dq(self) -> Array:
        return self._state(RATE)

    @property
    def ddq(self) -> Array:
        kept = f"{self.block}.umdot"
        if kept in self.results:
            names = self.results.state_names[self.block]
            first = next(k for k, name in enumerate(names) if name.startswith(RATE))
            place = self._place(RATE)
            if isinstance(place, slice):
                place = slice(place.start - first, place.stop - first)
            else:
                place -= first
            column: Array = self.results[kept][:, place]
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
        last = (values[-1] for values in (self.q, self.dq, self.ddq))
        return JointState(*(value if np.ndim(value) else float(value) for value in last))

    def _state(self, kind: str) -> Array:
        column: Array = self.results.states[self.block][:, self._place(kind)]
        return column

    def _place(self, kind: str) -> int | slice:
        names = self.results.state_names[self.block]
        if kind + self.name in names:
            return names.index(kind + self.name)
        spherical = spherical_states(names)
        if kind + self.name in spherical:
            return spherical[kind + self.name]
        text = f"{self.block} has no rates of joints among its states"
        raise InputError(Fault(text, hint="only a plant such as MULTIBODY has"))


def configs_of(results: RunData, block: str) -> Mapping[str, JointMotion]:
    """The motion of each joint of a plant's robot; see Results.configs."""
    plants = [
        name
        for name, names in results.state_names.items()
        if name in results.states and any(n.startswith(POSITION) for n in names)
    ]
    if as_text(block, "the name of a plant") not in plants:
        hint = did_you_mean(block, plants) or "no block of this run has joints as states"
        raise InputError(Fault(f"no plant {block!r} in the results", hint=hint))
    states = results.state_names[block]
    whole = {part.start: (name, part.stop) for name, part in spherical_states(states).items()}
    names, k = [], 0
    while k < len(states):
        name, k = whole.get(k, (states[k], k + 1))
        if name.startswith(POSITION):
            names.append(name.removeprefix(POSITION))
    return {name: JointMotion(results, block, name) for name in names}


def config_of(results: RunData, block: str, joint: str) -> JointMotion:
    """The motion of one joint of a plant's robot; see Results.config."""
    found = configs_of(results, block)
    if as_text(joint, "the name of a joint") not in found:
        raise InputError(Fault(f"no joint {joint!r} on {block}", hint=did_you_mean(joint, found)))
    return found[joint]

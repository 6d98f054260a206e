"""Linear quadratic regulators: state feedback with a gain, given or designed from the plant."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from bdsim.components import FunctionBlock

from spart_blocks.base.errors import InputError, brief
from spart_blocks.base.spatial import Array
from spart_blocks.block_support.declared import Declared, PortSpec, resolved
from spart_blocks.block_support.parameters import fixed, need_robot, tunable
from spart_blocks.block_support.plants.lqr_design import LqrDesign, read_design
from spart_blocks.block_support.plants.minimal_state import MinimalState
from spart_blocks.block_support.plants.state import PlantState
from spart_blocks.block_support.ports import Port, port_arguments
from spart_blocks.block_support.quantities import ports, quantities
from spart_blocks.robot import Robot

_CONTROLS = (("taum",), ("tau0", "taum"))


class LQR(Declared, FunctionBlock):
    """State feedback with a constant gain, such as that of a linear quadratic regulator.

    u = hold + uff + K (x_ref - x). The state x of a robot is [qm, um] relative to the set-point: a
    spherical joint has three entries in qm, the rotation from the set-point. qd has the same width.

    With controls [tau0, taum] the block takes ``qd, ud, uff, R0, r0, qm, u0, um``, gives
    ``tau0`` and ``taum``, and x is [attitude, r0, qm, u0, um]: it has 2 (6 + nu) entries, of
    which attitude is the rotation from the set-point, 2 sin(angle/2) times its axis in base axes.

    Without a robot the inputs are ``x``, ``xd`` (x_ref, optional, zeros) and ``uff``, the
    output ``u``; a K of one row written as a list gives a scalar.

    K may be designed from the plant of the diagram, when a run or another function needs it: the
    plant is linearised with the loop open at its control inputs, and K minimises the integral of x'
    Q x + u' R u (docs/lqr.md). hold is then the control that keeps the plant at rest at that point.

    Source: B. D. O. Anderson and J. B. Moore, "Optimal Control: Linear Quadratic Methods"
    (1990), ch. 2-3.

    :arg K: gain (m, n), or {lqr: {plant, Q, R, N, T, at, inputs}} to design it
    :arg robot: the robot whose state is fed back
    :arg controls: control inputs of the robot, [taum] or [tau0, taum]
    :arg setpoint: state at which the robot is held: qm, r0, and quaternion or angles321; by default
        zeros and no rotation, or the robot's home
    :arg hold: the outputs at the set-point; zeros, or found with K
    """

    nin = 5
    nout = 1
    takes = (
        PortSpec(
            "qd", "nu", "rad, m", "desired joint positions, from those of setpoint", optional=True
        ),
        *quantities("ud?"),
        PortSpec("uff", "m", "N m, N", "feedforward, added to the outputs", optional=True),
        *quantities("qm um"),
    )
    gives = quantities("tau")
    K = tunable("m, n or mapping")
    robot = fixed("Robot", "", None)
    controls = fixed("list", "", ("taum",))
    setpoint = fixed("mapping", "", None)
    hold = tunable("m", "", None)
    tunable = ("K", "hold", "qm_ref", "r0_ref")

    def build(self, K: Any, controls: Any, setpoint: Any, hold: Any) -> dict[str, Any]:
        self.minimal: MinimalState | None = None
        self.design: LqrDesign | None = None
        self.K = None
        self.hold = None if hold is None else _numbers(hold, "hold", (0, 1))
        if self.robot is None:
            self._plain(setpoint, controls)
        else:
            self._of_robot(need_robot(self.robot, "LQR"), controls, setpoint)
        if isinstance(K, Mapping):
            self.design = read_design(K)
        else:
            self.found(K, 0.0)
        return port_arguments(self.in_ports, self.out_ports)

    def _plain(self, setpoint: Any, controls: Any) -> None:
        if setpoint is not None or tuple(controls) != ("taum",):
            what = "controls" if setpoint is None else "setpoint"
            raise InputError(f"{what} is for a robot, and the block has none")
        self._set_ports(None, None)

    def _set_ports(self, states: int | None, outputs: tuple[int, ...] | None) -> None:
        x = None if states is None else (states,)
        # Zeros without a wire are a number while the gain is to be found: it fits any shape.
        given = (None, None) if self.design is not None else (x, outputs)
        self.in_ports: tuple[Port, ...] = (
            Port("xd", given[0], optional=True),
            Port("uff", given[1], optional=True),
            Port("x", x),
        )
        self.out_ports: tuple[Port, ...] = (Port("u", outputs),)

    def _of_robot(self, robot: Robot, controls: Any, setpoint: Any) -> None:
        controls = (controls,) if isinstance(controls, str) else tuple(controls)
        if controls not in _CONTROLS:
            raise InputError(f"controls is {brief(controls)}; it is [taum] or [tau0, taum]")
        base = "tau0" in controls
        if base and robot.base == "fixed":
            raise InputError("controls names tau0, but the base is fixed")
        self.minimal = MinimalState(robot, base)
        self.setpoint = setpoint
        self.pose_ref, state = PlantState(robot, rates=False).initial(setpoint)
        self.r0_ref, self.qm_ref = self.pose_ref[1], state[len(state) - robot.nq :]
        size = robot.nu + 6 * base
        self.in_ports = (
            *resolved(self.takes[:3], robot, m=size),
            *ports(robot, self.minimal.takes),
        )
        [*before, joints] = ports(robot, " ".join(controls))
        self.out_ports = (*before, joints if base else replace(joints, name="tau"))
        self.controls = controls

    @property
    def pending(self) -> bool:
        """Whether the gain still has to be designed."""
        return self.K is None

    def found(self, K: Any, hold: Any) -> None:
        """Set the designed gain, and the holding control unless the user gave one."""
        K = _numbers(K, "K", (1, 2))
        if self.minimal is None:
            self._set_ports(K.shape[-1], K.shape[:-1])
        else:
            shape = (self.in_ports[2].shape or (0,))[0], self.minimal.size
            if K.shape != shape:
                parts = ", ".join(f"{n} of {k}" for k, n in self.minimal.parts.items())
                raise InputError(f"K has shape {K.shape}, takes {shape}; columns: {parts}")
        self.hold = _numbers(hold if self.hold is None else self.hold, "hold", (0, 1))
        if self.hold.shape not in ((), K.shape[:-1]):
            raise InputError(f"hold has shape {self.hold.shape}, K gives {K.shape[:-1]}")
        self.K = K

    def deviation(self, inputs: list[Any]) -> Array:
        """x - x_ref for the block's inputs (n,)."""
        if self.minimal is None:
            xd, _, x = inputs
            error: Array = x - xd
            return error
        qd, ud, _, *state = inputs
        assert self.robot is not None
        qm = self.robot.integrate(self.qm_ref, qd)
        return self.minimal.deviation(state, (self.pose_ref[0], self.r0_ref), qm, ud)

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        if self.pending:
            raise RuntimeError("K is not found yet; sb.simulate and the like find it")
        uff = inputs[1 if self.minimal is None else 2]
        u = self.hold + uff - self.K @ self.deviation(inputs)
        return [u] if len(self.out_ports) == 1 else [u[:6], u[6:]]


def _numbers(value: Any, name: str, ndims: tuple[int, ...]) -> Array:
    """A finite array with one of these numbers of dimensions; InputError if it is none."""
    try:
        out: Array = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        raise InputError(f"{name} must be numbers, not {brief(value)}") from None
    if out.ndim not in ndims or not out.size or not np.isfinite(out).all():
        kinds = " or ".join(("a number", "a list", "a matrix")[n] for n in ndims)
        raise InputError(f"{name} must be {kinds} of finite numbers, not {brief(value)}")
    return out

"""The plant whose loops are closed, and what follows from its motion.

As MULTIBODY it outputs only functions of its state; accelerations and the forces of the
loops come from CLOSED_CHAIN_RATES, which the loader adds where a wire asks for them.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from bdsim.components import ContinuousBlock, FunctionBlock

from spart_blocks.base.spatial import Array
from spart_blocks.block_support.declared import Declared, resolved
from spart_blocks.block_support.parameters import fixed
from spart_blocks.block_support.plants.closed_state import (
    ClosedState,
    checked_damping,
    closed_rates_of,
    force_ports,
)
from spart_blocks.block_support.plants.state import STATE_UNITS, Parts
from spart_blocks.block_support.ports import Port
from spart_blocks.block_support.quantities import mode_ports, prescribed_ports, quantities
from spart_blocks.blocks._plant import RATES, Steps, rate_ports
from spart_blocks.blocks.audit import Audit
from spart_blocks.dynamics.closed_chain import ClosedRates
from spart_blocks.dynamics.loops import kept_rows
from spart_blocks.dynamics.rank_loss import passing, rank_loss_text, reach
from spart_blocks.robot import Robot

STABILISATION = 3.0
"""Rate [1/s] of the Baumgarte stabilisation for solvers whose steps are not projected: loop errors
decay as (1 + 3 t) exp(-3 t), in two seconds. This is fast compared with a drift over minutes; a
stronger pull costs
explicit solvers steps, for it answers to the error that they make within one."""


LAM = quantities("lam")


class Closed_Chain(Declared, Steps, ContinuousBlock):
    """A multibody robot whose loops are closed, with a fixed or floating base.

    Ports and state are those of MULTIBODY: a fixed base has neither ``tau0`` nor ``wF0``;
    ``umdot_k``, ``modes``, and the companion's ``tau_k`` and ``load`` come with prescribed joints,
    with Coulomb friction and with what acts at the joints. There is one more input for each port of
    the robot's forces, with its name, and the companion gives ``lam`` ndarray(m,) [N, N m], the
    forces that keep the loops closed: one for each constraint row that is not implied by others
    (see ``dynamics.loops.row_names`` and ``kept_rows``).

    The initial state and every sample close the loops in position and velocity: states are
    projected onto the loops, in the metric of the inertia. Between samples, for solvers whose steps
    cannot be changed, stabilisation terms that vanish on the loops keep them together.

    Source: Featherstone (2008), sec. 8.5; E. Eich, SIAM J. Numerical Analysis 30 (1993) 1467, for
    the projection; J. Baumgarte, Computer Methods in Applied Mechanics and Engineering 1 (1972) 1,
    for the stabilisation.

    :arg robot: the robot model, with loops
    :arg initial: as for MULTIBODY. Joints given by name are held while the loops are closed, the
        others are solved for, starting from the robot's home; with a vector no joint is held. hold:
        [names] lists the joints to hold instead
    :arg base_frame: the frame that the base pose and rates in initial belong to: that of the centre
        of mass, "com", or the URDF link frame, "urdf"
    :arg audit: whether to add a block AUDIT named after the plant, as ``plant.audit``: its
        momentum, energy, work and balances are kept in every run
    :arg singular: action at a configuration in which the loops lose rank: "stop" ends the run,
        "damp" bounds the forces of the loops
    :arg damping: for "damp": relative increase of the diagonal of J H^-1 J'
    :arg integrator: "solver" for the run's solver, or "variational" for the plant's own step, which
        needs a fixed-step solver
    """

    nin = 4
    nout = 6
    takes = quantities("tau0? taum? wF0? wFm?")
    gives = quantities("R0 r0 qm u0 um state")
    companion: ClassVar[str] = "CLOSED_CHAIN_RATES"
    companion_outputs: tuple[str, ...] = ("u0dot", "umdot", "reaction", "lam")
    drifts: ClassVar[bool] = True
    plant_state: ClosedState
    robot = fixed("Robot")
    initial = fixed("mapping", "", None, entries=STATE_UNITS)
    base_frame = fixed("str", "", "com", choices=("com", "urdf"))
    audit = fixed("bool", "", False)
    singular = fixed("str", "", "stop", choices=("stop", "damp"))
    damping = fixed("float", "", 1e-6)
    integrator = fixed("str", "", "solver", choices=("solver", "variational"))

    def build(self, initial: Any, base_frame: Any, singular: Any, damping: Any) -> dict[str, Any]:
        self.damping = checked_damping(singular, damping)
        self.plant_state = ClosedState(self.robot)
        self.base_pose, x0 = self.plant_state.initial(initial, base_frame)
        self.companion_outputs = tuple(port.name for port in closed_rate_ports(self.robot))
        more = (*prescribed_ports(self.robot), *force_ports(self.robot)), mode_ports(self.robot)
        without = "tau0 wF0" if self.robot.base == "fixed" else ""
        return {
            "x0": x0,
            "snames": list(self.plant_state.names),
            **self.resolve_ports(self.robot, without=without, more=more, N=len(x0)),
        }

    def rates_at(self, inputs: list[Any], s: Parts) -> ClosedRates:
        given = dict(zip((port.name for port in self.in_ports), inputs, strict=True))
        return closed_rates_of(self.robot, s, given, self.damping, STABILISATION)

    @property
    def watched_kinds(self) -> tuple[str, ...]:
        """The kinds for joints that can stick, and for configurations in which the loops lose rank:
        a step ends where the motion is nearest to one.
        """
        return (*super().watched_kinds, *(("limit", "fault") if self._stops else ()))

    def watch(self, t: float, inputs: list[Any], x: Array) -> list[Any]:
        """The zero-crossing functions of the `watched_kinds`."""
        found = super().watch(t, inputs, x)
        if self._stops:
            s = self.plant_state.split(x, self.base_pose)
            found += passing(s.qm, s.um, self.plant_state.robot)
        return found

    @property
    def _stops(self) -> bool:
        """Whether the loops can lose rank and this ends the run."""
        return not self.damping and bool(kept_rows(self.plant_state.robot))

    @property
    def passes_singular(self) -> bool:
        """Whether the loops can lose rank and the run continues there."""
        return bool(self.damping) and bool(kept_rows(self.plant_state.robot))

    def reach(self, x: Array) -> Any:
        """The longest step [s] that cannot pass two configurations in which the loops lose rank."""
        s = self.plant_state.split(x, self.base_pose)
        return reach(s.um, self.plant_state.robot) if self._stops else np.inf

    fault_text = "its loops lose rank"

    def fault(self, t: float, inputs: list[Any], x: Array) -> str:
        """The message of a run that ends where the loops have lost rank."""
        s = self.plant_state.split(x, self.base_pose)
        return rank_loss_text(s.qm, self.plant_state.robot)

    def nearby(self, x: Array, spread: float, rng: np.random.Generator) -> Array:
        """A random state near x as a run may have it: its loops are nearly closed."""
        return self.plant_state.nearby(x, spread, rng)

    def make_companion(self, **blockargs: Any) -> Closed_Chain_Rates:
        """The companion block with this plant's accelerations and forces."""
        return Closed_Chain_Rates(self.robot, self.damping, **blockargs)

    def make_audit(self, **blockargs: Any) -> Audit:
        """The AUDIT block of this plant."""
        return Audit(self.robot, self.damping, **blockargs)


class Closed_Chain_Rates(Declared, FunctionBlock):
    """Accelerations of a robot with closed loops, and the constraint forces. Wire it to the inputs
    and outputs of CLOSED_CHAIN; further ports as there. J' lam acts on the joints in addition to
    taum. The reaction includes the forces of the loops on a fixed base.

    :arg robot: the robot model, with loops
    :arg damping: relative increase of the diagonal of J H^-1 J', 0 for none
    """

    nin = 9
    nout = 4
    takes = quantities("tau0? taum? wF0? wFm? R0 r0 qm u0 um")
    gives = (*RATES, *LAM)
    robot = fixed("Robot")
    damping = fixed("float", "", 0.0)

    def build(self) -> dict[str, Any]:
        more = (*prescribed_ports(self.robot), *mode_ports(self.robot), *force_ports(self.robot))
        return self.set_ports(
            (*resolved(self.takes, self.robot), *more), closed_rate_ports(self.robot)
        )

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        given = dict(zip((port.name for port in self.in_ports), inputs, strict=True))
        s = Parts(*(given.pop(name, None) for name in Parts._fields))
        rates = closed_rates_of(self.robot, s, given, self.damping)._asdict()
        return [rates[port.name] for port in self.out_ports]


def closed_rate_ports(robot: Robot) -> tuple[Port, ...]:
    """The outputs of a closed plant's companion."""
    return (*rate_ports(robot), *resolved(LAM, m=len(kept_rows(robot))))

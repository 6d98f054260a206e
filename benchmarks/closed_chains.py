"""Forward dynamics of closed robots beside Pinocchio's and MuJoCo's constraints.

At random states on the loops, gravity and joint forces acting:

  spart_blocks  closed_rates by sb.compiled, called bound (0.05 us of Python a call)
  pinocchio     constraintDynamics, the same tree, CONTACT_3D rows for its spherical loops,
                proximal settings of 1e-12 and one iteration (about 1 us of Python a call)
  mujoco        mj_forward, the same tree, an equality `connect` for each loop, damping, contacts
                and limits off, of mujoco.mj_forward (about 0.5 us of Python a call)

Cost: medians of interleaved rounds, and the median of each round's ratio. Loop error: the
largest of J udot + J' um, by which the loops begin to open [m/s^2], and the difference of
udot to ours. Only loops of spherical type have a counterpart in all three.

Run: python benchmarks/closed_chains.py [--rounds 41] [--keep]
"""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import mujoco
import numpy as np
import pinocchio as pin
from side_by_side import arguments, keep, versions
from twins import interleaved, ratio, repeated

import spart_blocks as sb
from spart_blocks.dynamics import gravity_wrenches
from spart_blocks.dynamics.assembly import assemble
from spart_blocks.dynamics.closed_chain import closed_rates
from spart_blocks.dynamics.closed_system import closed_projection
from spart_blocks.dynamics.loops import loop_bias, loop_jacobian
from spart_blocks.robot import JointType, Robot

MODELS = Path(__file__).parents[1] / "models"
GRAVITY = [0.0, 0.0, -9.81]


@dataclass
class State:
    """A state on the loops, and forces at the joints."""

    qm: np.ndarray
    um: np.ndarray
    taum: np.ndarray


def states(robot: Robot, count: int) -> list[State]:
    rng, found = np.random.default_rng(0), []
    driven = [joint.type is not JointType.SPHERICAL for joint in robot.joints if joint.q_id > 0]
    for _ in range(count):
        start = robot.integrate(assemble(robot).qm, 0.1 * rng.normal(size=robot.nu))
        qm = assemble(robot, start).qm
        um = closed_projection(np.eye(3), np.zeros(6), qm, rng.normal(size=robot.nu), robot).um
        found.append(State(qm, um, np.where(driven, rng.normal(size=robot.nu), 0.0)))
    return found


# --- the peers --------------------------------------------------------------------------


class Ours:
    def __init__(self, robot: Robot) -> None:
        _, weights = gravity_wrenches(GRAVITY, robot)
        none = np.zeros(6)

        def rates(qm, um, taum):
            return closed_rates(np.eye(3), none, qm, um, none, taum, none, weights, robot).umdot

        self.function = sb.compiled(rates, robot.nq, robot.nu, robot.nu)

    def call(self, state: State) -> Callable[[], object]:
        return self.function.bound(state.qm, state.um, state.taum)

    def umdot(self, state: State) -> np.ndarray:
        return np.array(self.function(state.qm, state.um, state.taum))


def carriers(robot: Robot):
    """Of each moving body: joint entry, the link of its parent, T before it, and its links
    with their frames in the body's."""
    home, bodies = {0: (0, np.eye(4))}, []
    entries = {entry.joint_id: entry for entry in robot.layout}
    for joint, link in zip(robot.joints, robot.links, strict=True):
        body, T = home[joint.parent_link]
        T = T @ joint.T
        if joint.type is JointType.SPHERICAL and joint.id not in entries:
            home[joint.id] = (body, T)  # a row of a spherical joint: all are at one place
            continue
        if joint.type is not JointType.FIXED:
            bodies.append((entries[joint.id], joint, body, T, []))
            body, T = len(bodies), np.eye(4)
        T = T @ link.T
        home[link.id] = (body, T)
        if body:
            bodies[body - 1][4].append((link, T))
    return bodies, home


def depth_first(parents: list[int]) -> list[int]:
    """Bodies, from 1, each subtree in one piece: Pinocchio relies on it."""
    order, pending = [], [0]
    while pending:
        i = pending.pop()
        order.append(i)
        pending += [k for k, parent in enumerate(parents, start=1) if parent == i]
    return order[1:]


def se3(T):
    return pin.SE3(np.ascontiguousarray(T[:3, :3]), np.ascontiguousarray(T[:3, 3]))


class Pinocchio:
    def __init__(self, robot: Robot) -> None:
        self.robot, model = robot, pin.Model()
        bodies, home = carriers(robot)
        ids = {0: 0}
        for k in depth_first([parent for _, _, parent, *_ in bodies]):
            entry, joint, parent, T, links = bodies[k - 1]
            kind = {
                JointType.REVOLUTE: pin.JointModelRevoluteUnaligned,
                JointType.PRISMATIC: pin.JointModelPrismaticUnaligned,
            }.get(joint.type)
            what = kind(joint.axis) if kind else pin.JointModelSpherical()
            ids[k] = model.addJoint(ids[parent], what, se3(T), entry.name)
            for link, place in links:
                I = pin.Inertia(link.mass, np.zeros(3), np.array(link.inertia))
                model.appendBodyToJoint(ids[k], I, se3(place))
        model.gravity = pin.Motion(np.array([*GRAVITY, 0, 0, 0]))
        self.model, self.data = model, model.createData()
        self.loops, self.loop_data = (
            pin.StdVec_RigidConstraintModel(),
            pin.StdVec_RigidConstraintData(),
        )
        for loop in robot.loops:
            (a, Fa), (b, Fb) = home[loop.a], home[loop.b]
            made = pin.RigidConstraintModel(
                pin.ContactType.CONTACT_3D, model, ids[a], se3(Fa @ loop.Ta), ids[b],
                se3(Fb @ loop.Tb), pin.ReferenceFrame.LOCAL,
            )  # fmt: skip
            self.loops.append(made)
            self.loop_data.append(made.createData())
        pin.initConstraintDynamics(model, self.data, self.loops, self.loop_data)
        self.settings = pin.ProximalSettings(1e-12, 1e-12, 1)
        joints = [model.joints[ids[k + 1]] for k in range(len(bodies))]
        self.q = [slice(j.idx_q, j.idx_q + j.nq) for j in joints]
        self.v = [slice(j.idx_v, j.idx_v + j.nv) for j in joints]
        self.entries = [entry for entry, *_ in bodies]

    def call(self, state: State) -> Callable[[], object]:
        q, v, tau = pin.neutral(self.model), np.zeros(self.model.nv), np.zeros(self.model.nv)
        for entry, at_q, at_v in zip(self.entries, self.q, self.v, strict=True):
            q[at_q], v[at_v], tau[at_v] = (
                state.qm[entry.q], state.um[entry.u], state.taum[entry.u],
            )  # fmt: skip
        return lambda: pin.constraintDynamics(
            self.model, self.data, q, v, tau, self.loops, self.loop_data, self.settings
        )

    def umdot(self, state: State) -> np.ndarray:
        a, out = self.call(state)(), np.zeros(self.robot.nu)
        for entry, at_v in zip(self.entries, self.v, strict=True):
            out[entry.u] = a[at_v]
        return out


class MuJoCo:
    def __init__(self, robot: Robot) -> None:
        self.robot, spec = robot, mujoco.MjSpec()
        spec.option.gravity = GRAVITY
        spec.compiler.autolimits = False
        bodies, home = carriers(robot)
        made = [spec.worldbody]
        for entry, joint, parent, T, links in bodies:
            body = made[parent].add_body(name=f"of {entry.name}", pos=T[:3, 3], quat=wxyz(T))
            kind = {
                JointType.REVOLUTE: mujoco.mjtJoint.mjJNT_HINGE,
                JointType.PRISMATIC: mujoco.mjtJoint.mjJNT_SLIDE,
            }.get(joint.type, mujoco.mjtJoint.mjJNT_BALL)
            body.add_joint(name=entry.name, type=kind, axis=joint.axis)
            made.append(body)
            for link, place in links:
                if link.mass:
                    w, R = np.linalg.eigh(link.inertia)
                    R = R * np.linalg.det(R)
                    frame = place.copy()
                    frame[:3, :3] = place[:3, :3] @ R
                    body.mass, body.ipos, body.iquat = link.mass, place[:3, 3], wxyz(frame)
                    body.inertia, body.explicitinertial = w, True
        for loop in robot.loops:
            for side, link, T in (("a", loop.a, loop.Ta), ("b", loop.b, loop.Tb)):
                body, F = home[link]
                made[body].add_site(name=f"{loop.name}.{side}", pos=(F @ T)[:3, 3])
            spec.add_equality(
                name=loop.name, type=mujoco.mjtEq.mjEQ_CONNECT, objtype=mujoco.mjtObj.mjOBJ_SITE,
                name1=f"{loop.name}.a", name2=f"{loop.name}.b",
            )  # fmt: skip
        self.model = spec.compile()
        self.data = mujoco.MjData(self.model)
        self.entries = [entry for entry, *_ in bodies]

    def call(self, state: State) -> Callable[[], object]:
        data = self.data
        for entry in self.entries:
            joint = data.joint(entry.name)
            q = state.qm[entry.q]
            joint.qpos = [q[3], *q[:3]] if entry.spherical else q
            joint.qvel, joint.qfrc_applied = state.um[entry.u], state.taum[entry.u]
        return lambda: mujoco.mj_forward(self.model, data)

    def umdot(self, state: State) -> np.ndarray:
        self.call(state)()
        out = np.zeros(self.robot.nu)
        for entry in self.entries:
            out[entry.u] = self.data.joint(entry.name).qacc
        return out


def wxyz(T):
    q = np.zeros(4)
    mujoco.mju_mat2Quat(q, np.ascontiguousarray(T[:3, :3]).ravel())
    return q


# --- the comparison ---------------------------------------------------------------------


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--rounds", type=int, default=41)
    given, figures = parser.parse_args(), {}
    print(versions("casadi", "pin", "mujoco", "numpy"))
    robot = Robot.from_bodies(MODELS / "delta_robot.yaml")
    samples = states(robot, 20)
    peers = {"spart_blocks": Ours(robot), "pinocchio": Pinocchio(robot), "mujoco": MuJoCo(robot)}
    times = interleaved(
        {name: repeated(peer.call(samples[0])) for name, peer in peers.items()}, given.rounds, 0.02
    )
    print(
        f"delta robot: {robot.nu} rates, {len(loop_bias(samples[0].qm, samples[0].um, robot))} rows"
    )
    print(f"  {'':14}{'us a call':>10}{'ratio':>8}{'loop error':>13}{'to ours':>10}")
    for name, peer in peers.items():
        error, away = 0.0, 0.0
        for state in samples:
            got, ours = peer.umdot(state), peers["spart_blocks"].umdot(state)
            opens = loop_jacobian(state.qm, robot) @ got + loop_bias(state.qm, state.um, robot)
            error, away = max(error, np.abs(opens).max()), max(away, np.abs(got - ours).max())
        each = 1e6 * statistics.median(times[name])
        figures |= {f"{name} us": each, f"{name} loops m/s^2": error}
        figures[f"{name} ratio"] = ratio(times, "spart_blocks", name)
        print(
            f"  {name:14}{each:10.3f}{ratio(times, 'spart_blocks', name):8.2f}"
            f"{error:13.1e}{away:10.1e}"
        )
    if given.keep:
        keep(__file__, figures, "pin", "mujoco", "casadi")


if __name__ == "__main__":
    main()

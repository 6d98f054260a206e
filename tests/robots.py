"""Robots to test with: SPART's reference robots, random trees, and their Pinocchio twins."""

from __future__ import annotations

import json
import warnings
from dataclasses import dataclass, fields, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from spart_blocks import dynamics, spart
from spart_blocks.base.errors import SpartWarning
from spart_blocks.robot import BaseLink, Joint, JointType, Link, Robot
from spart_blocks.robot.link import Link as DHLink

ROOT = Path(__file__).parents[1]
GOLDEN = Path(__file__).parent / "golden"
SPART_FILES = (
    "spart_sc_3dof",
    "spart_kuka_iiwa",
    "spart_branched",
    "spart_dh_5dof",
    "spart_dh_prismatic",
    "spart_resolved_motion_4dof",
)


@cache
def golden(name: str) -> dict[str, Any]:
    """A reference file of tests/golden."""
    return json.loads((GOLDEN / f"{name}.json").read_text())


@cache
def golden_robot(name: str) -> Robot:
    """The robot of a reference file; some are doubtful on purpose, which is not at issue."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SpartWarning)
        return Robot.from_spart(golden(name)["robot"])


def hybrid_arm(name: str) -> tuple[Robot, dict[str, Any]]:
    """An arm of tests/golden/hybrid_joints.json, j2 and j5 prescribed, and its entry there."""
    case = golden("hybrid_joints")["models"][name]
    links = []
    for row, body in zip(case["dh"], case["links"], strict=True):
        link = DHLink([row["alpha"], row["a"], row["theta"], row["d"], row["type"] != "revolute"])
        link.offset, link.m, link.r = row["offset"], body["mass"], body["com"]
        link.I = np.array(body["inertia_com"])
        links.append(link)
    return Robot.from_links(links).with_kinematic(["j2", "j5"]), case


@dataclass(frozen=True)
class State:
    """What a dynamics function can ask for: configuration, rates, their rates, forces."""

    R0: Any
    r0: Any
    qm: Any
    u0: Any
    um: Any
    u0dot: Any
    umdot: Any
    tau0: Any
    taum: Any
    wF0: Any
    wFm: Any

    def arrays(self) -> dict[str, Any]:
        return {item.name: getattr(self, item.name) for item in fields(self)}

    def held(self) -> State:
        """The same with a base that does not move and carries no force of its own."""
        none = np.zeros(6)
        return replace(self, u0=none, u0dot=none, tau0=none, wF0=none)


def golden_state(case: dict[str, Any]) -> State:
    return State(**{f.name: np.array(case["inputs"][f.name], float) for f in fields(State)})


def golden_cases() -> list[tuple[str, int]]:
    """Every case of every SPART file, as (file, number)."""
    return [(name, i) for name in SPART_FILES for i in range(len(golden(name)["cases"]))]


# --- random trees -------------------------------------------------------------------


def random_transform(rng: np.random.Generator, reach: float = 0.6) -> Any:
    T = np.eye(4)
    T[:3, :3] = Rotation.random(random_state=rng).as_matrix()
    T[:3, 3] = rng.uniform(-reach, reach, 3)
    return T


def random_inertia(rng: np.random.Generator, mass: float) -> Any:
    """The inertia of four equal point masses: real, full, and in no special axes."""
    points = rng.uniform(-0.3, 0.3, (4, 3))
    points -= points.mean(axis=0)
    return sum(mass / 4 * (p @ p * np.eye(3) - np.outer(p, p)) for p in points)


def random_robot(seed: int, n: int, *, kinds: str = "rrrpf", chain: bool = False) -> Robot:
    """A random tree of n joints: r, p, f in `kinds` weigh revolute, prismatic, fixed.

    Branches nest, frames and inertias are rotated, ids of children are interleaved, some
    links that ride on a fixed joint are massless, and q_id does not follow the joint id.
    """
    rng = np.random.default_rng(seed)
    codes = {"r": JointType.REVOLUTE, "p": JointType.PRISMATIC, "f": JointType.FIXED}
    types = [codes[kinds[rng.integers(len(kinds))]] for _ in range(n)]
    active = [i for i in range(n) if types[i] is not JointType.FIXED]
    q_ids = dict(zip(active, rng.permutation(len(active)) + 1, strict=True))
    links, joints = [], []
    for i, kind in enumerate(types):
        parent = i if chain else int(rng.integers(max(0, i - 3), i + 1))
        axis = rng.normal(size=3)
        mass = float(rng.uniform(0.5, 3.0))
        if kind is JointType.FIXED and rng.random() < 0.4:
            mass = 0.0
        joints.append(
            Joint(
                i + 1,
                f"joint{i + 1}",
                kind,
                int(q_ids.get(i, -1)),
                parent,
                i + 1,
                axis / np.linalg.norm(axis),
                random_transform(rng),
            )
        )
        links.append(
            Link(
                i + 1,
                f"link{i + 1}",
                i + 1,
                random_transform(rng, 0.3),
                mass,
                random_inertia(rng, mass),
            )
        )
    base = BaseLink("base", random_transform(rng, 0.2), 8.0, random_inertia(rng, 8.0))
    return Robot(f"tree{seed}", tuple(links), tuple(joints), base)


def random_state(robot: Robot, seed: int) -> State:
    rng = np.random.default_rng([seed, 7])
    nu, n = robot.nu, robot.n_links_joints
    return State(
        R0=Rotation.random(random_state=rng).as_matrix(),
        r0=rng.normal(size=3),
        qm=robot.integrate(robot.neutral, rng.uniform(-2, 2, nu)),
        u0=rng.normal(size=6),
        um=rng.normal(size=nu),
        u0dot=rng.normal(size=6),
        umdot=rng.normal(size=nu),
        tau0=rng.normal(size=6),
        taum=rng.normal(size=nu),
        wF0=rng.normal(size=6),
        wFm=rng.normal(size=(n, 6)),
    )


def moved(state: State, h: float, robot: Robot | None = None) -> State:
    """The state a time h later along its rates, rates turning with u0dot and umdot. robot:
    needed where it has spherical joints."""
    way = h * state.um + h * h / 2 * state.umdot
    turn = Rotation.from_rotvec(h * state.u0[:3] + h * h / 2 * state.u0dot[:3]).as_matrix()
    return replace(
        state,
        R0=state.R0 @ turn,
        r0=state.r0 + h * state.u0[3:] + h * h / 2 * state.u0dot[3:],
        qm=robot.integrate(state.qm, way) if robot else state.qm + way,
        u0=state.u0 + h * state.u0dot,
        um=state.um + h * state.umdot,
    )


def rate(function: Any, h: float = 2e-3) -> Any:
    """d/dh of function(h) at 0: central differences of sixth order."""
    steps = ((1, 3 / 4), (2, -3 / 20), (3, 1 / 60))
    return (
        sum(w * (np.asarray(function(k * h)) - np.asarray(function(-k * h))) for k, w in steps) / h
    )


# --- every function at once -----------------------------------------------------------


def everything(robot: Robot, s: State, link: int = 0, rp_off: Any = None) -> dict[str, Any]:
    """Every SPART function at one state, through SPART's names, under SPART's output names."""
    K = spart.Kinematics(s.R0, s.r0, s.qm, robot)
    D = spart.DiffKinematics(s.R0, s.r0, K.rL, K.e, K.g, robot)
    V = spart.Velocities(D.Bij, D.Bi0, D.P0, D.pm, s.u0, s.um, robot)
    rp = K.rL[link - 1] if link else np.asarray(s.r0)
    rp = rp if rp_off is None else rp + rp_off
    J = spart.Jacob(rp, s.r0, K.rL, D.P0, D.pm, link, robot)
    tp = J.J0 @ s.u0 + J.Jm @ s.um
    J0dot, Jmdot = spart.Jacobdot(rp, tp, s.r0, V.t0, K.rL, V.tL, D.P0, D.pm, link, robot)
    A = spart.Accelerations(
        V.t0, V.tL, D.P0, D.pm, D.Bi0, D.Bij, s.u0, s.um, s.u0dot, s.umdot, robot
    )
    I = spart.I_I(s.R0, K.RL, robot)
    M = spart.MCB(I.I0, I.Im, D.Bij, D.Bi0, robot)
    H = spart.GIM(M.M0_tilde, M.Mm_tilde, D.Bij, D.Bi0, D.P0, D.pm, robot)
    C = spart.CIM(V.t0, V.tL, I.I0, I.Im, M.M0_tilde, M.Mm_tilde, D.Bij, D.Bi0, D.P0, D.pm, robot)
    fd = spart.FD(
        s.tau0, s.taum, s.wF0, s.wFm, V.t0, V.tL, D.P0, D.pm, I.I0, I.Im, D.Bij, D.Bi0,
        s.u0, s.um, robot,
    )  # fmt: skip
    inverse = spart.ID(
        s.wF0, s.wFm, V.t0, V.tL, A.t0dot, A.tLdot, D.P0, D.pm, I.I0, I.Im, D.Bij, D.Bi0, robot
    )
    floating = spart.Floating_ID(
        s.wF0, s.wFm, M.Mm_tilde, H.H0, V.t0, V.tL, D.P0, D.pm, I.I0, I.Im, D.Bij, D.Bi0,
        s.u0, s.um, s.umdot, robot,
    )  # fmt: skip
    return {
        **K._asdict(),
        **D._asdict(),
        **V._asdict(),
        "rp": rp,
        "J0p": J.J0,
        "Jmp": J.Jm,
        "tp": tp,
        "J0pdot": J0dot,
        "Jmpdot": Jmdot,
        **A._asdict(),
        "r_com": spart.Center_of_Mass(s.r0, K.rL, robot),
        "N": spart.NOC(s.r0, K.rL, D.P0, D.pm, robot),
        "Ndot": spart.NOCdot(s.r0, V.t0, K.rL, V.tL, D.P0, D.pm, robot),
        **I._asdict(),
        **M._asdict(),
        **H._asdict(),
        **C._asdict(),
        "u0dot_FD": fd.u0dot,
        "umdot_FD": fd.umdot,
        "tau0_ID": inverse.tau0,
        "taum_ID": inverse.taum,
        "taum_floating": floating.taum,
        "u0dot_floating": floating.u0dot,
    }


def bookkeeping(robot: Robot, s: State, gravity: Any) -> dict[str, Any]:
    """Momentum, energies, weights and the plant's rates at one state."""
    K = dynamics.kinematics(s.R0, s.r0, s.qm, robot)
    D = dynamics.diff_kinematics(s.R0, s.r0, K.rL, K.e, K.g, robot)
    V = dynamics.velocities(D.Bij, D.Bi0, D.P0, D.pm, s.u0, s.um, robot)
    I = dynamics.inertias(s.R0, K.RL, robot)
    p, h = dynamics.momentum(V.t0, V.tL, I.I0, I.Im, s.r0, K.rL, robot)
    weights = dynamics.gravity_wrenches(gravity, robot)
    rates = dynamics.multibody_rates(s.R0, s.u0, s.qm, s.um, s.tau0, s.taum, s.wF0, s.wFm, robot)
    forces = dynamics.multibody_forces(
        s.R0, s.u0, s.qm, s.um, s.u0dot, s.umdot, s.wF0, s.wFm, robot
    )
    H = dynamics.multibody_inertia(s.R0, s.qm, robot)
    held = dynamics.fixed_forward_dynamics(
        s.taum, s.wFm, V.tL, D.pm, I.Im, D.Bij, D.Bi0, s.um, robot
    )
    return {
        "p": p,
        "h": h,
        "kinetic": dynamics.kinetic_energy(V.t0, V.tL, I.I0, I.Im, robot),
        "potential": dynamics.potential_energy(s.r0, K.rL, gravity, robot),
        **weights._asdict(),
        **rates._asdict(),
        "tau0_needed": forces.tau0,
        "taum_needed": forces.taum,
        **H._asdict(),
        "umdot_fixed": held,
        "frame": dynamics.frame_of_link(robot.n_links_joints, s.R0, s.r0, K.RL, K.rL, robot),
    }


def by_complement(robot: Robot, s: State, out: dict[str, Any]) -> dict[str, Any]:
    """H and C by the natural orthogonal complement, from the outputs of `everything`."""
    I0, Im, N = out["I0"], out["Im"], out["N"]
    return {
        "H": spart.GIM_NOC(N, I0, Im, robot),
        "C": spart.CIM_NOC(N, out["Ndot"], out["t0"], out["tL"], I0, Im, robot),
    }


def whole(out: dict[str, Any]) -> tuple[Any, Any]:
    """H and C of `everything`, put together from their blocks."""
    H = np.block([[out["H0"], out["H0m"]], [out["H0m"].T, out["Hm"]]])
    C = np.block([[out["C0"], out["C0m"]], [out["Cm0"], out["Cm"]]])
    return H, C

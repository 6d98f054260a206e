"""Inertial parameters of the 7-joint arm from torques with 5 % noise.

An excitation trajectory is designed within the arm's ranges, rates and accelerations, from rest to
rest, that makes the determinant of the base parameters' information large: by `sb.optimize`, and as
its peer by a random search of Fourier series in each joint (J. Swevers et al., "Optimal Robot
Excitation and Identification", IEEE Trans. Robotics and Automation 13, 1997). Both are repeated for
the same time. Pinocchio gives the torques, noise of 5 % of each joint's root mean square is added,
and `sb.fit` starts from a robot whose masses, centres of mass and inertias are wrong by up to 30 %.

Told are the errors of the masses where these alone are searched, as bard has them (arXiv
2605.31481: 1.24 %), and of the base parameters where all 70 are, with the errors of the torques
of another motion.

Run: python benchmarks/fit_inertia.py [--seconds 300] [--rate 100] [--noise 0.05] [--seed 1]
         [--length 10] [--intervals 32] [--best]
"""

from __future__ import annotations

import argparse
import tempfile
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pinocchio as pin
from scipy.interpolate import PPoly

import spart_blocks as sb
from spart_blocks.fits.base_parameters import regrouped
from spart_blocks.fits.inertial import PLACES

MODEL = Path(__file__).parents[1] / "models" / "arm7.urdf"
HARMONICS, PERIOD = 5, 20.0  # of the series; its period [s]
REACH, SPEED, RISE = 0.9, 3.0, 12.0  # part of the joints' ranges, rad/s, rad/s^2
WRONG = 0.3
DIAGRAM = """
name: arm-torques
robots:
  arm: {urdf: arm.urdf, base: fixed}
blocks:
  motion: {type: DATA, file: motion.npz, signals: [q, qd, qdd]}
  weight: {type: GRAVITY, robot: arm}
  arm_torques: {type: INVERSE_DYNAMICS, robot: arm}
  torques: {type: SCOPE}
wires:
  - motion.q -> arm_torques.qm
  - motion.qd -> arm_torques.um
  - motion.qdd -> arm_torques.umdot
  - weight.wF0 -> arm_torques.wF0
  - weight.wFm -> arm_torques.wFm
  - arm_torques.taum -> torques
run: {T: 1}
"""


EXCITATION = """
name: arm-excitation
robots:
  arm: {urdf: arm.urdf, base: fixed}
blocks:
  jerk: {type: CONSTANT, value: [0, 0, 0, 0, 0, 0, 0]}
  qdd: {type: INTEGRATOR, x0: [0, 0, 0, 0, 0, 0, 0]}
  qd: {type: INTEGRATOR, x0: [0, 0, 0, 0, 0, 0, 0]}
  q: {type: INTEGRATOR, x0: [0, 0, 0, 0, 0, 0, 0]}
  weight: {type: GRAVITY, robot: arm}
  arm_torques: {type: INVERSE_DYNAMICS, robot: arm}
wires:
  - jerk -> qdd
  - qdd -> qd, arm_torques.umdot
  - qd -> q, arm_torques.um
  - q -> arm_torques.qm
  - weight.wF0 -> arm_torques.wF0
  - weight.wFm -> arm_torques.wFm
run: {T: 1}
"""
JERK, SMOOTH = 400.0, 1e-4  # rad/s^3; what its square counts beside the information
INSIDE = 0.86  # part of the limits at the points of the mesh, since motions leave them between
STEPS = 300  # of the search: further ones gain little
Motion = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray, np.ndarray]]
"""Positions, rates and accelerations (n, nu) at times (n,)."""


def series(c: np.ndarray, t: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Positions, rates and accelerations (n, nu) of coefficients (nu, 1 + 2 H) at t (n,)."""
    w = 2 * np.pi / PERIOD * np.arange(1, HARMONICS + 1)
    a, b = c[:, 1 : 1 + HARMONICS], c[:, 1 + HARMONICS :]
    s, k = np.sin(np.outer(w, t)), np.cos(np.outer(w, t))
    q = c[:, :1] + (a / w) @ s - (b / w) @ k
    return q.T, (a @ k + b @ s).T, ((b * w) @ k - (a * w) @ s).T


def scaled(c: np.ndarray, model: pin.Model, t: np.ndarray) -> np.ndarray:
    """The same series within ranges, rates and accelerations, about the middle of the ranges."""
    middle = 0.5 * (model.upperPositionLimit + model.lowerPositionLimit)
    half = REACH * 0.5 * (model.upperPositionLimit - model.lowerPositionLimit)
    q, u, a = (abs(one).max(axis=0) for one in series(np.column_stack([0 * c[:, 0], c[:, 1:]]), t))
    size = np.minimum.reduce([half / q, SPEED / u, RISE / a])
    return np.column_stack([middle, c[:, 1:] * size[:, None]])


def information(
    motion: Motion, model: pin.Model, t: np.ndarray, sd: np.ndarray | None = None
) -> float:
    """The logarithm of the determinant of the base parameters' information of a sample, with noise
    sd (nu,), by default relative to each joint's torque."""
    data = model.createData()
    rows = np.stack([np.array(pin.computeJointTorqueRegressor(model, data, *at))
                     for at in zip(*motion(t), strict=True)])  # fmt: skip
    tau = rows @ np.concatenate([one.toDynamicParameters() for one in model.inertias[1:]])
    sd = np.sqrt(np.mean(tau**2, axis=0)) if sd is None else sd
    rows = rows / sd[None, :, None] / np.sqrt(len(t))
    singular = np.linalg.svd(rows.reshape(-1, rows.shape[2]), compute_uv=False)
    return float(2 * np.log(singular[:BASE]).sum())


BASE = 43
"""Base parameters of an arm of seven revolute joints whose first stands upright (C. Gaz, F. Flacco,
A. De Luca, "Extracting feasible robot parameters from dynamic coefficients using nonlinear
optimization methods", ICRA 2016)."""


def designed(model: pin.Model, count: int, rng: np.random.Generator) -> np.ndarray:
    """The best of random series, and of random changes of it."""
    t = np.linspace(0, PERIOD, 100, endpoint=False)
    best = scaled(rng.normal(size=(model.nv, 1 + 2 * HARMONICS)), model, t)
    value = information(partial(series, best), model, t)
    for k in range(count):
        drawn = rng.normal(size=best.shape)
        near = best + 0.3 * drawn * np.std(best[:, 1:], axis=1, keepdims=True)
        trial = scaled(drawn if k < count // 3 else near, model, t)
        there = information(partial(series, trial), model, t)
        if there > value:
            best, value = trial, there
    return best


def optimal(
    model: pin.Model, rms: np.ndarray, noise: float, length: float, intervals: int
) -> Motion:
    """The motion of greatest information, of some length [s] and repeated. rms (nu,): the greatest
    root mean squares of torques, of which the noise is a fraction."""
    half = REACH * 0.5 * (model.upperPositionLimit - model.lowerPositionLimit)
    middle = 0.5 * (model.upperPositionLimit + model.lowerPositionLimit)
    effort = " + ".join(f"jerk[{k}]**2" for k in range(model.nv))
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "arm.urdf").write_text(MODEL.read_text())
        (Path(folder) / "arm.yaml").write_text(EXCITATION)
        found = sb.optimize(
            Path(folder) / "arm.yaml",
            maximize=f"information - {SMOOTH}*integral({effort})",
            information={
                "parameters": ["arm.inertial"],
                "signals": {"arm_torques.taum": noise * rms},
            },
            controls={"jerk": [-JERK, JERK]},
            T=length,
            path={
                "q": {"min": middle - half, "max": middle + half},
                "qd": {"min": -INSIDE * SPEED, "max": INSIDE * SPEED},
                "qdd": {"min": -INSIDE * RISE, "max": INSIDE * RISE},
            },
            end={"q": 0, "qd": 0, "qdd": 0},
            constraints={f"rms(arm_torques.taum[{k}])": {"max": one} for k, one in enumerate(rms)},
            mesh={"intervals": intervals, "refinements": 0, "tolerance": 0.05},
            iterations=STEPS,
        )
    print(f"{found.why}, {found.search.solved.steps} steps, information {found.expected.value:.2f}")
    jerk = PPoly(np.stack([np.diff(found["jerk"], axis=0) / np.diff(found.t)[:, None],
                           found["jerk"][:-1]]), found.t)  # fmt: skip
    ways = [jerk.antiderivative(k) for k in (3, 2, 1)]
    return lambda t: tuple(way(np.mod(t, length)) for way in ways)


def wrong(text: str, rng: np.random.Generator) -> str:
    """The URDF's text with all masses, centres of mass and inertias wrong."""
    from lxml import etree

    tree = etree.fromstring(text.encode())
    for inertial in tree.iter("inertial"):
        factor = 1 + WRONG * rng.uniform(-1, 1, size=3)
        for name, part in (("mass", factor[0]), ("inertia", factor[1])):
            for key, value in inertial.find(name).attrib.items():
                inertial.find(name).set(key, repr(float(float(value) * part)))
        xyz = np.array(inertial.find("origin").get("xyz").split(), float)
        moved = xyz + 0.02 * rng.uniform(-1, 1, size=3)
        inertial.find("origin").set("xyz", " ".join(map(repr, moved.tolist())))
    return etree.tostring(tree).decode()


@dataclass(frozen=True)
class Data:
    """Times (n,) [s], positions, rates and accelerations (n, nu), and measured torques (n, nu)."""

    t: np.ndarray
    motion: tuple[np.ndarray, np.ndarray, np.ndarray]
    tau: np.ndarray

    @staticmethod
    def of(model: pin.Model, motion_at: Motion, t: np.ndarray, noise: float, rng) -> Data:
        motion, data = motion_at(t), model.createData()
        tau = np.stack([pin.rnea(model, data, *at) for at in zip(*motion, strict=True)])
        sd = noise * np.sqrt(np.mean(tau**2, axis=0))
        return Data(t, motion, tau + sd * rng.normal(size=tau.shape))

    def save(self, path: Path) -> None:
        q, qd, qdd = self.motion
        if path.suffix == ".npz":
            np.savez(path, t=self.t, q=q, qd=qd, qdd=qdd, tau=self.tau)
            return
        names = [f"{name}[{k}]" for name in ("q", "qd", "qdd", "tau") for k in range(q.shape[1])]
        table = np.column_stack([self.t, q, qd, qdd, self.tau])
        np.savetxt(path, table, "%.6g", ",", header=",".join(["t", *names]), comments="")


def with_tool(model: pin.Model) -> pin.Model:
    """The arm with the tool of diagrams/fits/arm_tool.yaml."""
    turned = pin.Inertia(1.2, np.array([0.02, -0.01, 0.09]), np.diag([4e-3, 5e-3, 2e-3]))
    model.inertias[model.njoints - 1] = model.inertias[model.njoints - 1] + turned
    return model


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--seconds", type=float, default=300.0)
    options.add_argument("--rate", type=float, default=100.0, help="samples a second")
    options.add_argument("--noise", type=float, default=0.05)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--designs", type=int, default=300)
    options.add_argument("--length", type=float, default=10.0, help="of the optimum [s]")
    options.add_argument("--intervals", type=int, default=32, help="of its mesh")
    options.add_argument("--best", action="store_true", help="fit the optimum's data alone")
    options.add_argument("--tool", type=Path, help="save a period of the arm with a tool, and end")
    given = options.parse_args()
    rng = np.random.default_rng(given.seed)
    model = pin.buildModelFromUrdf(str(MODEL))
    begun = time.perf_counter()
    c = designed(model, given.designs, rng)
    fourier = partial(series, c)
    print(f"Fourier series designed in {time.perf_counter() - begun:.1f} s")
    if given.tool is not None:
        Data.of(with_tool(model), fourier, np.arange(250) * PERIOD / 250, given.noise, rng).save(
            given.tool
        )
        return
    t = np.arange(round(given.seconds * given.rate)) / given.rate
    rms = np.sqrt(np.mean(Data.of(model, fourier, t, 0.0, rng).tau ** 2, axis=0))
    begun = time.perf_counter()
    best = optimal(model, rms, given.noise, given.length, given.intervals)
    print(f"optimum designed in {time.perf_counter() - begun:.1f} s")
    compared(model, fourier, best, t, given.noise * rms, given.noise)
    other = partial(series, scaled(rng.normal(size=c.shape), model, t))
    unseen = Data.of(model, other, t[: len(t) // 3], 0.0, rng)
    ways = {"optimum": best} if given.best else {"Fourier series": fourier, "optimum": best}
    for name, motion in ways.items():
        print(f"--- {name}")
        draws = np.random.default_rng(given.seed + 1)
        with tempfile.TemporaryDirectory() as folder:
            fit(Path(folder), Data.of(model, motion, t, given.noise, draws), unseen, draws)


def compared(
    model: pin.Model, fourier: Motion, best: Motion, t: np.ndarray, sd: np.ndarray, noise: float
) -> None:
    """Print limits and information of both motions, for equal times."""
    some = t[:: max(1, len(t) // 6000)]
    for name, motion in (("Fourier series", fourier), ("optimum", best)):
        q, u, a = (abs(one).max() for one in motion(t))
        same, own = information(motion, model, some, sd), information(motion, model, some)
        own -= 2 * BASE * np.log(noise)
        print(f"{name}: at most {q:.2f} rad, {u:.2f} rad/s, {a:.2f} rad/s^2")
        print(f"  log det of a sample's information {same:.2f} with equal noise, {own:.2f} with "
              "relative noise")  # fmt: skip


def fit(folder: Path, data: Data, unseen: Data, rng: np.random.Generator) -> None:
    """Fit the masses alone, then all parameters, and print the errors."""
    (folder / "spart.toml").touch()
    (folder / "arm.yaml").write_text(DIAGRAM)
    data.save(folder / "motion.npz")
    unseen.save(folder / "unseen.npz")
    text, true = MODEL.read_text(), sb.Robot.from_urdf(MODEL)
    signals = {"arm_torques.taum": "tau"}
    measured = {"run": {"file": str(folder / "motion.npz"), "signals": signals}}

    (folder / "arm.urdf").write_text(text)
    masses = {f"arm.mass[{k}]": {"start": m * (1 + WRONG * rng.uniform(-1, 1)), "min": 0}
              for k, m in enumerate(true.matter[0]) if m > 0}  # fmt: skip
    begun = time.perf_counter()
    found = sb.fit(folder / "arm.yaml", masses, measured)
    off = 100 * abs(np.array([found[name] for name in masses]) / true.matter[0][1:] - 1)
    print(f"masses alone, {len(data.t)} samples, {time.perf_counter() - begun:.1f} s: errors in % "
          f"{np.round(off, 3).tolist()}, mean {off.mean():.3f}")  # fmt: skip

    (folder / "arm.urdf").write_text(wrong(text, rng))
    measured["unseen"] = {
        "file": str(folder / "unseen.npz"), "signals": signals, "hold_out": True,
        "set": {"motion.file": "unseen.npz"},
    }  # fmt: skip
    begun = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = sb.fit(folder / "arm.yaml", {"arm.inertial": None}, measured)
    print(f"all 70 parameters, {time.perf_counter() - begun:.1f} s, {found.why}")
    told(found, true)


def told(found: sb.Fit, true: sb.Robot) -> None:
    """Print the errors of base parameters, and of the torques of another motion."""
    space = found.found.problem.space
    mass, inertia = true.matter
    values = np.concatenate([[mass[k], *true.coms[k], *(inertia[k][at] for at in PLACES)]
                             for k in range(1, 8)])  # fmt: skip
    groups = regrouped(space, found.found.values, found.found.slopes)
    want, start = (groups.factors @ groups.ordered(space, one) for one in (values, space.start))
    got = np.array([one.value for one in found.statistics.base])
    sd = np.array([one.error for one in found.statistics.base])
    size = np.linalg.norm(want)
    off, first = (100 * np.linalg.norm(one - want) / size for one in (got, start))
    print(
        f"  {len(got)} base parameters: |error| / |all| {off:.3f} % (at the start {first:.1f} %); "
        f"mean square of errors in standard errors {np.mean(((got - want) / sd) ** 2):.2f}"
    )
    unseen = next(one for one in found.signals if one.hold_out)
    rms = np.sqrt(np.mean(unseen.errors**2, axis=0) / np.mean(unseen.measured**2, axis=0))
    print(f"  torques of another motion, errors in % of each joint's rms: "
          f"{np.round(100 * rms, 2).tolist()}")  # fmt: skip
    for one, true_value, error in zip(found.statistics.base, want, sd, strict=True):
        share = f"{100 * abs(one.value / true_value - 1):.2f} %" if abs(true_value) > error else ""
        print(f"  {one.name:10} {one.value: .6f} true {true_value: .6f} +- {error:.2g}  {share}")


if __name__ == "__main__":
    main()

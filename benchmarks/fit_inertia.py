"""Inertial parameters of the 7-joint arm from torques with 5 % noise.

An excitation trajectory is designed: a Fourier series in each joint (J. Swevers et al., "Optimal
Robot Excitation and Identification", IEEE Trans. Robotics and Automation 13, 1997), within the
arm's ranges and rates, that makes the determinant of the base parameters' information large.
Pinocchio gives the torques, noise of 5 % of each joint's root mean square is added, and `sb.fit`
starts from a robot whose masses, centres of mass and inertias are wrong by up to 30 %.

Told are the errors of the masses where these alone are searched, as bard has them (arXiv
2605.31481: 1.24 %), and of the base parameters where all 70 are; the number and the sums of
these by the rank and the columns of Pinocchio's regressor.

Run: python benchmarks/fit_inertia.py [--seconds 60] [--noise 0.05] [--seed 1] [--designs 300]
"""

from __future__ import annotations

import argparse
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import pinocchio as pin

import spart_blocks as sb
from spart_blocks.fits.base_parameters import regrouped

MODEL = Path(__file__).parents[1] / "models" / "arm7.urdf"
HARMONICS, PERIOD, RATE = 5, 20.0, 100  # of the series; its period [s]; samples a second
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


def information(c: np.ndarray, model: pin.Model, data: pin.Data, t: np.ndarray) -> float:
    """The logarithm of the determinant of the base parameters' information, with noise relative
    to each joint's torque."""
    q, u, a = series(c, t)
    rows = np.stack([np.array(pin.computeJointTorqueRegressor(model, data, *at))
                     for at in zip(q, u, a, strict=True)])  # fmt: skip
    tau = rows @ np.concatenate([one.toDynamicParameters() for one in model.inertias[1:]])
    rows = rows / np.sqrt(np.mean(tau**2, axis=0))[None, :, None]
    singular = np.linalg.svd(rows.reshape(-1, rows.shape[2]), compute_uv=False)
    return float(2 * np.log(singular[:BASE]).sum())


BASE = 43
"""Base parameters of an arm of seven revolute joints whose first stands upright (C. Gaz, F. Flacco,
A. De Luca, "Extracting feasible robot parameters from dynamic coefficients using nonlinear
optimization methods", ICRA 2016)."""


def designed(model: pin.Model, count: int, rng: np.random.Generator) -> np.ndarray:
    """The best of random series, and of random changes of it."""
    data, t = model.createData(), np.linspace(0, PERIOD, 100, endpoint=False)
    best = scaled(rng.normal(size=(model.nv, 1 + 2 * HARMONICS)), model, t)
    value = information(best, model, data, t)
    for k in range(count):
        drawn = rng.normal(size=best.shape)
        near = best + 0.3 * drawn * np.std(best[:, 1:], axis=1, keepdims=True)
        trial = scaled(drawn if k < count // 3 else near, model, t)
        there = information(trial, model, data, t)
        if there > value:
            best, value = trial, there
    return best


def wrong(robot: sb.Robot, text: str, rng: np.random.Generator) -> str:
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


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--seconds", type=float, default=60.0)
    options.add_argument("--noise", type=float, default=0.05)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--designs", type=int, default=300)
    given = options.parse_args()
    rng = np.random.default_rng(given.seed)
    model = pin.buildModelFromUrdf(str(MODEL))
    begun = time.perf_counter()
    c = designed(model, given.designs, rng)
    print(f"excitation designed in {time.perf_counter() - begun:.1f} s")
    t = np.arange(round(given.seconds * RATE)) / RATE
    q, u, a = series(c, t)
    data = model.createData()
    tau = np.stack([pin.rnea(model, data, *at) for at in zip(q, u, a, strict=True)])
    noise = given.noise * np.sqrt(np.mean(tau**2, axis=0))
    with tempfile.TemporaryDirectory() as folder:
        _fit(Path(folder), t, (q, u, a), tau + noise * rng.normal(size=tau.shape), rng, model)


def _fit(folder: Path, t, motion, tau, rng, model) -> None:
    (folder / "spart.toml").touch()
    (folder / "arm.yaml").write_text(DIAGRAM)
    np.savez(folder / "motion.npz", t=t, **dict(zip(("q", "qd", "qdd"), motion, strict=True)))
    np.savez(folder / "torques.npz", t=t, tau=tau)
    text, true = MODEL.read_text(), sb.Robot.from_urdf(MODEL)
    measured = {
        "run": {"file": str(folder / "torques.npz"), "signals": {"arm_torques.taum": "tau"}}
    }

    (folder / "arm.urdf").write_text(text)
    masses = {f"arm.mass[{k}]": {"start": m * (1 + WRONG * rng.uniform(-1, 1)), "min": 0}
              for k, m in enumerate(true.matter[0]) if m > 0}  # fmt: skip
    begun = time.perf_counter()
    found = sb.fit(folder / "arm.yaml", masses, measured)
    error = np.array([found[name] for name in masses]) / true.matter[0][1:] - 1
    print(
        f"masses alone, {len(t)} samples, {time.perf_counter() - begun:.1f} s: "
        f"errors at most {100 * abs(error).max():.3f} %, mean {100 * abs(error).mean():.3f} %"
    )

    (folder / "arm.urdf").write_text(wrong(true, text, rng))
    begun = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = sb.fit(folder / "arm.yaml", {"arm.inertial": None}, measured)
    spent = time.perf_counter() - begun
    space = found.found.problem.space
    mass, inertia = true.matter
    values = np.concatenate([[mass[k], *true.coms[k], *(inertia[k][at] for at in _SIX)]
                             for k in range(1, 8)])  # fmt: skip
    groups = regrouped(space, found.found.values, found.found.slopes)
    wanted = groups.factors @ groups.ordered(space, values)
    got = np.array([one.value for one in found.statistics.base])
    errors = np.array([one.error for one in found.statistics.base])
    start = groups.factors @ groups.ordered(space, space.start)
    print(f"all 70 parameters, {spent:.1f} s: {len(got)} base parameters, {found.why}")
    for name, one in (("start", start), ("estimate", got)):
        print(
            f"  {name}: |error| / |base parameters| "
            f"{100 * np.linalg.norm(one - wanted) / np.linalg.norm(wanted):.3f} %"
        )
    print(
        f"  mean square of errors in standard errors {np.mean(((got - wanted) / errors) ** 2):.2f}"
    )
    large = abs(wanted) > 0.05 * groups.sizes
    relative = abs(got - wanted) / abs(wanted)
    print(
        f"  of {large.sum()} base parameters above 5 % of their link's size: "
        f"median {100 * np.median(relative[large]):.2f} %, "
        f"largest {100 * relative[large].max():.1f} %"
    )
    for one, true_value, off in zip(found.statistics.base, wanted, relative, strict=True):
        print(
            f"  {one.name:10} {one.value: .6f} true {true_value: .6f} "
            f"error {100 * off:8.2f} %, standard error {one.error:.2g}"
        )


_SIX = ((0, 0), (1, 1), (2, 2), (0, 1), (1, 2), (2, 0))

if __name__ == "__main__":
    main()

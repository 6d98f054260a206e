"""Torques of the shipped 7-joint arm along a Fourier series in each joint, as they are measured."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin

import spart_blocks as sb
from spart_blocks.fits.base_parameters import regrouped
from spart_blocks.fits.inertial import PLACES

ARM = Path(__file__).parents[1] / "models" / "arm7.urdf"
DIAGRAM = """
name: arm-torques
robots:
  arm: {{urdf: arm.urdf, base: fixed}}
blocks:
  motion: {{type: DATA, file: motion.npz, signals: [q, qd, qdd]}}
  weight: {{type: GRAVITY, robot: arm, gravity: {gravity}}}
  needed: {{type: INVERSE_DYNAMICS, robot: arm}}
  torques: {{type: SCOPE}}
wires:
  - motion.q -> needed.qm
  - motion.qd -> needed.um
  - motion.qdd -> needed.umdot
  - weight.wF0 -> needed.wF0
  - weight.wFm -> needed.wFm
  - needed.taum -> torques
run: {{T: 1}}
"""
UPRIGHT, TILTED = (0, 0, -9.81), (3, -2, -9)
PERIOD, HARMONICS, SEED = 20.0, 5, 2  # [s]
RISE = 2.0
"""Size of the rates [rad/s]: accelerations that are seen beside gravity."""


def measured_arm(
    folder: Path,
    gravity: Any = UPRIGHT,
    noise: float = 0.0,
    factor: float = 1.0,
    t: Any = np.arange(400) / 20,  # noqa: B008
) -> tuple[Path, dict[str, Any], Any]:
    """A diagram's path in a folder, its measured experiment, and Pinocchio's regressor (n nu, 70)
    of at most 400 samples. noise: of the torques, relative to the root mean square of each.
    factor: of the masses in the diagram. t (n,) [s].
    """
    rng = np.random.default_rng(SEED)
    w = 2 * np.pi * np.arange(1, HARMONICS + 1) / PERIOD
    a, b = RISE / 2 * rng.normal(size=(2, 7, HARMONICS))
    sine, cosine = np.sin(np.outer(w, t)), np.cos(np.outer(w, t))
    q = ((a / w) @ sine - (b / w) @ cosine).T
    qd, qdd = (a @ cosine + b @ sine).T, ((b * w) @ cosine - (a * w) @ sine).T
    model = pin.buildModelFromUrdf(str(ARM))
    model.gravity.linear = np.array(gravity, float)
    data = model.createData()
    motion = list(zip(q, qd, qdd, strict=True))
    tau = np.stack([pin.rnea(model, data, *at) for at in motion])
    tau = tau + noise * np.sqrt(np.mean(tau**2, axis=0)) * rng.normal(size=tau.shape)
    rows = [pin.computeJointTorqueRegressor(model, data, *at).copy() for at in motion[:400]]
    np.savez(folder / "motion.npz", t=t, q=q, qd=qd, qdd=qdd)
    np.savez(folder / "torques.npz", t=t, tau=tau)
    text = ARM.read_text()
    for mass in ("4", "3", "2.7", "1.7", "1.8", "0.3"):
        text = text.replace(f'mass value="{mass}"', f'mass value="{float(mass) * factor!r}"')
    (folder / "arm.urdf").write_text(text)
    (folder / "spart.toml").touch()
    path = folder / "arm.yaml"
    path.write_text(DIAGRAM.format(gravity=list(gravity)))
    run = {"file": str(folder / "torques.npz"), "signals": {"needed.taum": "tau"}}
    return path, {"run": run}, np.concatenate(rows)


def true_values() -> Any:
    """The ten values of each link (7, 10) of the arm."""
    robot = sb.Robot.from_urdf(ARM)
    mass, inertia = robot.matter
    return np.array([[mass[k], *robot.coms[k], *(inertia[k][at] for at in PLACES)]
                     for k in range(1, 8)])  # fmt: skip


def true_base(found: sb.fits.estimate.Fit) -> Any:
    """The base parameters of the arm that a fit of all its links tells."""
    space, slopes = found.found.problem.space, found.found.slopes
    groups = regrouped(space, found.found.values, slopes)
    return groups.factors @ groups.ordered(space, true_values().ravel())

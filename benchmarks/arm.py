"""The loops of the 7-joint arm that the benchmarks run, with our plant or with Pinocchio's.

A joint controller, torque = KP (reference - qm) - KD um, without gravity. With a tick [s]
the torque is held between the ticks of a clock, else it is continuous.
"""

from __future__ import annotations

from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import numpy as np
import pinocchio as pin
from bdsim.components import ContinuousBlock
from bdsim.connect import Plug

import spart_blocks as sb

URDF = Path(__file__).parents[1] / "models" / "arm7.urdf"
AMPLITUDE = np.array([0.4, 0.5, 0.3, 0.6, 0.4, 0.5, 0.6])  # rad
GRAVITY = np.array([0, 0, -9.81])  # m/s^2
KP, KD = np.full(7, 60.0), np.array([20.0, 20, 12, 12, 4, 3, 1])  # N m/rad, N m s/rad
UNUSED = (
    "CONSTRAINT EQUALITY FRICTIONLOSS LIMIT CONTACT CLAMPCTRL WARMSTART SENSOR MIDPHASE "
    "NATIVECCD ISLAND AUTORESET"
)
"""What is disabled in MuJoCo."""
LIGHT = KD / 50  # N m s/rad: the arm still swings after 10 s


class PinocchioPlant(ContinuousBlock):  # type: ignore[misc]
    """The arm as bdsim's users write it: state [q, u], derivative by pinocchio.aba."""

    nin = 1
    nout = 2

    def __init__(self, q: np.ndarray, **blockargs: object) -> None:
        x0 = np.concatenate([q, np.zeros(7)])
        super().__init__(x0=x0, nin=1, nout=2, onames=["qm", "um"], **blockargs)
        self.model = pin.buildModelFromUrdf(str(URDF))
        self.model.gravity.setZero()
        self.data = self.model.createData()

    def output(self, t: float, u: list, x: np.ndarray) -> list:
        return [x[:7], x[7:]]

    def deriv(self, t: float, u: list, x: np.ndarray) -> np.ndarray:
        return np.concatenate([x[7:], pin.aba(self.model, self.data, x[:7], x[7:], u[0])])


def tracking(
    name: str,
    *,
    pinocchio: bool = False,
    tick: float | None = None,
    kp: np.ndarray = KP,
    kd: np.ndarray = KD,
    q: np.ndarray | None = None,
) -> object:
    """The arm follows a sine of AMPLITUDE and 0.25 Hz from rest at q, by default zero."""
    bd = sb.new_diagram(name)
    q = np.zeros(7) if q is None else q
    reference = bd.WAVEFORM(wave="sine", freq=0.25, amplitude=AMPLITUDE, name="reference")
    plant = PinocchioPlant(q, bd=bd, name="plant") if pinocchio else _multibody(bd, qm=q)
    position, rate = (0, 1) if pinocchio else (2, 4)
    gains = (np.diag(kp), np.diag(-kd))
    _control(bd, reference, Plug(plant, position), Plug(plant, rate), plant, gains, tick)
    return bd


def swinging(name: str) -> object:
    """Joint springs KP about AMPLITUDE and dampers LIGHT, under GRAVITY, from rest at zero."""
    bd = sb.new_diagram(name)
    plant, robot = _multibody(bd), sb.Robot.from_urdf(URDF, base="fixed")
    control = bd.JOINT_PD(kp=KP, kd=LIGHT, name="control")
    weight = bd.GRAVITY(robot, gravity=GRAVITY, name="weight")
    bd.connect(bd.CONSTANT(AMPLITUDE, name="target"), Plug(control, 0))
    bd.connect(Plug(plant, 2), Plug(control, 2))
    bd.connect(Plug(plant, 4), Plug(control, 3))
    bd.connect(control, Plug(plant, 0))
    bd.connect(Plug(weight, 1), Plug(plant, 1))
    return bd


def mujoco_model(step: float, *, motors: bool = False) -> object:
    """The arm in MuJoCo at its fastest, by RK4: no shapes, nothing enabled that it does not need.
    motors: with one at each joint."""
    import mujoco

    spec = mujoco.MjSpec.from_file(str(URDF))
    for shape in list(spec.geoms):
        spec.delete(shape)
    for joint in spec.joints if motors else ():
        motor = spec.add_actuator(name=joint.name, target=joint.name)
        motor.trntype = mujoco.mjtTrn.mjTRN_JOINT
    model = spec.compile()
    model.opt.integrator = mujoco.mjtIntegrator.mjINT_RK4
    model.opt.timestep = step
    for name in (*UNUSED.split(), *(() if motors else ("ACTUATION",))):
        model.opt.disableflags |= getattr(mujoco.mjtDisableBit, f"mjDSBL_{name}")
    return model


def _multibody(bd: object, **initial: np.ndarray) -> object:
    robot = sb.Robot.from_urdf(URDF, base="fixed")
    return bd.MULTIBODY(robot, initial=initial or None, name="plant")


def _control(
    bd: object,
    reference: object,
    position: Plug,
    rate: Plug,
    plant: object,
    gains: tuple[np.ndarray, np.ndarray],
    tick: float | None = None,
) -> None:
    error, damping = bd.SUM("+-", name="error"), bd.GAIN(gains[1], name="damping")
    stiffness, total = bd.GAIN(gains[0], name="stiffness"), bd.SUM("++", name="torque")
    bd.connect(reference, error[0])
    bd.connect(position, error[1])
    bd.connect(error, stiffness)
    bd.connect(rate, damping)
    bd.connect(stiffness, total[0])
    bd.connect(damping, total[1])
    if tick is not None:
        hold = bd.ZOH(bd.clock(tick, name="clock"), x0=np.zeros(7), name="hold")
        bd.connect(total, hold)
        total = hold
    bd.connect(total, Plug(plant, 0))


def run_bdsim(bd: object, T: float, rtol: float, atol: float) -> np.ndarray:
    """Run a compiled diagram with bdsim's own sim.run; the continuous states at T."""
    with redirect_stdout(StringIO()):
        out = bd.runtime.run(bd, T=T, solver_args={"rtol": rtol, "atol": atol})
    return out.x[-1]


def run_ours(bd: object, **options: object) -> tuple[float, np.ndarray]:
    """Run a diagram natively: the seconds its loop took, and the plant's state at the end."""
    results = sb.simulate(bd, engine="native", **options)
    return results.info["wall_time"], results.final_state.continuous["plant"]

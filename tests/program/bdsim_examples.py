"""The diagrams of bdsim's published examples, drawn anew.

Their structure and figures are those of P. Corke's bdsim (https://github.com/petercorke/bdsim,
folders examples and docs/notebooks). Scopes and animations, which only show signals, are left
out. Where an example's Python function branches on a signal or calls the math module, NumPy's
function stands here: that is what can be traced.

Not here:
  pwm.py, sine_adc.py, rlc_discrete_control_circuit.py  their blocks PWM and ADC are gone from
      bdsim 1.4
  rt1.py, rt2.py, rt_step.py, eg_tclab_rt.py, vision.py, opencv-test.py  hardware and cameras
  eg1.bd, viewsim.py, codegen/  the graphical editor, live views, and writing C++
  rvc4_*.py  in book_examples.py
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Example:
    """A diagram by the files that publish it. build(bd) fills an empty diagram; T [s].

    rtol: 1e-10, or less where signals switch at times that no solver is told, so that each
    engine's error there is above its tolerance. slow: bdsim's own run takes many seconds.
    """

    files: str
    build: Callable[[Any], object]
    T: float
    solver: str = "RK45"
    rtol: float = 1e-10
    slow: bool = False


EXAMPLES: dict[str, Example] = {}


def example(files: str, T: float, **options: Any) -> Callable[[Any], Any]:
    def register(build: Any) -> Any:
        EXAMPLES[build.__name__] = Example(files, build, T, **options)
        return build

    return register


def chain(bd: Any, *blocks: Any) -> None:
    """Connect each block to the next."""
    for one, other in pairwise(blocks):
        bd.connect(one, other)


# --- continuous time ---------------------------------------------------------------------------


@example("README.md", T=5)
def first_order(bd):
    chain(bd, bd.STEP(T=1), bd.LTI_SISO(1, [1, 1], name="plant"))


@example("eg1.py, docs/notebooks/getting-started.ipynb", T=5)
def proportional_loop(bd):
    error, plant = bd.SUM("+-"), bd.LTI_SISO(0.5, [2, 1], name="plant")
    bd.connect(bd.STEP(T=1, name="demand"), error[0])
    bd.connect(plant, error[1])
    chain(bd, error, bd.GAIN(10), plant)


@example("eg1a.py, docs/notebooks/advanced-topics.ipynb", T=5)
def loop_by_operators(bd):
    demand, plant = bd.STEP(T=1, name="demand"), bd.LTI_SISO(0.5, [2, 1], name="plant")
    plant[0] = 10 * (demand - plant)


@example("eg1b.py", T=5)
def loop_by_classes(bd):
    from bdsim.blocks import LTI_SISO, Gain, Step, Sum

    error, plant = Sum("+-", bd=bd, name="error"), LTI_SISO(0.5, [2, 1], bd=bd, name="plant")
    bd.connect(Step(T=1, bd=bd, name="demand"), error[0])
    bd.connect(plant, error[1])
    chain(bd, error, Gain(10, bd=bd, name="gain"), plant)


@example("pid.py", T=10)
def integral_loop(bd):
    plant, controller = bd.LTI_SISO(0.5, [2, 1], name="plant"), bd.PID(P=10, D=0, I=3, name="pid")
    bd.connect(bd.STEP(T=1), controller[1])
    bd.connect(plant, controller[0])
    bd.connect(controller, plant)


def three_structures(bd, kind, *clock):
    """Parallel, ideal and series PID of a ramp."""
    P, I, D = 5, 3, 2
    series = (P + np.sqrt(P**2 - 4 * I * D)) / 2
    ramp, zero = bd.RAMP(T=1), bd.CONSTANT(0.0)
    for structure, p, i, d in (
        ("parallel", P, I, D),
        ("ideal", P, I / P, I / P),
        ("series", series, I / series, D / series),
    ):
        pid = getattr(bd, kind)(*clock, P=p, I=i, D=d, structure=structure, name=structure)
        bd.connect(zero, pid[0])
        bd.connect(ramp, pid[1])


@example("test_pid.py", T=5)
def pid_structures(bd):
    three_structures(bd, "PID")


@example("test_integrator.py", T=5)
def integrator(bd):
    chain(bd, bd.STEP(T=1), bd.INTEGRATOR())


@example("deriv.py", T=10)
def derivative_of_sine(bd):
    chain(bd, bd.WAVEFORM("sine", freq=1, unit="rad/s"), bd.DERIV(0.1, y0=1))


@example("test_deriv1.py", T=5)
def derivative_of_ramp(bd):
    chain(bd, bd.RAMP(T=1), bd.DERIV(alpha=5, x0=0))


@example("test_deriv2.py", T=5)
def second_order_derivative(bd):
    chain(bd, bd.RAMP(T=1), bd.DERIV2(wn=5, zeta=0.7071))


@example("test_lti_tf.py", T=5)
def antenna(bd):
    error, plant = bd.SUM("+-"), bd.LTI_SISO(1, [10, 1, 0], name="G")
    bd.connect(bd.STEP(T=1), error[0])
    bd.connect(plant, error[1])
    chain(bd, error, bd.LTI_SISO([10, 1], [1, 1], name="D"), plant)


@example("discrete_vs_continuous.py", T=5)
def second_order(bd):
    chain(bd, bd.STEP(T=0), bd.LTI_SISO(1, [1, 2, 4]))


DAMPING = 0.3


@example("vanderpol.py", T=10)
def van_der_pol(bd):
    x, y = bd.INTEGRATOR(x0=1, name="x"), bd.INTEGRATOR(x0=1, name="y")
    rate = bd.FUNCTION(lambda x, y: -x + DAMPING * (1 - x**2) * y, nin=2)
    bd.connect(x, rate[0])
    bd.connect(y, x, rate[1])
    bd.connect(rate, y)


@example("vanderpol.py, its solver", T=6, solver="BDF")
def van_der_pol_by_operators(bd):
    x, y = bd.INTEGRATOR(x0=1, name="x"), bd.INTEGRATOR(x0=1, name="y")
    x[0] = y
    y[0] = -x + DAMPING * (1 - x**2) * y


@example("bouncing-ball.py, docs/notebooks/bouncing-ball.ipynb", T=5)
def bouncing_ball(bd):
    velocity, height = bd.INTEGRATOR(x0=0, name="velocity"), bd.INTEGRATOR(x0=10, name="height")

    def bounce(event, states):
        states[velocity] *= -0.8

    chain(bd, bd.CONSTANT(-9.81), velocity, height, bd.EVENT("-", bounce, name="ground"))


@example("cartpole.py", T=3)
def cart_and_pole(bd):
    cart, pole, length, g, friction = 1.0, 0.1, 0.5, -9.81, 10
    force = bd.STEP(1, name="on") - bd.STEP(1.2, name="off")
    speed, spin = bd.INTEGRATOR(name="speed"), bd.INTEGRATOR(name="spin")
    position, angle = bd.INTEGRATOR(name="position"), bd.INTEGRATOR(name="angle")
    cos, sin = bd.FUNCTION(lambda a: np.cos(a)), bd.FUNCTION(lambda a: np.sin(a))
    chain(bd, speed, position)
    chain(bd, spin, angle)
    bd.connect(angle, cos, sin)
    mass = cart + pole * sin**2
    push = force - friction * speed
    speed[0] = (push + pole * sin * (length * spin**2 + g * cos)) / mass
    swing = -push * cos - pole * length * spin**2 * cos * sin - (cart + pole) * g * sin
    spin[0] = swing / (length * mass)
    kinetic = 0.5 * (cart + pole) * speed**2 + 0.5 * pole * length**2 * spin**2
    coupling = pole * length * speed * spin * cos
    bd.connect(kinetic + coupling + (-pole * g * length) * cos, bd.NULL(1))


@example("subsys.py", T=5)
def subsystem_used_twice(bd):
    inner = bd.runtime.blockdiagram(name="square")
    ports, square, total = inner.INPORT(2), inner.FUNCTION(lambda x: x**2), inner.SUM("++")
    inner.connect(ports[0], square)
    inner.connect(square, total[0])
    inner.connect(ports[1], total[1])
    inner.connect(total, inner.OUTPORT(1))
    wave, one = bd.WAVEFORM("sine", 1, "Hz"), bd.CONSTANT(1)
    for name in ("first", "second"):
        block = bd.SUBSYSTEM(inner, name=name)
        bd.connect(wave, block[0])
        bd.connect(one, block[1])


@example("eg2.py, subsys1.py", T=1)
def subsystem_of_one_function(bd):
    inner = bd.runtime.blockdiagram(name="same")
    chain(inner, inner.INPORT(1), inner.FUNCTION(lambda x: x), inner.OUTPORT(1))
    chain(bd, bd.CONSTANT(1), bd.SUBSYSTEM(inner, name="same"), bd.NULL(1))


@example("waveform.py", T=4)
def waveforms(bd):
    bd.connect(bd.WAVEFORM(wave="triangle", freq=1, phase=0.25), bd.NULL(1))
    bd.connect(bd.WAVEFORM(wave="square", freq=1, min=0, max=1), bd.NULL(1))


# --- sampled and hybrid ------------------------------------------------------------------------


@example("eg1_zoh.py", T=5)
def held_loop(bd, rate=10):
    error, plant = bd.SUM("+-"), bd.LTI_SISO(0.5, [2, 1], name="plant")
    bd.connect(bd.STEP(T=1, name="demand"), error[0])
    bd.connect(plant, error[1])
    chain(bd, error, bd.GAIN(10), bd.ZOH(clock=bd.clock(rate, "Hz"), name="hold"), plant)


@example("docs/notebooks/discrete-time+hybrid.ipynb, the hybrid one", T=5)
def slowly_held_loop(bd):
    held_loop(bd, rate=5)


@example("docs/notebooks/discrete-time+hybrid.ipynb, the sampled one", T=5)
def sampled_loop(bd):
    clock = bd.clock(10, "Hz")
    error, plant = bd.SUM("+-"), bd.LTI_SISO_S(clock, 0.02439, [1, -0.9512], name="plant")
    bd.connect(bd.STEP(T=1, name="demand"), error[0])
    bd.connect(plant, error[1])
    chain(bd, error, bd.GAIN(10), plant)


@example("test_lti_tf_s.py", T=5)
def sampled_antenna(bd):
    clock, error = bd.clock(5, "Hz"), bd.SUM("+-")
    plant = bd.LTI_SISO_S(clock, [0.00199, (1, 0.9934)], [(1, -1), (1, -0.9802)], name="G")
    bd.connect(bd.STEP(T=1), error[0])
    bd.connect(plant, error[1])
    chain(bd, error, bd.LTI_SISO_S(clock, [9.15, (1, -0.9802)], [1, -0.8187], name="D"), plant)


@example("sine+sampler.py", T=5)
def sampler(bd):
    chain(bd, bd.WAVEFORM("sine", freq=0.2, unit="Hz"), bd.ZOH(bd.clock(50, "Hz")), bd.NULL(1))


@example("sine+sampler2.py", T=5)
def two_samplers(bd):
    wave = bd.WAVEFORM("sine", freq=0.2, unit="Hz")
    bd.connect(wave, bd.ZOH(bd.clock(5, "Hz")), bd.ZOH(bd.clock(10, "Hz")))


@example("multi-clock.py", T=5)
def two_clocks_meet(bd):
    wave = bd.WAVEFORM("sine", freq=0.2, unit="Hz")
    one, other = bd.ZOH(bd.clock(2, "Hz")), bd.ZOH(bd.clock(3, "Hz"))
    bd.connect(wave, one, other)
    bd.connect(0.5 * (one + other), bd.NULL(1))


@example("discrete-integrator.py", T=5)
def summed_step(bd):
    chain(bd, bd.STEP(1), bd.DINTEGRATOR(x0=0, clock=bd.clock(50, "Hz")))


@example("test_integrator_s.py", T=5)
def sampled_integrator(bd):
    chain(bd, bd.STEP(T=1), bd.INTEGRATOR_S(bd.clock(10, "Hz"), gain=2, x0=0))


@example("test_deriv_s.py", T=5)
def sampled_derivative(bd):
    chain(bd, bd.RAMP(T=1), bd.DERIV_S(bd.clock(10, "Hz"), gain=2, x0=0), bd.NULL(1))


@example("test_pid_s.py", T=5)
def sampled_pid_structures(bd):
    three_structures(bd, "PID_S", bd.clock(10, "Hz"))


def drive_of(u):
    """Magnitude and sign."""
    return [abs(u), 2.0 * (u >= 0) - 1.0]


@example("motor_control.py", T=5)
def motor_without_plant(bd):
    pid = bd.PID_S(bd.clock(100, "Hz"), P=1.0, I=0.5, D=0.0, name="pid")
    bd.connect(bd.CONSTANT(0.0, name="encoder"), pid[0])
    bd.connect(bd.WAVEFORM(wave="triangle", min=0, max=2000, freq=0.5, name="demand"), pid[1])
    bd.connect(pid, bd.FUNCTION(drive_of, nin=1, nout=2, name="drive"))


@example("codegen/motor_control2.py, simulated", T=0.3, rtol=1e-13, slow=True)
def motor_speed(bd):
    motor = bd.INTEGRATOR(x0=0.0, gain=100.0, name="plant")
    pid = bd.PID_S(bd.clock(100, "Hz"), P=0.2, I=0.0, D=0.1, name="pid")
    drive, product = bd.FUNCTION(drive_of, nin=1, nout=2, name="drive"), bd.PROD("**")
    bd.connect(motor, pid[0])
    bd.connect(bd.WAVEFORM(wave="triangle", min=0, max=2000, freq=0.5, name="demand"), pid[1])
    chain(bd, pid, bd.CLIP(-40, 40), drive)
    bd.connect(drive[0], product[0])
    bd.connect(drive[1], product[1])
    bd.connect(product, motor)

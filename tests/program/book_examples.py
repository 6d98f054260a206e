"""The diagrams of "Robotics, Vision & Control", drawn anew.

Their structure and figures are those of P. Corke's book (Springer 2017 and 2023), as published
in https://github.com/petercorke/bdsim (examples/rvc4_*.py and examples/RVC2) and in
https://github.com/petercorke/RVC3-python (RVC3/models). Their vehicle is roboticstoolbox's
BICYCLE: its equations stand here as a FUNCTION and an INTEGRATOR.

Not here:
  quadrotor, IBVS-*, RRMC, jointspace, computed-torque, opspace, feedforward, zerotorque
      blocks of roboticstoolbox (multirotors, robots, cameras)
  rvc4_8, drivepursuit  the point to pursue is searched in an array, which cannot be traced
"""

from __future__ import annotations

import numpy as np
from bdsim_examples import chain, example

PI = np.pi

# --- vehicles ----------------------------------------------------------------------------------


def vehicle(bd, x0, speed_limit=np.inf):
    """(inputs, pose): a bicycle of wheel base 1, its steering within 0.45 pi.

    Inputs are the speed and the steering angle; the pose is (x, y, heading).
    """

    def rates(speed, steering, pose):
        v = np.clip(speed, -speed_limit, speed_limit)
        turn = v * np.tan(np.clip(steering, -0.45 * PI, 0.45 * PI))
        return np.array([v * np.cos(pose[2]), v * np.sin(pose[2]), turn])

    inputs = bd.FUNCTION(rates, nin=3, name="rates")
    pose = bd.INTEGRATOR(x0=x0, name="vehicle")
    chain(bd, inputs, pose)
    bd.connect(pose, inputs[2])
    return inputs, pose


@example("rvc4_2.py, RVC3 lanechange.py", T=10)
def lane_change(bd):
    inputs, _ = vehicle(bd, [0, 0, 0])
    steering = bd.PIECEWISE((0, 0), (3, 0.5), (4, 0), (5, -0.5), (6, 0), name="steering")
    bd.connect(bd.CONSTANT(1, name="speed"), inputs[0])
    bd.connect(steering, inputs[1])


@example("rvc4_4.py, RVC3 drivepoint.py", T=10)
def drive_to_a_point(bd):
    inputs, pose = vehicle(bd, [5, 2, 0])
    error, turn = bd.SUM("+-", name="error"), bd.SUM("+-", mode="c", name="turn")
    away = bd.FUNCTION(lambda d: np.sqrt(d[0] ** 2 + d[1] ** 2))
    towards = bd.FUNCTION(lambda d: np.arctan2(d[1], d[0]))
    place, heading = bd.INDEX([0, 1]), bd.INDEX([2])
    bd.connect(pose, place, heading)
    bd.connect(bd.CONSTANT([5, 5], name="goal"), error[0])
    bd.connect(place, error[1])
    bd.connect(error, away, towards)
    chain(bd, away, bd.GAIN(0.5), inputs[0])
    bd.connect(towards, turn[0])
    bd.connect(heading, turn[1])
    chain(bd, turn, bd.GAIN(4), inputs[1])


@example("rvc4_6.py, RVC3 driveline.py", T=20)
def drive_along_a_line(bd):
    a, b, c = 1, -2, 4
    inputs, pose = vehicle(bd, [5, 2, 0])
    off = bd.FUNCTION(lambda p: (a * p[0] + b * p[1] + c) / np.hypot(a, b))
    turn, steer = bd.SUM("+-", mode="c", name="turn"), bd.SUM("+-", name="steer")
    heading = bd.INDEX([2])
    bd.connect(pose, off, heading)
    bd.connect(bd.CONSTANT(0.5, name="speed"), inputs[0])
    bd.connect(bd.CONSTANT(np.arctan2(-a, b), name="slope"), turn[0])
    bd.connect(heading, turn[1])
    chain(bd, turn, bd.GAIN(1), steer[0])
    chain(bd, off, bd.GAIN(0.5), steer[1])
    bd.connect(steer, inputs[1])


@example("rvc4_11.py, RVC3 driveconfig.py", T=10)
def drive_to_a_pose(bd):
    """Forwards: the published function chooses so at the start, and remembers it."""
    goal = [5, 5, PI / 2]
    inputs, pose = vehicle(bd, [5, 2, 0])

    def polar(d):
        bearing = -np.arctan2(-d[1], -d[0])
        return [
            np.sqrt(d[0] ** 2 + d[1] ** 2),
            np.clip(-d[2] - bearing, -PI / 2, PI / 2),
            bearing,
        ]

    error, to_polar = bd.SUM("+-", name="error"), bd.FUNCTION(polar, nout=3, name="polar")
    speed, heading, turn = bd.FUNCTION(lambda v: abs(v)), bd.SUM("++"), bd.SUM("++")
    ratio, near = bd.PROD("*/", name="ratio"), bd.STOP(lambda rho: rho < 0.01, name="near")
    bd.connect(pose, error[0])
    bd.connect(bd.CONSTANT([*goal[:2], 0]), error[1])
    bd.connect(error, to_polar)
    bd.connect(to_polar[0], near)
    chain(bd, to_polar[0], bd.GAIN(1, name="Krho"), speed)
    bd.connect(speed, inputs[0], ratio[1])
    chain(bd, to_polar[1], bd.GAIN(5, name="Kalpha"), turn[0])
    bd.connect(to_polar[2], heading[0])
    bd.connect(bd.CONSTANT(goal[2], name="goal heading"), heading[1])
    chain(bd, heading, bd.GAIN(-2, name="Kbeta"), turn[1])
    chain(bd, turn, ratio[0])
    chain(bd, ratio, bd.FUNCTION(lambda r: np.arctan(r)), inputs[1])


@example("RVC3 braitenberg.py", T=20)
def braitenberg(bd):
    inputs, pose = vehicle(bd, [5, 5, 0], speed_limit=1)

    def sensor(side):
        def light(pose):
            x = pose[0] - side * np.sin(pose[2])
            y = pose[1] + side * np.cos(pose[2])
            return 200 / ((x - 60) ** 2 + (y - 90) ** 2 + 200)

        return bd.FUNCTION(light)

    left, right = sensor(-2), sensor(2)
    speed, turn = bd.SUM("+--", name="speed"), bd.SUM("+-", name="turn")
    bd.connect(pose, left, right)
    bd.connect(bd.CONSTANT(2), speed[0])
    bd.connect(right, speed[1], turn[0])
    bd.connect(left, speed[2], turn[1])
    chain(bd, speed, bd.GAIN(50), inputs[0])
    chain(bd, turn, bd.GAIN(5), inputs[1])


# --- drives ------------------------------------------------------------------------------------

GEAR = 107.815


def velocity_loop(bd):
    """Inputs: demanded speed, disturbance torque, feed-forward torque. Outputs: speed, its
    error, motor torque, integral. Figure 9.7."""
    Kv, Ki, Km, J, B, limit = 0.6, 0, 0.228, 580e-6, 817e-6, 0.9
    inner = bd.runtime.blockdiagram(name="velocity loop")
    ports, out = inner.INPORT(3, name="in"), inner.OUTPORT(4, name="out")
    error, control = inner.SUM("+-", name="error"), inner.SUM("++", name="control")
    total, torque = inner.SUM("++", name="total"), inner.SUM("-+", name="torque")
    integral, Ki = inner.INTEGRATOR(x0=0, name="integral"), inner.GAIN(Ki, name="Ki")
    motor, clip = inner.LTI_SISO(1, [J, B], name="motor"), inner.CLIP(min=-limit, max=limit)
    inner.connect(ports[0], error[0])
    inner.connect(motor, error[1], out[0])
    inner.connect(error, out[1], integral)
    chain(inner, error, inner.GAIN(Kv, name="Kv"), control[0])
    chain(inner, integral, Ki, control[1])
    inner.connect(Ki, out[3])
    inner.connect(control, total[0])
    chain(inner, ports[2], inner.GAIN(1 / Km, name="Kff"), total[1])
    chain(inner, total, inner.GAIN(Km, name="Km"), clip, torque[1])
    inner.connect(clip, out[2])
    inner.connect(ports[1], torque[0])
    inner.connect(torque, motor)
    return inner


@example("RVC3 vloop.py, vloop_test.py", T=1, rtol=1e-12)
def velocity_control(bd):
    times, speeds = (0, 0.1, 0.3, 0.4, 0.6, 1), (0, 0, 50, 50, 0, 0)
    loop = bd.SUBSYSTEM(velocity_loop(bd), name="loop")
    bd.connect(bd.INTERPOLATE(x=times, y=speeds, time=True, name="demand"), loop[0])
    bd.connect(bd.CONSTANT(0, name="disturbance"), loop[1])
    bd.connect(bd.CONSTANT(0, name="feedforward"), loop[2])


@example("RVC3 ploop.py, ploop_test.py", T=1)
def position_control(bd):
    """Along the quintic from 0 to 1 rad in 1 s; a subsystem within a subsystem."""
    inner = bd.runtime.blockdiagram(name="position loop")
    ports, out = inner.INPORT(3, name="in"), inner.OUTPORT(2, name="out")
    error, speed = inner.SUM("+-", name="error"), inner.SUM("++", name="speed")
    angle, loop = inner.INTEGRATOR(name="angle"), inner.SUBSYSTEM(velocity_loop(bd), name="loop")
    inner.connect(ports[0], error[0])
    inner.connect(angle, error[1], out[0])
    inner.connect(error, out[1])
    chain(inner, error, inner.GAIN(4000.0, name="Kp"), speed[0])
    chain(inner, ports[1], inner.GAIN(0.0, name="Kff"), speed[1])
    inner.connect(speed, loop[0])
    inner.connect(ports[2], loop[1])
    inner.connect(inner.CONSTANT(0, name="feedforward"), loop[2])
    chain(inner, loop[0], inner.GAIN(1 / GEAR, name="gearbox"), angle)

    def quintic(t):
        return [
            6 * t**5 - 15 * t**4 + 10 * t**3,
            30 * t**4 - 60 * t**3 + 30 * t**2,
            120 * t**3 - 180 * t**2 + 60 * t,
        ]

    path = bd.FUNCTION(quintic, nout=3, name="path")
    position = bd.SUBSYSTEM(inner, name="position")
    chain(bd, bd.TIME(), path)
    bd.connect(path[0], position[0])
    bd.connect(path[1], position[1])
    bd.connect(bd.CONSTANT(20 / GEAR, name="disturbance"), position[2])


@example("RVC3 SEA.py", T=3, rtol=1e-12)
def series_elastic_actuator(bd):
    """A mass drives another by a spring; an obstacle stops that one at 0.8 m."""
    motor_mass, load_mass, stiffness, limit = 0.5, 1, 5, 2
    regulator = np.array([[169.9563], [62.9010], [-19.9563], [71.1092]])
    error, state = bd.SUM("+-", name="error"), bd.MUX(4, name="state")
    push, stretch = bd.SUM("+-", name="push"), bd.SUM("+-", name="stretch")
    speed, position = bd.INTEGRATOR(name="speed"), bd.INTEGRATOR(name="position")
    load_speed, load_position = bd.INTEGRATOR(name="load speed"), bd.INTEGRATOR(name="load")
    free, moves = bd.FUNCTION(lambda x: 1.0 * (x < 0.8)), bd.PROD("**", name="moves")
    spring = bd.GAIN(stiffness, name="spring")
    chain(bd, bd.STEP(1), bd.GAIN(np.array([1.0, 0, 1, 0]), name="demand"), error[0])
    bd.connect(state, error[1])
    chain(bd, error, bd.GAIN(regulator, name="lqr"), bd.CLIP(-limit, limit), push[0])
    chain(bd, push, bd.GAIN(1 / motor_mass), speed)
    bd.connect(speed, position, state[1])
    bd.connect(position, stretch[0], state[0])
    bd.connect(load_position, stretch[1], free, state[2])
    chain(bd, stretch, spring, push[1])
    chain(bd, spring, bd.GAIN(1 / load_mass), load_speed, moves[0])
    bd.connect(free, moves[1])
    bd.connect(moves, load_position, state[3])

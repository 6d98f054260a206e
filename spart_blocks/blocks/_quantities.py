"""SPART's quantities as ports: one table of shapes and units for every robot block."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from spart_blocks.blocks._ports import Port, Shape, port_arguments
from spart_blocks.dynamics import joint_effects
from spart_blocks.errors import Fault, InputError, did_you_mean
from spart_blocks.robot import Robot
from spart_blocks.robot.parts import JointType

_TWIST, _TWIST_RATE, _WRENCH = "rad/s, m/s", "rad/s^2, m/s^2", "N m, N"

# name: shape from (n links, nq, nu), unit
QUANTITIES: dict[str, tuple[Callable[[int, int, int], Shape], str]] = {
    "R0": (lambda n, nq, nu: (3, 3), ""),
    "r0": (lambda n, nq, nu: (3,), "m"),
    "qm": (lambda n, nq, nu: (nq,), "rad, m"),
    "u0": (lambda n, nq, nu: (6,), _TWIST),
    "um": (lambda n, nq, nu: (nu,), "rad/s, m/s"),
    "u0dot": (lambda n, nq, nu: (6,), _TWIST_RATE),
    "umdot": (lambda n, nq, nu: (nu,), "rad/s^2, m/s^2"),
    "tau0": (lambda n, nq, nu: (6,), _WRENCH),
    "taum": (lambda n, nq, nu: (nu,), "N m, N"),
    "wF0": (lambda n, nq, nu: (6,), _WRENCH),
    "wFm": (lambda n, nq, nu: (n, 6), _WRENCH),
    "RJ": (lambda n, nq, nu: (n, 3, 3), ""),
    "RL": (lambda n, nq, nu: (n, 3, 3), ""),
    "rJ": (lambda n, nq, nu: (n, 3), "m"),
    "rL": (lambda n, nq, nu: (n, 3), "m"),
    "e": (lambda n, nq, nu: (n, 3), ""),
    "g": (lambda n, nq, nu: (n, 3), "m"),
    "Bij": (lambda n, nq, nu: (n, n, 6, 6), ""),
    "Bi0": (lambda n, nq, nu: (n, 6, 6), ""),
    "P0": (lambda n, nq, nu: (6, 6), ""),
    "pm": (lambda n, nq, nu: (n, 6), ""),
    "t0": (lambda n, nq, nu: (6,), _TWIST),
    "tL": (lambda n, nq, nu: (n, 6), _TWIST),
    "t0dot": (lambda n, nq, nu: (6,), _TWIST_RATE),
    "tLdot": (lambda n, nq, nu: (n, 6), _TWIST_RATE),
    "rp": (lambda n, nq, nu: (3,), "m"),
    "tp": (lambda n, nq, nu: (6,), _TWIST),
    "r_com": (lambda n, nq, nu: (3,), "m"),
    "J0": (lambda n, nq, nu: (6, 6), ""),
    "Jm": (lambda n, nq, nu: (6, nu), ""),
    "J0dot": (lambda n, nq, nu: (6, 6), ""),
    "Jmdot": (lambda n, nq, nu: (6, nu), ""),
    "N": (lambda n, nq, nu: (6 + 6 * n, 6 + nu), ""),
    "Ndot": (lambda n, nq, nu: (6 + 6 * n, 6 + nu), ""),
    "I0": (lambda n, nq, nu: (3, 3), "kg m^2"),
    "Im": (lambda n, nq, nu: (n, 3, 3), "kg m^2"),
    "M0_tilde": (lambda n, nq, nu: (6, 6), "kg m^2, kg m, kg"),
    "Mm_tilde": (lambda n, nq, nu: (n, 6, 6), "kg m^2, kg m, kg"),
    "H0": (lambda n, nq, nu: (6, 6), "kg m^2, kg m, kg"),
    "H0m": (lambda n, nq, nu: (6, nu), "kg m^2, kg m, kg"),
    "Hm": (lambda n, nq, nu: (nu, nu), "kg m^2, kg m, kg"),
    "H": (lambda n, nq, nu: (6 + nu, 6 + nu), "kg m^2, kg m, kg"),
    "C": (lambda n, nq, nu: (6 + nu, 6 + nu), ""),
    "C0": (lambda n, nq, nu: (6, 6), ""),
    "C0m": (lambda n, nq, nu: (6, nu), ""),
    "Cm0": (lambda n, nq, nu: (nu, 6), ""),
    "Cm": (lambda n, nq, nu: (nu, nu), ""),
    "reaction": (lambda n, nq, nu: (6,), _WRENCH),
    "p": (lambda n, nq, nu: (3,), "kg m/s"),
    "h": (lambda n, nq, nu: (3,), "N m s"),
    "energy": (lambda n, nq, nu: (), "J"),
    "work": (lambda n, nq, nu: (), "J"),
    "p_balance": (lambda n, nq, nu: (3,), "kg m/s"),
    "h_balance": (lambda n, nq, nu: (3,), "N m s"),
    "energy_balance": (lambda n, nq, nu: (), "J"),
}

OF_JOINTS = ("qm", "um", "umdot", "taum")
"""Quantities with an entry for each joint."""


def ports(robot: Robot, names: str) -> tuple[Port, ...]:
    """Ports for the named quantities of a robot; a trailing `?` makes an input optional."""
    return tuple(_port(robot, name) for name in names.split())


def _port(robot: Robot, name: str) -> Port:
    optional, name = name.endswith("?"), name.removesuffix("?")
    shape, unit = QUANTITIES[name]
    unit = joint_unit(robot, unit) if name in OF_JOINTS else unit
    return Port(name, shape(robot.n_links_joints, robot.nq, robot.nu), unit, optional)


def joint_unit(robot: Robot, unit: str) -> str:
    """Of a unit for those that turn and one for those that slide, "rad, m", the one that all
    joints of a robot have, or both."""
    moving = {joint.type for joint in robot.joints} - {JointType.FIXED}
    turning, sliding = unit.split(", ")
    if JointType.PRISMATIC not in moving:
        return turning
    return sliding if moving == {JointType.PRISMATIC} else unit


def prescribed_ports(robot: Robot) -> tuple[Port, ...]:
    """The input for the accelerations of prescribed joints, where a robot has any."""
    width = len(robot.kinematic)
    unit = joint_unit(robot, "rad/s^2, m/s^2")
    return (Port("umdot_k", (width,), unit, optional=True),) if width else ()


def held_ports(robot: Robot) -> tuple[Port, ...]:
    """The output for what prescribed joints need beside taum, where a robot has any."""
    width = len(robot.kinematic)
    return (Port("tau_k", (width,), joint_unit(robot, "N m, N")),) if width else ()


def mode_ports(robot: Robot) -> tuple[Port, ...]:
    """The port for the modes of joints that can stick, where a robot has any."""
    width = len(joint_effects(robot).sticking)
    return (Port("modes", (width,)),) if width else ()


def need_robot(robot: Any, block: str) -> Robot:
    """The robot given to a block, or a ValueError that says what was given instead."""
    if not isinstance(robot, Robot):
        raise ValueError(f"{block} needs a Robot for its parameter robot, not {robot!r}")
    return robot


def need_open(robot: Any, block: str) -> Robot:
    """A robot that has neither loops nor forces of its own, of which a block knows nothing."""
    found = need_robot(robot, block)
    for what in ("loops", "forces"):
        if getattr(found, what):
            text = f"{block} knows nothing of the {what} that {found.name} has"
            instead = "CLOSED_CHAIN_RATES" if block.endswith("_RATES") else "CLOSED_CHAIN"
            hint = f"use {instead}"
            if all(loop.coupling for loop in found.loops) and what == "loops":
                hint += ", or read the URDF with mimic: false, which lets its mimic joints go"
            raise InputError(Fault(text, hint=hint))
    return found


class OfRobot:
    """A block that is one function of the dynamics: its ports are quantities of a robot,
    named in `takes` and `gives`; after its inputs the function takes `arguments` and the
    robot. takes_joints: what it takes by name where the robot has joints of that kind:
    umdot_k with prescribed joints, for which it gives tau_k, and qm with stops."""

    takes: ClassVar[str]
    gives: ClassVar[str]
    takes_joints: ClassVar[tuple[str, ...]] = ()
    function: ClassVar[Callable[..., Any]]
    arguments: tuple[Any, ...] = ()

    def __init__(self, robot: Robot, **blockargs: Any) -> None:
        self.robot = need_robot(robot, type(self).__name__)
        joints = {
            "umdot_k": prescribed_ports(robot),
            "qm": ports(robot, "qm") if joint_effects(robot).stopped else (),
        }
        more = [port for name in self.takes_joints for port in joints[name]]
        held = held_ports(robot) if "umdot_k" in self.takes_joints else ()
        self.in_ports = (*ports(robot, self.takes), *more)
        self.out_ports = (*ports(robot, self.gives), *held)
        self.by_name = tuple(port.name for port in more)
        super().__init__(**port_arguments(self.in_ports, self.out_ports), **blockargs)

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        count = len(inputs) - len(self.by_name)
        named = dict(zip(self.by_name, inputs[count:], strict=True))
        out = type(self).function(*inputs[:count], *self.arguments, self.robot, **named)
        return list(out) if isinstance(out, tuple) else [out]


def link_id(robot: Robot, link: str | int) -> int:
    """The id of a link given by name or id; a ValueError lists what the robot has."""
    ids = robot.robot_keys.link_id
    if isinstance(link, str):
        if link not in ids:
            raise ValueError(f"no link {link!r} on {robot.name}: {did_you_mean(link, ids)}")
        return ids[link]
    if isinstance(link, bool) or link != int(link) or not 0 <= link <= robot.n_links_joints:
        raise ValueError(f"link is {link!r}; ids of {robot.name} run from 0 to {len(robot.links)}")
    return int(link)

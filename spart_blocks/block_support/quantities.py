"""SPART's quantities as ports: one table of shapes, units and texts for every robot block."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, ClassVar

from spart_blocks.base.errors import Fault, InputError, did_you_mean
from spart_blocks.block_support.declared import Declared, PortSpec, joint_unit, resolved
from spart_blocks.block_support.parameters import ROBOT, need_robot
from spart_blocks.block_support.ports import Port
from spart_blocks.dynamics import joint_effects
from spart_blocks.robot import Robot

_TWIST, _TWIST_RATE, _WRENCH = "rad/s, m/s", "rad/s^2, m/s^2", "N m, N"

_TABLE = (
    PortSpec("R0", "3, 3", "", "rotation of the base-link, body to inertial"),
    PortSpec("r0", "3", "m", "centre of mass of the base-link"),
    PortSpec("qm", "nq", "rad, m", "joint positions", of_joints=True),
    PortSpec("u0", "6", _TWIST, "base rates: angular in base axes, linear inertial"),
    PortSpec("um", "nu", "rad/s, m/s", "joint rates", of_joints=True),
    PortSpec("u0dot", "6", _TWIST_RATE, "rates of u0"),
    PortSpec("umdot", "nu", "rad/s^2, m/s^2", "rates of um", of_joints=True),
    PortSpec("tau0", "6", _WRENCH, "base torque in base axes and force, inertial"),
    PortSpec("taum", "nu", "N m, N", "joint torques and forces", of_joints=True),
    PortSpec("wF0", "6", _WRENCH, "wrench on the base-link at its centre of mass"),
    PortSpec("wFm", "n, 6", _WRENCH, "wrenches on the links at their centres of mass"),
    PortSpec("RJ", "n, 3, 3", "", "rotations of the joints"),
    PortSpec("RL", "n, 3, 3", "", "rotations of the links"),
    PortSpec("rJ", "n, 3", "m", "positions of the joints"),
    PortSpec("rL", "n, 3", "m", "centres of mass of the links"),
    PortSpec("e", "n, 3", "", "joint axes"),
    PortSpec("g", "n, 3", "m", "from joint origin to the centre of mass of its link"),
    PortSpec("Bij", "n, n, 6, 6", "", "twist-propagation matrices between links"),
    PortSpec("Bi0", "n, 6, 6", "", "twist-propagation matrices from the base"),
    PortSpec("P0", "6, 6", "", "base twist-propagation matrix"),
    PortSpec("pm", "n, 6", "", "joint twist-propagation vectors"),
    PortSpec("t0", "6", _TWIST, "twist of the base-link"),
    PortSpec("tL", "n, 6", _TWIST, "twists of the links"),
    PortSpec("t0dot", "6", _TWIST_RATE, "twist rate of the base-link"),
    PortSpec("tLdot", "n, 6", _TWIST_RATE, "twist rates of the links"),
    PortSpec("rp", "3", "m", "position of the point, inertial"),
    PortSpec("tp", "6", _TWIST, "twist of the point, inertial"),
    PortSpec("r_com", "3", "m", "centre of mass of the system"),
    PortSpec("J0", "6, 6", "", "Jacobian of the base"),
    PortSpec("Jm", "6, nu", "", "Jacobian of the joints"),
    PortSpec("J0dot", "6, 6", "", "rate of the base Jacobian"),
    PortSpec("Jmdot", "6, nu", "", "rate of the joint Jacobian"),
    PortSpec("N", "6+6n, 6+nu", "", "natural orthogonal complement"),
    PortSpec("Ndot", "6+6n, 6+nu", "", "its rate"),
    PortSpec("I0", "3, 3", "kg m^2", "inertia of the base-link, inertial axes"),
    PortSpec("Im", "n, 3, 3", "kg m^2", "inertias of the links, inertial axes"),
    PortSpec("M0_tilde", "6, 6", "kg m^2, kg m, kg", "composite body of the base"),
    PortSpec("Mm_tilde", "n, 6, 6", "kg m^2, kg m, kg", "composite bodies of the links"),
    PortSpec("H0", "6, 6", "kg m^2, kg m, kg", "inertia matrix of the base"),
    PortSpec("H0m", "6, nu", "kg m^2, kg m, kg", "coupling inertia matrix"),
    PortSpec("Hm", "nu, nu", "kg m^2, kg m, kg", "inertia matrix of the joints"),
    PortSpec("H", "6+nu, 6+nu", "kg m^2, kg m, kg", "inertia matrix of base and joints"),
    PortSpec("C", "6+nu, 6+nu", "", "convective matrix of base and joints"),
    PortSpec("C0", "6, 6", "", "convective matrix of the base"),
    PortSpec("C0m", "6, nu", "", "its coupling block, base by joints"),
    PortSpec("Cm0", "nu, 6", "", "its coupling block, joints by base"),
    PortSpec("Cm", "nu, nu", "", "convective matrix of the joints"),
    PortSpec("reaction", "6", _WRENCH, "wrench of the ground on a fixed base, inertial"),
    PortSpec("p", "3", "kg m/s", "linear momentum"),
    PortSpec("h", "3", "N m s", "angular momentum about the inertial origin"),
    PortSpec("energy", "", "J", "kinetic energy, including that of motors"),
    PortSpec("work", "", "J", "work of all forces since the start"),
    PortSpec("p_balance", "3", "kg m/s", "momentum minus the impulse of the forces: constant"),
    PortSpec("h_balance", "3", "N m s", "angular momentum minus the angular impulse: constant"),
    PortSpec("energy_balance", "", "J", "energy minus work: constant"),
)
QUANTITIES = {spec.name: spec for spec in _TABLE}
"""Quantities of a robot. A plant's ports are among them."""

_CONTROL = (
    PortSpec("qd", "nq", "rad, m", "desired joint positions"),
    PortSpec("ud", "nu", "rad/s, m/s", "desired joint rates"),
    PortSpec("ad", "nu", "rad/s^2, m/s^2", "desired joint accelerations"),
    PortSpec("tau", "nu", "N m, N", "joint torques and forces"),
    PortSpec("rd", "3", "m", "desired position of the frame, inertial"),
    PortSpec("quatd", "4", "", "desired attitude of the frame, quaternion, scalar last"),
    PortSpec("td", "6", _TWIST, "desired twist, inertial"),
    PortSpec("tdotd", "6", _TWIST_RATE, "desired twist rate"),
    PortSpec("u0d", "6", _TWIST, "desired base rates"),
    PortSpec("state", "N", "", "the whole state"),
    PortSpec("lam", "m", "N, N m", "forces of the loops, one for each row that is kept"),
)
_ALL = QUANTITIES | {spec.name: spec for spec in _CONTROL}


def quantities(names: str, **texts: str) -> tuple[PortSpec, ...]:
    """The declarations of the named quantities; a trailing `?` makes an input optional. texts:
    descriptions by name that replace those of the table.
    """
    return tuple(_quantity(name, texts) for name in names.split())


def _quantity(name: str, texts: Mapping[str, str]) -> PortSpec:
    optional, name = name.endswith("?"), name.removesuffix("?")
    spec = _ALL[name]
    return replace(spec, optional=optional, text=texts.get(name, spec.text))


KNOWN = {
    "tau0": "known torque, base axes, and force on a free base",
    "wF0": "known wrench on the base-link",
    "wFm": "known wrenches on the links",
}
"""Texts of the forces that a controller takes into account."""


def ports(robot: Robot, names: str) -> tuple[Port, ...]:
    """The ports of a robot for the named quantities."""
    return resolved(quantities(names), robot)


def prescribed_ports(robot: Robot) -> tuple[Port, ...]:
    """The input for the accelerations of prescribed joints, if a robot has any."""
    width = len(robot.kinematic)
    unit = joint_unit(robot, "rad/s^2, m/s^2")
    return (Port("umdot_k", (width,), unit, optional=True),) if width else ()


def held_ports(robot: Robot) -> tuple[Port, ...]:
    """The output for the forces that prescribed joints need in addition to taum, if a robot has
    any.
    """
    width = len(robot.kinematic)
    return (Port("tau_k", (width,), joint_unit(robot, "N m, N")),) if width else ()


def mode_ports(robot: Robot) -> tuple[Port, ...]:
    """The port for the modes of joints that can stick, if a robot has any."""
    width = len(joint_effects(robot).sticking)
    return (Port("modes", (width,)),) if width else ()


def need_open(robot: Any, block: str) -> Robot:
    """A robot without loops and forces of its own, which the block does not support; otherwise an
    error.
    """
    found = need_robot(robot, block)
    for what in ("loops", "forces"):
        if getattr(found, what):
            text = f"{block} does not support the {what} that {found.name} has"
            instead = "CLOSED_CHAIN_RATES" if block.endswith("_RATES") else "CLOSED_CHAIN"
            hint = f"use {instead}"
            if all(loop.coupling for loop in found.loops) and what == "loops":
                hint += ", or read the URDF with mimic: false, which lets its mimic joints go"
            raise InputError(Fault(text, hint=hint))
    return found


class OfRobot(Declared):
    """Base class of blocks that evaluate one function of the dynamics: output =
    function(*inputs, *arguments, robot), with quantities of the robot as ports.

    takes_joints: optional inputs, passed by keyword: `umdot_k` if the robot has prescribed joints
    (adds the output tau_k), `qm` if it has joint stops.
    """

    takes_joints: ClassVar[tuple[str, ...]] = ()
    function: ClassVar[Callable[..., Any]]
    arguments: tuple[Any, ...] = ()
    robot = ROBOT

    def build(self) -> dict[str, Any]:
        robot = self.robot
        joints = {
            "umdot_k": prescribed_ports(robot),
            "qm": ports(robot, "qm") if joint_effects(robot).stopped else (),
        }
        more = [port for name in self.takes_joints for port in joints[name]]
        held = held_ports(robot) if "umdot_k" in self.takes_joints else ()
        self.by_name = tuple(port.name for port in more)
        return self.resolve_ports(robot, more=(more, held))

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

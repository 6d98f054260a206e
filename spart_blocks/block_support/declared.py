"""Ports as a class of blocks declares them, once: the constructed ports, the help and the pages
of the blocks follow from the declaration.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from inspect import cleandoc
from typing import Any, ClassVar

from bdsim.components import SinkBlock, SourceBlock

from spart_blocks.block_support.ports import Port, Shape, port_arguments
from spart_blocks.robot import Robot
from spart_blocks.robot.parts import JointType

Size = int | Shape | None
"""The value of a symbol in a shape: a size, or, if it is the whole shape, a shape; None is any
shape.
"""

_OR = "float or "
_TERM = re.compile(r"(\d*)([A-Za-z]\w*)?")


@dataclass(frozen=True)
class PortSpec:
    """A port as a class of blocks declares it.

    shape: sizes and symbols, such as "3, 3", "nu" or "6+6n, 6+nu". "" is a number, "any" a number
    or an array, "float or n" a number or a vector. unit: "" where there is none; the name of a
    parameter where that gives it. optional: an input that is zeros where no wire reaches it.
    of_joints: it has one entry per joint. Its unit lists those of revolute and of prismatic joints,
    "rad, m"; if a robot has joints of one kind only, theirs is used.
    """

    name: str
    shape: str
    unit: str
    text: str
    optional: bool = False
    of_joints: bool = False

    @property
    def type(self) -> str:
        """The shape as written in tables of ports: ndarray(6, nu)."""
        if self.shape in ("", "any"):
            return "float or ndarray" if self.shape else "float"
        array = self.shape.removeprefix(_OR)
        dims = array if ", " in array else f"{array},"
        return f"{_OR if array != self.shape else ''}ndarray({dims})"

    @property
    def told(self) -> str:
        """The text, with a note if the port may be left without a wire."""
        return f"{self.text} (optional, zeros)" if self.optional else self.text

    def port(self, sizes: Mapping[str, Size], robot: Robot | None = None) -> Port:
        """The port of a block with these sizes."""
        unit = joint_unit(robot, self.unit) if self.of_joints and robot else self.unit
        return Port(self.name, self._shape(sizes), unit, self.optional)

    def _shape(self, sizes: Mapping[str, Size]) -> Shape | None:
        array = self.shape.removeprefix(_OR)
        whole = sizes.get(array, 0)
        if not isinstance(whole, int):
            return whole
        if array == "any":
            return None
        return tuple(_size(dim, sizes) for dim in array.split(", ") if dim)


def _size(dim: str, sizes: Mapping[str, Size]) -> int:
    """A size such as 6, nu or 6+6n."""
    total = 0
    for term in dim.split("+"):
        found = _TERM.fullmatch(term)
        assert found is not None, f"no size: {dim}"
        value = sizes[found[2]] if found[2] else 1
        assert isinstance(value, int), f"{found[2]} is no number, but {value}"
        total += int(found[1] or 1) * value
    return total


def joint_unit(robot: Robot, unit: str) -> str:
    """The unit of all joints of a robot: of "rad, m", the first for revolute joints only, the
    second for prismatic joints only, or both.
    """
    moving = {joint.type for joint in robot.joints} - {JointType.FIXED}
    turning, sliding = unit.split(", ")
    if JointType.PRISMATIC not in moving:
        return turning
    return sliding if moving == {JointType.PRISMATIC} else unit


def resolved(
    specs: Iterable[PortSpec], robot: Robot | None = None, **sizes: Size
) -> tuple[Port, ...]:
    """The ports of a block of a robot: n is the number of its links, nq and nu are the lengths
    of qm and um."""
    of_robot: dict[str, Size] = {}
    if robot is not None:
        of_robot = {"n": robot.n_links_joints, "nq": robot.nq, "nu": robot.nu}
    return tuple(spec.port(of_robot | sizes, robot) for spec in specs)


class Declared:
    """A block that declares its inputs (`takes`) and outputs (`gives`).

    nin and nout are literals in its class, for bdsim reads them without importing the file.
    """

    takes: ClassVar[tuple[PortSpec, ...]] = ()
    gives: ClassVar[tuple[PortSpec, ...]] = ()
    in_ports: tuple[Port, ...]
    out_ports: tuple[Port, ...]

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.__doc__ = _with_ports(cls.__doc__ or "", cls.takes, cls.gives)

    def resolve_ports(
        self,
        robot: Robot | None = None,
        *,
        without: str = "",
        optional: str = "",
        more: tuple[Sequence[Port], Sequence[Port]] = ((), ()),
        shapes: Mapping[str, Shape] | None = None,
        units: Mapping[str, str] | None = None,
        **sizes: Size,
    ) -> dict[str, Any]:
        """Set the ports of the block; returns the arguments of bdsim's constructor.

        without, optional: names of ports that are absent, or need no wire, in this instance. more:
        inputs and outputs that only some robots need. sizes: the values of symbols. shapes, units:
        by name of a port, where they differ from the declared ones.
        """
        sides = []
        for specs, extra in zip((self.takes, self.gives), more, strict=True):
            kept = (spec for spec in specs if spec.name not in without.split())
            sides.append((*resolved(kept, robot, **sizes), *extra))
        changes: dict[str, dict[str, Any]] = {name: {"optional": True} for name in optional.split()}
        for field, given in (("shape", shapes or {}), ("unit", units or {})):
            for name, value in given.items():
                changes.setdefault(name, {})[field] = value
        self.in_ports, self.out_ports = (
            tuple(replace(port, **changes.get(port.name, {})) for port in side) for side in sides
        )
        arguments = port_arguments(self.in_ports, self.out_ports)
        for kind, side in ((SourceBlock, "in"), (SinkBlock, "out")):
            if isinstance(self, kind):  # which gives the number of these ports itself
                del arguments[f"n{side}"], arguments[f"{side[0]}names"]
        return arguments


def _with_ports(doc: str, takes: Iterable[PortSpec], gives: Iterable[PortSpec]) -> str:
    """A docstring with a field for each port, as help() shows it."""
    sides = (("input", takes), ("output", gives))
    lines = [
        f":{way} {spec.name}: {spec.type}{f' [{spec.unit}]' if spec.unit else ''}, {spec.told}"
        for way, specs in sides
        for spec in specs
    ]
    return "\n".join([cleandoc(doc), "", *lines]) if lines else doc

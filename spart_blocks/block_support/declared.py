"""Ports and parameters as a class of blocks declares them, once: its constructor, the constructed
ports, the help and the pages of the blocks follow from the declaration.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from inspect import CO_VARKEYWORDS, Parameter, Signature, cleandoc
from typing import Any, ClassVar

import numpy as np
from bdsim.components import SampledBlock, SinkBlock, SourceBlock

from spart_blocks.base.errors import Fault, InputError
from spart_blocks.block_support.parameters import (
    CLOCK,
    REQUIRED,
    TEXT,
    ParamSpec,
    retold,
    take_declared,
)
from spart_blocks.block_support.ports import Port, Shape, port_arguments
from spart_blocks.block_support.values import channels
from spart_blocks.robot import Robot
from spart_blocks.robot.parts import JointType

Size = int | Shape | None
"""The value of a symbol in a shape: a size, or, if it is the whole shape, a shape; None is any
shape.
"""

_OR = "float or "
_OF_SYMBOL = {
    "nu": ", the robot has {} active joints",
    "n_a": ", the robot has {} actuated joints",
    "k": ", {} components are controlled",
}
"""What a size is, for errors."""
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
        shape, names = self._shape(sizes), self._joint_names(robot)
        entries = names if shape == (len(names),) else ()
        return Port(self.name, shape, unit, self.optional, entries=entries)

    def _joint_names(self, robot: Robot | None) -> tuple[str, ...]:
        """The names of the entries of a vector over joints; () of others."""
        if robot is None or not self.of_joints:
            return ()
        return robot.position_names if self.shape == "nq" else robot.rate_names

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
    known = of_robot(robot) | sizes
    return tuple(spec.port(known, robot) for spec in specs)


def of_robot(robot: Robot | None) -> dict[str, Size]:
    """The sizes of a robot, by symbol."""
    if robot is None:
        return {}
    return {"n": robot.n_links_joints, "nq": robot.nq, "nu": robot.nu}


class _SignatureOfParameters:
    """The signature of a class that declares its parameters."""

    def __get__(self, block: Any, cls: type[Declared]) -> Signature | None:
        if cls.parameters is None:
            return None
        given: list[Parameter] = []
        for spec in cls.parameters:
            behind = spec.required and given and given[-1].default is not REQUIRED  # a clock
            kind = Parameter.KEYWORD_ONLY if behind else Parameter.POSITIONAL_OR_KEYWORD
            one = Parameter(spec.name, kind, default=spec.default, annotation=spec.annotation)
            given.append(one)
        return Signature([*given, Parameter("blockargs", Parameter.VAR_KEYWORD)])


class Declared:
    """A block that declares its inputs (`takes`), outputs (`gives`) and parameters.

    nin and nout are literals in its class, for bdsim reads them without importing the file. A
    parameter is an attribute made by `fixed` or `tunable`, with a field `:arg name: text` in the
    docstring. A class inherits the parameters of its bases, and its docstring may have other texts
    for them; those that it does not have are named in `omits`. A class without any says
    `parameters = ()`. A sampled block has a parameter clock.

    The constructor takes the parameters by place, those that must be given first, or by name, and
    arguments of bdsim's blocks by name. It checks each, and calls `build` with those that `build`
    names, or with all of them if it takes any; the others become attributes. T is the period of
    the clock [s].

    A class whose `parameters` are None has a constructor of its own, which calls this one with the
    arguments of bdsim's.
    """

    takes: ClassVar[tuple[PortSpec, ...]] = ()
    gives: ClassVar[tuple[PortSpec, ...]] = ()
    own_parameters: ClassVar[tuple[ParamSpec, ...]] = ()
    vector_names: ClassVar[tuple[str, ...]] = ()
    omits: ClassVar[tuple[str, ...]] = ()
    told_tunable: ClassVar[tuple[str, ...] | None] = None
    to_build: ClassVar[frozenset[str]] = frozenset()
    T: float
    parameters: ClassVar[tuple[ParamSpec, ...] | None] = None
    tunable: tuple[str, ...]
    in_ports: tuple[Port, ...]
    out_ports: tuple[Port, ...]
    __signature__ = _SignatureOfParameters()

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.own_parameters = take_declared(cls)
        each = [vars(base).get("own_parameters", ()) for base in reversed(cls.__mro__)]
        merged: dict[str, ParamSpec] = {}
        for spec in (spec for own in each for spec in own):
            told = spec.text or (merged[spec.name].text if spec.name in merged else "")
            merged[spec.name] = replace(spec, text=told)
        merged |= retold(cls, merged)
        merged = {name: spec for name, spec in merged.items() if name not in cls.omits}
        merged = {name: _with_unit(spec, cls.gives) for name, spec in merged.items()}
        if merged or cls.parameters is not None:
            clock = [merged.pop("clock")] if "clock" in merged else []
            found = sorted(merged.values(), key=lambda spec: (not spec.required, spec.late))
            first = [CLOCK] if issubclass(cls, SampledBlock) and not clock else []
            cls.parameters = (*first, *found, *clock)
            cls.vector_names = tuple(s.name for s in merged.values() if s.type == "float or n")
            cls.told_tunable = vars(cls).get("tunable", cls.told_tunable)
            can_change = tuple(spec.name for spec in merged.values() if spec.tunable)
            cls.tunable = can_change if cls.told_tunable is None else cls.told_tunable
            code = cls.build.__code__
            takes_any = code.co_flags & CO_VARKEYWORDS and cls.build is not Declared.build
            named = merged if takes_any else code.co_varnames[1 : code.co_argcount]
            cls.to_build = frozenset(named)
        cls.__doc__ = _with_fields(cls.__doc__ or "", cls.parameters or (), cls.takes, cls.gives)

    def __init__(self, *arguments: Any, **named: Any) -> None:
        if self.parameters is not None:
            named = self._bdsim_arguments(arguments, named)
        super().__init__(**named)
        self.finish()

    def _bdsim_arguments(self, arguments: tuple[Any, ...], named: dict[str, Any]) -> dict[str, Any]:
        """The arguments of bdsim's constructor from those of this block."""
        given, block = self._by_name(arguments, named), type(self).__name__.upper()
        values, clock = {}, {}
        for spec in self.parameters or ():
            value = spec.checked(given[spec.name], block)
            if spec.type == "Clock":
                clock, self.T = {"clock": value}, float(value.T)
            elif spec.name in self.to_build:
                values[spec.name] = value
            else:
                setattr(self, spec.name, value)
        built = self.build(**values)
        if clock:
            del self.T  # bdsim sets it again; a port of a sampled block may have this name
        return {**clock, **built, **named}

    def finish(self) -> None:
        """What a block does after bdsim's constructor; by default nothing."""

    def _by_name(self, arguments: tuple[Any, ...], named: dict[str, Any]) -> dict[str, Any]:
        """The parameters by name, which are taken from the named arguments."""
        specs, kind = self.parameters or (), type(self).__name__
        if len(arguments) > len(specs):
            raise TypeError(f"{kind} takes {len(specs)} parameters, {len(arguments)} are given")
        given = dict(zip((spec.name for spec in specs), arguments, strict=False))
        twice = [name for name in given if name in named]
        if twice:
            raise TypeError(f"{kind} got multiple values for argument {twice[0]!r}")
        for spec in specs[len(arguments) :]:
            given[spec.name] = named.pop(spec.name, spec.default)
        missing = [repr(name) for name, value in given.items() if value is REQUIRED]
        if missing:
            raise TypeError(f"{kind} missing required arguments: {' and '.join(missing)}")
        return given

    def build(self, *_: Any, **__: Any) -> dict[str, Any]:
        """The arguments of bdsim's constructor, after the parameters are checked.

        By default the ports of a block whose sizes are those of its robot and of its parameters. A
        class that overrides it names the parameters that do not become attributes as its arguments.
        """
        robot = self.__dict__.get("robot")
        return self.resolve_ports(robot) if robot else self.resolve_ports(n=self.shared_shape())

    def _refuse_lengths(self, sizes: Mapping[str, Size]) -> None:
        """InputError for a vector among the parameters that has not the size of its symbol."""
        for spec in self.parameters or ():
            count: Any = sizes.get(spec.symbol)
            value: Any = self.__dict__.get(spec.name)
            if isinstance(count, int) and np.ndim(value) == 1 and len(value) != count:
                told = _OF_SYMBOL.get(spec.symbol, "").format(count)
                hint = f"give a number, or one for each of {count}"
                raise InputError(Fault(f"{spec.name} has {len(value)} entries{told}", hint=hint))

    def shared_shape(self, width: Any = None, **more: Any) -> tuple[int, ...]:
        """The common shape, () or (n,), of the parameters declared as "float or n", of the values
        `more`, and of a vector of length `width`. Numbers fit any length. Raises InputError if two
        lengths differ.
        """
        held = self.__dict__
        return channels(
            width, **{name: held[name] for name in self.vector_names if name in held}, **more
        )

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
        self._refuse_lengths(of_robot(robot) | sizes)
        sides = []
        for specs, extra in zip((self.takes, self.gives), more, strict=True):
            kept = (spec for spec in specs if spec.name not in without.split())
            sides.append((*resolved(kept, robot, **sizes), *extra))
        changes: dict[str, dict[str, Any]] = {name: {"optional": True} for name in optional.split()}
        for field, given in (("shape", shapes or {}), ("unit", units or {})):
            for name, value in given.items():
                changes.setdefault(name, {})[field] = value
        return self.set_ports(
            *([replace(port, **changes.get(port.name, {})) for port in side] for side in sides)
        )

    def set_ports(self, inputs: Iterable[Port], outputs: Iterable[Port]) -> dict[str, Any]:
        """Set the ports of the block; returns the arguments of bdsim's constructor."""
        self.in_ports, self.out_ports = tuple(inputs), tuple(outputs)
        arguments = port_arguments(self.in_ports, self.out_ports)
        for kind, side in ((SourceBlock, "in"), (SinkBlock, "out")):
            if isinstance(self, kind):  # which gives the number of these ports itself
                del arguments[f"n{side}"], arguments[f"{side[0]}names"]
        return arguments


def _with_unit(spec: ParamSpec, gives: Iterable[PortSpec]) -> ParamSpec:
    """A parameter whose unit is that of an output, with that unit."""
    if "{" not in spec.unit or not gives:
        return spec
    return replace(spec, unit=spec.unit.format_map({port.name: port.unit for port in gives}))


def _with_fields(
    doc: str, parameters: Iterable[ParamSpec], takes: Iterable[PortSpec], gives: Iterable[PortSpec]
) -> str:
    """A docstring with fields for each parameter and port, as help() shows it."""
    doc, lines = TEXT.sub("", cleandoc(doc)).rstrip(), []
    for spec in parameters:
        optional = ", optional" if spec.default is None else ""
        lines.append(f":param {spec.name}: {spec.told}")
        lines.append(f":type {spec.name}: {spec.words}{optional}")
    lines += [
        f":{way} {port.name}: {port.type}{f' [{port.unit}]' if port.unit else ''}, {port.told}"
        for way, ports in (("input", takes), ("output", gives))
        for port in ports
    ]
    return "\n".join([doc, "", *lines]) if lines else doc

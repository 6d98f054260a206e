"""What the inputs and outputs of a controller are in ros2_control.

The names of a signal's entries are those of the joints, and its unit says which of their interfaces
it is. An input that depends on what the controller commands is measured, and comes from state
interfaces; any other is a reference, and comes over a topic. The file's `export: ros2_control:`
has precedence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np

from spart_blocks.base.errors import Fault, InputError, Place, counted, did_you_mean
from spart_blocks.diagram import Diagram
from spart_blocks.diagram.network.algebraic_loops import uncut
from spart_blocks.diagram.network.display import aliases_of, entries_of, signal_names, units_of
from spart_blocks.diagram.network.flatten import FlatDiagram
from spart_blocks.diagram.sections.ros2_control_section import (
    NO_COMMAND,
    START,
    WAIT,
    ControllerInput,
    ControllerOutput,
    Ros2ControlOptions,
)
from spart_blocks.export.exported_links import live_links
from spart_blocks.export.interface import Interface, Member, identifier
from spart_blocks.export.step import StepCode
from spart_blocks.program.subdiagram import Subdiagram
from spart_blocks.program.tracing.gains import wired

_INTERFACES = {
    **dict.fromkeys(("rad", "m"), "position"),
    **dict.fromkeys(("rad/s", "m/s"), "velocity"),
    **dict.fromkeys(("rad/s^2", "m/s^2"), "acceleration"),
    **dict.fromkeys(("N m", "N"), "effort"),
}
"""The interface of a joint for a quantity, by its unit."""
RESERVED = ("update_rate", "use_sim_time", "type", "is_async", "thread_priority", "params_file",
            "fallback_controllers", "state_interfaces", "command_interfaces", "qos_overrides",
            "start_type_description_service", "remap", "async_parameters")  # fmt: skip
"""Parameters that a controller of ros2_control has, or that its node has."""

DEPENDENCIES = ("controller_interface", "hardware_interface", "pluginlib", "rcl_interfaces",
                "rclcpp", "rclcpp_lifecycle", "sensor_msgs", "std_msgs")  # fmt: skip
"""The packages that the controller's depends on."""
_TARGETS = ("all", "clean", "edit_cache", "help", "install", "package", "rebuild_cache", "test",
            "uninstall", "controller_manager", "std", "rosidl", "ament_cmake")  # fmt: skip
"""Names of a package that CMake, C++ or ROS have for something else."""
Side = TypeVar("Side", ControllerInput, ControllerOutput)


@dataclass(frozen=True)
class Row:
    """An interface of the hardware. name: in full, such as elbow/position. place: of its number in
    the struct of inputs or outputs. safe: command that is safe, if one is known."""

    name: str
    place: int
    safe: float | None = None


@dataclass(frozen=True)
class Piece:
    """An input that is read from messages. field: of a JointState, by the names of `joints`; "" for
    the next numbers of an array. like: an input whose value at activation it has at first."""

    member: Member
    field: str = ""
    joints: tuple[str, ...] = ()
    like: Member | None = None


@dataclass(frozen=True)
class Topic:
    """A topic that brings inputs. waits: nothing is commanded before its first message. timeout
    [s]: the longest time between messages, 0 for any."""

    name: str
    message: str
    pieces: tuple[Piece, ...]
    waits: bool
    timeout: float

    @property
    def size(self) -> int:
        return sum(piece.member.size for piece in self.pieces)


@dataclass(frozen=True)
class Parameter:
    """A parameter of the node. name: in ROS. doc: what it means. starts: it is an initial state."""

    name: str
    member: Member
    doc: str
    starts: bool


@dataclass(frozen=True)
class Plan:
    """A controller of ros2_control. values: fixed numbers of inputs, by place."""

    code: StepCode
    options: Ros2ControlOptions
    package: str
    states: tuple[Row, ...]
    commands: tuple[Row, ...]
    topics: tuple[Topic, ...]
    values: Mapping[int, float]
    parameters: tuple[Parameter, ...]

    @property
    def class_name(self) -> str:
        """The name of the class in C++."""
        words = self.package.removesuffix("_controller").split("_")
        return "".join(word.capitalize() for word in words) + "Controller"

    @property
    def rate(self) -> int:
        """Steps per second [Hz]."""
        return int(self.code.schedule.rate)

    @property
    def unsafe(self) -> list[str]:
        """The command interfaces without a safe value."""
        return [row.name for row in self.commands if row.safe is None]


def plan_of(diagram: Diagram, code: StepCode) -> Plan:
    """The controller of a subdiagram of this diagram.

    Raises InputError, with all faults, where an interface is not known, a name of the file is that
    of no input or output, or the rate is no whole number.
    """
    return _Planner(diagram, code).plan()


@dataclass
class _Planner:
    """Collects the rows of a plan, and all faults."""

    diagram: Diagram
    code: StepCode
    faults: list[Fault] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.part: Subdiagram = self.code.part
        self.interface: Interface = self.code.interface
        self.options = self.diagram.export.ros2_control
        self.wiring: FlatDiagram = uncut(wired(self.diagram))
        self.entries, self.units = entries_of(self.wiring), units_of(self.wiring)
        self.inputs = self._given("inputs", self.options.inputs, self.interface.inputs)
        self.outputs = self._given("outputs", self.options.outputs, self.interface.outputs)

    def plan(self) -> Plan:
        rate = self.code.schedule.rate
        if rate.denominator != 1:
            hint = "give another with --rate, or change the periods of its clocks"
            text = f"a controller is updated a whole number of times a second, not {float(rate):g}"
            self.faults.append(Fault(text, hint=hint))
        states, topics, values = self._inputs()
        commands = self._commands()
        if not commands and not self.faults:
            hint = "export: ros2_control: outputs: names the interfaces of one"
            self.faults.append(Fault("no output of the controller is a command", hint=hint))
        for kind, rows in (("state", states), ("command", commands)):
            self._check_once(kind, [row.name for row in rows])
        package = self._package()
        if self.faults:
            raise InputError(self.faults)
        parameters = tuple(self._parameters())
        return Plan(self.code, self.options, package, states, commands, topics, values, parameters)

    # --- names --------------------------------------------------------------------------------

    def _package(self) -> str:
        """The name of the package: lower-case letters, digits and single _, as ROS asks for."""
        given = self.options.package
        text = given or re.sub("_+", "_", self.code.name.lower()).strip("_")
        if len(text) > 1 and text not in (*DEPENDENCIES, *_TARGETS) and identifier(text) == text:
            return text
        if given:
            text = f"export: ros2_control: package {given!r} is a reserved name"
            self.faults.append(Fault(text, self._place("package")))
        return f"{text}_controller"  # as `new`, `test` and `m` become

    def _place(self, *keys: str) -> Place | None:
        return self.diagram.places.get(".".join(("export", "ros2_control", *keys)))

    def _given(
        self, side: str, given: Mapping[str, Side], members: Sequence[Member]
    ) -> dict[str, Side]:
        """What the file gives for inputs or outputs, by full name."""
        aliases, known = aliases_of(self.wiring), [member.name for member in members]
        found = {}
        for name, one in given.items():
            full = aliases.get(name, name)
            if full not in known:
                hint = did_you_mean(full, known) or f"it has no {side}"
                text = f"export: ros2_control: {side}: {name} is none of {self.part.program.name}"
                self.faults.append(Fault(text, self._place(side, name), hint))
            elif full in found:
                text = f"export: ros2_control: {side}: {full} is given twice"
                self.faults.append(Fault(text, self._place(side, name)))
            found[full] = one
        return found

    def _joints(self, member: Member) -> tuple[str, ...]:
        """The names of the joints of a signal's numbers, () where they are not known."""
        if len(self.options.joints) == member.size:
            return self.options.joints
        names = self.entries.get(member.name, ())
        return names if len(names) == member.size else ()

    def _check_once(self, kind: str, names: Sequence[str]) -> None:
        twice = sorted({name for name in names if names.count(name) > 1})
        self.faults += [Fault(f"two numbers are the {kind} interface {name}") for name in twice]

    # --- interfaces ---------------------------------------------------------------------------

    def _names(
        self, side: str, member: Member, given: ControllerInput | ControllerOutput
    ) -> tuple[str, ...] | None:
        """The full names of a signal's interfaces; None after a fault."""
        what = f"{member.name} ({counted(member.size, 'number')})"
        place = self._place(side, member.name)
        if given.interfaces is not None:
            if len(given.interfaces) == member.size:
                return given.interfaces
            count = counted(len(given.interfaces), "interface")
            self.faults.append(Fault(f"{what} has {count} in export: ros2_control", place))
            return None
        joints = self._joints(member) or self._only_joints(member.size)
        if joints:
            return tuple(f"{joint}/{given.interface}" for joint in joints)
        known = self.options.joints
        counts = f"; export: ros2_control: joints names {len(known)}" if known else ""
        hint = (
            f"name them under export: ros2_control:, as joints: {_some(member.size)}, or all "
            f"interfaces, as {side}: {{{member.name}: {_some(member.size, f'/{given.interface}')}}}"
        )
        text = f"the joints of {what} are not known{counts}"
        self.faults.append(Fault(text, place, hint))
        return None

    def _commands(self) -> tuple[Row, ...]:
        rows: list[Row] = []
        linked = self._linked_safe()
        for member in self.interface.outputs:
            given = self.outputs.get(member.name)
            if given is None:
                word = self._known_interface(member)
                if word is None:
                    more = f", {member.name}: {NO_COMMAND} (no command)"
                    self._unknown("outputs", member, "output", "effort", more)
                    continue
                given = ControllerOutput.model_validate({"interface": word})
            if given.interface == NO_COMMAND:
                continue
            safe = self._safe(member, given, linked)
            names = self._names("outputs", member, given)
            if names is not None:
                rows += [Row(name, member.place + k, safe[k]) for k, name in enumerate(names)]
        return tuple(rows)

    def _known_interface(self, member: Member) -> str | None:
        """The interface of the joints that a signal is by its unit, if both are known."""
        word = _INTERFACES.get(self.units.get(member.name, ""))
        return word if word and self._joints(member) else None

    def _unknown(self, side: str, member: Member, what: str, word: str, more: str) -> None:
        names = _some(member.size, f"/{word}")
        hint = (
            f"write under export: ros2_control: {side}: one of {member.name}: {word}, "
            f"{member.name}: {names}{more}"
        )
        if member.shape:
            text = f"{what} {member.name} {member.shape}".replace(",)", ")")
        else:
            text = f"{what} {member.name}"
        self.faults.append(Fault(f"which interface of the hardware is the {text}?", hint=hint))

    def _safe(
        self, member: Member, given: ControllerOutput, linked: Mapping[int, float]
    ) -> list[float | None]:
        """The safe commands of an output's numbers: from the section, else those of the link blocks
        that it leads to."""
        if given.safe is None:
            return [linked.get(member.place + k) for k in range(member.size)]
        found = self._numbers("safe", given.safe, member, self._place("outputs", member.name))
        return [None] * member.size if found is None else list(found)

    def _numbers(
        self, what: str, value: object, member: Member, place: Place | None
    ) -> list[float] | None:
        """One number for each of a signal's; None after a fault."""
        numbers = np.ravel(np.asarray(value, dtype=float)).tolist()
        if len(numbers) not in (1, member.size):
            text = f"{what} of {member.name} has {len(numbers)} numbers, the signal {member.size}"
            self.faults.append(Fault(text, place))
            return None
        return numbers * member.size if len(numbers) == 1 else numbers

    def _linked_safe(self) -> dict[int, float]:
        """The safe values of link blocks that outputs lead to, by place in the outputs."""
        return {
            run.place + k: link.link.safe[run.number + k]
            for link in live_links(self.diagram, self.part)
            if link.way == "send" and link.link.safe is not None
            for run in link.runs
            for k in range(run.count)
        }

    # --- inputs -------------------------------------------------------------------------------

    def _inputs(self) -> tuple[tuple[Row, ...], tuple[Topic, ...], dict[int, float]]:
        rows: list[Row] = []
        values: dict[int, float] = {}
        by_topic: dict[str, list[tuple[Member, ControllerInput]]] = {}
        measured = self._measured()
        for member in self.interface.inputs:
            given = self.inputs.get(member.name) or self._found(member, measured)
            if given is None:
                continue
            if given.topic is not None:
                by_topic.setdefault(given.topic, []).append((member, given))
            elif given.value is not None:
                values |= self._fixed(member, given)
            elif (names := self._names("inputs", member, given)) is not None:
                rows += [Row(name, member.place + k) for k, name in enumerate(names)]
        topics = tuple(self._topic(name, several) for name, several in by_topic.items())
        return tuple(rows), topics, values

    def _found(self, member: Member, measured: frozenset[str]) -> ControllerInput | None:
        """What an input is that the file does not mention; None after a fault."""
        if member.name not in measured:
            return ControllerInput.model_validate({"topic": f"~/{identifier(member.name)}"})
        word = self._known_interface(member)
        if word is None:
            more = f", {member.name}: {{value: {START}}} (fixed), {member.name}: {{topic: ~/NAME}}"
            self._unknown("inputs", member, "input", "position", more)
            return None
        return ControllerInput.model_validate({"interface": word})

    def _measured(self) -> frozenset[str]:
        """The signals that depend on the outputs: those of all blocks downstream of them."""
        wiring, sources = self.wiring, signal_names(self.wiring)
        readers: dict[int, list[int]] = {}
        for node in wiring.nodes:
            for i, _ in node.sources:
                readers.setdefault(i, []).append(node.index)
        pending = [sources[m.name][0] for m in self.interface.outputs if m.name in sources]
        seen: set[int] = set()
        while pending:
            for i in readers.get(pending.pop(), ()):
                if i not in seen:
                    seen.add(i)
                    pending.append(i)
        return frozenset(name for name, (i, _) in sources.items() if i in seen)

    def _fixed(self, member: Member, given: ControllerInput) -> dict[int, float]:
        if given.value == START:
            return {}  # as NAME_nominal sets it
        place = self._place("inputs", member.name)
        numbers = self._numbers("value", given.value, member, place) or []
        return {member.place + k: number for k, number in enumerate(numbers)}

    def _topic(self, name: str, several: Sequence[tuple[Member, ControllerInput]]) -> Topic:
        messages = dict.fromkeys(given.message or "Float64MultiArray" for _, given in several)
        if len(messages) > 1:
            text = f"the inputs of topic {name} have messages of two types: {', '.join(messages)}"
            self.faults.append(Fault(text, self._place("inputs", several[0][0].name)))
        message = next(iter(messages))
        pieces = [self._piece(message, member, given) for member, given in several]
        fields = [piece.field for piece in pieces if piece.field]
        for twice in sorted({one for one in fields if fields.count(one) > 1}):
            text = f"two inputs are the {twice} of the messages on topic {name}"
            self.faults.append(Fault(text, self._place("inputs", several[0][0].name)))
        return Topic(
            name,
            message,
            tuple(pieces),
            any(given.initially in (None, WAIT) for _, given in several),
            min((given.timeout for _, given in several if given.timeout), default=0.0),
        )

    def _piece(self, message: str, member: Member, given: ControllerInput) -> Piece:
        place = self._place("inputs", member.name)
        like = None
        if given.initially not in (None, WAIT, START):
            known = {m.name: m for m in self.interface.inputs}
            full = aliases_of(self.wiring).get(given.initially, given.initially)
            like = known.get(full)
            if like is None:
                hint = did_you_mean(full, known)
                text = f"initially: there is no input {given.initially!r}"
                self.faults.append(Fault(text, place, hint))
            elif like.size != member.size:
                text = f"initially: {full} has {like.size} numbers, {member.name} {member.size}"
                self.faults.append(Fault(text, place))
        if message != "JointState":
            return Piece(member, like=like)
        joints = self._joints(member) or self._only_joints(member.size)
        if not joints:
            text = f"the joints of {member.name}, in messages JointState, are not known"
            hint = f"export: {{ros2_control: {{joints: {_some(member.size)}}}}} names them"
            self.faults.append(Fault(text, place, hint))
        return Piece(member, given.field or "position", joints, like)

    def _only_joints(self, size: int) -> tuple[str, ...]:
        """The joints of the other signals of this size, if they are the same."""
        members = (*self.interface.inputs, *self.interface.outputs)
        found = {self._joints(member) for member in members if member.size == size} - {()}
        return next(iter(found)) if len(found) == 1 else ()

    # --- parameters ---------------------------------------------------------------------------

    def _parameters(self) -> Iterator[Parameter]:
        starts = set(self.part.program.start.values())
        units = self.part.program.display.units
        names = ros_names([member.name for member in self.interface.parameters])
        for member, name in zip(self.interface.parameters, names, strict=True):
            unit = units.get(member.name, "")
            shape = " x ".join(map(str, member.shape)) if len(member.shape) > 1 else ""
            words = [self.part.docs.get(member.name, member.name), f"[{unit}]" * bool(unit)]
            words += [f"({shape}, row by row)"] if shape else []
            yield Parameter(name, member, " ".join(filter(None, words)), member.name in starts)


def _some(size: int, end: str = "") -> str:
    """Example names of joints, with an interface."""
    names = [f"joint_{k + 1}{end}" for k in range(min(size, 2))]
    return f"[{', '.join([*names, '...'][: size if size < 3 else 3])}]"


def ros_names(names: Sequence[str]) -> list[str]:
    """The names of parameters in ROS: words of letters, digits and _ between dots. They differ from
    each other, from those that every controller has, and none is the beginning of another's dots.
    """
    found: list[str] = []
    for name in names:
        words = [re.sub(r"[^A-Za-z0-9_]+", "_", word).strip("_") for word in re.split("[./]", name)]
        joined = ".".join(filter(None, words)) or "parameter"
        head, dot, rest = joined.partition(".")
        first = text = f"{head}_{dot}{rest}" if head in RESERVED else joined
        number = 2
        while _clash(text, found):
            head, dot, rest = first.partition(".")
            text, number = f"{head}_{number}{dot}{rest}", number + 1
        found.append(text)
    return found


def _clash(text: str, taken: Sequence[str]) -> bool:
    return any(
        text == other or text.startswith(f"{other}.") or other.startswith(f"{text}.")
        for other in taken
    )

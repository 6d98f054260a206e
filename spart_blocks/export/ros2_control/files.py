"""The package of a controller of ros2_control: all its files, as texts."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from xml.etree import ElementTree as ET

from spart_blocks import __version__
from spart_blocks.base.errors import readable
from spart_blocks.block_support.parameters import range_text
from spart_blocks.export.header import filled
from spart_blocks.export.ros2_control.plan import DEPENDENCIES, Parameter, Plan, Row
from spart_blocks.export.schedule import faults_of
from spart_blocks.program.c.text import c_comment, exact_string

VERSION = "0.1.0"
"""Of the package, which is new with each export."""
BASE_CLASS = "controller_interface::ControllerInterface"


def controller_files(plan: Plan) -> dict[str, str]:
    """The files of the package, by their paths in its folder."""
    package, name = plan.package, plan.code.name
    words = _words(plan)
    inner = f"{name}.h"
    return {
        "package.xml": _package_xml(plan),
        "CMakeLists.txt": _filled(plan, "CMakeLists.txt", words),
        f"{package}.xml": _plugin_xml(plan),
        "README.md": _filled(plan, "README.md", {**words, "TABLES": _readme_tables(plan)}),
        f"config/{package}.yaml": _parameters(plan),
        f"include/{package}/controller.hpp": _filled(plan, "controller.hpp", words),
        "src/controller.cpp": _filled(plan, "controller.cpp", words),
        **{
            f"include/{package}/{file}" if file == inner else f"src/{file}": text
            for file, text in plan.code.files.items()
        },
    }


def _filled(plan: Plan, file: str, words: dict[str, Any]) -> str:
    return filled(f"ros2_control/{file}", plan.code.name, **words)


def _words(plan: Plan) -> dict[str, Any]:
    code = plan.code
    faulty = bool(faults_of(code.part.program, code.schedule.method))
    safety = f"No safe command is known for {_listed(plan.unsafe)}." if plan.unsafe else ""
    return {
        "PACKAGE": plan.package,
        "PACKAGE_UPPER": plan.package.upper(),
        "CLASS": plan.class_name,
        "TITLE": c_comment(code.part.program.name),
        "EXPORTER": __version__,
        "REAL": code.real,
        "RATE": plan.rate,
        "PERIOD": repr(float(code.schedule.step)),
        "STATES": len(plan.states),
        "COMMANDS": len(plan.commands),
        "TOPICS": len(plan.topics),
        "MESSAGE": max((topic.size for topic in plan.topics), default=0),
        "FAULT_TEXT": f"{code.name}_faults[state_.fault]" if faulty else '"a block has a fault"',
        "SAFETY": safety,
        "TABLES": _tables(plan),
    }


# --- tables of the source -------------------------------------------------------------------------


def _tables(plan: Plan) -> str:
    """The constants of the controller in C++."""
    members = [(k, topic, piece) for k, topic in enumerate(plan.topics) for piece in topic.pieces]
    lists, pieces, first = [], [], 0
    for n, (k, topic, piece) in enumerate(members):
        first = first if piece is not topic.pieces[0] else 0
        joints = "nullptr"
        if piece.joints:
            joints = f"kJoints{n}"
            names = ", ".join(map(exact_string, piece.joints))
            lists.append(f"const char * const {joints}[] = {{{names}}};")
        field = f"Field::k{(piece.field or 'position').capitalize()}"
        like = -1 if piece.like is None else piece.like.place
        size = piece.member.size
        pieces.append(_row(k, piece.member.place, first, size, field, joints, like))
        first += size
    topics = [
        _row(
            exact_string(topic.name),
            str(topic.message == "JointState").lower(),
            topic.size,
            str(topic.waits).lower(),
            repr(float(topic.timeout)),
        )
        for topic in plan.topics
    ]
    fixed = [_row(place, repr(float(value))) for place, value in plan.values.items()]
    parameters = [
        _row(exact_string(p.name), exact_string(_doc(p)), str(bool(p.member.shape)).lower())
        for p in plan.parameters
    ]
    return "\n".join(
        [
            *lists,
            _array("Interface", "kStates", map(_interface, plan.states)),
            _array("Interface", "kCommands", map(_interface, plan.commands)),
            _array("Topic", "kTopics", topics),
            _array("Piece", "kPieces", pieces),
            _array("Fixed", "kFixed", fixed),
            _array("Parameter", "kParameters", parameters),
            "",
        ]
    )


def _interface(row: Row) -> str:
    none = "std::numeric_limits<double>::quiet_NaN()"
    return _row(
        exact_string(row.name), row.place, none if row.safe is None else repr(float(row.safe))
    )


def _row(*values: object) -> str:
    return f"{{{', '.join(map(str, values))}}}"


def _array(kind: str, name: str, rows: Iterable[str]) -> str:
    lines = [f"  {row}," for row in rows]
    head = f"constexpr std::array<{kind}, {len(lines)}> {name}"
    return "\n".join([f"{head}{{{{", *lines, "}};"]) if lines else f"{head}{{}};"


def _doc(parameter: Parameter) -> str:
    return f"{parameter.doc}{': acts at activation' if parameter.starts else ''}"


# --- other files ----------------------------------------------------------------------------------


def _package_xml(plan: Plan) -> str:
    root = ET.Element("package", format="3")
    name, _, address = plan.options.maintainer.rstrip(">").rpartition("<")
    title = f"{plan.code.part.program.name} as a controller of ros2_control"
    for tag, text, attributes in (
        ("name", plan.package, {}),
        ("version", VERSION, {}),
        ("description", title, {}),
        ("maintainer", name.strip(), {"email": address}),
        ("license", plan.options.license, {}),
        ("buildtool_depend", "ament_cmake", {}),
        *(("depend", one, {}) for one in DEPENDENCIES),
        ("exec_depend", "controller_manager", {}),
    ):
        ET.SubElement(root, tag, attributes).text = readable(text)
    ET.SubElement(ET.SubElement(root, "export"), "build_type").text = "ament_cmake"
    return _xml(root)


def _plugin_xml(plan: Plan) -> str:
    root = ET.Element("library", path=plan.package)
    kind = {"base_class_type": BASE_CLASS, "type": f"{plan.package}::{plan.class_name}"}
    one = ET.SubElement(root, "class", {"name": _plugin(plan), **kind})
    ET.SubElement(one, "description").text = readable(plan.code.part.program.name)
    return _xml(root)


def _plugin(plan: Plan) -> str:
    return f"{plan.package}/{plan.class_name}"


def _xml(root: ET.Element) -> str:
    ET.indent(root)
    text = ET.tostring(root, encoding="unicode")
    return f'<?xml version="1.0"?>\n{text}\n'


def _parameters(plan: Plan) -> str:
    """Parameters of the controller_manager and of the controller, as YAML."""
    lines = [
        f"# Parameters of {plan.package}, at the values of the diagram.",
        "controller_manager:",
        "  ros__parameters:",
        f"    update_rate: {plan.rate} # Hz; or a multiple of it",
        f"    {plan.package}:",
        f"      type: {_plugin(plan)}",
        "",
        f"{plan.package}:",
        "  ros__parameters:",
        f"    update_rate: {plan.rate} # Hz, that of its step",
    ]
    for key, rows in (("state_interfaces", plan.states), ("command_interfaces", plan.commands)):
        if rows:
            lines += [f"    {key}:", *(f"      - {_yaml(row.name)}" for row in rows)]
    values = plan.code.part.program.p
    tree: dict[str, Any] = {}
    for parameter in plan.parameters:
        member = parameter.member
        numbers = [float(value) for value in values[member.start : member.start + member.size]]
        if not all(map(math.isfinite, numbers)):
            continue  # no file can give them: only what is within the largest number is taken
        *around, last = parameter.name.split(".")
        branch = tree
        for word in around:
            branch = branch.setdefault(word, {})
        branch[last] = (numbers if member.shape else numbers[0], _note(plan, parameter))
    return "\n".join([*lines, *_yaml_lines(tree, 4), ""])


def _yaml(text: str) -> str:
    return json.dumps(text)


def _yaml_lines(tree: Mapping[str, Any], indent: int) -> Iterable[str]:
    for key, entry in tree.items():
        if isinstance(entry, dict):
            yield f"{' ' * indent}{_yaml_key(key)}:"
            yield from _yaml_lines(entry, indent + 2)
        else:
            value, note = entry
            shown = f"[{', '.join(map(repr, value))}]" if isinstance(value, list) else repr(value)
            yield f"{' ' * indent}{_yaml_key(key)}: {shown} # {note}"


def _yaml_key(word: str) -> str:
    """A word as a key, in quotes, since `on` or `1` alone would be no text."""
    return word if len(word) > 1 and word.isidentifier() and word not in _WORDS else _yaml(word)


_WORDS = ("true", "false", "yes", "no", "on", "off", "null")


def _note(plan: Plan, parameter: Parameter) -> str:
    """What a parameter means, and its bounds, in one line."""
    text = " ".join(readable(_doc(parameter)).split())
    low, high = plan.code.part.bounds.get(parameter.member.name, (-math.inf, math.inf))
    free = (low, high) == (-math.inf, math.inf)
    return text if free else f"{text}; must {range_text(low, high)}"


def _readme_tables(plan: Plan) -> str:
    interfaces = [
        *((row.name, "state", _entry(plan, row, "inputs")) for row in plan.states),
        *((row.name, "command", _entry(plan, row, "outputs")) for row in plan.commands),
    ]
    texts = [_table(("interface", "kind", "in the diagram"), interfaces)]
    topics = [
        (
            topic.name,
            "sensor_msgs/msg/JointState" if piece.field else "std_msgs/msg/Float64MultiArray",
            piece.member.name,
            f"the {piece.field} of {_listed(piece.joints)}" if piece.field
            else f"{piece.member.size} of {topic.size} numbers",
            _before(topic.waits, piece.like.name if piece.like else None),
        )
        for topic in plan.topics
        for piece in topic.pieces
    ]  # fmt: skip
    texts += [_table(("topic", "message", "input", "takes", "before the first message"), topics)]
    rows = [(p.name, p.member.name, _note(plan, p)) for p in plan.parameters]
    texts += [_table(("parameter", "in the diagram", "meaning"), rows)]
    return "\n\n".join(text for text in texts if text) + "\n"


def _before(waits: bool, like: str | None) -> str:
    if waits:
        return "nothing is commanded"
    return f"{like} at activation" if like else "its value at the start of the diagram"


def _entry(plan: Plan, row: Row, side: str) -> str:
    """The entry of the diagram's signal that an interface is."""
    for member in getattr(plan.code.interface, side):
        if member.place <= row.place < member.place + member.size:
            return f"{member.name}[{row.place - member.place}]" if member.shape else member.name
    raise AssertionError(f"no {side} has the number {row.place}")


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    if not rows:
        return ""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(_cell(cell) for cell in line)} |" for line in lines)


def _cell(text: str) -> str:
    return " ".join(readable(text).split()).replace("|", "\\|")


def _listed(names: Sequence[str]) -> str:
    return _cell(", ".join(names))

"""Makes sheets: the blocks and wires of a diagram as the page draws them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import repeat
from typing import Any

from spart_blocks.block_support.ports import Port
from spart_blocks.diagram.build.late_blocks import BUSES
from spart_blocks.diagram.diagram_drawing import OPERATORS, port_labels
from spart_blocks.diagram.sections.drawing_section import PLAIN
from spart_blocks.diagram.written.connections import ALL, Connection
from spart_blocks.diagram.written.sheets import GATES, Sheet
from spart_blocks.diagram.written.wires import selection_text
from spart_blocks.drawing.boxes import BARE, LEAST_HEIGHT, look_of, sized_box, upright_box
from spart_blocks.drawing.faced import is_upright
from spart_blocks.drawing.layout import Box
from spart_blocks.drawing.placed import GRID, Drawn, Ports, Spots, lay_out
from spart_blocks.drawing.placed import Connection as Connected
from spart_blocks.state_machines.written import MACHINES
from spart_blocks.studio.files.bundles import CREATOR, TAKERS
from spart_blocks.studio.files.connections import Web, ends_of, web_of
from spart_blocks.studio.files.drawings import areas_of, looks_of, notes_of
from spart_blocks.studio.files.faces import Face, face_of
from spart_blocks.studio.files.kinds import kind_face, marks_of, runs_of
from spart_blocks.studio.files.mistakes import Mistakes
from spart_blocks.studio.files.ports import Side, block_look, further_outputs, port_text, sides_of
from spart_blocks.studio.files.reading import Reading
from spart_blocks.studio.files.scopes import Scope


@dataclass(frozen=True)
class SheetParts:
    """What of a sheet follows from the text: everything but positions and routes. blocks, wires: as
    the page gets them, without these. ends: of the wires."""

    scope: Scope
    boxes: dict[str, Box]
    ports: Ports
    ends: list[Connected]
    blocks: list[dict[str, Any]]
    wires: list[dict[str, Any]]


def sheet_parts(scope: Scope, mistakes: Mistakes) -> SheetParts:
    """The parts of a sheet."""
    web = web_of(scope)
    looks = {name: block_look(scope, name) for name in web.sides}
    labels = {name: _labels(scope, name, sides) for name, sides in web.sides.items()}
    margins = {name: _margins(labels[name]) for name in web.sides}
    faces = {name: _face(scope, name) for name in web.sides}
    drawings = {**dict.fromkeys(web.sides, PLAIN), **looks_of(scope)}
    boxes = {
        name: _box(
            scope, name, looks[name], labels[name], faces[name], margins[name],
            drawings[name].facing,
        )
        for name in web.sides
    }  # fmt: skip
    sides = described_sides(scope, web, labels)
    return SheetParts(
        scope,
        boxes,
        {name: (left.names, right.names) for name, (left, right) in web.sides.items()},
        [ends_of(one) for one in web.connections],
        [
            {
                **_block(scope, name, looks[name], faces[name], sides[name], boxes[name], mistakes),
                "facing": drawings[name].facing,
                "colour": drawings[name].colour,
                "named": drawings[name].name,
                "centre": _centre(boxes[name], margins[name]),
            }
            for name in web.sides
        ],
        [
            _wire(scope, one, names, mistakes)
            for one, names in zip(web.connections, web.carried, strict=True)
        ],
    )  # fmt: skip


@dataclass(frozen=True)
class MadeSheet:
    """A sheet as data for the page, with the parts and the drawing that it was made from."""

    parts: SheetParts
    drawn: Drawn
    data: dict[str, Any]


def make_sheet(
    parts: SheetParts, known: Spots, before: Drawn | None, last: MadeSheet | None = None
) -> MadeSheet:
    """The sheet of a diagram. known: positions of blocks; before: the previous drawing of the
    diagram. last: the sheet as it was made last; if it has the same parts, what has not changed is
    the same object in both."""
    drawn = lay_out(parts.boxes, parts.ports, parts.ends, known, before)
    same = last is not None and last.parts is parts
    old = last.data if last is not None and same else {}
    ways = last.drawn.routes if last is not None and same else {}
    blocks = [
        block
        if block is not None and (block["x"], block["y"], block["moved"]) == spot
        else {**part, **dict(zip(("x", "y", "moved"), spot, strict=True))}
        for part, block in zip(parts.blocks, old.get("blocks") or repeat(None), strict=False)
        for spot in (_spot(drawn, part["name"]),)
    ]
    wires = [
        wire
        if wire is not None and drawn.routes[ends] is ways[ends]
        else {**part, "points": [list(point) for point in drawn.routes[ends]]}
        for part, ends, wire in zip(
            parts.wires, parts.ends, old.get("wires") or repeat(None), strict=False
        )
    ]
    scope = parts.scope
    about = {"at": scope.at, "within": scope.within, "runs": runs_of(scope)}
    more = {"notes": notes_of(scope, drawn.spots), "areas": areas_of(scope, drawn.spots)}
    data = {**about, "blocks": blocks, "wires": wires, **more}
    return MadeSheet(parts, drawn, data)


def _spot(drawn: Drawn, name: str) -> tuple[float, float, bool]:
    spot = drawn.spots[name]
    return spot.x, spot.y, spot.moved


def type_of(scope: Scope, name: str) -> str:
    """The type of a block as written in the file; for a used file, its path."""
    if name not in scope.blocks:
        return {"in": "INPORT", "out": "OUTPORT"}.get(name, "?")
    section = scope.blocks[name]
    found = section.get("type", section.get("use"))
    return found if isinstance(found, str) else ""


def _face(scope: Scope, name: str) -> Face:
    """What a block shows of its function; of a slot, its chosen variant."""
    section = scope.blocks.get(name, {})
    if scope.is_slot(name):
        return Face(over=scope.reading.chosen.get(name, ""))
    if "use" in section or scope.definition(name) is not None:
        return kind_face(scope, name)
    return face_of(type_of(scope, name), section)


def shown_type(scope: Scope, name: str) -> str:
    """The type as shown in the block; for a used file, its file name."""
    return type_of(scope, name).rpartition("/")[2]


def _block(
    scope: Scope,
    name: str,
    look: str,
    face: Face,
    ports: PortSides,
    box: Box,
    mistakes: Mistakes,
) -> dict[str, Any]:
    section = scope.blocks.get(name, {})
    opens = file = None
    if look in ("subsystem", "variant") and (inner := scope.inner(name)) is not None:
        opens = inner.at
        if inner.path != scope.path:
            file = project_path(scope.reading, inner.path)
    elif type_of(scope, name) in MACHINES and name in scope.blocks:
        opens = f"{scope.at}/{name}" if scope.at else name
    clock = section.get("clock")
    own = scope.within is not None
    left, right = ports[False], ports[True]
    shown = {port["name"] for port in right}
    return {
        "name": name,
        "type": type_of(scope, name),
        "look": look,
        "width": GRID * box.width,
        "height": GRID * box.height,
        "inputs": _at(left, box.inputs),
        "outputs": _at(right, box.outputs),
        "further": [one for one in further_outputs(scope, name) if one not in shown],
        "opens": opens,
        "file": file,
        "clock": clock if isinstance(clock, str) else None,
        "face": face.data,
        "problems": mistakes.blocks.get((scope.keys, name), []) if own else [],
    }


def _centre(box: Box, margins: tuple[float, float]) -> float:
    """The middle of name and face from the left edge of a block [px]. margins: the widths of what
    stands at its inputs and outputs."""
    if is_upright(box.facing):
        return GRID * box.width / 2
    left, right = margins if box.facing == "right" else reversed(margins)
    return (GRID * box.width + left - right) / 2


def _at(ports: Sequence[Mapping[str, Any]], offsets: Sequence[int]) -> list[dict[str, Any]]:
    """The ports of one side with their offsets [px]."""
    keys = ("name", "label", "wired", "shape", "unit", "doc", "bus")
    return [
        {**{key: port[key] for key in keys}, "offset": float(GRID * offset)}
        for port, offset in zip(ports, offsets, strict=True)
    ]


PortSides = Mapping[bool, Sequence[Mapping[str, Any]]]
Labels = tuple[tuple[str, ...], tuple[str, ...]]
"""The texts at the inputs and at the outputs of a block."""


def described_sides(
    scope: Scope, web: Web, labels: Mapping[str, Labels] | None = None
) -> dict[str, PortSides]:
    """For each block its ports with shape and unit: inputs under False, outputs under True. known:
    whether the shape of an output is known; exact: whether an input takes only that shape. bus:
    whether a port is a bus; takes: whether inputs of the block take buses and single signals.
    labels: the texts at ports, if they are known already."""
    inputs, outputs = web.wired()
    if labels is None:
        labels = {name: _labels(scope, name, sides) for name, sides in web.sides.items()}
    takers = {name for name in web.sides if type_of(scope, name) in TAKERS}
    return {
        name: {
            output: [
                _port(scope, name, output, port, label, wired)
                | {"bus": (name, port.name) in web.buses[output], "takes": name in takers}
                for port, label in zip(side.ports, labels[name][output], strict=True)
            ]
            for output, side, wired in ((False, left, inputs), (True, right, outputs))
        }
        for name, (left, right) in web.sides.items()
    }


def _labels(scope: Scope, name: str, sides: tuple[Side, Side]) -> Labels:
    return labels_of(scope, name, sides[0], False), labels_of(scope, name, sides[1], True)


def labels_of(scope: Scope, name: str, side: Side, output: bool) -> tuple[str, ...]:
    """The texts at the ports of one side of a block."""
    section, kind = scope.blocks.get(name, {}), type_of(scope, name)
    sheet = _definition(scope, name)
    if sheet is not None and output == (name not in scope.blocks):
        marks = marks_of(sheet)
        return tuple(f"{marks[port]} {port}" if port in marks else port for port in side.names)
    operators = section.get(OPERATORS[kind][0]) if kind in OPERATORS else None
    if kind in BUSES or ALL in side.names:
        return tuple(_bus_label(kind, name, output) for name in side.names)
    return port_labels(kind, side.names, operators)


def _bus_label(kind: str, name: str, output: bool) -> str:
    """The text at a port of a block of buses, or at that of all signals of another block."""
    if name != ALL:
        return name
    return "+" if kind == CREATOR and not output else "bus" if kind in BUSES else "all"


def _definition(scope: Scope, name: str) -> Sheet | None:
    """The subsystem whose ports a block has: its own, or of `in` and `out` that of the sheet."""
    if name not in scope.blocks:
        return scope.sheet if name in GATES else None
    if "use" not in scope.blocks[name]:
        return scope.definition(name)
    inner = scope.inner(name)
    return inner.sheet if inner is not None else None


def _port(
    scope: Scope, name: str, output: bool, port: Port, label: str, wired: set[tuple[str, str]]
) -> dict[str, Any]:
    kind = scope.blocks.get(name, {}).get("type")
    text = port_text(kind, "outputs" if output else "inputs", port.name)
    shape, unit = port.shape, port.unit or text.get("unit", "")
    if output:
        signal = signal_of(scope, name, port.name) or ""
        shape = scope.reading.signals.shapes.get(signal, shape)
        unit = scope.reading.signals.units.get(signal, unit)
    return {
        "name": port.name,
        "label": label,
        "wired": (name, port.name) in wired,
        "shape": shape_text(shape),
        "unit": f"[{unit}]" if unit else "",
        "doc": text.get("text", ""),
        "known": output and shape is not None,
        "exact": not output and port.shape is not None,
    }


def shape_text(shape: tuple[int, ...] | None) -> str:
    """A shape as shown at a port: `3` for a vector, `3 × 3` for a matrix, empty for a scalar."""
    return " × ".join(map(str, shape)) if shape else ""


def carried_signals(
    scope: Scope, block: str, names: Sequence[str], head: str = ""
) -> list[dict[str, str]]:
    """The signals of a bus with shape and unit, by their names in it. names: outputs of a block;
    head: what their names begin with outside of the bus."""
    ports = {port.name: port for port in sides_of(scope, block)[1].ports} if names else {}
    found = []
    for name in names:
        told = _port(scope, block, True, ports.get(name, Port(name)), name, set())
        inside = name.removeprefix(head)
        found.append({"name": inside, "shape": told["shape"], "unit": told["unit"].strip("[]")})
    return found


def _wire(
    scope: Scope, one: Connection, names: Sequence[str], mistakes: Mistakes
) -> dict[str, Any]:
    own = scope.within is not None
    start, end = ends_of(one)
    signal, selection = signal_of(scope, *start), scope.sheet.wires[one.wire].source.selection
    part = selection_text(selection) if selection is not None else ""
    return {
        "source": one.ends[0],
        "target": one.ends[1],
        "from": {"block": start[0], "port": start[1]},
        "to": {"block": end[0], "port": end[1]},
        "signal": f"{signal}{part}" if signal is not None and not names else None,
        "bus": carried_signals(scope, start[0], names, f"{start[1]}."),
        "problems": mistakes.wires.get((scope.keys, one.wire), []) if own else [],
    }


def signal_of(scope: Scope, block: str, port: str) -> str | None:
    """The full name of the signal at an output of a block, as used by runs, with `*` for the
    numbers of copies; None if there is none or it is unknown."""
    if not scope.copies:
        return _signal_of(scope, scope.at, block, port)
    first = scope.named.replace("*", "0")
    found = _signal_of(scope, first, block, port)
    if found is None or found.startswith(f"{first}/"):
        return found and scope.named + found.removeprefix(first)
    around, _, number = scope.named.rpartition("/*")
    entry = f"{around}/in.{port}"  # of which each copy gets its own
    return f"{entry}.*" if not number and found == f"{entry}.0" else found


def _signal_of(scope: Scope, at: str, block: str, port: str) -> str | None:
    signals = scope.reading.signals
    if block == "in" and block not in scope.blocks:
        return signals.inlets.get(at, {}).get(port)
    full = f"{at}/{block}" if at else block
    if scope.reading.diagram is None:  # as far as it can be told without building it
        inner = scope.inner(block) if block in scope.blocks else None
        return None if inner is not None else f"{full}.{port}" if port not in ("", "0") else full
    return signals.names.get(f"{full}.{port}", signals.names.get(full) if not port else None)


def project_path(reading: Reading, file: Any) -> str | None:
    """The path of a file relative to the project's root; None if it is outside."""
    try:
        return str(file.relative_to(reading.root)).replace("\\", "/")
    except ValueError:
        return None


# --- boxes of blocks by the widths of texts in browsers [px] --------------------------------------


NAME, SMALL = 13.0, 11.0
"""Font sizes: of block names, and of types, faces and port names."""
LETTER = 6.3
"""Width of one letter of a face."""
GLYPH, TRIANGLE = 42.0, 1.5
"""Width of a glyph, and of a triangle around a text in its width."""
BOLD = 1.2
"""How much wider bold letters are, in wide fonts such as DejaVu Sans."""
_MOST_WIDTH = 40.0
_NARROW, _WIDE = set("iljtfrI.,:;|!'()[]{} -/"), set("mwMW@%")


def _box(
    scope: Scope,
    name: str,
    look: str,
    labels: Labels,
    face: Face,
    margins: tuple[float, float],
    facing: str,
) -> Box:
    """The box of a block that its texts fit into. look: a key of LOOKS."""
    left, right = margins
    telling = face.is_telling and look != "subsystem"
    kind = 0.0 if telling else text_width(shown_type(scope, name), SMALL)
    under = kind, _face_width(face)
    middle = max(BOLD * text_width(name, NAME), *under)
    wide = (left + middle + right) / GRID
    least = LEAST_HEIGHT + (2 if face != Face() else 0)
    inputs, outputs = map(len, labels)
    cut = look_of(look).cut
    if is_upright(facing):
        widths = _widest(labels[0]) / GRID, _widest(labels[1]) / GRID
        wide = min(middle / GRID, _MOST_WIDTH)
        return upright_box(wide, widths, (inputs, outputs), least, cut, facing)
    box = sized_box(min(wide, _MOST_WIDTH), (inputs, outputs), least, cut)
    return replace(box, facing=facing)


def _widest(labels: Sequence[str]) -> float:
    """The width of the widest text at the ports of one side of a block."""
    return max((text_width(label, SMALL) for label in labels), default=0.0)


def _margins(labels: Labels) -> tuple[float, float]:
    """The widths of what stands at the ports at the left and at the right of a block."""
    left, right = map(_widest, labels)
    return (left + 16 if left else 10 * BARE), (right + 16 if right else 10 * BARE)


def _face_width(face: Face) -> float:
    """The width that a face needs."""
    text = LETTER * max(len(face.over), len(face.under))
    if face.glyph == "gain":
        return TRIANGLE * text + 16  # the text lies in the wide part of a triangle
    glyphs = face.glyph.count("-") + 1 if face.glyph else 0
    return GLYPH * glyphs + text


@lru_cache(maxsize=20_000)
def text_width(text: str, size: float) -> float:
    """The approximate width of a text in common browser fonts."""
    ems = 0.0
    for letter in text:
        if letter in _NARROW:
            ems += 0.4
        elif letter in _WIDE:
            ems += 0.9
        elif letter.isupper() or ord(letter) > 0x2E80:
            ems += 0.7 if ord(letter) <= 0x2E80 else 1.0
        else:
            ems += 0.58
    return ems * size

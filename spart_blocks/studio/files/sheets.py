"""Makes sheets: the blocks and wires of a diagram as the page draws them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from spart_blocks.base.errors import InputError
from spart_blocks.block_support.ports import Port
from spart_blocks.diagram.written.connections import Connection
from spart_blocks.diagram.written.wires import selection_text
from spart_blocks.drawing.boxes import BARE, LEAST_HEIGHT, look_of, sized_box
from spart_blocks.drawing.layout import Box
from spart_blocks.drawing.placed import GRID, Drawn, Spots, lay_out
from spart_blocks.studio.files.connections import Web, ends_of, web_of
from spart_blocks.studio.files.mistakes import Mistakes
from spart_blocks.studio.files.ports import block_look, port_text
from spart_blocks.studio.files.reading import Reading
from spart_blocks.studio.files.scopes import Scope
from spart_blocks.versions.edits.values import flow_text

# What a block shows of its parameters, by its type.
_CAPTIONS = {
    "GAIN": ("K",),
    "CONSTANT": ("value",),
    "STEP": ("T", "on"),
    "RAMP": ("slope",),
    "WAVEFORM": ("wave", "freq"),
    "POW": ("p",),
    "FCN": ("expression",),
    "EXPRESSION": ("expression",),
    "TRANSFER_FUNCTION": ("num", "den"),
    "LTI_SISO": ("N", "D"),
    "GOTO": ("tag",),
    "FROM": ("tag",),
    "DELAY": ("T",),
    "CLIP": ("min", "max"),
}
_LONGEST_CAPTION = 28


def make_sheet(
    scope: Scope, mistakes: Mistakes, known: Spots, before: Drawn | None
) -> tuple[dict[str, Any], Drawn]:
    """The sheet of a diagram as data for the page, and its drawing. known: positions of blocks;
    before: its previous drawing."""
    web = web_of(scope)
    looks = {name: block_look(scope, name) for name in web.sides}
    captions = {name: caption_of(scope, name) for name in web.sides}
    boxes = {name: _box(scope, name, looks[name], web, captions[name]) for name in web.sides}
    ports = {name: (left.names, right.names) for name, (left, right) in web.sides.items()}
    wires = [ends_of(one) for one in web.connections]
    drawn = lay_out(boxes, ports, wires, known, before)
    sides = described_sides(scope, web)
    sheet = {
        "at": scope.at,
        "within": scope.within,
        "blocks": [
            _block(scope, name, looks[name], captions[name], sides[name], drawn, mistakes)
            for name in web.sides
        ],
        "wires": [_wire(scope, one, drawn, mistakes) for one in web.connections],
    }
    return sheet, drawn


def type_of(scope: Scope, name: str) -> str:
    """The type of a block as written in the file; for a used file, its path."""
    if name not in scope.blocks:
        return {"in": "INPORT", "out": "OUTPORT"}.get(name, "?")
    section = scope.blocks[name]
    found = section.get("type", section.get("use"))
    return found if isinstance(found, str) else ""


def caption_of(scope: Scope, name: str) -> str:
    """The text under the name and type of a block: its main parameters, or its chosen variant."""
    section = scope.blocks.get(name, {})
    if scope.is_slot(name):
        return scope.reading.chosen.get(name, "")
    if "for_each" in section:
        return "for each"
    texts = []
    for key in _CAPTIONS.get(type_of(scope, name), ()):
        if key in section:
            try:
                texts.append(f"{key} = {flow_text(section[key])}")
            except InputError:
                continue
    text = " ".join(", ".join(texts).split())
    return text if len(text) <= _LONGEST_CAPTION else f"{text[: _LONGEST_CAPTION - 1]}…"


def shown_type(scope: Scope, name: str) -> str:
    """The type as shown in the block; for a used file, its file name."""
    return type_of(scope, name).rpartition("/")[2]


def _block(
    scope: Scope,
    name: str,
    look: str,
    caption: str,
    ports: PortSides,
    drawn: Drawn,
    mistakes: Mistakes,
) -> dict[str, Any]:
    section, spot, box = scope.blocks.get(name, {}), drawn.spots[name], drawn.boxes[name]
    opens = file = None
    if look in ("subsystem", "variant") and (inner := scope.inner(name)) is not None:
        opens = inner.at
        if inner.path != scope.path:
            file = project_path(scope.reading, inner.path)
    clock = section.get("clock")
    own = scope.within is not None
    left, right = ports[False], ports[True]
    return {
        "name": name,
        "type": type_of(scope, name),
        "look": look,
        "x": spot.x,
        "y": spot.y,
        "width": GRID * box.width,
        "height": GRID * box.height,
        "moved": spot.moved,
        "inputs": _at(left, box.inputs),
        "outputs": _at(right, box.outputs),
        "opens": opens,
        "file": file,
        "clock": clock if isinstance(clock, str) else None,
        "caption": caption,
        "problems": mistakes.blocks.get((scope.keys, name), []) if own else [],
    }


def _at(ports: Sequence[Mapping[str, Any]], offsets: Sequence[int]) -> list[dict[str, Any]]:
    """The ports of one side with their offsets [px]."""
    keys = ("name", "wired", "shape", "unit", "doc")
    return [
        {**{key: port[key] for key in keys}, "offset": float(GRID * offset)}
        for port, offset in zip(ports, offsets, strict=True)
    ]


PortSides = Mapping[bool, Sequence[Mapping[str, Any]]]


def described_sides(scope: Scope, web: Web) -> dict[str, PortSides]:
    """For each block its ports with shape and unit: inputs under False, outputs under True. known:
    whether the shape of an output is known; exact: whether an input takes only that shape."""
    inputs, outputs = web.wired()
    return {
        name: {
            False: [_port(scope, name, False, port, inputs) for port in left.ports],
            True: [_port(scope, name, True, port, outputs) for port in right.ports],
        }
        for name, (left, right) in web.sides.items()
    }


def _port(
    scope: Scope, name: str, output: bool, port: Port, wired: set[tuple[str, str]]
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


def _wire(scope: Scope, one: Connection, drawn: Drawn, mistakes: Mistakes) -> dict[str, Any]:
    own = scope.within is not None
    start, end = ends_of(one)
    signal, selection = signal_of(scope, *start), scope.sheet.wires[one.wire].source.selection
    part = selection_text(selection) if selection is not None else ""
    return {
        "source": one.ends[0],
        "target": one.ends[1],
        "from": {"block": start[0], "port": start[1]},
        "to": {"block": end[0], "port": end[1]},
        "points": [list(point) for point in drawn.routes[start, end]],
        "signal": f"{signal}{part}" if signal is not None else None,
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
"""Font sizes: of block names, and of types, captions and port names."""
LETTER = 6.3
"""Width of one letter of a caption."""
_MOST_WIDTH = 40.0
_NARROW, _WIDE = set("iljtfrI.,:;|!'()[]{} -/"), set("mwMW@%")


def _box(scope: Scope, name: str, look: str, web: Web, caption: str) -> Box:
    """The box of a block that its texts fit into. look: a key of LOOKS."""
    sides = [side.ports for side in web.sides[name]]
    left, right = (
        max((_width(port.name, SMALL) for port in ports if not port.name.isdigit()), default=0.0)
        for ports in sides
    )
    under = _width(shown_type(scope, name), SMALL), LETTER * len(caption)
    middle = max(_width(name, NAME) * 1.08, *under)
    wide = (middle + sum(side + 16 if side else 10 * BARE for side in (left, right))) / GRID
    least = LEAST_HEIGHT + (2 if caption else 0)
    inputs, outputs = map(len, sides)
    return sized_box(min(wide, _MOST_WIDTH), (inputs, outputs), least, look_of(look).cut)


def _width(text: str, size: float) -> float:
    """The approximate width of a text in common browser fonts."""
    ems = 0.0
    for letter in text:
        if letter in _NARROW:
            ems += 0.34
        elif letter in _WIDE:
            ems += 0.9
        elif letter.isupper() or ord(letter) > 0x2E80:
            ems += 0.7 if ord(letter) <= 0x2E80 else 1.0
        else:
            ems += 0.58
    return ems * size

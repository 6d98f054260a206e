"""Checks which ports a new wire may connect to, with the reason if it may not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from spart_blocks.base.errors import InputError
from spart_blocks.diagram.build.late_blocks import BUSES
from spart_blocks.diagram.build.registry import BlockType, block_types
from spart_blocks.diagram.written.connections import ALL
from spart_blocks.studio.files.bundles import TAKERS
from spart_blocks.studio.files.connections import web_of
from spart_blocks.studio.files.ports import further_outputs
from spart_blocks.studio.files.scopes import Scope
from spart_blocks.studio.files.sheets import PortSides, described_sides

if TYPE_CHECKING:
    from spart_blocks.blocks import PortSpec


def fits_of(scope: Scope, block: str, port: str, output: bool) -> dict[str, str | None]:
    """For each port on the other side, as `block.port`: None if a wire from the given port may
    connect to it, otherwise the reason why not. output: whether the given port is an output. Raises
    InputError if it does not exist."""
    sides = described_sides(scope, web_of(scope))
    own = _own(scope, sides, block, port, output)
    written = scope.within is not None
    found: dict[str, str | None] = {}
    start = _end_text(block, port)
    for name, both in sides.items():
        for other in both[not output]:
            source, target = (own, other) if output else (other, own)
            end = _end_text(name, other["name"])
            labels = (start, end) if output else (end, start)
            reason = _reason(source, target, *labels) if written else _FOREIGN
            found[f"{name}.{other['name']}"] = reason
    return found


def _end_text(block: str, port: str) -> str:
    """A port as a wire has it; all signals of a block are the block."""
    return block if port == ALL else f"{block}.{port}"


def _own(
    scope: Scope, sides: Mapping[str, PortSides], block: str, port: str, output: bool
) -> Mapping[str, Any]:
    """The port at which a wire begins. Raises InputError if it does not exist."""
    mine = sides[block][output] if block in sides else ()
    own = next((one for one in mine if one["name"] == port), None)
    if own is None and output and port in further_outputs(scope, block):
        return {"name": port, "shape": "", "unit": "", **dict.fromkeys(_FLAGS, False)}
    if own is None:
        raise InputError(f"there is no {'output' if output else 'input'} {block}.{port}")
    return own


def unfit_types(scope: Scope, block: str, port: str, output: bool) -> dict[str, str]:
    """The block types and subsystems that certainly have no port for a wire from the given port,
    each with the reason. output: whether the given port is an output. Raises InputError if it does
    not exist."""
    own = _own(scope, described_sides(scope, web_of(scope)), block, port, output)
    side, start = "inputs" if output else "outputs", _end_text(block, port)
    found = {}
    for name, sheet in scope.file.subsystems.items():
        ports = sheet.inputs if output else sheet.outputs
        if not ports:
            found[name] = f"it has no {side}"
        elif own["bus"] and output and not any("." in one for one in ports):
            found[name] = f"{start} is a bus, and it takes single signals"
    for kind in block_types():
        if own["bus"] and output and kind.name not in (*BUSES, *TAKERS):
            found[kind.name] = f"{start} is a bus, and it takes single signals"
            continue
        specs = kind.declared[0 if output else 1]
        reasons = [_against(own, spec, kind, start, output) for spec in specs]
        if reasons and all(reasons):
            more = f", and its other {side} do not fit either" if len(reasons) > 1 else ""
            found[kind.name] = f"{reasons[0]}{more}"
    return found


def _against(
    own: Mapping[str, Any], spec: PortSpec, kind: BlockType, label: str, output: bool
) -> str | None:
    """Why a wire does not fit a port that a block type declares; None if it may fit."""
    sizes = [size for size in spec.shape.split(", ") if size]
    known = own["known" if output else "exact"] and _is_sure(spec.shape)
    verbs = ("takes", "is") if output else ("is", "takes")
    if known and not _may_be(own["shape"], sizes):
        theirs, mine = _shape(" × ".join(sizes)), _shape(own["shape"])
        return f"{spec.name} {verbs[0]} {theirs}, {label} {verbs[1]} {mine}"
    units = "" if spec.unit in kind.parameters else spec.unit
    if units and own["unit"] and not set(_units(units)) & set(_units(own["unit"])):
        return f"{spec.name} {verbs[0]} [{units}], {label} {verbs[1]} {own['unit']}"
    return None


def _is_sure(shape: str) -> bool:
    """Whether a declared shape fixes the number of dimensions: a number, sizes, or several symbols.
    A single symbol may stand for any shape."""
    return all(one.isdigit() for one in shape.split(", ") if one) or (
        ", " in shape and not shape.startswith("float or")
    )


def _may_be(shape: str, sizes: list[str]) -> bool:
    """Whether a shape matches the declared sizes. A symbol matches any size."""
    own = shape.split(" × ") if shape else []
    return len(own) == len(sizes) and all(
        size == mine for size, mine in zip(sizes, own, strict=True) if size.isdigit()
    )


_FLAGS = ("wired", "bus", "takes", "known", "exact")
_FOREIGN = "this sheet is of another file: open that to change it"


def _reason(
    source: Mapping[str, Any], target: Mapping[str, Any], start: str, end: str
) -> str | None:
    if target["wired"] and not (target["name"] == ALL and target["takes"]):
        return f"{end} has a wire already"
    if source["bus"] and not (target["bus"] or target["takes"]):
        return f"{start} is a bus, {end} takes one signal"
    if target["bus"] and not source["bus"] and not target["takes"]:
        return f"{end} takes a bus, {start} is one signal"
    a, b = source["shape"], target["shape"]
    if target["exact"] and source["known"] and a != b:
        return f"{start} is {_shape(a)}, {end} takes {_shape(b)}"
    units = [set(_units(side["unit"])) for side in (source, target)]
    if all(units) and not units[0] & units[1]:
        return f"{start} is in {source['unit']}, {end} takes {target['unit']}"
    return None


def _shape(text: str) -> str:
    if not text:
        return "one number"
    return f"a matrix of {text}" if "×" in text else f"a vector of {text}"


def _units(text: str) -> list[str]:
    return [part.strip() for part in text.strip("[]").split(",") if part.strip()]

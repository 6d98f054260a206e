"""The ports of blocks, also of those that cannot be built because of mistakes; all block types."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property, lru_cache
from typing import Any

from spart_blocks.block_support.ports import Port, attribute, input_ports, output_ports
from spart_blocks.descriptions import describe
from spart_blocks.descriptions.subjects import place_of
from spart_blocks.diagram.build.companions import AUDIT, wants_audit
from spart_blocks.diagram.build.installed_blocks import warn_of_installed
from spart_blocks.diagram.build.late_blocks import BUSES
from spart_blocks.diagram.build.registry import BlockType, find_type, type_names
from spart_blocks.diagram.diagram_drawing import CLASSES, OPERATORS
from spart_blocks.diagram.written.sheets import GATES
from spart_blocks.diagram.written.wires import COUNTED
from spart_blocks.drawing.boxes import LOOKS
from spart_blocks.studio.files.scopes import Scope
from spart_blocks.versions.differences.units import port_names_of

MOST_PORTS = 1000


@dataclass(frozen=True)
class Side:
    """The inputs or the outputs of a block. known: whether the list is complete; if not, wires may
    name other ports."""

    ports: tuple[Port, ...]
    known: bool = True

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the ports; a number for a port without a name."""
        return tuple(port.name for port in self.ports)


def kind_of(name: Any) -> BlockType | None:
    """The block type of a name in a file, which must be upper case; None if there is none."""
    return find_type(name) if isinstance(name, str) and name.isupper() else None


@lru_cache(maxsize=1024)
def described(name: str) -> dict[str, Any]:
    """The description of a block type as plain data; empty if the type does not exist."""
    kind = kind_of(name)
    return describe(kind) if kind is not None else {}


def port_text(kind: Any, side: str, name: str) -> dict[str, str]:
    """The description of a port of a block type; empty if it has none. side: "inputs" or
    "outputs"."""
    return _port_text(kind, side, name) if isinstance(kind, str) else {}


@lru_cache(maxsize=4096)
def _port_text(kind: str, side: str, name: str) -> dict[str, str]:
    rows = described(kind).get(side, ())
    return next((row for row in rows if name in (row["name"], row["port"])), {})


def block_look(scope: Scope, name: str) -> str:
    """The style in which a block is drawn: that of its class, or border, variant or subsystem."""
    if name in GATES and name not in scope.blocks:
        return "border"
    if scope.is_slot(name):
        return "variant"
    section = scope.blocks.get(name, {})
    if "use" in section or scope.definition(name) is not None:
        return "subsystem"
    return type_look(kind_of(section.get("type")))


def type_look(kind: BlockType | None) -> str:
    """The style in which blocks of a type are drawn."""
    look = kind.blockclass if kind is not None else "function"
    look = CLASSES.get(look, look)
    return look if look in LOOKS and look != "subsystem" else "function"


def sides_of(scope: Scope, name: str) -> tuple[Side, Side]:
    """The inputs and outputs of a block, as far as they are known."""
    if name in GATES and name not in scope.blocks:
        own = scope.sheet.inputs if name == "in" else scope.sheet.outputs
        ports = Side(tuple(map(Port, own)))
        return (Side(()), ports) if name == "in" else (ports, Side(()))
    section = scope.blocks.get(name, {})
    if scope.definition(name) is not None or "use" in section:
        inner = scope.inner(name)
        if inner is None:
            return Side((), False), Side((), False)
        return Side(tuple(map(Port, inner.sheet.inputs))), Side(
            tuple(map(Port, inner.sheet.outputs))
        )
    block = scope.built(name)
    if block is not None:
        return _open(section, Side(input_ports(block))), Side(output_ports(block))
    return unbuilt_sides(section)


def further_outputs(scope: Scope, name: str) -> tuple[str, ...]:
    """The outputs that a block gets when a wire begins at them: accelerations of a plant, and the
    signals of its audit."""
    block, audit = scope.built(name), scope.built(f"{name}{AUDIT}")
    audited = output_ports(audit) if audit is not None and wants_audit(block) else ()
    found = attribute(block, "companion_outputs", ())
    return (*found, *(f"{AUDIT[1:]}.{port.name}" for port in audited))


def _open(section: Mapping[str, Any], side: Side) -> Side:
    """The inputs of a built block. They are marked as incomplete if the wires determine their
    number."""
    return side if not is_counted(section) else replace(side, known=False)


def is_counted(section: Mapping[str, Any]) -> bool:
    """Whether the number of a block's inputs is the number of wires that lead to it."""
    given = any(key in section for key in ("nin", "labels", "styles"))
    return section.get("type") in COUNTED and not given


def unbuilt_sides(section: Mapping[str, Any]) -> tuple[Side, Side]:
    """The inputs and outputs of a block that is not built, from its type and parameters."""
    kind = kind_of(section.get("type"))
    if kind is None:
        return Side((), False), Side((), False)
    if kind.name in BUSES:
        return _bus_sides(kind.name, section)
    inputs, outputs = port_names_of(kind.name, section)
    count = _count(kind.name, section)
    if count is not None and inputs is None:
        inputs = tuple(map(str, range(min(count, MOST_PORTS))))
    units = {port.name: port.unit for port in (*kind.inputs, *kind.outputs)}
    sides = (
        Side(tuple(Port(name, unit=units.get(name, "")) for name in names or ()), bool(names))
        for names in (inputs, outputs)
    )
    left, right = sides
    if not right.ports and kind.blockclass not in ("sink", "graphics"):
        right = Side((Port("0"),), False)
    if not left.ports and not left.known and type_look(kind) == "source":
        left = Side(())
    return left, right


def _bus_sides(kind: str, section: Mapping[str, Any]) -> tuple[Side, Side]:
    """The ports of a block of buses as far as its parameters name them."""
    signals, given = texts(section.get("signals")), texts(section.get("outputs"))
    inputs, outputs = signals, signals
    if kind == "BUS_SELECTOR":
        inputs, outputs = [], given or [name.rpartition(".")[2] for name in signals]
    elif kind == "BUS_ASSIGNMENT":
        outputs = []  # those of the bus
    left, right = (tuple(map(Port, dict.fromkeys(ports))) for ports in (inputs, outputs))
    return Side(left, False), Side(right, False)


def texts(value: Any) -> list[str]:
    """A list of texts, which a file may have as one text; anything else as no texts."""
    given = [value] if isinstance(value, str) else value
    return [one for one in given if isinstance(one, str)] if isinstance(given, list) else []


def _count(kind: str, section: Mapping[str, Any]) -> int | None:
    """The number of inputs given by the parameters of a block; None if they do not give it."""
    if kind in OPERATORS:
        parameter, default, _ = OPERATORS[kind]
        operators = section.get(parameter, default)
        return len(operators if isinstance(operators, str) else default)
    given = section.get("nin")
    return given if isinstance(given, int) and not isinstance(given, bool) and given > 0 else None


def with_named(side: Side, named: Iterable[str]) -> Side:
    """A side extended by the ports that only wires name."""
    known = set(side.names)
    more = [name for name in dict.fromkeys(named) if name not in known]
    return replace(side, ports=(*side.ports, *map(Port, more))) if more else side


def with_spare(side: Side) -> Side:
    """The inputs of a block whose wires determine their number: all up to the last used one, and
    one free input more."""
    known = {port.name: port for port in side.ports}
    last = max((int(name) for name in known if name.isdecimal() and len(name) < 4), default=-1)
    numbers = {name: known.pop(name, Port(name)) for name in map(str, range(last + 2))}
    return Side((*numbers.values(), *known.values()), False)


# --- all block types, for the palette of the page -------------------------------------------------


def palette_types() -> list[dict[str, Any]]:
    """Every block type that a file can use, sorted by subject."""
    warn_of_installed()
    found = [_type(name) for name in type_names() if not _refused(name)]
    return sorted(found, key=lambda one: (place_of(one["subject"]), one["subject"]))


@cache
def _refused(name: str) -> bool:
    kind = find_type(name)
    return kind is None or kind.refusal is not None


@cache
def _type(name: str) -> dict[str, Any]:
    kind = find_type(name)
    assert isinstance(kind, BlockType)
    texts = describe(kind)
    inputs = [port["name"] for port in texts["inputs"]]
    counted = list(unbuilt_sides({"type": name})[0].names)
    return {
        "name": kind.name,
        "subject": texts["subject"],
        "summary": texts["summary"],
        "elsewhere": list(dict.fromkeys(other["name"] for other in texts["elsewhere"])),
        "inputs": counted if len(counted) > len(inputs) else inputs,
        "outputs": [port["name"] for port in texts["outputs"]],
        "look": type_look(kind),
    }

"""Random edits of shipped diagrams are told as what they are, and nothing else is told."""

from __future__ import annotations

import re
from copy import deepcopy

import pytest
from differences_sides import SHIPPED, edited, side_of, told, with_data
from hypothesis import given, settings
from hypothesis import strategies as st

from spart_blocks.diagram.written.wires import parse_wire
from spart_blocks.versions.differences import difference_of

SIDES = {path.stem: side_of(path) for path in SHIPPED}
NAMES = sorted(SIDES)


@pytest.mark.parametrize("name", NAMES)
def test_a_diagram_does_not_differ_from_itself(name):
    found = difference_of(SIDES[name], edited(SIDES[name], lambda data: None))
    assert not found
    assert found.notes == ()


@pytest.mark.parametrize("name", NAMES)
def test_the_order_of_keys_is_no_difference(name):
    data = SIDES[name].data
    turned = {key: data[key] for key in reversed(data)}
    turned["blocks"] = {key: data["blocks"][key] for key in reversed(data["blocks"])}
    assert told(SIDES[name], with_data(SIDES[name], turned)) == []


@settings(max_examples=60)
@given(st.data())
def test_a_changed_parameter_is_told_alone(data):
    side, block = drawn_block(data)
    numbers = [key for key, value in side.data["blocks"][block].items() if is_number(value)]
    if not numbers:
        return
    key = data.draw(st.sampled_from(numbers))
    new = data.draw(st.floats(2e6, 3e6))

    def edit(values):
        values["blocks"][block][key] = new

    ((_, kind, path),) = told(side, edited(side, edit))
    assert (kind, path) == ("changed", f"{block}.{key}")


@settings(max_examples=60)
@given(st.data())
def test_a_block_with_another_name_everywhere_is_told_alone(data):
    side, block = drawn_block(data)
    new = with_data(side, renamed_everywhere(side.data, block, "another_name"))
    changes = told(side, new)
    assert changes == [("block", "renamed", "another_name")]
    assert told(new, side) == [("block", "renamed", block)]


@settings(max_examples=60)
@given(st.data())
def test_a_removed_block_is_told_with_its_wires(data):
    side, block = drawn_block(data)

    def edit(values):
        del values["blocks"][block]
        values["wires"] = list(without(values["wires"], block))

    new = edited(side, edit)
    changes = told(side, new)
    assert ("block", "removed", block) in changes
    assert {(subject, kind) for subject, kind, _ in changes} <= {
        ("block", "removed"),
        ("wire", "removed"),
    }
    assert sum(subject == "block" for subject, _, _ in changes) == 1
    assert all(block in path for _, _, path in changes)
    back = told(new, side)
    assert {(subject, kind) for subject, kind, _ in back} <= {("block", "added"), ("wire", "added")}
    assert len(back) == len(changes)


@settings(max_examples=60)
@given(st.data())
def test_a_rerouted_wire_is_told_alone(data):
    side = SIDES[data.draw(st.sampled_from(NAMES))]
    wires = side.data["wires"]
    number = data.draw(st.integers(0, len(wires) - 1))
    wire = parse_wire(wires[number])
    if wire.source.names is not None:
        return
    end = data.draw(st.sampled_from(wire.ends))
    written = end.block if end.port is None else f"{end.block}.{end.port}"

    def edit(values):
        values["blocks"]["elsewhere"] = {"type": "CONSTANT", "value": 1}
        values["wires"][number : number + 1] = [
            f"elsewhere -> {written}",
            *(kept(wire, other, wires[number]) for other in wire.ends if other is not end),
        ]

    changes = [one for one in told(side, edited(side, edit)) if one[0] != "block"]
    assert [(subject, kind) for subject, kind, _ in changes] == [("wire", "rerouted")]
    assert changes[0][2].startswith(end.block)


def kept(wire, end, text):
    written = end.block if end.port is None else f"{end.block}.{end.port}"
    return f"{text.split('->')[0]} -> {written}"


def is_number(value):
    return isinstance(value, int | float) and not isinstance(value, bool)


def drawn_block(data):
    side = SIDES[data.draw(st.sampled_from(NAMES))]
    return side, data.draw(st.sampled_from(sorted(side.data["blocks"])))


def without(wires, block):
    """The wires without those of a block."""
    for text in wires:
        wire = parse_wire(text)
        ends = [end for end in wire.ends if end.block != block]
        if wire.source.block != block:
            for end in ends:
                yield kept(wire, end, text)


def renamed_everywhere(data, old, new):
    """Data with another name for a block: as a key, in wires, and where signals are named."""
    data = deepcopy(data)
    data["blocks"] = {new if key == old else key: one for key, one in data["blocks"].items()}
    name = re.compile(rf"(?<![\w.$/=]){re.escape(old)}(?![\w=])")
    data["wires"] = [name.sub(new, text) for text in data["wires"]]
    for section in ("run", "expect", "compare", "export"):
        if section in data:
            data[section] = in_values(data[section], lambda text: in_signal(text, old, new))
    return data


def in_signal(text, old, new):
    head = re.match(r"[^.\[/]+", text)
    return new + text[head.end() :] if head and head[0] == old else text


def in_values(value, change):
    if isinstance(value, dict):
        return {change(key): in_values(one, change) for key, one in value.items()}
    if isinstance(value, list):
        return [in_values(one, change) for one in value]
    return change(value) if isinstance(value, str) else value

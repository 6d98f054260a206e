"""A diagram's file as it is written: sheets, blocks, wires, slots, and where each is."""

from pathlib import Path

import pytest
import yaml

import spart_blocks as sb
from spart_blocks.base.document import parse_document, parse_value, read_document
from spart_blocks.diagram.written.sheets import File
from spart_blocks.diagram.written.wires import parse_wire
from spart_blocks.versions.edits import (
    AddBlock,
    Group,
    RenameBlock,
    Set,
    edit,
    edited,
)

DIAGRAMS = Path(__file__).parents[2] / "diagrams"
TEXT = """\
name: servo
params: {k: &k 2, same: *k}
subsystems:
  loop:
    params: {gain: 1}
    inputs: [goal]
    outputs: [y]
    blocks:
      g: {type: GAIN, K: $gain}
      inner: {type: lag}
    wires: [in.goal -> g, g -> inner, inner -> out.y]
  lag:
    inputs: [u]
    outputs: [y]
    blocks: {i: {type: INTEGRATOR}}
    wires: [in.u -> i, i -> out.y]
variants:
  law:
    default: p
    choices: {p: {type: GAIN}, file: {use: law.yaml}}
blocks:
  goal: {type: STEP, T: 1}
  servo: {type: loop, gain: $k}
  spare: {type: loop}
  wrong: 3
wires:
  - goal -> law
  - "  "
  - law ->servo.goal,  spare.goal
  - no wire
  - ""
  - 7
run: {T: 2}
sweep: {runs: 3, over: {k: {uniform: {low: 1, high: 2}}}}
"""


@pytest.fixture
def file():
    return File(parse_document(TEXT, "servo.yaml"))


def test_a_file_has_its_own_sheet_and_those_of_its_subsystems(file):
    assert [sheet.name for sheet in file.sheets] == ["", "loop", "lag"]
    assert [*file.top.blocks] == ["goal", "servo", "spare", "wrong"]
    loop = file.subsystems["loop"]
    assert (loop.keys, loop.inputs, loop.outputs) == (("subsystems", "loop"), ("goal",), ("y",))
    assert loop.params == {"gain": 1}
    assert loop.has_gates
    assert not file.top.has_gates
    assert file.sheet_at(loop.keys) is loop


def test_a_block_knows_where_it_is_written(file):
    block = file.subsystems["loop"].blocks["g"]
    assert block.keys == ("subsystems", "loop", "blocks", "g")
    assert (block.type, block.use, block.parameters) == ("GAIN", None, {"K": "$gain"})
    assert file.document.key_place(*block.keys).line == 9
    assert file.top.blocks["wrong"].section == {}


def test_slots_hold_their_choices(file):
    law = file.slots["law"]
    assert (law.default, [*law.choices]) == ("p", ["p", "file"])
    assert law.choices["file"].use == "law.yaml"
    assert law.choices["file"].keys == ("variants", "law", "choices", "file")


def test_wires_keep_their_numbers_and_those_that_cannot_be_read_their_faults(file):
    assert [*file.top.wires] == [0, 2]
    assert {n: e.message for n, e in file.top.wrong_wires.items()} == {
        1: "a wire is written SOURCE -> INPUT",
        3: "a wire is written SOURCE -> INPUT",
    }


def test_instances_are_found_within_each_other(file):
    found = [(prefix, sheet.name) for prefix, sheet in file.instances()]
    assert found == [
        *(("", ""), ("servo/", "loop"), ("spare/", "loop")),
        *(("servo/inner/", "lag"), ("spare/inner/", "lag")),
    ]


def test_a_subsystem_within_itself_ends_there():
    file = File.of({"blocks": {"a": {"type": "s"}}, "subsystems": {"s": {"blocks": {
        "b": {"type": "s"}}}}})  # fmt: skip
    assert [prefix for prefix, _ in file.instances()] == ["", "a/"]


def test_a_file_of_anything_is_read():
    for data in ({}, {"blocks": 3, "wires": "a -> b", "subsystems": [1], "variants": {"v": 2}}):
        file = File.of(data)
        assert not file.top.blocks
        assert not file.top.wires
        assert not [*file.blocks()]


@pytest.mark.parametrize(
    "text", ["a ->b", "a.x[ 0:2 ]->  b.1 , c", "a.{x, y}  -> b", "  a.* -> b,c.d.e"]
)
def test_the_parts_of_a_wire_are_where_it_says(text):
    wire = parse_wire(text)
    written = [wire.written(end) for end in (wire.source, *wire.ends)]
    source, _, ends = text.partition("->")
    assert written == [source.strip(), *(end.strip() for end in ends.split(","))]
    assert parse_wire(f"{wire.source} -> {wire.ends[0]}").ends[0].block == wire.ends[0].block


def test_wires_change_where_they_must_alone():
    wire = parse_wire("a.x  ->b.1,  a.y , c")
    assert wire.renamed({"a": "other", "b": "b"}) == "other.x  ->b.1,  other.y , c"
    assert wire.without(lambda end: end.block == "c") == "a.x  -> b.1, a.y"
    assert wire.without(lambda end: end.block in "bc" or end.port == "y") is None
    assert wire.without(lambda end: False) == wire.text
    assert wire.without_connections({("a.x", "b.1")}) == "a.x  -> a.y, c"


def test_each_value_knows_its_characters(file):
    root, text = file.document.root, file.document.text
    for path, written in (
        (("params", "k"), "2"),
        (("params", "same"), "*k"),
        (("blocks", "goal"), "{type: STEP, T: 1}"),
        (("subsystems", "lag", "wires", 1), "i -> out.y"),
        (("wires", 2), "law ->servo.goal,  spare.goal"),
        (("wires", 4), '""'),
    ):
        node = root.at(path)
        assert text[node.start : node.end] == written
    assert root.at(("params", "same")).alias
    assert root.at(("params", "none")) is None
    wires = root.at(("wires",))
    assert text[wires.start : wires.end].endswith('- ""\n  - 7')


@pytest.mark.parametrize("path", sorted(DIAGRAMS.rglob("*.yaml")), ids=lambda path: path.stem)
def test_each_value_of_a_shipped_diagram_is_what_stands_there(path):
    document = read_document(path)
    waiting, seen = [document.root], 0
    while waiting:
        node = waiting.pop()
        waiting += node.children.values()
        written = document.text[node.start : node.end]
        if node.flow and not node.alias and written[:1] not in ("|", ">"):
            assert parse_value(written, "it") == node.value
            seen += 1
        for key, named in node.keys.items():
            assert parse_value(document.text[named.start : named.end], "it") in (key, int_of(key))
    assert seen > 5


def int_of(text):
    return int(text) if text.isdecimal() else text


# --- texts are parsed once -------------------------------------------------------------------


@pytest.fixture
def parsed(monkeypatch):
    """The texts of files that YAML's parser is given."""
    texts, parse = [], yaml.parse

    def counting(text, **options):
        if text.startswith("name: servo"):
            texts.append(text)
        return parse(text, **options)

    monkeypatch.setattr(yaml, "parse", counting)
    return texts


RUNS = TEXT.replace("  wrong: 3\n", "  end: {type: SCOPE}\n").replace(
    '  - "  "\n', "  - servo.y -> end\n  - spare.y -> end\n"
).replace('  - no wire\n  - ""\n  - 7\n', "").replace(", file: {use: law.yaml}", "")  # fmt: skip


@pytest.mark.parametrize(
    "operations",
    [
        [Set("params.same", 3)],
        [Set("goal.T", 2), Set("servo.gain", 4), RenameBlock("goal", "wanted")],
        [Group("part", ("goal", "spare"))],
        [AddBlock("more", "GAIN", {"K": 2})],
    ],
)
def test_an_edit_parses_each_text_once(operations, parsed):
    edited(RUNS, operations)
    assert len(parsed) == len(operations) + 1
    assert len(set(parsed)) == len(parsed)


def test_an_edit_of_a_file_loads_what_it_parsed(parsed, tmp_path):
    path = tmp_path / "servo.yaml"
    path.write_text(RUNS)
    edit(path, Set("goal.T", 2))
    assert len(parsed) == len(set(parsed)) == 2


def test_loading_parses_once_and_a_cached_run_not_at_all(parsed, tmp_path):
    path = tmp_path / "servo.yaml"
    path.write_text(RUNS)
    sb.load(path)
    assert len(parsed) == 1
    sb.simulate(path)
    assert len(parsed) == 2
    sb.simulate(path)
    assert len(parsed) == 2


def test_a_sweep_parses_once(parsed, tmp_path):
    path = tmp_path / "servo.yaml"
    path.write_text(RUNS + "expect: {stays_within: [{signal: servo, low: -1e9, high: 1e9}]}\n")
    sb.sweep(path, workers=1)
    assert len(parsed) == 1
    sb.sweep(path, {"servo.gain": [1, 2]}, workers=1)
    assert len(parsed) == 2

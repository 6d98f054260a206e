"""The limits of a file hold before anything grows: each is told with its place and a fix."""

from __future__ import annotations

import pytest

from spart_blocks.base.document import MAX_KEY, MAX_NODES, TEXT_NODE, parse_document
from spart_blocks.base.errors import DiagramError
from spart_blocks.diagram.build import product

TIME = "blocks: {t: {type: TIME}}\n"


def text_faults(text):
    with pytest.raises(DiagramError) as caught:
        parse_document(text, "f.yaml")
    return [(f.place.line, f.place.column, f.message, f.hint or "") for f in caught.value.faults]


# --- text ------------------------------------------------------------------------------


def test_aliases_of_a_long_text_count_by_its_length():
    long = "x" * (TEXT_NODE * 1000)
    text = f"a: &a {long}\nb: [{', '.join(['*a'] * (MAX_NODES // 1000))}]\n"
    ((line, _, message, _),) = text_faults(text)
    assert line == 2
    assert "aliases counted in full" in message
    parse_document(text.replace("*a, " * 10, ""), "f.yaml")


def test_a_very_long_key_is_refused():
    ((line, column, message, hint),) = text_faults(f"a: 1\n? {'k' * (MAX_KEY + 1)}\n: 2\n")
    assert (line, column) == (2, 3)
    assert "more than 200 characters" in message
    assert "shorten" in hint


@pytest.mark.parametrize("number", ["0x" + "f" * 298, "9" * 310, "1" + "0" * 5000, "1e999"])
def test_a_whole_number_that_no_float_can_be_is_refused(number):
    ((line, column, message, hint),) = text_faults(f"a: {number}\n")
    assert (line, column) == (1, 4)
    assert "is out of range" in message
    assert ".inf" in hint


def test_a_merge_key_is_refused_with_what_to_write():
    ((line, column, message, hint),) = text_faults("a: &a {b: 1}\nc: {<<: *a}\n")
    assert (line, column) == (2, 5)
    assert "there are no merge keys" in message
    assert "write the entries" in hint


@pytest.mark.parametrize("path", ["params.k" + ".a" * 100_000, "params.v." + "9" * 5000])
def test_an_override_with_an_endless_path_is_refused(faults, path):
    found = faults("params: {k: , v: [1]}\n" + TIME, overrides=[f"{path}=1"])
    assert len(found) == 1


# --- blocks, wires and ports -------------------------------------------------------------


def test_empty_subsystems_that_multiply_are_refused(faults):
    rows = ["  s0: {blocks: {}}"]
    for k in range(1, 6):
        uses = ", ".join(f"b{i}: {{type: s{k - 1}}}" for i in range(20))
        rows.append(f"  s{k}: {{blocks: {{{uses}}}}}")
    found = faults("subsystems:\n" + "\n".join(rows) + "\nblocks: {a: {type: s5}}\n")
    assert [fault[2] for fault in found] == [
        "with its subsystems the diagram has more than 20000 blocks"
    ]


def test_mistakes_that_subsystems_multiply_are_told_once(faults):
    wires = ", ".join(f"t -> x{i}" for i in range(50))
    text = f"subsystems:\n  s: {{blocks: {{t: {{type: TIME}}}}, wires: [{wires}]}}\nblocks:\n"
    found = faults(text + "".join(f"  b{i}: {{type: s}}\n" for i in range(500)))
    assert len(found) == 50
    assert {fault[0] for fault in found} == {2}


def test_wires_with_very_many_ends_are_refused(faults):
    found = faults(TIME + f"wires: ['t -> {','.join(['b'] * 200_000)}']\n")
    assert found == [
        (2, 9, "there are more than 100000 wires", "put signals into vectors, or use subsystems")
    ]


def test_ports_that_subsystems_multiply_are_refused(faults, monkeypatch):
    monkeypatch.setattr(product, "MAX_WIRES", 1000)
    ports = ", ".join(f"o{i}" for i in range(30))
    wires = ", ".join(f"t -> out.o{i}" for i in range(30))
    inside = f"outputs: [{ports}], blocks: {{t: {{type: TIME}}}}, wires: [{wires}]"
    text = f"subsystems:\n  s: {{{inside}}}\n"
    found = faults(text + "blocks:\n" + "".join(f"  b{i}: {{type: s}}\n" for i in range(100)))
    assert [f[2] for f in found] == [
        "with its subsystems the diagram has more than 1000 wires and ports"
    ]


@pytest.mark.parametrize(
    ("block", "message"),
    [
        ("{type: SUM, signs: '" + "+" * 100_000 + "'}", "signs of s (SUM) has more than 1000 char"),
        ("{type: PROD, ops: '" + "*" * 100_000 + "'}", "ops of s (PROD) has more than 1000 char"),
        (
            f"{{type: LTI_SISO, N: [1], D: {[1] * 5000}}}",
            "D of s (LTI_SISO) has more than 1000 coefficients",
        ),
        (f"{{type: SCOPE, vector: {[0] * 5000}}}", "vector of s (SCOPE) has more than 1000 entr"),
        ("{type: MUX, nin: 0x" + "f" * 200 + "}", "; it must be 1 to 1000"),
    ],
)
def test_what_would_make_a_block_large_is_refused_before_it_is_made(faults, block, message):
    ((line, _, told, hint),) = faults(f"blocks:\n  s: {block}\n")
    assert line == 2
    assert message in told
    assert hint


def test_a_subsystem_with_very_many_ports_is_refused(faults):
    ports = ", ".join(f"i{k}" for k in range(2000))
    found = faults(f"subsystems:\n  s: {{inputs: [{ports}], blocks: {{}}}}\n" + TIME)
    assert [fault[2:] for fault in found] == [
        ("there are 2000 inputs; the most is 1000", "put signals into vectors")
    ]


def test_many_wires_into_numbered_inputs_look_up_each_port_once(faults, monkeypatch):
    from spart_blocks.diagram.build import wiring

    looked = []
    index = wiring.index_of
    monkeypatch.setattr(wiring, "index_of", lambda *a: looked.append(a[0]) or index(*a))
    wires = [f"t -> m.{i}" for i in range(500)] + ["t -> m"] * 600
    faults("blocks: {t: {type: TIME}, m: {type: MUX, nin: 1000}}\nwires: " + str(wires) + "\n")
    assert len(looked) < 3 * len(wires)


# --- files and variants -------------------------------------------------------------------

PART = "outputs: [y]\nblocks: {t: {type: TIME}}\nwires: [t -> out.y]\n"


def test_a_large_file_cannot_be_used_very_often(faults, tmp_path):
    (tmp_path / "part.yaml").write_text(f"params: {{k: {[1] * 50_000}}}\n{PART}")
    uses = "".join(f"  b{i}: {{use: part.yaml}}\n" for i in range(25))
    found = faults(f"blocks:\n{uses}")
    ((line, column, message, hint),) = [fault for fault in found if "values" in fault[2]]
    assert (line, column) == (21, 14)
    assert "more than 1000000 values, each use anew" in message
    assert hint == "use them less often, or make them smaller"


def test_choices_that_are_large_together_are_refused(faults):
    choices = "".join(f"      c{i}: {{type: TIME}}\n" for i in range(100))
    text = (
        f"variants:\n  v:\n    default: c0\n    choices:\n{choices}params: {{k: {[1] * 10_000}}}\n"
    )
    found = faults(text + "blocks: {g: {type: GAIN, K: $k}}\nwires: [v -> g]\n")
    assert found == [
        (
            1,
            1,
            "all choices together are too large to be built one after another",
            "write fewer choices, or smaller ones",
        )
    ]


SPHERE = "<mass value='1'/><inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/>"


def chain(links):
    """A URDF file of a chain of so many links."""
    rows = ["<robot name='r'><link name='l0'/>"]
    for i in range(links):
        rows.append(f"<link name='l{i + 1}'><inertial>{SPHERE}</inertial></link>")
        ends = f"<parent link='l{i}'/><child link='l{i + 1}'/><axis xyz='0 0 1'/>"
        rows.append(f"<joint name='j{i}' type='continuous'>{ends}</joint>")
    return "\n".join([*rows, "</robot>"])


def test_a_robot_file_is_read_once_however_often_it_is_named(read, tmp_path, monkeypatch):
    from spart_blocks.diagram.written import files

    (tmp_path / "r.urdf").write_text(chain(2))
    (tmp_path / "part.yaml").write_text(f"robots: {{r: {{urdf: r.urdf}}}}\n{PART}")
    opened = []
    once = files._read
    monkeypatch.setattr(files, "_read", lambda *a: opened.append(a) or once(*a))
    uses = "".join(f"  b{i}: {{use: part.yaml}}\n" for i in range(20))
    read(f"robots: {{a: {{urdf: r.urdf}}, b: {{urdf: r.urdf}}}}\nblocks:\n{uses}")
    assert len(opened) == 1


def test_a_robot_with_very_many_links_is_refused(faults, tmp_path):
    (tmp_path / "r.urdf").write_text(chain(1001))
    ((line, column, message, hint),) = faults(f"robots: {{r: {{urdf: r.urdf}}}}\n{TIME}")
    assert (line, column) == (1, 20)
    assert "1001 links; the most is 1000" in message
    assert hint


def test_all_robots_together_have_a_bounded_size(faults, tmp_path, monkeypatch):
    from spart_blocks.diagram.written import files

    monkeypatch.setattr(files, "MAX_BYTES", 2000)
    for name in "ab":
        (tmp_path / f"{name}.urdf").write_text(chain(3) + " " * 600)
    ((line, _, message, hint),) = faults(
        f"robots:\n  a: {{urdf: a.urdf}}\n  b: {{urdf: b.urdf}}\n{TIME}"
    )
    assert line == 3
    assert "more than 2000 bytes" in message
    assert hint


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ('{"name": "r",\n "links": [', "r.json:2:12", "not JSON"),
        ("[" * 100_000, "r.json", "nested too deep"),
        ("1" * 5000, "r.json", "cannot be read"),
        ("\0", "r.json:1:1", "not JSON"),
    ],
)
def test_a_broken_json_file_is_told_at_its_place(read, tmp_path, text, place, message):
    (tmp_path / "r.json").write_text(text)
    with pytest.raises(DiagramError) as caught:
        read(f"robots: {{r: {{spart: r.json}}}}\n{TIME}")
    (fault,) = caught.value.faults
    assert str(fault.place) == str(tmp_path / place)
    assert message in fault.message


def test_the_documents_state_the_limits_as_they_are():
    from pathlib import Path

    from spart_blocks.base import document
    from spart_blocks.diagram.build import content, subsystems, wire_counts
    from spart_blocks.diagram.check import first_values
    from spart_blocks.diagram.written import files, references
    from spart_blocks.run import start

    page = (Path(__file__).parents[2] / "docs" / "diagrams.md").read_text(encoding="utf-8")
    table = page.partition("## Limits")[2].partition("## In Python")[0]
    numbers = [
        *(document.MAX_NODES, document.MAX_DEPTH, references.MAX_EXPANDED, subsystems.MAX_BLOCKS),
        *(wire_counts.MAX_WIRES, subsystems.MAX_LEVELS, content.MAX_USES, files.MAX_LINKS),
        *(
            first_values.MOST_NUMBERS,
            start.MOST_SAMPLES,
            start.MOST_KEPT,
            document.TEXT_NODE,
            MAX_KEY,
        ),
    ]
    missing = [n for n in numbers if f"{n:,}" not in table and str(n) not in table]
    assert not missing
    assert f"{document.MAX_BYTES // 10**6} MB" in table
    assert f"{files.MAX_BYTES // 10**6} MB" in table

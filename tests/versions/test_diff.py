"""What `sb.diff` tells of pairs of small diagrams."""

from __future__ import annotations

from textwrap import dedent

import pytest

import spart_blocks as sb

SERVO = """
name: servo
params: {kp: 40}
clocks: {control: {rate: 100}}
blocks:
  goal:  {type: STEP, T: 1.0, on: [0.5, -0.3]}
  error: {type: SUM, signs: "+-"}
  p:     {type: GAIN, K: $kp}
  d:     {type: GAIN, K: 8}
  force: {type: SUM, signs: "+-"}
  rate:  {type: INTEGRATOR, x0: [0, 0]}
  angle: {type: INTEGRATOR, x0: [0.1, 0]}
  scope: {type: SCOPE, labels: [q1, q2]}
wires:
  - goal -> error.0
  - angle -> error.1, scope
  - error -> p
  - p -> force.0
  - rate -> d, angle
  - d -> force.1
  - force -> rate
run: {T: 5, log: [p]}
"""


@pytest.fixture
def differ(tmp_path):
    """differ(old, new): the difference of two texts."""

    def differ(old, new, **options):
        paths = tmp_path / "old.yaml", tmp_path / "new.yaml"
        for path, text in zip(paths, (old, new), strict=True):
            path.write_text(dedent(text), encoding="utf-8")
        return sb.diff(*paths, **options)

    return differ


def told(found):
    return [(one.subject, one.kind, one.path) for one in found.changes]


def changed(old, new, text=SERVO):
    assert old in text
    return text.replace(old, new)


def test_layout_comments_and_other_ways_to_write_are_no_changes(differ):
    other = changed(
        "  - angle -> error.1, scope\n", "  - angle -> scope # kept\n  - angle -> error.1\n"
    )
    other = changed("T: 5, log: [p]", "log: [p], T: 5.0, rtol: 1e-6", other)
    other = changed("{rate: 100}", "{T: 0.01}", other)
    other = changed("x0: [0, 0]", "x0: [0, 0], gain: 1.0", other)
    other = changed("rate -> d", "rate.0 -> d.0", other)
    found = differ(SERVO, other)
    assert not found
    assert "mean the same" in str(found)
    assert [one.subject for one in differ(SERVO, other, text=True).changes] == ["text"]


def test_a_parameter_of_the_diagram_is_told_with_its_users(differ):
    (change,) = differ(SERVO, changed("kp: 40", "kp: 45")).changes
    assert (change.path, change.old, change.new) == ("params.kp", 40, 45)
    assert change.note == "used by p.K"


def test_a_renamed_parameter_is_seen_through(differ):
    other = changed("kp", "gain")
    assert told(differ(SERVO, other)) == [("parameter of the diagram", "renamed", "params.gain")]


def test_a_parameter_and_its_value_are_told_together(differ):
    (change,) = differ(SERVO, changed("K: 8", "K: $kp")).changes
    assert (change.path, change.old, change.new) == ("d.K", 8, "$kp")
    assert change.note == "$kp is 40"


def test_units_come_from_the_docs_of_blocks_and_sections(differ):
    found = differ(SERVO, changed("T: 1.0", "T: 2", changed("T: 5", "T: 6")))
    assert {one.path: one.unit for one in found.changes} == {"goal.T": "", "run.T": "s"}
    text = "blocks: {law: {type: JOINT_PD, kp: %s, kd: 1}}"
    (change,) = differ(text % 3, text % 4).changes
    assert change.unit == "N m/rad, N/m"


def test_a_rename_is_seen_through_in_wires_and_signals(differ):
    other = changed("p ", "prop ", changed("p:", "prop:", changed("-> p\n", "-> prop\n")))
    other = changed("log: [p]", "log: [prop]", other).replace("kprop", "kp")
    found = differ(SERVO, other)
    assert told(found) == [("block", "renamed", "prop")]
    assert found.names == {"p": "prop"}


def test_a_text_for_people_names_no_blocks(differ):
    """A text that is changed as a block is renamed is changed."""
    other = changed("p ", "prop ", changed("p:", "prop:", changed("-> p\n", "-> prop\n")))
    other = changed("log: [p]", "log: [prop]", other).replace("kprop", "kp")
    found = differ(f"description: p\n{SERVO}", f"description: prop\n{other}")
    assert "description" in [change.path for change in found.changes]


def test_a_rename_with_another_parameter_is_still_one(differ):
    other = SERVO.replace("d:     {type: GAIN, K: 8}", "damping: {type: GAIN, K: 9}")
    other = other.replace("rate -> d,", "rate -> damping,").replace("- d ->", "- damping ->")
    assert told(differ(SERVO, other)) == [
        ("block", "renamed", "damping"),
        ("parameter", "changed", "damping.K"),
    ]


def test_two_renamed_blocks_of_one_type_are_told_by_their_neighbours(differ):
    text = """
    blocks:
      t: {type: TIME}
      a: {type: GAIN, K: 1}
      b: {type: GAIN, K: 1}
      c: {type: GAIN, K: 1}
      s: {type: SCOPE}
    wires: [t -> a, a -> b, b -> c, c -> s]
    """
    other = (
        text.replace("a:", "x:")
        .replace("b:", "y:")
        .replace("t -> a, a -> b, b -> c", "t -> x, x -> y, y -> c")
    )
    found = differ(text, other)
    assert found.names == {"a": "x", "b": "y"}
    assert [one[1] for one in told(found)] == ["renamed", "renamed"]


def test_blocks_that_are_all_alike_are_renamed_in_their_order(differ):
    def star(hub, name):
        names = [f"{name}{k}" for k in range(200)]
        blocks = "".join(f"  {one}: {{type: GAIN, K: 1}}\n" for one in names)
        wires = ", ".join(f"{hub} -> {one}" for one in names)
        return f"blocks:\n  {hub}: {{type: TIME}}\n{blocks}wires: [{wires}]\n"

    found = differ(star("hub", "a"), star("centre", "b"))
    assert {one.kind for one in found.changes} == {"renamed"}
    assert found.names["a150"] == "b150"


def test_another_source_of_a_scope_is_a_rerouted_wire(differ):
    text = """
    blocks:
      law: {{type: JOINT_PID, kp: 1}}
      t: {{type: TIME}}
      s: {{type: SCOPE}}
    wires: [t -> s, {} -> s, t -> law.qd, t -> law.qm]
    """
    (change,) = differ(text.format("law.tau"), text.format("t")).changes
    assert (change.path, change.old, change.new) == ("s", "law.tau", "t")
    assert not differ(text.format("law.tau"), text.format("law"))


def test_a_retyped_block_keeps_its_name(differ):
    found = differ(SERVO, changed("d:     {type: GAIN, K: 8}", "d: {type: CLIP, min: -1, max: 1}"))
    assert found.blocks[0].kind == "retyped"
    assert (found.blocks[0].old, found.blocks[0].new) == ("GAIN", "CLIP")
    assert not found.wires


def test_an_unlike_block_in_its_place_is_no_rename(differ):
    other = SERVO.replace("d:     {type: GAIN, K: 8}", "e: {type: CLIP, min: -1, max: 1}")
    other = other.replace("rate -> d,", "rate -> e,").replace("- d ->", "- e ->")
    found = differ(SERVO, other)
    assert [one.kind for one in found.blocks] == ["removed", "added"]
    assert told(found)[2:] == [
        ("wire", "rerouted", "force.1"),
        ("wire", "rerouted", "rate"),
    ]


def test_the_order_of_a_scopes_wires_is_told(differ):
    text = "blocks: {a: {type: TIME}, b: {type: STEP}, s: {type: SCOPE}}\nwires: [%s]"
    (change,) = differ(text % "a -> s, b -> s", text % "b -> s, a -> s").changes
    assert (change.path, change.old, change.new) == ("s", ["a", "b"], ["b", "a"])
    assert not differ(text % "a -> s.0, b -> s.1", text % "b -> s.1, a -> s.0")


ARM = """
robots: {{sc: {{urdf: sc.urdf, base: floating}}}}
blocks:
  law: {{type: COMPUTED_TORQUE, robot: sc, kp: 4, kd: 4}}
  plant: {{type: MULTIBODY, robot: sc}}
  slow: {{type: GAIN}}
wires: [{}]
"""
EACH = "plant.R0 -> law.R0, plant.r0 -> law.r0, plant.qm -> law.qm, plant.u0 -> law.u0, "


def test_wires_of_several_signals_are_those_of_each(differ):
    star = ARM.format("plant.* -> law")
    assert not differ(star, ARM.format(EACH + "plant.um -> law.um"))
    assert not differ(star, ARM.format("'plant.{R0, r0, qm, u0, um} -> law'"))
    found = differ(star, ARM.format("plant.* -> law, plant.um -> slow, slow -> law.um"))
    assert told(found) == [
        ("wire", "rerouted", "law.um"),
        ("wire", "added", "plant.um -> slow"),
    ]


SUBSYSTEM = """
subsystems:
  servo:
    params: {k: 2}
    inputs: [goal, actual]
    outputs: [command]
    blocks:
      error: {type: SUM, signs: "+-"}
      gain:  {type: GAIN, K: $k}
    wires:
      - in.goal -> error.0
      - in.actual -> error.1
      - error -> gain
      - gain -> out.command
blocks:
  goal:  {type: STEP}
  loop:  {type: servo, k: 3}
  filter: {type: LTI_SISO, N: 1, D: [1, 1]}
  plant: {type: INTEGRATOR}
wires: [goal -> loop.goal, plant -> loop.actual, loop -> filter, filter -> plant]
"""


def test_subsystems_are_compared_inside(differ):
    other = changed("{k: 2}", "{k: 4}", changed("gain -> out", "error -> out", SUBSYSTEM))
    other = changed("k: 3", "k: 5", other)
    assert told(differ(SUBSYSTEM, other)) == [
        ("subsystem", "changed", "servo.params.k"),
        ("parameter", "changed", "loop.k"),
        ("wire", "rerouted", "servo: out.command"),
    ]


def test_a_renamed_subsystem_is_no_other_type(differ):
    other = SUBSYSTEM.replace("servo", "drive")
    assert told(differ(SUBSYSTEM, other)) == [("subsystem", "renamed", "drive")]


def test_a_block_that_moves_into_a_subsystem_is_told(differ):
    moved = "  filter: {type: LTI_SISO, N: 1, D: [1, 1]}\n"
    other = changed(moved, "", SUBSYSTEM).replace("    wires:", "    " + moved + "    wires:")
    other = other.replace("loop -> filter, filter -> plant", "loop -> plant")
    other = other.replace("gain -> out.command", "gain -> filter\n      - filter -> out.command")
    block = differ(SUBSYSTEM, other).blocks[0]
    assert (block.kind, block.old, block.new) == ("moved", "filter", "servo/filter")


VARIANTS = """
variants:
  law:
    default: soft
    choices: {soft: {type: GAIN, K: 1}, stiff: {type: GAIN, K: 9}}
blocks: {t: {type: TIME}, s: {type: SCOPE}}
wires: [t -> law, law -> s]
"""


def test_variants_are_compared_by_their_choices(differ):
    other = changed("default: soft", "default: stiff", changed("K: 9", "K: 8", VARIANTS))
    assert told(differ(VARIANTS, other)) == [
        ("variant", "changed", "law.default"),
        ("parameter", "changed", "law=stiff.K"),
    ]
    more = changed("stiff: {", "none: {type: CLIP, min: 0, max: 1}, stiff: {", VARIANTS)
    assert told(differ(VARIANTS, more)) == [("block", "added", "law=none")]


def test_claims_and_sweeps_are_told_by_entry(differ):
    text = """
    blocks: {t: {type: TIME}, u: {type: TIME}}
    expect:
      settles: [{signal: t, to: 1, within: 0.1, by: 2}, {signal: u, to: 0, within: 1, by: 2}]
    sweep: {runs: 10, over: {t.x: {uniform: [0, 1]}}}
    """
    other = text.replace("within: 1,", "within: 0.5,").replace("runs: 10", "runs: 20")
    found = differ(text, other)
    assert told(found) == [
        ("expect", "changed", "expect.settles[u].within"),
        ("sweep", "changed", "sweep.runs"),
    ]


def test_used_files_are_followed(differ, tmp_path):
    part = "inputs: [u]\noutputs: [y]\nblocks: {g: {type: GAIN, K: %s}}\nwires: [in.u -> g]\n"
    (tmp_path / "a.yaml").write_text(part % 1)
    (tmp_path / "b.yaml").write_text(part % 2)
    text = "blocks: {x: {use: %s}, y: {use: %s}}"
    found = differ(text % ("a.yaml", "a.yaml"), text % ("b.yaml", "b.yaml"))
    assert [one.kind for one in found.blocks] == ["retyped", "retyped"]
    (inner,) = found.files
    assert told(inner) == [("parameter", "changed", "g.K")]
    assert "g.K: 1, now 2" in str(found)


def test_files_that_use_each_other_are_refused(differ, tmp_path):
    (tmp_path / "a.yaml").write_text("blocks: {x: {use: b.yaml}}")
    (tmp_path / "b.yaml").write_text("blocks: {x: {use: a.yaml}}")
    with pytest.raises(sb.InputError, match=r"a.yaml uses itself: a.yaml uses b.yaml uses a.yaml"):
        differ("blocks: {x: {use: a.yaml}}", "blocks: {}")


def test_a_missing_used_file_is_a_note(differ):
    found = differ("blocks: {x: {use: a.yaml, k: 1}}", "blocks: {x: {use: a.yaml, k: 2}}")
    assert told(found) == [("parameter", "changed", "x.k")]
    assert len(found.notes) == 2
    assert "a.yaml does not exist" in found.notes[0]


def test_what_is_no_diagram_is_compared_as_values(differ):
    found = differ(
        "blocks: [1, 2]\nwires: {a: b}\nmore: 1", "blocks: [1, 3]\nwires: {a: c}\nmore: 2"
    )
    assert {one.path for one in found.changes} == {"blocks", "wires.a", "more"}
    found = differ(
        "blocks: {a: 3, b: {type: 4}}\nwires: [1, a b]",
        "blocks: {a: 4, b: {type: 5}}\nwires: [1, a c]",
    )
    assert {one.path for one in found.changes} == {"blocks.a", "b", "a b", "a c"}


def test_json_and_markdown_say_the_same(differ):
    found = differ(SERVO, changed("K: 8", "K: 9"))
    data = found.as_data()
    assert data["equal"] is False
    assert data["changes"] == [
        {"subject": "parameter", "kind": "changed", "path": "d.K", "old": 8, "new": 9}
    ]
    from spart_blocks.versions.differences.changes import markdown_of

    assert "- changed `d.K: 8, now 9`" in markdown_of(found)
    assert "d.K: 8, now 9" in found._repr_html_()


def test_a_name_in_markdown_is_no_markup(differ):
    from spart_blocks.versions.differences.changes import markdown_of

    found = differ("blocks: {}", 'blocks: {"a`<b>`": {type: GAIN}}')
    assert "``a`<b>`: GAIN``" in markdown_of(found)

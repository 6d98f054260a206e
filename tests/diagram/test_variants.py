"""A slot has several choices of one interface, and one of them takes its place."""

from __future__ import annotations

import re
import shlex

import numpy as np
import pytest

import spart_blocks as sb
from spart_blocks.base.errors import InputError
from spart_blocks.cli import main

SWAP = """\
params: {k: 3}
subsystems:
  offset:
    params: {by: 1}
    inputs: [u]
    outputs: [y]
    blocks: {one: {type: CONSTANT, value: $by}, sum: {type: SUM, signs: "++"}}
    wires: [in.u -> sum.0, one -> sum.1, sum -> out.y]
variants:
  law:
    default: gain
    choices:
      gain: {type: GAIN, K: $k}
      offset: {type: offset, by: 2}
blocks:
  c: {type: CONSTANT, value: [1, 2]}
  s: {type: SCOPE, labels: [a, b]}
wires:
  - c -> law
  - law -> s
run: {T: 1}
"""


def final(diagram):
    return sb.simulate(diagram)["law"][-1].tolist()


def test_the_default_is_taken_unless_another_is_asked_for(read):
    assert final(read(SWAP)) == [3, 6]
    assert final(read(SWAP, variants={"law": "offset"})) == [3, 4]
    assert final(read(SWAP, variants=["law=offset"])) == [3, 4]
    assert final(read(SWAP.replace("default: gain", "default: offset"))) == [3, 4]


def test_a_diagram_says_which_choices_it_has(read):
    assert read(SWAP).variants == {"law": "gain"}
    assert read(SWAP, name="swap.yaml").name == "swap"
    other = read(SWAP, name="swap.yaml", variants={"law": "offset"})
    assert (other.name, other.variants) == ("swap (law=offset)", {"law": "offset"})


def test_overrides_reach_the_choice_that_is_taken(read):
    assert final(read(SWAP, overrides=["law.K=5"])) == [5, 10]
    assert final(read(SWAP, overrides=["k=5"])) == [5, 10]
    assert final(read(SWAP, overrides=["law.by=7"], variants=["law=offset"])) == [8, 9]


def test_simulate_takes_the_choices_of_a_file(tmp_path):
    file = tmp_path / "swap.yaml"
    file.write_text(SWAP)
    assert sb.simulate(file, variants={"law": "offset"})["law"][-1, 0] == 3
    with pytest.raises(InputError, match="variants and user-defined blocks apply to a file"):
        sb.simulate(sb.load(file), variants={"law": "offset"})


@pytest.mark.parametrize(
    ("asked", "message", "hint"),
    [
        ({"law": "gian"}, "law has no choice 'gian'", "did you mean 'gain'?"),
        ({"lw": "gain"}, "there is no slot 'lw'", "did you mean 'law'?"),
        (["law"], "names no slot or no choice", "write slot=choice"),
        (["=gain"], "names no slot or no choice", "write slot=choice"),
    ],
)
def test_what_is_not_there_is_refused(read, asked, message, hint):
    with pytest.raises(InputError) as caught:
        read(SWAP, variants=asked)
    assert caught.value.faults[0].message == message
    assert hint in caught.value.faults[0].hint


def test_a_block_of_a_slots_name_is_told_to_leave(read):
    text = SWAP.replace("blocks:\n", "blocks:\n  law: {type: GAIN}\n", 1)
    assert text != SWAP
    with pytest.raises(InputError) as caught:
        read(text)
    assert caught.value.faults[0].hint == "a slot is a block: leave law out of blocks:"


def test_a_parameter_of_a_choice_is_set_by_the_slot(read):
    with pytest.raises(InputError) as caught:
        read(SWAP, overrides=["variants.law.choices.gain.K=3"])
    assert "the parameters of what is chosen are the slot's: law.K" in str(caught.value)


def test_a_file_without_variants_says_so(read):
    with pytest.raises(InputError, match="the file has no section variants"):
        read("blocks: {c: {type: CONSTANT}}", variants={"law": "gain"})


# Each choice is looked at, whichever is taken.

ASKED = [{}, {"law": "gain"}, {"law": "other"}]


def with_other(choice):
    text = SWAP.replace("      offset: {type: offset, by: 2}\n", f"      other: {choice}\n")
    more = """\
  two: {inputs: [u, v], outputs: [y], blocks: {s: {type: SUM, signs: "++"}},
        wires: [in.u -> s.0, in.v -> s.1, s -> out.y]}
  renamed: {inputs: [u], outputs: [z, w], blocks: {g: {type: GAIN, K: 1}},
        wires: [in.u -> g, g -> out.z, g -> out.w]}
  longer: {inputs: [u], outputs: [y], blocks: {c: {type: CONSTANT, value: [1, 2, 3]},
        n: {type: "NULL"}}, wires: [in.u -> n, c -> out.y]}
  failing: {inputs: [u], outputs: [y], blocks: {g: {type: GAIN, K: [1, 2, 3]}},
        wires: [in.u -> g, g -> out.y]}
  stateful: {inputs: [u], outputs: [y], blocks: {i: {type: INTEGRATOR, x0: [0, 0, 0]}},
        wires: [in.u -> i, "i[0:2] -> out.y"]}
variants:
"""
    return text.replace("variants:\n", more)


@pytest.mark.parametrize("asked", ASKED, ids=str)
@pytest.mark.parametrize(
    ("choice", "message", "interface"),
    [
        ("two", "ports than gain", "other: u, v -> y\n  gain: 0 (2,) -> 0 (2,)"),
        ("renamed", "ports than gain", "other: u -> z, w"),
        ("TIME", "ports than gain", "other: nothing -> 0"),
        ("longer", "shapes than gain", "other: u (2,) -> y (3,)\n  gain: 0 (2,)"),
        ("failing", "shapes than gain: law/g (GAIN): ", "other: u (2,) -> y\n"),
        ("stateful", "shapes than gain: law/i (INTEGRATOR): ", "other: u (2,)"),
    ],
)
def test_another_interface_is_refused_whichever_is_chosen(
    faults, asked, choice, message, interface
):
    text = with_other(f"{{type: {choice}}}")
    line = text[: text.index("      other:")].count("\n") + 1
    found = faults(text, variants=asked)
    assert [(at, column) for at, column, *_ in found] == [(line, 7)]
    assert f"law: other has other {message}" in found[0][2]
    assert interface in found[0][3]


RAISING = """\
from bdsim.components import FunctionBlock


class Raising(FunctionBlock):
    nin = 1
    nout = 1

    def output(self, t, inputs, x):
        {code}
"""


@pytest.mark.parametrize(
    ("code", "message", "hint"),
    [
        ("raise ValueError('sensor lost')", "law (RAISING): ValueError: sensor lost", "py:9"),
        ("return [1 / 0]", "law (RAISING): ZeroDivisionError: division by zero", "py:9"),
        ("return 3.0", "law (RAISING): output gives a float; it must give a list", ""),
    ],
)
def test_a_class_that_fails_in_a_slot_says_what_and_where(faults, tmp_path, code, message, hint):
    (tmp_path / "raising.py").write_text(RAISING.format(code=code))
    found = faults(with_other("{type: RAISING}"), blocks=tmp_path / "raising.py")
    assert found[0][2].startswith(f"law: other fails: {message}")
    assert hint in found[0][3]


@pytest.mark.parametrize("asked", ASKED, ids=str)
def test_mistakes_within_a_choice_are_told_whichever_is_chosen(faults, asked):
    found = faults(with_other("{type: GAIN, K: $kk}"), variants=asked)
    assert found == [(24, 30, "unknown parameter $kk", "did you mean 'k'?")]


PORTS = """\
variants:
  ctrl:
    default: a
    choices:
      a: {type: JOINT_PD, kp: 1, kd: 2}
      b: {type: bare}
subsystems:
  bare: {inputs: [qm, um, qd], outputs: [tau], blocks: {s: {type: SUM, signs: "+--"}},
         wires: [in.qd -> s.0, in.qm -> s.1, in.um -> s.2, s -> out.tau]}
blocks: {c: {type: CONSTANT, value: [1, 2]}, s: {type: SCOPE}}
wires: [c -> ctrl.qd, c -> ctrl.qm, c -> ctrl.um, ctrl -> s]
"""


def test_ports_go_by_name_and_optional_inputs_without_a_wire_may_be_missing(read):
    first = sb.simulate(read(PORTS), T=1)["ctrl"][-1]
    second = sb.simulate(read(PORTS, variants=["ctrl=b"]), T=1)["ctrl"][-1]
    assert np.array_equal(first, [-2, -4])
    assert np.array_equal(second, [-1, -2])


SPLIT = """\
subsystems:
  named: {inputs: [u], outputs: [low, all], blocks: {g: {type: GAIN, K: 1}},
          wires: ["in.u -> g", "g[0:1] -> out.low", g -> out.all]}
variants:
  split:
    default: demux
    choices: {demux: {type: DEMUX, nout: 2}, named: {type: named}}
blocks: {c: {type: CONSTANT, value: [1, 2]}, s: {type: SCOPE, nin: 2}}
wires: [c -> split, split.0 -> s, split.1 -> s]
"""


def test_ports_with_numbers_only_are_compared_in_their_order(faults):
    found = faults(SPLIT)
    assert found[0][2] == "split: named has other shapes than demux"
    assert found[0][3] == "named: u (2,) -> low (1,), all (2,)\n  demux: 0 (2,) -> 0, 1"


@pytest.mark.parametrize("end", ["ctrl.ud", "ctrl.1"])
def test_an_optional_input_with_a_wire_or_a_number_must_be_there_in_all(faults, end):
    found = faults(PORTS.replace("ctrl -> s]", f"ctrl -> s, c -> {end}]"))
    assert [message for _, _, message, _ in found] == ["ctrl: b has other ports than a"]
    b = "b: qm, um, qd -> tau"
    assert found[0][3].startswith(f"{b}\n  a: qd (2,), ud? (2,), qm (2,), um (2,) -> tau (2,)\n")
    assert "inputs: [qd, ud, qm, um]" in found[0][3]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("default: gain", "default: gian", "variants.law has no choice 'gian', its default"),
        ("    default: gain\n", "", "variants.law needs 'default'"),
        ("default: gain", "deflt: gain", "unknown key 'deflt' in variants.law"),
        ("default: gain", "default: [1]", "variants.law.default must be text"),
        ("{type: GAIN, K: $k}", "{K: $k}", "variants.law.choices.gain needs 'type'"),
        ("{type: GAIN, K: $k}", "3", "variants.law.choices.gain must be a mapping"),
        ("blocks:\n  c:", "blocks:\n  law: {type: TIME}\n  c:", "variants.law has a block of its"),
        ("variants:\n  law:", "variants: 3\nother:\n  law:", "variants must be a mapping"),
    ],
)
def test_a_section_that_cannot_be_read_is_refused(faults, old, new, message):
    assert old in SWAP
    found = faults(SWAP.replace(old, new))
    assert any(message in text for _, _, text, _ in found)
    assert all(line and column for line, column, *_ in found)


def test_a_slot_without_choices_is_refused(faults):
    text = "variants: {law: {default: a, choices: {}}}\nblocks: {c: {type: CONSTANT}}\n"
    assert faults(text)[0][2] == "variants.law has no choices"


def test_the_kept_program_is_of_the_choice_and_follows_every_file(tmp_path, monkeypatch):
    from spart_blocks.run import DiagramFile, begin, finish

    monkeypatch.setenv("SPART_CACHE", str(tmp_path / "cache"))
    part = "inputs: [u]\noutputs: [y]\nblocks: {g: {type: GAIN, K: 10}}\n"
    part += "wires: [in.u -> g, g -> out.y]\n"
    (tmp_path / "part.yaml").write_text(part)
    file = tmp_path / "swap.yaml"
    file.write_text(SWAP.replace("{type: offset, by: 2}", "{use: part.yaml}"))

    def final_of(*variants):
        return finish(begin(DiagramFile(file, variants=variants)))["law"][-1, 0]

    for _ in range(2):
        assert (final_of(), final_of("law=offset")) == (3, 10)
    # A choice that is not taken and no longer fits is still refused.
    (tmp_path / "part.yaml").write_text(part.replace("[u]", "[u, v]"))
    with pytest.raises(sb.DiagramError, match="other ports than gain"):
        final_of()


TOLD = """\
subsystems:
  told: {inputs: [u], outputs: [OUTPUTS],
         blocks: {g: {type: GAIN, K: 3}, a: {type: GAIN, K: [1, 2, 3]}},
         wires: [in.u -> g, in.u -> a, WIRES]}
  plain: {inputs: [u], outputs: [y], blocks: {g: {type: GAIN, K: 2}},
          wires: [in.u -> g, g -> out.y]}
variants: {law: {default: DEFAULT, choices: {plain: {type: plain}, told: {type: told}}}}
blocks: {c: {type: CONSTANT, value: 2}, s: {type: SCOPE}}
wires: [c -> law.u, law.y -> s]
run: {T: 1}
"""


def told(default, outputs, wires):
    text = TOLD.replace("OUTPUTS", outputs).replace("WIRES", wires)
    return text.replace("DEFAULT", default)


@pytest.mark.parametrize("default", ["plain", "told"])
@pytest.mark.parametrize(("choice", "expected"), [("plain", 4), ("told", 6)])
def test_outputs_that_no_wire_reads_may_be_in_one_choice_only(read, default, choice, expected):
    text = told(default, "z, y", "g -> out.y, a -> out.z")
    assert sb.simulate(read(text, variants={"law": choice}))["law.y"][-1] == expected


@pytest.mark.parametrize(
    ("wires", "outputs", "message"),
    [
        ("g -> out.z, a -> out.w", "z, w", "law: told has other ports than plain"),
        ("g -> out.z, a -> out.y", "z, y", "law: told has other shapes than plain"),
    ],
)
def test_outputs_that_wires_read_must_be_in_all_choices(read, wires, outputs, message):
    with pytest.raises(sb.DiagramError, match=message):
        read(told("plain", outputs, wires))


MATCH = """\
variants:
  law:
    default: pd
    choices:
      pd: {type: pd}
      other: CHOICE
subsystems:
  pd: {inputs: [goal, angle, rate], outputs: [force],
       blocks: {s: {type: SUM, signs: "+--"}},
       wires: [in.goal -> s.0, in.angle -> s.1, in.rate -> s.2, s -> out.force]}
  named: {inputs: [angle, target, more], outputs: [force, error],
          blocks: {s: {type: SUM, signs: "-++"}},
          wires: [in.angle -> s.0, in.target -> s.1, in.more -> s.2, "s -> out.force, out.error"]}
blocks: {goal: {type: STEP}, rate: {type: INTEGRATOR}, angle: {type: INTEGRATOR}}
wires: [goal -> law.goal, angle -> law.angle, rate -> law.rate, rate -> angle, law.force -> rate]
run: {T: 1}
"""


@pytest.mark.parametrize(
    ("choice", "wires", "names"),
    [
        ("{type: GAIN, K: -1}", "[in.goal -> block.0, block.0 -> out.force]", "in.angle in.rate"),
        (
            "{type: JOINT_PD, kp: 4, kd: 1}",
            "[in.goal -> block.qd, in.angle -> block.qm, in.rate -> block.um, "
            "block.tau -> out.force]",
            "'block.tau -> out.force'",
        ),
        (
            "{type: named}",
            "[in.goal -> block.target, in.angle -> block.angle, in.rate -> block.more, "
            "block.force -> out.force]",
            "'block.force -> out.force'",
        ),
    ],
)
def test_the_wrapper_told_for_other_ports_makes_the_choice_fit(tmp_path, choice, wires, names):
    path = tmp_path / "swap.yaml"
    path.write_text(MATCH.replace("CHOICE", choice))
    with pytest.raises(sb.DiagramError) as error:
        sb.load(path)
    told = str(error.value)
    assert "      other_law:\n" in told
    assert f"wires: {wires}" in re.sub(r"\n +", " ", told)
    command = shlex.split(next(line for line in told.split("\n") if "spart edit" in line))
    assert names in told
    assert main(command[command.index("edit") :]) == 0
    assert "other: {type: other_law}" in path.read_text()
    assert sb.load(path, variants={"law": "other"}).variants == {"law": "other"}


def test_a_wrapper_names_what_the_slot_does_not_have(faults):
    text = MATCH.replace("CHOICE", '{type: SUM, signs: "++++"}')
    (fault,) = faults(text)
    assert "still to be wired: block.3" in fault[3]
    (fault,) = faults(MATCH.replace("CHOICE", '{type: "NULL"}'))
    assert "still to be wired: out.force" in fault[3]

"""`plant.* -> law` and `plant.{qm, um} -> law` are the wires between ports of the same names."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from network_of import wires_of

import spart_blocks as sb

MODELS = Path(__file__).parents[2] / "models"
ROBOT = f"robots: {{sc: {{urdf: {MODELS / 'spacecraft_3dof.urdf'}, base: floating}}}}\n"
SERVO = """\
subsystems:
  law:
    inputs: [qm, um, goal]
    outputs: [taum, error]
    blocks:
      e: {type: SUM, signs: "+-"}
      u: {type: SUM, signs: "+-"}
    wires: [in.goal -> e.0, in.qm -> e.1, e -> u.0, in.um -> u.1, u -> out.taum, e -> out.error]
blocks:
  goal: {type: CONSTANT, value: [0.1, 0.2, 0.3]}
  plant: {type: MULTIBODY, robot: sc}
  law: {type: law}
wires:
  - goal -> law.goal
"""
HEAD = ROBOT + SERVO
BY_NAME = {
    "star": ["plant.* -> law", "law.* -> plant"],
    "braces": ["plant.{um, qm} -> law", "law.{taum} -> plant"],
    "one of them apart": ["plant.* -> law", "plant.um -> law.um", "law.* -> plant"],
    "one of them by its number": ["plant.* -> law", "plant.um -> law.1", "law.* -> plant"],
}
SINGLE = ["plant.qm -> law.qm", "plant.um -> law.um", "law.taum -> plant.taum"]


def text(wires, head=HEAD):
    return head + "".join(f"  - {wire}\n" for wire in wires)


@pytest.fixture
def read(read):
    return lambda text, **options: read(text, **{"root": "/", **options})


@pytest.mark.parametrize("case", BY_NAME)
def test_equal_names_are_wired(read, case):
    assert wires_of(read(text(BY_NAME[case]))) == wires_of(read(text(SINGLE)))


def test_a_wire_by_name_runs_as_the_wires_it_stands_for(read):
    options = {"T": 0.5, "every": 0.1}
    a, b = (sb.simulate(read(text(w)), **options) for w in (BY_NAME["star"], SINGLE))
    assert np.ptp(a["plant.qm"]) > 1e-3
    np.testing.assert_array_equal(a["plant.qm"], b["plant.qm"])


def test_an_input_with_a_wire_of_its_own_is_left_alone_in_any_order(read):
    wires = ["goal -> law.um", "plant.* -> law", "law.* -> plant"]
    for order in (wires, wires[::-1]):
        found = wires_of(read(text(order)))
        assert "goal.0 -> law.um" in found
        assert "plant.um -> law.um" not in found


def test_several_inputs_of_one_wire(read):
    more = HEAD.replace("law: {type: law}", "law: {type: law}\n  twin: {type: law}")
    found = wires_of(read(text(["goal -> twin.goal", "plant.* -> law, twin", SINGLE[2]], more)))
    assert {f"plant.{q} -> {law}.{q}" for q in ("qm", "um") for law in ("law", "twin")} <= found


def test_the_ports_of_a_subsystem(read):
    section = """\
    subsystems:
      inner: {inputs: [a, b], outputs: [b, a], wires: [in.* -> out]}
      outer:
        inputs: [a, b]
        outputs: [a, b]
        blocks: {s: {type: inner}}
        wires: ["in.{a, b} -> s", s.* -> out]
    blocks:
      a: {type: CONSTANT, value: 1}
      b: {type: CONSTANT, value: 2}
      o: {type: outer}
      sa: {type: SCOPE}
      sb: {type: SCOPE}
    wires: [a -> o.a, b -> o.b, o.a -> sa, o.b -> sb]
    run: {T: 1}
    """
    results = sb.simulate(read(section))
    assert results["o.a"][-1] == 1
    assert results["o.b"][-1] == 2


COMPANION = """\
subsystems:
  watcher:
    inputs: [qm, umdot]
    blocks: {n: {type: "NULL"}}
    wires: [in.qm -> n, in.umdot -> n]
blocks:
  plant: {type: MULTIBODY, robot: sc}
  tau: {type: CONSTANT, value: [0, 0, 0]}
  w: {type: watcher}
wires:
  - tau -> plant.taum
"""


@pytest.mark.parametrize("wire", ["plant.* -> w", "plant.{umdot, qm} -> w"])
def test_accelerations_are_wired_where_an_input_has_their_name(read, wire):
    diagram = read(text([wire], ROBOT + COMPANION))
    assert "plant.companion.umdot -> w.umdot" in wires_of(diagram)


def test_without_such_an_input_there_are_no_accelerations(read):
    assert "plant.companion" not in read(text(BY_NAME["star"])).bd.blocknames


def test_an_audit_by_name(read):
    head = ROBOT + COMPANION.replace("qm, umdot", "h, p").replace("in.qm", "in.h").replace(
        "in.umdot", "in.p"
    ).replace("robot: sc", "robot: sc, audit: true")
    found = wires_of(read(text(["plant.audit.* -> w"], head)))
    assert {"plant.audit.h -> w.h", "plant.audit.p -> w.p"} <= found


START = HEAD.count("\n") + 1
GIVES = "R0, r0, qm, u0, um"
WRONG = {
    "none equal": (
        "plant.* -> s",
        16,
        "no output of plant has the name of an input of s",
        f"plant gives {GIVES}",
    ),
    "none equal, the other side": ("plant.* -> s", 16, "no output", "s takes 0, 1"),
    "not at the source": (
        "plant.{qm, umm} -> law",
        16,
        f"no port 'umm' on plant (MULTIBODY): it has {GIVES}",
        "did you mean 'um' or",
    ),
    "not at the target": (
        "plant.{qm, R0} -> law",
        16,
        "no port 'R0' on law (law): it has qm, um, goal",
        "",
    ),
    "star of one signal": ("plant.qm.* -> law", 11, "plant.qm is one signal", ""),
    "star of nothing": ("plant.zm.* -> law", 11, "no port 'zm' on plant (MULTIBODY)", ""),
    "star into one input": (
        "plant.* -> law.goal",
        16,
        "law.goal takes one signal, plant is several",
        f"name one of {GIVES}",
    ),
    "star into no input": ("plant.* -> law.gaol", 20, "no port 'gaol' on law (law)", "'goal'"),
    "star of a target": ("goal -> law.*", 17, "a star belongs to a source", "write law"),
    "braces of a target": ("plant -> law.{qm, um}", 18, "braces belong to a source", "plant.{qm"),
    "a slice of several": ("plant.*[0] -> law", 12, "only one signal can be sliced", ""),
    "no names": ("plant.{} -> law", 12, "cannot read '.{}'", "plant.{qm, um}"),
    "an empty name": ("plant.{qm,,um} -> law", 15, "cannot read", "plant.{qm, um}"),
    "no source": ("plat.* -> law", 5, "there is no block 'plat'", "did you mean 'plant'?"),
    "no target": ("plant.* -> lav", 16, "there is no block 'lav'", "did you mean 'law'"),
    "a source as target": ("plant.* -> goal", 16, "goal (CONSTANT) has no inputs", ""),
    "twice": ("plant.* -> law, law", 21, "input law.qm has a wire already", "SUM"),
    "in braces and apart": ("plant.{qm, goal} -> law", 16, "no port 'goal' on plant", ""),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_wire_by_name_is_reported_at_its_column(faults, case):
    wire, column, message, hint = WRONG[case]
    head = HEAD.replace("  law: {type: law}\n", "  law: {type: law}\n  s: {type: SUM}\n")
    found = faults(text([wire], head))
    ((_, at, told, advice),) = [fault for fault in found if fault[0] == START + 1]
    assert at == column
    assert message in told
    assert hint in advice


def test_a_second_wire_into_a_named_input_is_refused(faults):
    wires = ["plant.{qm, um} -> law", "goal -> law.um", "law.taum -> plant.taum"]
    found = faults(text(wires))
    message = "input law.um has a wire already, in line " + str(START)
    assert [(line, told) for line, _, told, _ in found] == [(START + 1, message)]


def test_many_wires_by_name_count_as_wires(faults):
    ports = ", ".join(f"p{k}" for k in range(1000))
    part = f"{{inputs: [{ports}], outputs: [{ports}], wires: [in.* -> out]}}"
    blocks = "".join(f"  s{k}: {{type: part}}\n" for k in range(60))
    wires = "".join(f"  - s{k}.* -> s{(k + 1) % 60}\n" for k in range(60))
    found = faults(f"subsystems:\n  part: {part}\nblocks:\n{blocks}wires:\n{wires}")
    assert any("more than 100000 wires and ports" in fault[2] for fault in found)


def test_a_signal_to_keep_is_one_signal(faults):
    found = faults("blocks: {t: {type: TIME}}\nrun: {log: [t.*]}\n")
    assert "it means several signals" in found[0][2]

"""`$kp` written for two blocks is one parameter: the diagram records which arguments took it."""

from __future__ import annotations

from pathlib import Path

import numpy as np

LOOPS = """\
params: {kp: 2, q: [1, 2], same: $kp, unused: 3}
subsystems:
  loop:
    params: {gain: 5, offset: 1}
    inputs: [u]
    outputs: [y]
    blocks:
      inner: {type: GAIN, K: $gain}
      bias: {type: CONSTANT, value: $offset}
      n: {type: "NULL"}
    wires: [in -> inner, inner -> out, bias -> n]
  around:
    params: {k: $kp}
    inputs: [u]
    outputs: [y]
    blocks:
      deep: {type: loop, gain: $k}
    wires: [in -> deep, deep -> out]
blocks:
  a: {type: CONSTANT, value: $kp}
  b: {type: GAIN, K: $kp}
  v: {type: CONSTANT, value: $q}
  own: {type: loop}
  arm: {type: loop, gain: $kp}
  leg: {type: around}
  n: {type: "NULL"}
wires: [a -> b, b -> own, own -> arm, arm -> leg, leg -> n, v -> n]
"""


def test_every_argument_that_takes_a_parameter_whole_is_recorded(read):
    shared = read(LOOPS).shared
    assert shared["kp"] == (
        ("a", "value"),
        ("b", "K"),
        ("arm/inner", "K"),
        ("leg/deep/inner", "K"),
    )
    assert shared["q"] == (("v", "value"),)


def test_a_subsystems_own_default_and_an_unused_parameter_are_not_shared(read):
    assert list(read(LOOPS).shared) == ["kp", "q"]


def test_a_parameter_written_as_another_stands_for_that_one(read):
    text = LOOPS.replace("a: {type: CONSTANT, value: $kp}", "a: {type: CONSTANT, value: $same}")
    shared = read(text).shared
    assert "same" not in shared
    assert shared["kp"][0] == ("a", "value")


def test_the_recorded_blocks_follow_the_parameter_when_it_is_overridden(read):
    diagram = read(LOOPS, overrides=["params.kp=7"])
    arm = diagram.bd.blocknames["arm"].subsystem.blocknames
    assert ("arm/inner", "K") in diagram.shared["kp"]
    assert diagram.bd.blocknames["b"].K == arm["inner"].K == diagram.params["kp"] == 7


def test_a_block_whose_own_value_is_overridden_shares_no_longer(read):
    diagram = read(LOOPS, overrides=["blocks.b.K=7"])
    assert ("b", "K") not in diagram.shared["kp"]
    assert ("a", "value") in diagram.shared["kp"]


def test_a_reference_within_a_list_or_a_mapping_is_not_shared(read):
    text = """\
    params: {x: 3, m: 1}
    robots: {sc: {urdf: ROBOT, base: fixed}}
    blocks:
      v: {type: CONSTANT, value: [$x, 1, 1]}
      plant: {type: MULTIBODY, robot: sc, initial: {qm: [$x, 0, 0]}}
      n: {type: "NULL"}
    wires: [v -> n, v -> plant.taum]
    """
    robot = str(Path(__file__).parents[2] / "models" / "spacecraft_3dof.urdf")
    assert read(text.replace("ROBOT", robot), root="/").shared == {}


def test_a_value_repeated_beside_a_vector_is_not_shared_as_it_has_changed(read):
    text = """\
    params: {low: 1, high: [2, 3]}
    blocks: {q: {type: STEP, off: $low, on: $high}, n: {type: "NULL"}}
    wires: [q -> n]
    """
    diagram = read(text)
    np.testing.assert_array_equal(diagram.bd.blocknames["q"].off, [1.0, 1.0])
    assert diagram.shared == {"high": (("q", "on"),)}


def test_texts_names_and_truth_values_are_no_parameters_of_a_program(read):
    text = """\
    params: {signs: "+-", c: main, whole: true}
    clocks: {main: {T: 1}}
    blocks:
      s: {type: SUM, signs: $signs}
      p: {type: POW, p: 2, matrix: $whole}
      z: {type: ZOH, clock: $c, x0: 0}
      n: {type: "NULL"}
    wires: [z -> s.0, z -> s.1, s -> z, s -> p, p -> n]
    """
    assert read(text).shared == {}


def test_a_subsystem_that_nothing_uses_records_nothing(read):
    text = """\
    params: {kp: 2}
    subsystems:
      spare:
        outputs: [y]
        blocks: {c: {type: CONSTANT, value: $kp}}
        wires: [c -> out]
    blocks: {a: {type: CONSTANT, value: $kp}, n: {type: "NULL"}}
    wires: [a -> n]
    """
    assert read(text).shared == {"kp": (("a", "value"),)}

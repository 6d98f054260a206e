"""A subsystem for each entry of its inputs: the copies are blocks like any others."""

from __future__ import annotations

import numpy as np
import pytest

import spart_blocks as sb

SERVO = """\
subsystems:
  servo:
    params: {k: 2, start: 0}
    inputs: [goal, bias]
    outputs: [angle, force]
    blocks:
      error: {type: SUM, signs: "+-"}
      gain: {type: GAIN, K: $k}
      sum: {type: SUM}
      angle: {type: INTEGRATOR, x0: $start}
    wires:
      - in.goal -> error.0
      - angle -> error.1, out.angle
      - error -> gain
      - gain -> sum.0
      - in.bias -> sum.1
      - sum -> angle, out.force
"""
DIAGRAM = f"""\
params: {{gains: [1, 2, 4], start: 0.5}}
{SERVO}blocks:
  goal: {{type: CONSTANT, value: [1, 2, 3]}}
  bias: {{type: CONSTANT, value: 0.1}}
  loop: {{type: servo, for_each: {{over: [goal, k]}}, k: $gains, start: $start}}
  scope: {{type: SCOPE, labels: [a, b, c]}}
wires: [goal -> loop.goal, bias -> loop.bias, loop.angle -> scope]
run: {{T: 1, rtol: 1.0e-10, atol: 1.0e-12, log: [loop.force, loop/2/error, loop.angle]}}
"""


def exact(t):
    goal, k = np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0, 4.0])
    end = goal + 0.1 / k
    return end + (0.5 - end) * np.exp(-k * np.asarray(t)[:, None])


@pytest.mark.parametrize("engine", ["native", "interpreter"])
def test_each_copy_has_its_entries_and_the_outputs_are_stacked(read, engine):
    results = sb.simulate(read(DIAGRAM), engine=engine)
    assert results["loop.angle"].shape[1:] == (3,)
    np.testing.assert_allclose(results["loop.angle"], exact(results.t), atol=1e-8)
    np.testing.assert_allclose(
        np.ravel(results["loop/2/error"]), 3 - exact(results.t)[:, 2], atol=1e-8
    )


def test_a_shared_parameter_of_the_copies_is_one_parameter(read):
    diagram = read(DIAGRAM)
    assert diagram.shared["start"] == tuple((f"loop/{k}/angle", "x0") for k in range(3))
    assert "gains" not in diagram.shared
    program = sb.trace(diagram)
    values = {slot.name: program.p[slot.part] for slot in program.parameters}
    assert [float(values[f"loop/{k}/gain.K"][0]) for k in range(3)] == [1, 2, 4]


def test_rows_of_a_matrix_and_outputs_of_vectors(read):
    text = """\
    subsystems:
      s: {inputs: [u], outputs: [y], blocks: {g: {type: GAIN, K: 2}}, wires: [in -> g, g -> out]}
    blocks:
      m: {type: CONSTANT, value: [[1, 2], [3, 4], [5, 6]]}
      each: {type: s, for_each: {over: [u]}}
      n: {type: "NULL"}
    wires: [m -> each, each -> n]
    run: {T: 1, log: [each, each/1/g]}
    """
    results = sb.simulate(read(text))
    np.testing.assert_array_equal(results["each"][-1], [[2, 4], [6, 8], [10, 12]])
    np.testing.assert_array_equal(results["each/1/g"][-1], [6, 8])


PART = """\
params: {k: 1}
inputs: [u]
outputs: [y]
blocks: {g: {type: GAIN, K: $k}}
wires: [in -> g, g -> out]
"""


def test_a_file_for_each_entry(read, tmp_path):
    (tmp_path / "part.yaml").write_text(PART)
    text = """\
    params: {n: 2}
    blocks:
      g: {type: GAIN, K: [1, 10]}
      one: {type: CONSTANT, value: 1}
      each: {use: part.yaml, for_each: {over: [u], count: $n}, k: 3}
      n: {type: "NULL"}
    wires: [one -> g, g -> each, each -> n]
    run: {T: 1, log: [each]}
    """
    assert sb.simulate(read(text))["each"][-1].tolist() == [3, 30]


def test_copies_within_copies_and_one_copy(read):
    text = """\
    subsystems:
      s: {params: {k: 1}, inputs: [u], outputs: [y], blocks: {g: {type: GAIN, K: $k}},
          wires: [in -> g, g -> out]}
      row:
        params: {ks: [1]}
        inputs: [u]
        outputs: [y]
        blocks: {e: {type: s, for_each: {over: [u, k]}, k: $ks}}
        wires: [in -> e, e -> out]
    blocks:
      m: {type: CONSTANT, value: [[1, 2], [3, 4]]}
      one: {type: CONSTANT, value: [7]}
      rows: {type: row, for_each: {over: [u, ks]}, ks: [[1, 10], [100, 1000]]}
      single: {type: s, for_each: {over: [u]}}
      n: {type: "NULL"}
    wires: [m -> rows, rows -> n, one -> single, single -> n]
    run: {T: 1, log: [rows, rows/1/e/0/g, single]}
    """
    results = sb.simulate(read(text))
    assert results["rows"][-1].tolist() == [[1, 20], [300, 4000]]
    assert results["rows/1/e/0/g"][-1] == 300
    assert results["single"][-1].tolist() == [7]


def test_the_count_follows_from_a_plant_and_a_bus(read):
    from pathlib import Path

    model = Path(__file__).parents[2] / "models" / "spacecraft_3dof.urdf"
    text = f"""\
    robots: {{sc: {{urdf: {model}, base: floating}}}}
    subsystems:
      law:
        inputs: [q.qm, q.um]
        outputs: [tau]
        blocks: {{s: {{type: SUM, signs: "--"}}}}
        wires: [in.q.qm -> s.0, in.q.um -> s.1, s -> out]
    blocks:
      plant: {{type: MULTIBODY, robot: sc, initial: {{qm: [0.1, 0, 0]}}}}
      b: {{type: BUS_CREATOR}}
      law: {{type: law, for_each: {{over: [q.qm, q.um]}}}}
    wires: [plant.* -> b, b -> law.q, law -> plant.taum]
    run: {{T: 1, log: [law.tau]}}
    """
    results = sb.simulate(read(text, root="/"))
    np.testing.assert_allclose(
        results["law.tau"], -results["plant.qm"] - results["plant.um"], atol=1e-14
    )


HEAD = SERVO + "blocks:\n  goal: {type: CONSTANT, value: [1, 2, 3]}\n  g: {type: GAIN}\n"
WRONG = {
    "no count": ("{type: servo, for_each: {over: [goal]}}", "g -> l.goal",
                 "how many copies l (servo) has is not known", "write count: 3"),
    "lengths": ("{type: servo, for_each: {over: [goal, k]}, k: [1, 2]}", "goal -> l.goal",
                "the numbers of copies of l (servo) differ: k 2, goal 3", "one length"),
    "count": ("{type: servo, for_each: {over: [goal], count: 4}}", "goal -> l.goal",
              "differ: count 4, goal 3", ""),
    "too many": ("{type: servo, for_each: {over: [goal], count: 1001}}", "g -> l.goal",
                 "would have 1001 copies; it must be 1 to 1000", ""),
    "none": ("{type: servo, for_each: {over: [goal], count: 0}}", "g -> l.goal",
             "would have 0 copies", ""),
    "no number": ("{type: servo, for_each: {over: [goal], count: 1.5}}", "g -> l.goal",
                  "count must be a whole number or a parameter, not 1.5", ""),
    "text of a parameter": ("{type: servo, for_each: {over: [goal], count: $m}}", "g -> l.goal",
                            "unknown parameter $m", ""),
    "unknown": ("{type: servo, for_each: {over: [gaol], count: 3}}", "goal -> l.goal",
                "l (servo) has no input and no parameter 'gaol'", "did you mean 'goal'?"),
    "no list": ("{type: servo, for_each: {over: [k], count: 3}, k: 3}", "g -> l.goal",
                "k of l (servo) is no list", "write k: [...]"),
    "no values": ("{type: servo, for_each: {over: [k], count: 3}}", "g -> l.goal",
                  "l (servo) has no list of k", "write k: [...] in l"),
    "empty": ("{type: servo, for_each: {over: []}}", "g -> l.goal", "must not be empty", ""),
    "no over": ("{type: servo, for_each: {count: 3}}", "g -> l.goal", "needs 'over'", ""),
    "a key": ("{type: servo, for_each: {over: [goal], cuont: 3}}", "g -> l.goal",
              "unknown key 'cuont'", "'count'"),
    "a block": ("{type: GAIN, for_each: {over: [K]}, K: [1, 2]}", "g -> l",
                "l: for_each repeats a subsystem or a file, not GAIN", "vectors"),
    "a parameter": ("{type: servo, kk: 3, for_each: {over: [goal], count: 3}}", "goal -> l.goal",
                          "unknown parameter 'kk' of l (servo)", "'k'"),
    "inside": ("{type: servo, k: x, for_each: {over: [goal], count: 3}}", "goal -> l.goal",
               "K of gain (GAIN) takes numbers", ""),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_with_copies_is_reported(faults, case):
    block, wire, message, hint = WRONG[case]
    wires = f"goal -> g, {wire}" if not wire.startswith("goal") else f"goal -> g\n  - {wire}"
    wires = wires if "\n" in wires else f"goal -> g\n  - {wire}"
    found = faults(f"{HEAD}  l: {block}\nwires:\n  - {wires}\n")
    told = [fault for fault in found if message in fault[2]]
    assert told, found
    assert hint in told[0][3]
    assert told[0][0] in (21, 8)


def test_a_wrong_shape_is_refused_at_its_wire(read):
    text = HEAD + (
        "  b: {type: CONSTANT, value: 1}\n"
        "  l: {type: servo, for_each: {over: [goal], count: 2}}\n"
        "wires: [goal -> g, g -> l.goal, b -> l.bias]\n"
    )
    with pytest.raises(sb.DiagramError, match=r"takes \(2,\)"):
        sb.simulate(read(text))


def test_copies_of_copies_cannot_exceed_the_number_of_blocks(faults):
    levels = ["  s0: {blocks: {t: {type: TIME}}}"] + [
        f"  s{i}: {{params: {{n: [1]}}, blocks: {{e: {{type: s{i - 1}, "
        f"for_each: {{over: [p], count: 1000}}, p: [1]}}}}}}"
        for i in range(1, 4)
    ]
    text = "\n".join(levels).replace("over: [p], count: 1000}, p: [1]", "over: [q], count: 1000}")
    text = text.replace("s0: {blocks", "s0: {inputs: [q], blocks")
    text = text.replace("{params: {n: [1]}, blocks", "{inputs: [q], blocks").replace(
        "count: 1000}}}}", "count: 1000}}}, wires: [in -> e]}"
    )
    source = "blocks: {z: {type: CONSTANT, value: 1}, a: {type: s3}}\nwires: [z -> a]\n"
    found = faults(f"subsystems:\n{text}\n{source}")
    assert any("more than 20000 blocks" in fault[2] for fault in found), found


def test_the_length_of_an_integrator_s_states_is_the_count(read):
    goal = "goal: {type: CONSTANT, value: [1, 2, 3]}"
    assert goal in DIAGRAM
    rate = "rate: {type: CONSTANT, value: 0}\n  goal: {type: INTEGRATOR, x0: [1, 2, 3]}"
    text = (
        DIAGRAM.replace(goal, rate)
        .replace(", k]}, k: $gains", "]}")
        .replace("wires: [", "wires: [rate -> goal, ")
    )
    found = sb.simulate(read(text))["loop.angle"]
    assert found.shape[1:] == (3,)
    np.testing.assert_allclose(
        found[-1], [1.05, 2.05, 3.05] + (0.5 - np.array([1.05, 2.05, 3.05])) * np.exp(-2)
    )


def test_an_integrator_of_one_state_gives_no_count(faults):
    text = DIAGRAM.replace("goal: {type: CONSTANT, value: [1, 2, 3]}", "goal: {type: INTEGRATOR}")
    text = text.replace("wires: [", "wires: [bias -> goal, ").replace(", k]}, k: $gains", "]}")
    ((*_, message, hint),) = faults(text)
    assert message == "how many copies loop (servo) has is not known"
    assert hint == "write count: 3"

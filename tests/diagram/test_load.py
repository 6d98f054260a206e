"""A file becomes the diagram that the same blocks and wires make in Python."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from network_of import outputs_of, wires_of

from spart_blocks.base.errors import DiagramError, InputError
from spart_blocks.diagram import complete, load, new_diagram
from spart_blocks.diagram.build.connect import wire_name
from spart_blocks.diagram.build.registry import block_types, find_type

MODELS = Path(__file__).parents[2] / "models"


def test_steps_on_and_off_are_parameters_and_a_scalar_is_repeated_beside_a_vector(read):
    diagram = read("blocks: {q: {type: STEP, T: 1, off: 1, on: [1, 2]}, r: {type: STEP, on: [3]}}")
    step = diagram.bd.blocknames["q"]
    assert step.T == 1.0
    np.testing.assert_array_equal(step.off, [1.0, 1.0])
    np.testing.assert_array_equal(step.on, [1.0, 2.0])
    np.testing.assert_array_equal(diagram.bd.blocknames["r"].off, [0.0])


def test_lists_of_numbers_are_float_arrays_and_lists_of_indices_stay(read):
    text = """\
    blocks:
      a: {type: CONSTANT, value: [[1, 2], [3, 4]]}
      i: {type: INDEX, index: [0, 2]}
      s: {type: SLICE1, index: "0:2"}
      p: {type: PIECEWISE, seq: [[0, [1, 2]], [1, [3, 4]]]}
      pid: {type: PID, P: 1, I: 2, I_limit: [-1, 2]}
      n: {type: "NULL"}
    wires: [p -> i, p -> s, a -> pid.0, a -> pid.1, i -> n, s -> n]
    """
    made = read(text).bd.blocknames
    assert made["a"].value.dtype == float
    assert made["i"].index == [0, 2]
    assert made["s"].index == slice(0, 2, None)
    np.testing.assert_array_equal(made["p"].y[1], [3.0, 4.0])
    integrator = made["pid"].subsystem.blocknames["I"]
    assert (integrator.min, integrator.max) == (-1.0, 2.0)


def test_wires_fan_out_and_slices_become_one_block_each(read):
    text = """\
    blocks:
      v: {type: CONSTANT, value: [1, 2, 3]}
      g: {type: GAIN}
      h: {type: GAIN}
      k: {type: GAIN}
    wires:
      - v[0:2] -> g, h
      - v[-1] -> k
    """
    diagram = read(text)
    assert {"v.0 -> v[0:2].0", "v[0:2].0 -> g.0", "v[0:2].0 -> h.0"} <= wires_of(diagram)
    values = outputs_of(diagram)
    np.testing.assert_array_equal(values["g"][0], [1.0, 2.0])
    assert values["k"] == [3.0]


def test_a_scope_takes_its_width_from_labels_or_its_number_of_wires(read):
    text = """\
    blocks:
      t: {type: TIME}
      v: {type: CONSTANT, value: [1, 2]}
      one: {type: SCOPE, labels: [a, b]}
      two: {type: SCOPE, labels: [a, b]}
      xy: {type: SCOPEXY}
      mux: {type: MUX}
    wires:
      - v -> one
      - t -> two, two, xy, mux.1, mux
      - t -> xy
      - mux -> x
    """
    diagram = read(text.replace("      - mux -> x\n", ""))
    made = diagram.bd.blocknames
    assert (made["one"].nin, made["one"].vector) == (1, 2)
    assert (made["two"].nin, made["two"].vector) == (2, None)
    assert made["mux"].nin == 2
    assert {"t.0 -> mux.1", "t.0 -> mux.0", "t.0 -> xy.y"} <= wires_of(diagram)


def test_parameters_are_used_within_lists_and_refer_to_each_other(read):
    text = """\
    params: {c: [$a, $b], a: 1, b: $a}
    blocks:
      v: {type: CONSTANT, value: [$a, 2]}
      w: {type: CONSTANT, value: $c}
      s: {type: SCOPE, labels: [$$a, $\\alpha$]}
    wires: [w -> s]
    run: {T: $a}
    """
    diagram = read(text)
    np.testing.assert_array_equal(diagram.bd.blocknames["v"].value, [1.0, 2.0])
    np.testing.assert_array_equal(diagram.bd.blocknames["w"].value, [1.0, 1.0])
    assert diagram.bd.blocknames["s"].labels == ["$a", "$\\alpha$"]
    assert diagram.run.T == 1.0
    np.testing.assert_array_equal(diagram.params["c"], [1.0, 1.0])


def test_parameters_that_multiply_without_bound_are_refused(faults):
    params = "\n".join(f"  p{i}: [$p{i - 1}, $p{i - 1}]" for i in range(1, 60))
    found = faults(f"params:\n  p0: 1\n{params}\nblocks: {{t: {{type: TIME}}}}\n")
    assert "too large" in found[0][2]


def test_a_long_chain_of_parameters_is_no_recursion(read):
    params = "\n".join(f"  p{i}: $p{i - 1}" for i in range(1, 5000))
    diagram = read(f"params:\n  p0: 1\n{params}\nblocks: {{t: {{type: TIME}}}}\n")
    assert diagram.params["p4999"] == 1


SERVO = """\
params: {top: 7}
clocks: {fast: {rate: 100, offset: 0.002}}
subsystems:
  servo:
    params: {k: 2, twice: $k}
    inputs: [r, y]
    outputs: [u]
    blocks:
      err: {type: SUM, signs: "+-"}
      g: {type: GAIN, K: $twice}
      top: {type: GAIN, K: $top}
      hold: {type: ZOH, clock: fast, x0: [5, 5]}
    wires: [in.r -> err.0, in.y -> err.1, err -> g, g -> top, top -> hold, hold -> out.u]
  pair:
    inputs: [r]
    outputs: [u]
    blocks: {s: {type: servo, k: 3}, i: {type: INTEGRATOR, x0: [0, 0]}}
    wires: [in.r -> s.r, i -> s.y, s.u -> i, i -> out.u]
blocks:
  r: {type: CONSTANT, value: [1, 2]}
  a: {type: servo, k: 10}
  b: {type: pair}
wires: [r -> a.r, b -> a.y, r -> b.r]
run: {log: [a/g, b/s/err, b.u]}
"""


def test_a_subsystem_is_a_block_with_named_ports_and_its_own_parameters(read):
    diagram = read(SERVO)
    assert {"r.0 -> a.r", "b.u -> a.y", "r.0 -> b.r"} == wires_of(diagram)
    values = outputs_of(diagram)
    np.testing.assert_array_equal(values["a/g"][0], [10.0, 20.0])
    np.testing.assert_array_equal(values["b/s/g"][0], [3.0, 6.0])
    np.testing.assert_array_equal(values["a/top"][0], [70.0, 140.0])
    clock = diagram.bd.clocklist[0]
    assert (clock.T, clock.offset) == (0.01, 0.002)
    assert [block.name for block in clock.blocklist] == ["a/hold", "b/s/hold"]


def test_places_name_blocks_inside_subsystems(read):
    places = read(SERVO).places
    assert places["blocks.b/s/g"].line == 10
    assert places["blocks.a.k"].line == 21
    assert places["wires.r.0 -> a.r"].line == 23


def test_subsystems_may_lack_inputs_or_outputs(read):
    text = """\
    subsystems:
      source: {outputs: [y], blocks: {t: {type: TIME}}, wires: [t -> out.y]}
      sink: {inputs: [u], blocks: {n: {type: "NULL"}}, wires: [in -> n]}
    blocks: {a: {type: source}, b: {type: sink}}
    wires: [a -> b]
    """
    assert outputs_of(read(text))["a/t"] == [0.0]


SUBSYSTEMS = {
    "circle": ("s: {blocks: {a: {type: t}}}\n  t: {blocks: {a: {type: s}}}", "contains itself"),
    "reserved name": ("s: {blocks: {in: {type: TIME}}}", "stands for the subsystem's ports"),
    "a block type": ("GAIN: {blocks: {a: {type: TIME}}}", "is the name of a block type"),
    "port twice": ("s: {inputs: [a, a], blocks: {}}", "is given twice"),
    "port name": ("s: {inputs: [a b], blocks: {}}", "the port name 'a b'"),
    "port in a bus": ("s: {inputs: [a..b], blocks: {}}", "the port name 'a..b' is empty"),
    "port of bdsim": ("s: {inputs: [nin], blocks: {}}", "conflicts with block attribute"),
    "open output": ("s: {outputs: [y], blocks: {t: {type: TIME}}}", "output y of the subsystem"),
    "inside": ("s: {blocks: {g: {type: GAIN}}}", "input 0 of g (GAIN) has no wire"),
}


@pytest.mark.parametrize("case", SUBSYSTEMS)
def test_a_wrong_subsystem_is_refused_even_when_nothing_uses_it(faults, case):
    text, message = SUBSYSTEMS[case]
    found = faults(f"subsystems:\n  {text}\nblocks: {{t: {{type: TIME}}}}\n")
    assert any(message in fault[2] and fault[0] in (2, 3) for fault in found), found


def test_subsystems_that_multiply_without_bound_are_refused(faults):
    rows = ["  s0: {blocks: {t: {type: TIME}}}"]
    rows += [
        f"  s{i}: {{blocks: {{{', '.join(f'b{j}: {{type: s{i - 1}}}' for j in range(9))}}}}}"
        for i in range(1, 12)
    ]
    found = faults("subsystems:\n" + "\n".join(rows) + "\nblocks: {a: {type: s11}}\n")
    assert any("more than 20000 blocks" in fault[2] for fault in found), found


def test_an_unknown_parameter_of_a_subsystem_is_refused(faults):
    found = faults(SERVO.replace("k: 10", "kk: 10"))
    assert (
        21,
        20,
        "unknown parameter 'kk' of a (servo): it has k, twice",
        "did you mean 'k'?",
    ) in (found)


def test_bdsims_own_subsystem_blocks_can_be_used(read):
    text = """\
    blocks:
      r: {type: STEP}
      pid: {type: PID, P: 2, D: 1}
      d: {type: DERIV, alpha: 3}
      n: {type: "NULL"}
    wires: [r -> pid.0, r -> pid.1, pid -> d, d -> n]
    """
    assert "pid/P" in outputs_of(read(text))


def test_nothing_is_printed_while_a_diagram_is_read(read, capsys):
    read("blocks: {p: {type: PID, P: 2, I: 1}, t: {type: TIME}}\nwires: [t -> p.0, t -> p.1]\n")
    assert capsys.readouterr() == ("", "")


def test_a_yaml_diagram_equals_the_same_diagram_made_in_python(read):
    text = """\
    blocks:
      r: {type: CONSTANT, value: 2}
      e: {type: SUM, signs: "+-"}
      i: {type: INTEGRATOR, x0: 1}
    wires: [r -> e.0, i -> e.1, e -> i]
    """
    bd = new_diagram("python")
    r, e, i = bd.CONSTANT(2, name="r"), bd.SUM("+-", name="e"), bd.INTEGRATOR(x0=1, name="i")
    bd.connect(r, e[0])
    bd.connect(i, e[1])
    bd.connect(e, i)
    assert complete(bd) == []
    diagram = read(text)
    assert [repr(b) for b in bd.blocklist] == [repr(b) for b in diagram.bd.blocklist]
    assert {wire_name(wire) for wire in bd.wirelist} == wires_of(diagram)


def test_loading_nothing_heavy_until_a_diagram_is_read():
    code = (
        "import sys, spart_blocks.diagram as d; assert 'bdsim' not in sys.modules;"
        "assert 'matplotlib' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=MODELS.parent)


def test_a_runtime_made_by_the_user_before_us_keeps_its_blocks_and_gains_ours():
    code = (
        "import bdsim; s = bdsim.BDSim(banner=False, sysargs=False, toolboxes=False);"
        "bdsim.BDSim._blocklibrary['MINE'] = dict(bdsim.BDSim._blocklibrary['GAIN']);"
        "from spart_blocks.diagram.build.registry import find_type;"
        "assert find_type('GAIN') and find_type('MINE');"
        "lib = bdsim.BDSim._blocklibrary;"
        "assert any(i['package'] == 'spart_blocks' for i in lib.values())"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=MODELS.parent)


def test_block_types_carry_what_the_command_lists():
    step = find_type("STEP")
    assert step is not None
    assert step.summary == "Step signal."
    assert list(step.parameters) == ["T", "off", "on"]
    assert step.parameters["T"].default == 1
    assert "time of step" in step.parameters["T"].doc
    assert (len(step.inputs), len(step.outputs), step.package) == (0, 1, "bdsim")
    assert all(kind.summary for kind in block_types() if kind.package == "spart_blocks")


def test_names_may_be_letters_of_any_script(read):
    diagram = read("blocks: {θ̈: {type: TIME}, глаз: {type: GAIN}}\nwires: [θ̈ -> глаз]\n")
    assert wires_of(diagram) == {"θ̈.0 -> глаз.0"}


def test_the_name_is_the_files_unless_given(read):
    assert read("blocks: {t: {type: TIME}}", name="arm.yaml").name == "arm"
    assert read("name: x\nblocks: {t: {type: TIME}}").name == "x"


def test_load_takes_a_path_as_text(read, tmp_path):
    read("blocks: {t: {type: TIME}}")
    assert load(str(tmp_path / "test.yaml")).source == tmp_path / "test.yaml"


def test_a_block_made_in_python_refuses_with_its_reason_alone(capsys):
    with pytest.raises(InputError, match="kp has 2 entries and kd has 1"):
        new_diagram("python").JOINT_PD(kp=[1, 2], kd=[1])
    assert capsys.readouterr() == ("", "")


def test_an_entry_with_nothing_behind_its_colon_is_told_at_its_place(tmp_path):
    text = (
        "params: {K: }\nblocks: {s: {type: STEP, on: }, g: {type: GAIN, K: $K}}\nwires: [s -> g]\n"
    )
    (tmp_path / "null.yaml").write_text(text)
    with pytest.raises(DiagramError) as error:
        load(tmp_path / "null.yaml")
    messages = [(f.place.line, f.place.column, f.message) for f in error.value.faults]
    assert (2, 30, "on of STEP takes a value, not null") in messages
    assert any("K of GAIN takes a value, not null" in message for *_, message in messages)

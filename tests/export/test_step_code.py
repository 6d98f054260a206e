"""The C of a part: its form, and what it does in the cases that are not plain."""

import re
import shutil
import subprocess
from dataclasses import replace

import numpy as np
import pytest

import spart_blocks as sb
from spart_blocks.base.errors import InputError
from spart_blocks.base.tableaus import FIXED_STEP
from spart_blocks.export import moving_inputs, recorded_inputs, step_code, verify
from spart_blocks.export.fmu.variables import variables_of
from spart_blocks.export.interface import identifier, identifiers
from spart_blocks.export.loaded import STRICT, LoadedStep
from spart_blocks.export.loop_files import model_header
from spart_blocks.program.c.compiler import CompilerError
from spart_blocks.program.subdiagram import subdiagram_of

COMPILERS = [name for name in ("gcc", "clang") if shutil.which(name)] or ["cc"]
ARM, PD = "diagrams/arm_computed_torque.yaml", "diagrams/spacecraft_pd.yaml"
CASES = {
    "controller": (ARM, ["ctrl"], {}),
    "loop": (PD, [], {"rate": 500}),
    "euler": (PD, [], {"method": "euler"}),
    "implicit": ("diagrams/signals/limited_servo.yaml", [], {"method": "Rodas3"}),
    "float": (PD, [], {"real": "float"}),
    "sampled": ("diagrams/spacecraft_sampled.yaml", ["ctrl", "hold"], {}),
    "nothing to do": (PD, ["qd"], {}),
}


@pytest.fixture(params=CASES, scope="module")
def code(request):
    path, blocks, options = CASES[request.param]
    return step_code(subdiagram_of(path, blocks), **options)


def write(code, folder):
    for name, text in code.files.items():
        (folder / name).write_text(text)
    (folder / f"{code.name}_model.h").write_text(model_header(code))


def build(folder, compiler, *arguments):
    command = [compiler, *STRICT, *arguments]
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert run.stderr == ""


STEPS = """
#include "NAME_model.h"
int main(void) {
  static double u[NAME_NU + 1], p[NAME_NP + 1], y[NAME_NY + 1];
  NAME_state s;
  int status = 0;
  NAME_model_nominal(u, p);
  NAME_model_init(&s, p);
  for (int k = 0; k < 200 && !status; k++)
    status = NAME_model_output(&s, u, p, y) || NAME_model_update(&s, u, p);
  return NAME_model_check(p) >= 0 ? 9 : status;
}
"""


@pytest.mark.parametrize("compiler", COMPILERS)
def test_it_compiles_without_a_warning_and_runs_under_the_sanitizers(code, compiler, tmp_path):
    write(code, tmp_path)
    (tmp_path / "steps.c").write_text(STEPS.replace("NAME", code.name))
    sanitizers = ["-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    build(tmp_path, compiler, *sanitizers, "-o", "steps", "steps.c", f"{code.name}.c", "-lm")
    assert subprocess.run([tmp_path / "steps"], timeout=300).returncode == 0


def test_it_has_no_variables_of_its_own_and_calls_the_mathematics_alone(code, tmp_path):
    write(code, tmp_path)
    build(tmp_path, COMPILERS[0], "-fno-pie", "-c", f"{code.name}.c")
    lines = subprocess.run(["nm", f"{code.name}.o"], cwd=tmp_path, capture_output=True, text=True)
    kinds = [line.split()[-2:] for line in lines.stdout.splitlines()]
    assert not [name for kind, name in kinds if kind in "bBdDcC"]  # writable data
    known = {"sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sqrt", "fmod", "floor", "pow"}
    known |= {"ceil", "fmin", "fmax"}
    known |= {"sincos", "nextafter"}  # gcc makes one of sin and cos
    known |= {f"{name}f" for name in known} | {"memcpy", "memset"}
    called = {name for kind, name in kinds if kind == "U"}
    assert {name for name in called if not name.startswith(("_GLOBAL", "__"))} <= known


def test_two_states_do_not_know_of_each_other():
    code = step_code(subdiagram_of(PD), rate=200)
    alone, one, other = (LoadedStep(code) for _ in range(3))
    other.p[0] += 0.3  # a set-point's time
    other.init()
    for _ in range(50):
        y = alone.output()[1]
        assert np.array_equal(one.output()[1], y)
        other.output()
        for step in (alone, one, other):
            assert step.update() == 0


def test_a_state_begins_where_its_parameters_say():
    code = step_code(subdiagram_of(PD))
    step = LoadedStep(code)
    (start,) = (m for m in code.interface.parameters if m.name == "plant.x0")
    assert step.output()[1][:3] == pytest.approx([0.1, 0, 0])
    place = start.place + 7  # quaternion, position, then the joints
    step.p[place] = 0.4
    step.init()
    assert step.output()[1][:3] == pytest.approx([0.4, 0, 0])


def test_a_quaternion_of_another_length_is_put_right_at_the_start():
    code = step_code(subdiagram_of(PD))
    step = LoadedStep(code)
    (start,) = (m for m in code.interface.parameters if m.name == "plant.x0")
    step.p[start.place + 3] = 2.0
    step.init()
    assert step.states()[:4] == pytest.approx([0, 0, 0, 1])


def test_a_result_that_is_not_finite_changes_nothing():
    code = step_code(subdiagram_of("diagrams/spacecraft_sampled.yaml", ["ctrl", "hold"]))
    step = LoadedStep(code)
    step.output()
    before, y = step.states(), step.y.copy()
    step.u[:] = np.nan
    step.update()
    for _ in range(9):
        step.update()
    assert step.output()[0] == 2
    assert np.array_equal(step.states(), before)
    assert np.array_equal(step.y, y)


STOPPING = """
blocks:
  t: {type: TIME}
  over: {type: SUM, signs: "+-"}
  end: {type: CONSTANT, value: 0.0205}
  halt: {type: STOP}
wires: [t -> over.0, end -> over.1, over -> halt]
"""


def test_a_stop_block_ends_the_steps(part_from):
    code = step_code(part_from(STOPPING), rate=1000)
    step = LoadedStep(code)
    statuses = []
    while not statuses or statuses[-1] == 0:
        statuses.append(step.output()[0])
        step.update()
    assert statuses == [0] * 21 + [1]  # 21 ms is the first step behind 20.5 ms
    assert verify(code, np.zeros((100, 0))).steps == 22


TWO_STOPS = """
blocks:
  push: {type: STEP, T: 0.005}
  later: {type: STEP, T: 0.007}
  gain: {type: GAIN, K: 2.0}
  halt: {type: STOP}
  halt_too: {type: STOP}
wires: [push -> gain, gain -> halt, later -> halt_too]
"""


def test_stop_blocks_outnumber_the_states(part_from):
    assert verify(step_code(part_from(TWO_STOPS)), np.zeros((100, 0))).steps == 6


def test_recorded_inputs_end_where_a_stop_ends_the_diagram(tmp_path):
    (tmp_path / "diagram.yaml").write_text(TWO_STOPS)
    diagram = sb.load(tmp_path / "diagram.yaml")
    code = step_code(subdiagram_of(diagram, ["gain"]))
    inputs = recorded_inputs(diagram, code, 0.1)
    assert inputs[:, 0] == pytest.approx([0] * 5 + [1])
    assert verify(code, inputs).passed


@pytest.mark.parametrize("horizon", [0.0, -1.0, np.nan, np.inf])
def test_a_time_to_compare_that_is_none_is_refused(horizon):
    diagram = sb.load(PD)
    with pytest.raises(InputError, match="the time to compare must be positive"):
        recorded_inputs(diagram, step_code(subdiagram_of(diagram, ["ctrl"])), horizon)


LIMITED = """
blocks:
  push: {type: STEP, T: 0.0105, on: -1.0, off: 1.0}
  tank: {type: INTEGRATOR, x0: 0.0, min: 0.0, max: 0.008}
wires: [push -> tank]
"""


@pytest.mark.parametrize("method", FIXED_STEP)
def test_an_integrator_stays_at_its_limit_and_leaves_it(part_from, method):
    code = step_code(part_from(LIMITED), rate=1000, method=method)
    assert verify(code, np.zeros((40, 0))).passed
    step, levels = LoadedStep(code), []
    for _ in range(40):
        levels.append(step.output()[1][-1])
        step.update()
    assert max(levels) == 0.008
    assert levels[10] == 0.008
    # It falls from 10.5 ms, which lies within a step, at 1 per second, down to its floor.
    assert levels[12] == pytest.approx(0.008 - 0.0015, abs=1e-15)
    assert min(levels[20:]) == 0.0


MULTIRATE = """
clocks: {fast: {T: 0.002}, slow: {T: 0.003, offset: 0.001}}
blocks:
  t: {type: TIME}
  a: {type: ZOH, clock: fast, x0: -1.0}
  b: {type: ZOH, clock: slow, x0: -2.0}
  c: {type: ZOH, clock: fast, x0: -3.0}
wires: [t -> a, a -> b, b -> c]
"""


def test_clocks_due_together_read_what_was_before_the_tick(part_from):
    part = part_from(MULTIRATE)
    code = step_code(part, rate=1000)
    assert verify(code, np.zeros((30, 0))).passed
    step, rows = LoadedStep(code), []
    for _ in range(13):
        rows.append(step.output()[1])
        step.update()
    run = sb.simulate(part.program, T=0.012, every=0.001)
    names = [m.name for m in code.interface.outputs]
    for name, column in zip(names, np.array(rows).T, strict=True):
        assert column == pytest.approx(run[name], abs=1e-15), name


SWITCHING = """
blocks:
  wave: {type: WAVEFORM, wave: square, freq: 37.0, amplitude: 1.0}
  once: {type: STEP, T: 0.01234, on: 1.0}
  sum: {type: SUM, signs: "++"}
  x: {type: INTEGRATOR, x0: 0.0}
wires: [wave -> sum.0, once -> sum.1, sum -> x]
run: {log: [x]}
"""


def test_a_source_that_switches_within_a_step_does_so_at_its_time(part_from):
    part = part_from(SWITCHING)
    code = step_code(part, rate=100)
    assert verify(code, np.zeros((50, 0))).passed
    step, levels = LoadedStep(code), []
    for _ in range(51):
        levels.append(step.output()[1][0])
        step.update()
    run = sb.simulate(part.program, T=0.5, every=0.01, rtol=1e-10, atol=1e-12)
    assert levels == pytest.approx(run["x"], abs=1e-12)


def test_a_source_that_switches_very_often_is_bounded_in_its_work(part_from):
    code = step_code(part_from(SWITCHING.replace("37.0", "1e7")), rate=100)
    assert verify(code, np.zeros((5, 0))).passed


@pytest.mark.parametrize("path", ["spacecraft_pd", "arm_computed_torque", "momentum_exchange"])
def test_a_loop_steps_as_the_simulation_does_with_the_same_method(path):
    part = subdiagram_of(f"diagrams/{path}.yaml")
    code = step_code(part, rate=500)
    step, rows = LoadedStep(code), []
    for _ in range(751):
        rows.append(step.output()[1])
        step.update()
    run = sb.simulate(part.program, T=1.5, every=0.002, solver="RK4", max_step=0.002)
    for member in code.interface.outputs:
        found = np.array(rows)[:, member.place : member.place + member.size]
        expected = run[member.name].reshape(len(run.t), -1)
        assert np.abs(found - expected).max() < 1e-9 * max(run.scale(member.name), 1e-3)


NOTHING = """
clocks: {slow: {T: 0.002}}
blocks:
  none: {type: CONSTANT, value: []}
  gain: {type: GAIN, K: 2.0}
  kept: {type: INTEGRATOR, x0: []}
  held: {type: ZOH, clock: slow, x0: []}
  after: {type: GAIN, K: 2.0}
wires: [none -> gain, gain -> kept, gain -> held, held -> after]
"""


@pytest.mark.parametrize("blocks", [[], ["gain"], ["kept", "held"]])
def test_a_signal_without_numbers_is_no_member_of_a_struct(part_from, blocks):
    code = step_code(part_from(NOTHING, *blocks))
    assert "[0]" not in code.header
    assert verify(code, np.zeros((3, 0))).passed


# --- names ---------------------------------------------------------------------------------


def test_names_become_identifiers_of_c():
    assert identifier("left/pd.kp") == "left_pd_kp"
    assert identifier("plant.qm[0:3]") == "plant_qm_0_3"
    assert identifier("3d") == "s3d"
    assert identifier("double") == "double_"
    assert [identifier(text) for text in ("NAN", "throw", "stdin")] == ["NAN_", "throw_", "stdin_"]
    assert identifier("*/ evil") == "evil"
    assert identifier("Wärme") == "W_rme"


def test_names_that_would_be_alike_are_numbered():
    assert identifiers(["a.b", "a_b", "a/b"]) == ["a_b", "a_b_2", "a_b_3"]


def test_a_name_that_c_does_not_take_is_refused():
    with pytest.raises(InputError, match=r"'my-ctrl' cannot be the name .*\n.*'my_ctrl' is valid"):
        step_code(subdiagram_of(PD, ["ctrl"]), name="my-ctrl")


@pytest.mark.parametrize("name", ["check", "Main", "makefile", "math", "sb", "sb_link", "errno"])
def test_a_name_that_the_folder_has_a_use_for_is_another(part_from, name):
    text = f"name: {name}\nblocks: {{a: {{type: CONSTANT, value: 1.0}}}}"
    assert step_code(part_from(text)).name == f"{name}_"
    with pytest.raises(InputError, match=f"{name!r} cannot be the name .*\n.*'{name}_' is valid"):
        step_code(part_from(text), name=name)
    assert step_code(part_from(text), name=f"{name}_").name == f"{name}_"


def test_no_name_leaves_its_comment_or_its_string(part_from):
    text = """
name: "x */ int evil; /* y"
blocks: {a: {type: CONSTANT, value: 1.0}, b: {type: GAIN, K: 2.0}}
wires: [a -> b]
"""
    code = step_code(part_from(text))
    assert "evil" in code.header
    assert "int evil" not in re.sub(r"/\*.*?\*/", "", code.header, flags=re.DOTALL)
    assert verify(code, np.zeros((2, 0))).passed


# --- negative controls ---------------------------------------------------------------------


def test_a_wrong_digit_in_the_c_is_found():
    code = step_code(subdiagram_of(PD, ["ctrl"]))
    wrong = replace(code, source=code.source.replace("- v", "- 1.0000001 * v", 1))
    assert wrong.source != code.source
    inputs = np.tile([0.5, -0.3, 0.2, 0.1, 0, 0, 0.1, 0.2, 0.3], (5, 1))
    assert verify(code, inputs).passed
    found = verify(wrong, inputs)
    assert not found.passed
    assert found.worst > 1e-9


def test_code_that_does_not_compile_says_what_the_compiler_says():
    code = step_code(subdiagram_of(PD, ["ctrl"]))
    with pytest.raises(CompilerError, match=r"made no library: exit code 1\n.*error"):
        LoadedStep(replace(code, source=code.source + "\nint x = ;\n"))


def test_without_a_compiler_it_says_how_to_get_one(monkeypatch):
    monkeypatch.setenv("SPART_COMPILER", "none")
    code = step_code(subdiagram_of(PD, ["ctrl"]))
    with pytest.raises(InputError, match=r"no C compiler, which this needs\n.*pip install"):
        LoadedStep(code)


RESTING = """
blocks:
  still: {type: CONSTANT, value: 0.0}
  law: {type: GAIN, K: 3.0}
  x: {type: INTEGRATOR}
  root: {type: FCN, expression: "sqrt(1e-3 - u)", arguments: [u]}
  end: {type: "NULL", nin: 1}
wires: [still -> law, law -> x, still -> root.u, root -> end]
run: {T: 1, log: [x]}
"""


def test_inputs_that_rest_move_while_a_part_is_compared(part_from):
    code = step_code(part_from(RESTING, "law", "x"), rate=100)
    rest = np.zeros((50, 1))  # what the diagram gives
    inputs, told = moving_inputs(code, rest)
    assert told == {"still": "sines"}
    assert np.ptp(inputs) > 1
    assert verify(code, inputs).passed
    wrong = replace(code, source=code.source.replace("3.", "3.001"))
    assert wrong.source != code.source
    assert not verify(wrong, inputs).passed
    assert verify(wrong, rest).passed  # which is why they move


def test_inputs_rest_where_the_part_is_not_finite_elsewhere(part_from):
    code = step_code(part_from(RESTING, "root"), rate=100)
    rest = np.zeros((50, 1))  # what the diagram gives
    inputs, told = moving_inputs(code, rest)
    assert told == {"still": "held"}
    assert inputs is rest


PID = """
name: pids
clocks: {c: {T: 0.1}}
blocks:
  r: {type: STEP, T: 0.5}
  pid: {type: PID_S, clock: c, P: 2, I: 1, D: 1, I_limit: [-3, 4]}
  x: {type: INTEGRATOR}
wires: [r -> pid.1, x -> pid.0, pid -> x]
run: {T: 2, log: [pid]}
"""


def test_gains_and_the_output_of_a_pid_have_the_names_of_the_user_in_c_and_fmus(part_from):
    part = part_from(PID, "pid")
    code = step_code(part)
    members = [m.name for m in code.interface.parameters if not m.name.endswith(".x0")]
    assert members == ["pid.P", "pid.I", "pid.I_limit[0]", "pid.I_limit[1]", "pid.D"]
    assert [m.name for m in code.interface.outputs] == ["pid"]
    header = code.files[f"{code.name}.h"]
    for member in ("pid_P; /* pid.P */", "pid_I_limit_1; /* pid.I_limit[1] */", "pid; /* pid */"):
        assert f"double {member}" in header
    names = {variable.name for variable in variables_of(part)}
    assert {*members[:2], "pid", "pid.D"} <= names

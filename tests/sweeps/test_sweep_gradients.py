"""A sweep gives derivatives of its metrics: those of each run alone, beside unchanged values."""

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import spart_blocks as sb
from spart_blocks.base.errors import InputError, SpartWarning
from spart_blocks.program.c.compiler import compiler_name
from spart_blocks.sweeps.storage.store import Folder

LAG = """name: lag
params: {k: 2.0, a: 1.0}
blocks:
  goal:  {type: CONSTANT, value: $a}
  error: {type: SUM, signs: "+-"}
  gain:  {type: GAIN, K: $k}
  x:     {type: INTEGRATOR}
wires: [goal -> error.0, x -> error.1, error -> gain, gain -> x]
run: {T: 1.5, rtol: 1.0e-10, atol: 1.0e-12}
sweep:
  over: {k: [0.5, 1, 2]}
  metrics: {end: final(x), scaled: end * k}
  gradients: [k, a]
"""
T = 1.5

BALL = """name: ball
params: {g: 10, e: 0.5}
blocks:
  ball:
    type: HYBRID_SYSTEM
    states: [y, v]
    x0: [1, 0]
    f: [v, -g]
    jumps: [{when: y < 0, set: {v: -r*v}}]
    params: {g: $g, r: $e}
  s: {type: SCOPE}
wires: [ball.y -> s]
run: {T: 0.7, rtol: 1.0e-10, atol: 1.0e-12}
sweep:
  over: {e: [0.4, 0.5, 0.6]}
  metrics: {height: final(ball.y), landing: time_of(ball)}
  gradients: {height: [e, g], landing: g}
"""

# A parameter of one variant alone, a vector of which a fault sets one element, draws and noise.
SERVO = """name: servo
variants:
  controller:
    default: soft
    choices:
      soft: {type: FCN, arguments: [error, rate], params: {kp: $kp}, expression: kp*error - 6*rate}
      stiff: {type: FCN, arguments: [error, rate], expression: 80*error - 16*rate}
params: {inertia: 1.0, gain: [1.0, 1.0], kp: 20.0}
clocks: {sensor: {rate: 20}}
blocks:
  goal:  {type: CONSTANT, value: 1.0}
  noise: {type: NOISE, clock: sensor, std: 0.01}
  seen:  {type: SUM, signs: "++"}
  error: {type: SUM, signs: "+-"}
  accel: {type: FCN, params: {J: $inertia, gain: $gain}, expression: "gain[0]*gain[1]*u/J"}
  rate:  {type: INTEGRATOR}
  angle: {type: INTEGRATOR}
wires:
  - goal -> error.0
  - angle -> seen.0
  - noise -> seen.1
  - seen -> error.1
  - error -> controller.error
  - rate -> controller.rate, angle
  - controller -> accel
  - accel -> rate
run: {T: 1}
sweep:
  runs: 2
  over: {inertia: {uniform: {low: 0.8, high: 1.2}}}
  variants: {controller: [soft, stiff]}
  faults: {weak: {at: 0.5, set: {"gain[0]": 0.5}}}
  metrics: {end: final(angle), effort: integral(controller**2)}
  gradients: [kp, gain]
"""

# Its source cannot be moved across a tick, nor beyond the end of a run.
LATE = """name: late
params: {when: 0.5, k: 1.0}
blocks:
  goal: {type: STEP, T: $when}
  gain: {type: GAIN, K: $k}
  x:    {type: INTEGRATOR}
wires: [goal -> gain, gain -> x]
run: {T: 1}
sweep:
  over: {when: [0.25, 1.0]}
  metrics: {end: final(x), peak: most(x)}
  gradients: [when, k]
"""


BRANCHING = '''
from bdsim.components import FunctionBlock


class Branching(FunctionBlock):
    """Twice what is above zero."""

    nin = 1
    nout = 1

    def output(self, t, inputs, x):
        return [2 * inputs[0] if inputs[0] > 0 else inputs[0]]
'''


def swept(path, *args, **options):
    return sb.sweep(path, *args, workers=1, **options)


def test_derivatives_over_a_grid_are_those_of_the_closed_form(diagram_file):
    """x(T) = a (1 - exp(-k T)); a metric of the varied value itself has a term more."""
    found = swept(diagram_file(LAG))
    k, gradients = found["k"], found.gradients
    by_k, by_a = T * np.exp(-k * T), 1 - np.exp(-k * T)
    assert gradients["end"]["k"] == pytest.approx(by_k, abs=1e-9)
    assert gradients["end"]["a"] == pytest.approx(by_a, abs=1e-9)
    assert gradients["scaled"]["k"] == pytest.approx(k * by_k + found["end"], abs=1e-9)
    assert found["d(end)/d(k)"].tolist() == gradients["end"]["k"].tolist()
    assert found.underived.tolist() == []
    assert set(found["no_gradient"]) == {""}
    assert found.metrics == ("end", "scaled")


def test_values_of_a_sweep_are_the_same_bits_with_derivatives(diagram_file):
    path = diagram_file(SERVO)
    with_them, without = swept(path), swept(path, gradients=())
    for name in without.columns:
        assert with_them[name].tolist() == without[name].tolist(), name
    assert without.gradients == {}
    assert without.derivative_columns == ()


def test_derivatives_go_through_bounces(diagram_file):
    """Fallen from 1 m the ball lands after sqrt(2/g) and rises with e times its speed."""
    found = swept(diagram_file(BALL))
    e, t, g = found["e"], np.sqrt(0.2), 10.0
    s = 0.7 - t
    dt, v = -t / (2 * g), g * t
    by_g = e * t * s + e * g * dt * s - e * v * dt - s**2 / 2 + g * s * dt
    assert found.gradients["height"]["e"] == pytest.approx(v * s, abs=1e-8)
    assert found.gradients["height"]["g"] == pytest.approx(by_g, abs=1e-8)
    assert found.gradients["landing"]["g"] == pytest.approx(dt, abs=1e-9)
    assert list(found.gradients["landing"]) == ["g"]


@pytest.fixture(scope="module")
def servo(tmp_path_factory):
    path = tmp_path_factory.mktemp("servo") / "servo.yaml"
    path.write_text(SERVO, encoding="utf-8")
    return path, swept(path, gradients=["kp", "gain", "inertia"])


def test_derivatives_of_each_case_are_those_of_its_run_alone(servo):
    """Without a fault; the noise of a draw follows from the state of its generator."""
    _, found = servo
    planned, of = found.planned, {"end": "final(angle)"}
    runs = np.flatnonzero((found["fault"] == "none") & (found["variant"] == "soft"))
    assert len(runs) == 2
    for run in runs:
        [work], _ = planned.works(np.array([run]))
        program = replace(work.program, p=work.p[0])
        alone = sb.gradient(program, of=of, by=["kp", "gain", "inertia"])
        for name in ("kp", "gain", "inertia"):
            mine = found.gradients["end"][name][run]
            assert mine.shape == alone["end"][name].shape
            assert mine.tolist() == alone["end"][name].tolist(), name


def test_a_parameter_that_a_fault_sets_counts_up_to_the_fault(servo):
    """gain[0] is set at 0.5 s; gain[1] goes on. The closest check is a difference of two runs."""
    path, found = servo
    h, exact = 1e-4, {"gradients": (), "rtol": 1e-10, "atol": 1e-12}
    hurt = (found["fault"] == "weak") & (found["variant"] == "soft")
    for k in (0, 1):
        gains = np.eye(2)[k] * h
        ends = [
            swept(path, overrides=[f"gain={(1 + s * gains).tolist()}"], **exact)["end"]
            for s in (1, -1)
        ]
        slope = (ends[0] - ends[1]) / (2 * h)
        assert found.gradients["end"]["gain"][hurt, k] == pytest.approx(slope[hurt], rel=1e-3)
    by = found.gradients["end"]["gain"][hurt]
    assert (abs(by[:, 0] - by[:, 1]) > 1e-3).all()


def test_a_metric_of_a_varied_value_that_a_fault_sets_has_no_derivative(diagram_file):
    """Which of its two values the metric is of, and which one a derivative, would be a guess."""
    path = diagram_file(LAG.replace("sweep:\n", "sweep:\n  faults: {f: {at: 0.5, set: {k: 3}}}\n"))
    found = swept(path)
    hurt = found["fault"] == "f"
    assert set(found["no_gradient"][hurt]) == {"scaled: k varies, and a fault sets it"}
    assert set(found["no_gradient"][~hurt]) == {""}
    slope = 0.5 * np.exp(-0.5 * found["k"][hurt] - 3 * (T - 0.5))
    assert found.gradients["end"]["k"][hurt] == pytest.approx(slope, abs=1e-9)


def test_a_fault_from_the_start_has_the_derivative_at_its_value(diagram_file):
    path = diagram_file(LAG.replace("sweep:\n", "sweep:\n  faults: {f: {at: 0, set: {k: 3}}}\n"))
    found = swept(path, {"k": [1]})
    assert found.gradients["end"]["k"] == pytest.approx(T * np.exp([-T, -3 * T]), abs=1e-9)
    assert found["no_gradient"].tolist() == ["", "scaled: k varies, and a fault sets it"]


def test_a_metric_of_an_initial_state_under_another_name_has_no_derivative():
    """plant.initial.qm is part of plant.x0: a derivative by that would lack a term."""
    metrics = {"moved": "final(plant.qm[0]) - plant.initial.qm[0]", "end": "final(plant.qm[0])"}
    over = {"plant.initial.qm": [[0.1, 0, 0], [0.2, 0, 0]]}
    path = Path(__file__).parents[2] / "diagrams" / "spacecraft_pd.yaml"
    found = swept(path, over, metrics=metrics, gradients="plant.x0", T=0.2)
    told = "moved: it uses plant.initial.qm, which is no parameter of that name"
    assert set(found["no_gradient"]) == {told}
    assert np.isnan(found.gradients["moved"]["plant.x0"]).all()
    assert np.isfinite(found.gradients["end"]["plant.x0"]).all()


def test_metrics_of_varied_values_that_are_no_parameters_have_derivatives(diagram_file):
    found = swept(diagram_file(LAG), {"run.T": [1.0, 1.5]}, metrics={"pace": "end / run.T"},
                  gradients={"pace": ["k"]})  # fmt: skip
    assert found.gradients["pace"]["k"] == pytest.approx(np.exp(-2 * found["run.T"]), abs=1e-9)


def test_a_variant_without_a_parameter_is_told_and_has_the_other_derivatives(servo):
    _, found = servo
    stiff = found["variant"] == "stiff"
    assert np.isnan(found.gradients["end"]["kp"][stiff]).all()
    assert np.isfinite(found.gradients["end"]["gain"][stiff]).all()
    assert set(found["no_gradient"][stiff]) == {"there is no parameter 'kp'"}
    assert set(found["no_gradient"][~stiff]) == {""}
    assert found.underived.tolist() == found["run"][stiff].tolist()


def test_a_run_without_a_derivative_is_told_and_the_others_are_kept(diagram_file):
    found = swept(diagram_file(LATE))
    assert found.complete
    assert set(found["status"]) == {"complete"}
    by = found.gradients["end"]
    assert by["when"][0] == pytest.approx(-1)
    assert np.isnan(by["when"][1])
    assert by["k"] == pytest.approx([0.75, 0.0])
    told = found["no_gradient"]
    assert told[0] == ""
    assert told[1].startswith("by when: block goal: it switches")
    assert told[1].endswith("t = 1 s")


def test_a_diagram_in_memory_has_the_same_derivatives(diagram_file):
    path = diagram_file(LAG)
    options = {"metrics": {"end": "final(x)"}, "gradients": ["k", "a"]}
    of_file = swept(path, {"k": [1, 2]}, **options)
    of_object = swept(sb.load(path), {"k": [1, 2]}, **options)
    for name in ("k", "a"):
        mine, other = (one.gradients["end"][name] for one in (of_file, of_object))
        assert mine.tolist() == other.tolist()


def test_a_metric_without_a_derivative_leaves_those_of_the_others(diagram_file):
    path = diagram_file(LAG)
    metrics = {"settling": "settling_time(x, goal)", "end": "final(x)"}
    found = swept(path, {"k": [2.0]}, metrics=metrics, gradients={"settling": "a", "end": "a"})
    assert np.isnan(found.gradients["settling"]["a"]).all()
    assert np.isfinite(found.gradients["end"]["a"]).all()
    assert found["no_gradient"][0].startswith("settling: ")


def test_failed_runs_have_no_derivatives_and_say_so(diagram_file):
    text = """name: failing
params: {c: 3.0}
blocks:
  time: {type: TIME}
  slope: {type: FCN, params: {c: $c}, expression: 1/(c - u)}
  x: {type: INTEGRATOR}
wires: [time -> slope, slope -> x]
run: {T: 2}
sweep: {over: {c: [1, 3]}, metrics: {end: final(x)}, gradients: c}
"""
    found = swept(diagram_file(text))
    assert found["status"].tolist() == ["failed", "complete"]
    assert found["no_gradient"].tolist() == ["the run failed", ""]
    assert np.isnan(found.gradients["end"]["c"][0])
    assert found.gradients["end"]["c"][1] == pytest.approx(1 / 3 - 1, rel=1e-4)
    assert found.underived.tolist() == []


def test_vectors_have_a_column_for_each_element(servo):
    _, found = servo
    assert found.derivative_columns == (
        "d(end)/d(kp)", "d(end)/d(gain[0])", "d(end)/d(gain[1])", "d(end)/d(inertia)",
        "d(effort)/d(kp)", "d(effort)/d(gain[0])", "d(effort)/d(gain[1])", "d(effort)/d(inertia)",
    )  # fmt: skip
    assert found.gradients["end"]["gain"].shape == (8, 2)
    assert found.gradients["end"]["gain"][:, 1].tolist() == found["d(end)/d(gain[1])"].tolist()


def test_a_vector_metric_has_its_shape_before_that_of_the_parameter(diagram_file):
    text = LAG.replace("$a}", "[1.0, $a]}").replace("K: $k", "K: $k")
    path = diagram_file(text.replace("type: INTEGRATOR", "type: INTEGRATOR, x0: [0, 0]"))
    found = swept(path, metrics={"scaled": "end[0]"}, gradients={"end": ["k", "goal.value"]})
    assert found.gradients["end"]["goal.value"].shape == (3, 2, 2)
    own = 1 - np.exp(-found["k"] * T)
    assert found.gradients["end"]["goal.value"] == pytest.approx(
        own[:, None, None] * np.eye(2), abs=1e-9
    )
    assert "d(end[0])/d(goal.value[1])" in found.derivative_columns


# --- workers, folders, replays --------------------------------------------------------------------


def test_workers_give_the_same_derivatives_to_the_last_bit(diagram_file):
    path = diagram_file(LAG)
    alone = swept(path)
    with ThreadPoolExecutor(2) as executor:
        elsewhere = sb.sweep(path, executor=executor)
    for name in alone.derivative_columns:
        assert elsewhere[name].tolist() == alone[name].tolist(), name


@pytest.mark.skipif(compiler_name() is None, reason="no C compiler")
def test_a_worker_without_a_compiler_gives_the_same_bits(diagram_file, bare):
    path = diagram_file(LAG)
    alone, elsewhere = swept(path), sb.sweep(path, executor=bare)
    for name in alone.derivative_columns:
        assert elsewhere[name].tolist() == alone[name].tolist(), name


def test_processes_give_the_same_derivatives_to_the_last_bit(diagram_file):
    path = diagram_file(LAG)
    alone, elsewhere = swept(path), sb.sweep(path, workers=2)
    for name in alone.derivative_columns:
        assert elsewhere[name].tolist() == alone[name].tolist(), name


def test_a_resumed_sweep_has_all_derivatives(diagram_file, tmp_path, monkeypatch):
    path, folder = diagram_file(LAG), tmp_path / "out"
    monkeypatch.setattr("spart_blocks.sweeps.run.one_by_one.AT_ONCE", -1.0)  # run by run

    def stop(done, total):
        if done >= 1:
            raise KeyboardInterrupt

    begun = swept(path, out=folder, progress=stop)
    assert begun.stopped == "interrupted"
    assert len(begun) == 1
    assert begun.gradients["end"]["k"].shape == (1,)
    found, whole = swept(path, out=folder, resume=True), swept(path)
    for name in whole.derivative_columns:
        assert found[name].tolist() == whole[name].tolist(), name
    loaded = sb.SweepResults.load(folder)
    assert loaded.gradients["end"]["a"].tolist() == whole.gradients["end"]["a"].tolist()


def test_a_folder_with_other_derivatives_is_another_sweep(diagram_file, tmp_path):
    path, folder = diagram_file(LAG), tmp_path / "out"
    swept(path, out=folder, gradients=["k"])
    with pytest.raises(InputError, match="gradients"):
        swept(path, out=folder, resume=True)


def test_a_replay_compares_derivatives_too(diagram_file, tmp_path):
    path, folder = diagram_file(LAG), tmp_path / "out"
    found = swept(path, out=folder)
    found.replay(1)  # a difference would be a warning, and warnings are errors here
    store = Folder.opened(folder)
    read = store.read
    store.read = lambda name: read(name) + 1 if name == "d(end)/d(k)" else read(name)
    altered = sb.SweepResults(store)
    with pytest.warns(SpartWarning, match=r"d\(end\)/d\(k\): "):
        altered.replay(1)


def test_a_report_and_statistics_show_derivatives_and_what_lacks(diagram_file, tmp_path):
    found = swept(diagram_file(LATE))
    page = found.report(tmp_path / "page.html").read_text(encoding="utf-8")
    assert "Sensitivity" in page
    assert "d(end)/d(when)" in page
    assert "by when: block goal: it switches" in page
    names = {row[0] for row in found.statistics().metric_table().rows}
    assert {"end", "d(end)/d(k)"} <= names


# --- what is refused ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "where", "told"),
    [
        ("[k, kk]", "13:18", "there is no parameter 'kk'"),
        ("{ende: k}", "13:21", "there is no metric 'ende'"),
        ("{end: [a, nothing]}", "13:24", "there is no parameter 'nothing'"),
    ],
)
def test_names_that_are_not_there_are_told_with_their_place(diagram_file, written, where, told):
    path = diagram_file(LAG.replace("gradients: [k, a]", f"gradients: {written}"))
    with pytest.raises(InputError) as error:
        swept(path)
    assert f"{path}:{where}: gradients: {told}" in str(error.value)


@pytest.mark.parametrize("written", ["3", "[[k]]", "{end: 3}", "['']"])
def test_what_are_no_names_is_told_with_its_place(diagram_file, written):
    path = diagram_file(LAG.replace("gradients: [k, a]", f"gradients: {written}"))
    with pytest.raises(InputError, match=r"yaml:13:\d+: .*takes names of parameters"):
        swept(path)


def test_a_metric_in_python_has_no_derivative(diagram_file):
    path = diagram_file(LAG)
    metrics = {"cost": lambda run: run["final(x)"]}
    with pytest.raises(InputError, match="cost is a metric in Python, which has no exact"):
        swept(path, metrics=metrics)
    found = swept(path, metrics=metrics, gradients={"end": "k"})
    assert list(found.gradients) == ["end"]
    assert np.isfinite(found["cost"]).all()


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"solver": "CVODES"}, "a gradient repeats explicit steps, and solver CVODES has none"),
        ({"device": "cuda"}, "derivatives are computed on the processors"),
    ],
)
def test_what_gives_no_derivatives_is_refused_before_any_run(diagram_file, options, told):
    with pytest.raises(InputError, match=told):
        swept(diagram_file(LAG), **options)


def test_derivatives_need_metrics(diagram_file):
    path = diagram_file(LAG.replace("  metrics: {end: final(x), scaled: end * k}\n", ""))
    with pytest.raises(InputError, match=r"yaml:12:14: gradients are those of metrics, and there"):
        swept(path)


def test_a_diagram_that_cannot_be_traced_has_no_derivatives(diagram_file):
    own = diagram_file(BRANCHING, "own.py")
    text = LAG.replace("gain:  {type: GAIN, K: $k}", "gain: {type: BRANCHING}")
    path = diagram_file(text.replace(", scaled: end * k", ""))
    told = r"yaml:13:14: gradients: the diagram cannot be traced, so that its runs have no exact"
    with pytest.raises(InputError, match=told):
        swept(path, {"a": [1.0]}, blocks=own)


def test_solvers_that_vary_are_told_run_by_run(diagram_file):
    path = diagram_file(LAG)
    with pytest.warns(SpartWarning, match="one by one"):
        found = swept(path, {"run.solver": ["RK45", "CVODES"]})
    assert np.isfinite(found.gradients["end"]["k"]).tolist() == [True, False]
    assert found["no_gradient"][1].startswith("a gradient repeats explicit steps")


def test_facts_of_a_folder_are_plain(diagram_file, tmp_path):
    folder = tmp_path / "out"
    swept(diagram_file(LAG), out=folder)
    facts = json.loads((folder / "sweep.json").read_text(encoding="utf-8"))["facts"]
    assert facts["gradients"]["end"] == {name: {"width": 1, "shape": []} for name in ("k", "a")}

"""The block FMU: ports, runs, and runs that go on, with a first-order lag written in C.

The lag is x' = (k u - x) / tau, stepped exactly, so that with u held over each step of T
x(t + T) = k u + (x(t) - k u) exp(-T / tau): the numbers that the tests compare with.
"""

from __future__ import annotations

import gc
import os
from pathlib import Path

import fmu_files
import numpy as np
import pytest
from fmpy import fmi2
from fmpy.logging import addLoggerProxy

import spart_blocks as sb
from spart_blocks.base.errors import InputError, RunError, SpartWarning, pip_install
from spart_blocks.blocks.fmu import FMU
from spart_blocks.cli import main
from spart_blocks.diagram import new_diagram
from spart_blocks.fmu import input_record as past
from spart_blocks.program import TraceError

pytestmark = pytest.mark.filterwarnings("ignore:running on the interpreter")

T = 0.1  # s, the clock of the FMU
TAU = 0.3  # s
DECAY = np.exp(-T / TAU)
VERSIONS = pytest.mark.parametrize("version", [2, 3])

OPEN = """
clocks: {c: {T: 0.1}}
blocks:
  u: {type: STEP, T: 0.5, on: 2.0}
  lag:
    type: FMU
    file: lag.fmu
    clock: c
    input_ports: [u]
    start: {tau: 0.3, y: 1.0}
wires:
  - u -> lag.u
run: {T: 2, every: 0.05}
"""
CLOSED = """
clocks: {c: {T: 0.1}}
params: {gain: 2.0}
blocks:
  r: {type: CONSTANT, value: 1.0}
  error: {type: SUM, signs: "+-"}
  gain: {type: GAIN, K: $gain}
  lag: {type: FMU, file: lag.fmu, clock: c, start: {tau: 0.3}, input_ports: [u]}
wires:
  - r -> error.0
  - lag.y -> error.1
  - error -> gain
  - gain -> lag.u
run: {T: 2, every: 0.1}
"""
STOPPING = """
name: stopping
blocks:
  u: {type: RAMP, T: 0.0, slope: 1.0}
  x: {type: INTEGRATOR, x0: -1.0}
  stop: {type: STOP}
  scope: {type: SCOPE}
wires: [u -> x, x -> stop, x -> scope]
run: {T: 5}
"""


@pytest.fixture
def place(tmp_path):
    """place(text, version) -> the diagram's file, beside the lag; both are in one folder."""

    def put(text, version=2, **more):
        fmu_files.write_fmu(tmp_path / "lag.fmu", version, **more)
        file = tmp_path / "diagram.yaml"
        file.write_text(text, encoding="utf-8")
        return file

    return put


@pytest.fixture
def load(place):
    """load(text, version) -> the diagram, for which its FMU is allowed."""

    def loaded(text, version=2, **more):
        file = place(text, version, **more)
        return sb.load(file, blocks=[file.with_name("lag.fmu")])

    return loaded


def closed_loop(ticks, gain=2.0):
    """y at tick 0, 1, ...: u is the gain times the error at the tick, held over the step."""
    y = [0.0]
    for _ in range(ticks):
        u = gain * (1.0 - y[-1])
        y.append(u + (y[-1] - u) * DECAY)
    return np.array(y)


# --- runs ----------------------------------------------------------------------------------


@VERSIONS
def test_outputs_are_those_of_the_fmu_at_each_tick_and_held_until_the_next(load, version, close):
    results = sb.simulate(load(OPEN, version))
    k = np.arange(21)
    exact = np.where(k <= 5, DECAY**k, 2 + (DECAY**5 - 2) * DECAY ** (k - 5.0))
    close(results["lag.y"][::2], exact, rel=1e-12)
    assert (results["lag.y"][1::2] == results["lag.y"][:-1:2]).all()


@VERSIONS
def test_a_loop_through_an_fmu_has_no_delay_but_the_hold(load, version, close):
    close(sb.simulate(load(CLOSED, version))["lag.y"], closed_loop(20), rel=1e-12)


@VERSIONS
def test_every_kind_of_number_goes_in_and_out(load, version):
    text = OPEN.replace("    input_ports: [u]\n", "").replace(
        "wires:", "wires:\n  - mode -> lag.mode\n  - none -> lag.on"
    )
    text = text.replace(
        "blocks:",
        "blocks:\n  mode: {type: CONSTANT, value: 3}\n  none: {type: CONSTANT, value: 0}",
    )
    diagram = load(text, version)
    results = sb.simulate(diagram)
    assert results["lag.n"].tolist() == [0, 0] + 39 * [6]
    assert results["lag.off"].tolist() == [0, 0] + 39 * [1]
    assert results["lag.motor_q"].shape == (41, 2)
    assert (results["lag.motor_q"] == results["lag.y"][:, None] * [1, 2]).all()
    block = diagram.bd["lag"]
    assert [(p.name, p.shape, p.unit) for p in block.in_ports] == [
        ("u", (), "V"),
        ("mode", (), ""),
        ("on", (), ""),
    ]
    assert [p.name for p in block.out_ports] == ["y", "motor_q", "n", "off"]


@VERSIONS
def test_ports_are_picked_named_and_joined(load, version):
    array = "motor.q" if version == 3 else "motor.q[2]"
    picked = f"""    input_ports: {{all: [u, k]}}
    output_ports: {{out: y, both: [steps, '{array}'], length: length}}
    start: {{tau: 0.3, y: 1.0, label: abc}}
"""
    text = OPEN.replace("    input_ports: [u]\n    start: {tau: 0.3, y: 1.0}\n", picked)
    text = text.replace("- u -> lag.u", "- u -> lag.all").replace(
        "on: 2.0", "off: [0, 1], on: [2, 3]"
    )
    results = sb.simulate(load(text, version))
    assert results["lag.both"].shape == (41, 3 if version == 3 else 2)
    assert (results["lag.both"][:, -1] == 2 * results["lag.out"]).all()
    assert results["lag.both"][::2, 0].tolist() == list(range(21))
    assert (results["lag.length"] == 3).all()
    assert results["lag.out"][-1] == pytest.approx(6 + (DECAY**5 - 6) * DECAY**15)


@pytest.mark.parametrize(
    ("names", "ports"),
    [
        (["motor.w", "der(x)"], ["motor_w", "der_x"]),
        (["a[1]", "b", "a[2]"], ["a", "b"]),
        (["a[1,1]", "a[1,2]", "a[2,1]", "a[2,2]"], ["a"]),
        (["a[0]", "a[1]"], ["a"]),
        (["a[2]", "a[3]"], ["a_2", "a_3"]),
        (["a[1]", "a[3]"], ["a_1", "a_3"]),
        (["a[1].v", "a[2].v"], ["a_1_v", "a_2_v"]),
        (["T", "name", "größe", "ﬁ"], ["T", "name", "größe", "fi"]),
    ],
)
def test_variables_names_become_ports(tmp_path, names, ports):
    file = fmu_files.write_fmu(tmp_path / "lag.fmu", 3, fmu_files.of_outputs(names), b"")
    bd = new_diagram("ports")
    block = bd.FMU(file, clock=bd.clock(T))
    assert [port.name for port in block.out_ports] == ports


@pytest.mark.parametrize(
    ("names", "text"),
    [
        (["a.b", "a_b"], "output_ports: two ports would be called 'a_b'"),
        ([f"y{k}" for k in range(1001)], "Lag has 1001 outputs, a block up to 1000 ports"),
    ],
)
def test_ports_that_cannot_be_are_refused(tmp_path, names, text):
    file = fmu_files.write_fmu(tmp_path / "lag.fmu", 3, fmu_files.of_outputs(names), b"")
    with pytest.raises(ValueError, match=text):
        FMU(file, clock=new_diagram("ports").clock(T))


def test_inputs_with_names_of_the_block_s_own_get_another(tmp_path):
    xml = fmu_files.XML2.replace('name="u"', 'name="T"').replace('name="mode"', 'name="name"')
    bd = new_diagram("ports")
    block = bd.FMU(fmu_files.write_fmu(tmp_path / "lag.fmu", xml=xml), clock=bd.clock(T))
    assert [port.name for port in block.in_ports] == ["T_", "name_", "on"]


def test_two_blocks_of_one_file_are_two_instances(load, close):
    text = OPEN.replace("wires:", "wires:\n  - u -> other.u").replace(
        "blocks:", "blocks:\n  other: {type: FMU, file: lag.fmu, clock: c, input_ports: [u]}"
    )
    results = sb.simulate(load(text), T=1)
    close(results["lag.y"][:11:2], DECAY ** np.arange(6.0), rel=1e-12)
    close(results["other.y"][-1], 2 * (1 - np.exp(-0.5 / 0.5)), rel=1e-12)


@pytest.mark.parametrize("offset", [0.0, 0.05])
@pytest.mark.parametrize("first_tick", ["standard", "bdsim"])
def test_the_fmu_starts_at_its_first_tick(load, offset, first_tick, close):
    text = OPEN.replace("{T: 0.1}", f"{{T: 0.1, offset: {offset}}}")
    results = sb.simulate(load(text), first_tick=first_tick, T=0.4)
    first = offset + T * (first_tick == "bdsim")
    ticks = np.clip(np.floor((results.t - first) / T + 1e-9), 0, None)
    close(results["lag.y"], DECAY**ticks, rel=1e-12)


def test_in_python_the_block_is_made_from_its_file(tmp_path, close):
    file = fmu_files.write_fmu(tmp_path / "lag.fmu")
    bd = new_diagram("loop")
    one = bd.CONSTANT(1.0)
    lag = bd.FMU(file, clock=bd.clock(T), input_ports=["u"], start={"tau": TAU}, name="lag")
    bd.connect(one, lag)
    results = sb.simulate(bd, T=1.0, every=T, log="lag.y")
    close(results["lag.y"], 1 - DECAY ** np.arange(11.0), rel=1e-12)


# --- runs that begin or go on elsewhere -----------------------------------------------------


def test_a_diagram_runs_again_from_its_start(load):
    diagram = load(CLOSED)
    first, again = sb.simulate(diagram), sb.simulate(diagram)
    assert (first["lag.y"] == again["lag.y"]).all()
    assert (sb.simulate(diagram, T=0.7)["lag.y"] == first["lag.y"][:8]).all()


@VERSIONS
@pytest.mark.parametrize("middle", [0.7, 0.75])
def test_a_run_split_in_two_equals_one(load, version, middle):
    diagram = load(CLOSED, version)
    whole = sb.simulate(diagram)
    half = sb.simulate(diagram, T=middle)
    rest = sb.simulate(diagram, initial=half)
    assert rest["lag.y"][-1] == whole["lag.y"][-1]
    assert (rest["lag.y"][1:] == whole["lag.y"][-len(rest.t) + 1 :]).all()


def test_a_state_can_be_gone_on_from_as_often_as_one_likes_and_after_other_runs(load):
    diagram = load(CLOSED)
    whole = sb.simulate(diagram)
    half = sb.simulate(diagram, T=0.7)
    quarter = sb.simulate(diagram, T=0.3)
    middle = sb.simulate(diagram, T=0.9, initial=half)
    for start in (half, quarter, middle, half, middle):
        rest = sb.simulate(diagram, initial=start)
        assert rest["lag.y"][-1] == whole["lag.y"][-1]


def test_a_state_goes_on_in_another_loading_of_the_file_and_through_its_results_file(load, place):
    whole = sb.simulate(load(CLOSED))
    sb.simulate(load(CLOSED), T=0.7).save(place(CLOSED).with_name("half.npz"))
    gc.collect()  # the first block may be gone: what it was given is kept
    file = place(CLOSED)
    rest = sb.simulate(file, initial=file.with_name("half.npz"), blocks=[file.with_name("lag.fmu")])
    assert rest["lag.y"][-1] == whole["lag.y"][-1]


def test_inputs_of_a_run_that_went_another_way_do_not_matter(load):
    diagram = load(CLOSED)
    half = sb.simulate(diagram, T=0.7)
    other = load(CLOSED.replace("value: 1.0", "value: 5.0"))
    sb.simulate(other, initial=half)
    assert sb.simulate(diagram, initial=half)["lag.y"][-1] == sb.simulate(diagram)["lag.y"][-1]


def test_a_state_of_another_process_is_refused(load, monkeypatch):
    diagram = load(CLOSED)
    half = sb.simulate(diagram, T=0.7)
    monkeypatch.setattr(past, "_BRANCHES", type(past._BRANCHES)())
    with pytest.raises(RunError, match=r"block lag: the state is not one that the FMU has had"):
        sb.simulate(load(CLOSED), initial=half)


def test_a_state_of_other_start_values_is_refused(load):
    half = sb.simulate(load(CLOSED), T=0.7)
    other = load(CLOSED.replace("tau: 0.3", "tau: 0.4"))
    with pytest.raises(RunError, match="that of another FMU, or of other start values"):
        sb.simulate(other, initial=half)


def test_the_oldest_pasts_are_forgotten(load, monkeypatch):
    monkeypatch.setattr(past, "MOST_KEPT", 30)
    diagram = load(CLOSED)
    first, *_, last = [sb.simulate(diagram, T=0.7) for _ in range(6)]
    assert sb.simulate(diagram, initial=last).complete
    with pytest.raises(RunError, match="not one that the FMU has had here"):
        sb.simulate(diagram, initial=first)


def test_an_fmu_alone_in_its_process_gives_way_to_the_block_that_steps(load, close):
    once = 'CoSimulation canBeInstantiatedOnlyOncePerProcess="true"'
    text = OPEN.replace("wires:", "wires:\n  - u -> other.u").replace(
        "blocks:", "blocks:\n  other: {type: FMU, file: lag.fmu, clock: c, input_ports: [u]}"
    )
    diagram = load(text, xml=fmu_files.XML2.replace("CoSimulation", once))
    results = sb.simulate(diagram, T=1)
    close(results["lag.y"][:11:2], DECAY ** np.arange(6.0), rel=1e-12)
    close(results["other.y"][-1], 2 * (1 - np.exp(-0.5 / 0.5)), rel=1e-12)
    alive = [diagram.bd[name]._fmu._instance for name in ("lag", "other")]
    assert sum(instance is not None for instance in alive) == 1


def test_files_are_unpacked_for_a_run_and_removed_with_the_block(load, monkeypatch, tmp_path):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    diagram = load(CLOSED)
    assert not list(tmp_path.glob("spart-fmu-*"))
    sb.simulate(diagram)
    (folder,) = tmp_path.glob("spart-fmu-*")
    assert sorted(path.name for path in folder.rglob("*") if path.is_file()) == [
        Path(fmu_files.LIBRARY[2]).name
    ]
    del diagram
    gc.collect()
    assert not folder.exists()


# --- what fails while it runs ---------------------------------------------------------------


@VERSIONS
def test_a_step_that_fails_tells_what_the_fmu_logged_and_keeps_what_was_computed(load, version):
    text = OPEN.replace("y: 1.0", "y: 1.0, fail_at: 0.5")
    with pytest.raises(RunError) as caught:
        sb.simulate(load(text, version))
    said = "no step at 0.5 s" if version == 2 else "no step now"
    assert str(caught.value).startswith(
        "block lag: the FMU lag.fmu failed in its step from t = 0.5 s to 0.6 s: "
        f"fmi{version}DoStep failed with status 2 (discard) at t = 0.5 s\n  {said}"
    )
    assert caught.value.results.t[-1] < 0.5
    assert caught.value.results["lag.y"][0] == 1


def test_what_the_fmu_logs_is_told_after_fmpy_has_simulated_one_itself(load):
    sb.simulate(load(OPEN, 2), T=0.2)
    own = fmi2.fmi2CallbackFunctions()  # as fmpy.simulate_fmu adds its own
    own.logger = fmi2.fmi2CallbackLoggerTYPE(fmi2.printLogMessage)
    addLoggerProxy(fmi2.byref(own))
    with pytest.raises(RunError, match=r"no step at 0\.5 s"):
        sb.simulate(load(OPEN.replace("y: 1.0", "y: 1.0, fail_at: 0.5"), 2))


def test_an_fmu_may_be_run_again_after_it_failed(load):
    diagram = load(OPEN.replace("y: 1.0", "y: 1.0, fail_at: 0.5"))
    with pytest.raises(RunError):
        sb.simulate(diagram)
    assert sb.simulate(diagram, T=0.4)["lag.y"][-1] == pytest.approx(DECAY**4, rel=1e-12)


@VERSIONS
@pytest.mark.parametrize("end", [0.7, 0.75])
def test_an_fmu_that_asks_for_the_end_ends_the_run_well(load, version, end):
    diagram = load(OPEN.replace("y: 1.0", f"y: 1.0, end_at: {end}"), version)
    results = sb.simulate(diagram)
    assert results.complete
    assert results.stopped == f"stopped by block lag at t = {end} s"
    assert results.t[-1] == pytest.approx(end, abs=1e-9)
    (event,) = results.events
    assert (event.block, event.what) == ("lag", "stopped the run")
    wanted = 2 + (DECAY**5 - 2) * np.exp(-(end - 0.5) / TAU)
    assert results["lag.y"][-1] == pytest.approx(wanted, rel=1e-12)
    assert (results["lag.y"] == sb.simulate(diagram)["lag.y"]).all()  # and once more
    after = sb.simulate(diagram, initial=results)
    assert (after.complete, len(after.events), after.t[-1]) == (True, 1, results.t[-1])


def test_an_end_that_lies_behind_the_run_is_none_of_it(load):
    results = sb.simulate(load(OPEN.replace("y: 1.0", "y: 1.0, end_at: 0.75")), T=0.72)
    assert (results.complete, results.stopped, results.events) == (True, None, ())


def test_a_run_with_an_end_goes_on_from_its_middle(load):
    diagram = load(OPEN.replace("y: 1.0", "y: 1.0, end_at: 0.75"))
    half = sb.simulate(diagram, T=0.72)
    rest, whole = sb.simulate(diagram, initial=half), sb.simulate(diagram)
    assert rest.stopped == whole.stopped
    assert rest["lag.y"][-1] == whole["lag.y"][-1]


@pytest.mark.parametrize("version", ["2", "3"])
def test_an_fmu_of_ours_with_a_stop_ends_the_run_at_its_crossing(tmp_path, version):
    (tmp_path / "stopping.yaml").write_text(STOPPING, encoding="utf-8")
    fmu = tmp_path / "stopping.fmu"
    exported = ["export", "fmu", str(tmp_path / "stopping.yaml"), "-o", str(fmu)]
    assert main([*exported, "--version", version]) == 0
    bd = new_diagram("loop")
    block = bd.FMU(fmu, clock=bd.clock(T), name="there")
    bd.connect(block, bd.SCOPE(name="scope"))
    results = sb.simulate(bd, T=5.0, every=0.05)
    assert results.complete
    assert results.stopped == "stopped by block there at t = 1.41421 s"
    assert results.t[-1] == pytest.approx(np.sqrt(2), abs=1e-9)
    assert results["there"][-1] == pytest.approx(0, abs=1e-9)


@VERSIONS
def test_a_start_that_the_fmu_refuses_fails_the_run(load, version):
    with pytest.raises(RunError, match=r"block lag: the FMU lag.fmu cannot be started: fmi\dEnter"):
        sb.simulate(load(OPEN.replace("tau: 0.3", "tau: -1"), version))


@VERSIONS
def test_an_fmu_that_does_not_become_an_instance_says_why(load, version):
    xml = fmu_files.XML[version].replace(fmu_files.TOKEN, "another")
    diagram = load(OPEN, version, xml=xml)
    said = "the guid is another" if version == 2 else "the token is wrong"
    with pytest.raises(RunError, match=f"cannot be started: Failed to inst.*\n *{said}"):
        sb.simulate(diagram)


def test_an_output_that_is_not_finite_is_named(load):
    text = OPEN.replace("on: 2.0", "on: 1.0e+308").replace("[u]", "[u, k]")
    text = text.replace("- u -> lag.u", "- u -> lag.u, lag.k")
    with pytest.raises(RunError, match="block lag: the FMU's output y is not finite") as caught:
        sb.simulate(load(text))
    assert caught.value.time == 0.5


def test_a_number_beyond_an_integer_s_range_is_refused(load):
    text = OPEN.replace("[u]", "[mode]").replace("- u -> lag.u", "- u -> lag.mode")
    text = text.replace("on: 2.0", "on: 300")
    with pytest.raises(RunError, match=r"mode is 300, it takes 0 to 255 at t = 0\.5 s"):
        sb.simulate(load(text, 3))


@pytest.mark.parametrize("code", [b"not a library", fmu_files.library(3)])
def test_a_library_that_is_none_fails_the_run_and_leaves_the_folder_as_it_was(load, code):
    here = os.getcwd()
    with pytest.raises(RunError, match=r"block lag: the FMU lag.fmu cannot be started: .*librar"):
        sb.simulate(load(OPEN, code=code))
    assert os.getcwd() == here


def test_a_file_that_changed_since_it_was_read_is_not_run(load):
    diagram = load(OPEN)
    fmu_files.write_fmu(diagram.source.with_name("lag.fmu"), more={"resources/new": "1"})
    with pytest.raises(InputError, match=r"lag\.fmu has changed since it was read"):
        sb.simulate(diagram)


# --- what a diagram may say -----------------------------------------------------------------


def test_a_diagram_s_fmu_runs_only_where_the_user_names_it(place, capsys):
    file = place(OPEN)
    assert main(["run", str(file), "--headless"]) == 2
    said = capsys.readouterr().err
    assert f"{file}:7:11: lag.fmu holds machine code, which is run only where you allow it" in said
    assert f"--blocks {file.with_name('lag.fmu')}" in said
    assert main(["run", str(file), "--headless", "--blocks", str(file.with_name("lag.fmu"))]) == 0


def test_another_file_than_the_one_named_stays_refused(place, tmp_path):
    file = place(OPEN)
    (tmp_path / "other").mkdir()
    other = fmu_files.write_fmu(tmp_path / "other/lag.fmu")
    with pytest.raises(InputError, match="only where you allow it"):
        sb.load(file, blocks=[other])


def test_an_fmu_outside_of_the_project_is_refused(load):
    with pytest.raises(InputError, match=r"\.\./lag.fmu leaves the project"):
        load(OPEN.replace("file: lag.fmu", "file: ../lag.fmu"))


def test_a_named_fmu_that_is_not_there_is_refused(place):
    with pytest.raises(InputError, match=r"nowhere\.fmu: there is no such file"):
        sb.load(place(OPEN), blocks=["nowhere.fmu"])


def test_variants_of_a_diagram_with_an_fmu_are_compared(place, capsys, monkeypatch):
    file = place(CLOSED)
    (file.parent / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(file.parent / "tmp"))
    fmu = str(file.with_name("lag.fmu"))
    cases = ["--case", "soft:gain=1", "--case", "hard:gain=2"]
    assert main(["compare", str(file), *cases, "--blocks", fmu, "--headless"]) == 0
    said = capsys.readouterr().err
    assert "running soft, hard" in said
    assert "lag (FMU)" in said
    assert not list(file.parent.glob("tmp/spart-fmu-*"))


def test_the_native_engine_says_why_it_cannot(load):
    with pytest.raises(TraceError, match=r"lag \(FMU\).* machine code of another tool"):
        sb.simulate(load(OPEN), engine="native")


def test_the_run_says_why_it_is_on_the_interpreter(load):
    with pytest.warns(SpartWarning, match=r"running on the interpreter: .*lag \(FMU\)"):
        sb.simulate(load(OPEN))


def test_start_values_can_be_set_from_outside(place, close):
    file = place(OPEN)
    diagram = sb.load(file, overrides=["lag.start.y=3"], blocks=[file.with_name("lag.fmu")])
    close(sb.simulate(diagram, T=0.4)["lag.y"][-1], 3 * DECAY**4, rel=1e-12)


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        ("tau: 0.3", "tua: 0.3", "start: Lag takes no 'tua'"),
        ("tau: 0.3", "n: 1", "it is a discrete output of type Integer"),
        ("tau: 0.3", "tau: [1, 2]", "start: tau takes one number"),
        ("tau: 0.3", "tau: red", "start: tau takes a number, not 'red'"),
        ("tau: 0.3", "label: 3", "start: label takes a text, not 3"),
        ("start: {tau: 0.3, y: 1.0}", "start: [1, 2]", "start takes values by variable"),
        ("[u]", "[v]", "input_ports: no input 'v' of Lag"),
        ("[u]", "[tau]", "input_ports: no input 'tau' of Lag; it is a fixed parameter"),
        ("[u]", "[u, u]", "two ports would be called 'u'"),
        ("[u]", "{a-b: u}", "a port cannot be called 'a-b'"),
        ("[u]", "{T: u}", "a port cannot be called 'T'"),
        ("[u]", "{a: []}", "input_ports: a takes a variable or a list of them"),
        ("[u]", "{a: 3}", "input_ports: a takes a variable or a list of them"),
        ("[u]", "[3]", "input_ports takes names of variables"),
        ("[u]", "[u]\n    output_ports: [label]", "it is a fixed parameter of type String"),
        ("file: lag.fmu", "file: [1]", "takes a file's path"),
        ("file: lag.fmu", "file: none.fmu", "none.fmu does not exist"),
        ("    clock: c\n", "", "needs clock"),
    ],
)
def test_mistakes_in_a_diagram_are_told(load, old, new, text):
    assert old in OPEN
    with pytest.raises(InputError) as caught:
        load(OPEN.replace(old, new))
    assert text in str(caught.value)
    assert ".yaml:" in str(caught.value)


def test_without_fmpy_the_error_names_the_extra(load, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "fmpy", None)
    with pytest.raises(InputError, match=r"lag \(FMU\): an FMU block needs the package fmpy") as e:
        load(OPEN)
    assert pip_install("fmu") in str(e.value)

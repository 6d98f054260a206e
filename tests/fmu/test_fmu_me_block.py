"""The block FMU_ME: FMUs of our diagrams come back as what they were, and an FMU written by
hand in C for what ours do not do. Its state is x' = k u + mode."""

from __future__ import annotations

import exchange_fmus
import fmu_files
import numpy as np
import pytest

import spart_blocks as sb
from spart_blocks.base.errors import InputError, RunError, SpartWarning
from spart_blocks.diagram import new_diagram
from spart_blocks.diagram.build import own_blocks
from spart_blocks.export import export_fmu
from spart_blocks.fmu import continuous as _fmu_continuous
from spart_blocks.fmu import hidden_states as _fmu_modes
from spart_blocks.program import TraceError
from spart_blocks.program.subdiagram import subdiagram_of

pytestmark = pytest.mark.filterwarnings("ignore:running on the interpreter")

VERSIONS = pytest.mark.parametrize("version", [2, 3])
SHARP = {"rtol": 1e-9, "atol": 1e-11}

# A spring of 4 N/m and a damper of 0.3 N s/m at 1 kg, pushed by a square wave of f.
MASS = """
blocks:
  f: {type: WAVEFORM, wave: square, freq: 1.0}
  a: {type: SUM, signs: "+--"}
  v: {type: INTEGRATOR}
  x: {type: INTEGRATOR, x0: 1.0}
  spring: {type: GAIN, K: 4.0}
  damper: {type: GAIN, K: 0.3}
wires: [f -> a.0, spring -> a.1, damper -> a.2, a -> v, v -> x, v -> damper, x -> spring]
run: {T: 3, log: [x]}
"""
PUSHED = """
blocks:
  f: {type: WAVEFORM, wave: square, freq: 1.0}
  there: {type: FMU_ME, file: FILE}
  scope: {type: SCOPE}
wires: [f -> there.f, there.x -> scope]
run: {T: 3}
"""
# x' = 1 + s, where s is a step at 0.75 and h holds x from the last multiple of 0.5 on.
STEPPED = """
clocks: {c: {T: 0.5}}
blocks:
  s: {type: STEP, T: 0.75, off: 1.0, on: 2.0}
  x: {type: INTEGRATOR, x0: 0.5}
  h: {type: ZOH, clock: c}
wires: [s -> x, x -> h]
run: {T: 2, log: [x, h]}
"""
# x = t^2 / 2 - 1 crosses zero at sqrt 2.
STOPPING = """
blocks:
  u: {type: RAMP, T: 0.0, slope: 1.0}
  x: {type: INTEGRATOR, x0: -1.0}
  stop: {type: STOP}
wires: [u -> x, x -> stop]
run: {T: 5, log: [x]}
"""
ALONE = """
blocks:
  there: {type: FMU_ME, file: FILE}
  scope: {type: SCOPE}
wires: [there.OUT -> scope]
run: {T: 2}
"""
HAND = """
blocks:
  u: {type: CONSTANT, value: 1.0}
  m:
    type: FMU_ME
    file: all.fmu
    start: {k: 1.0}
    input_ports: [u]
    output_ports: [x, seen, ticks, resets, asks, steps]
  scope: {type: SCOPE}
wires:
  - u -> m.u
  - m.x -> scope
run: {T: 2, log: [m.x, m.seen, m.ticks, m.resets, m.asks, m.steps]}
"""


def diagram_of(text, tmp_path):
    file = tmp_path / "own.yaml"
    file.write_text(text, encoding="utf-8")
    return sb.load(file)


@pytest.fixture
def imported(tmp_path):
    """imported(diagram, text, version, blocks) -> text with the diagram, or these blocks of it,
    as an FMU."""

    def made(diagram, text, version, *blocks):
        part = subdiagram_of(diagram, list(blocks)) if blocks else subdiagram_of(diagram)
        fmu = export_fmu(part, tmp_path, version)
        file = tmp_path / "imported.yaml"
        file.write_text(text.replace("FILE", fmu.name), encoding="utf-8")
        return sb.load(file, blocks=[fmu])

    return made


@pytest.fixture
def hand(tmp_path):
    """hand(version, changes) -> HAND with some texts in place of others."""

    def made(version=3, changes=None, told="true"):
        fmu = exchange_fmus.write_fmu(tmp_path / "all.fmu", version, told)
        text = HAND
        for old, new in (changes or {}).items():
            assert old in text
            text = text.replace(old, new)
        file = tmp_path / "hand.yaml"
        file.write_text(text, encoding="utf-8")
        return sb.load(file, blocks=[fmu])

    return made


def ball():
    """A ball dropped from 1 m under 10 m/s^2, which keeps half its speed."""

    def bounced(event, states):
        (speed,) = (x for block, x in states.items() if block.name == "v")
        speed[:] = -0.5 * speed

    d = sb.new_diagram("ball")
    g, v = d.CONSTANT(-10.0, name="g"), d.INTEGRATOR(x0=0.0, name="v")
    y, ground = d.INTEGRATOR(x0=1.0, name="y"), d.EVENT("-", bounced, name="ground")
    d.connect(g, v)
    d.connect(v, y)
    d.connect(y, ground)
    return d


# --- our own, imported again ---------------------------------------------------------------


@VERSIONS
@pytest.mark.parametrize("solver", ["RK45", "Radau", "BDF", "LSODA"])
def test_a_mass_that_is_pushed_moves_as_in_its_own_diagram(
    imported, tmp_path, version, solver, close
):
    own = diagram_of(MASS, tmp_path)
    diagram = imported(own, PUSHED, version, "a", "v", "x", "spring", "damper")
    results = sb.simulate(diagram, solver=solver, **SHARP)
    want = sb.simulate(own, rtol=1e-11, atol=1e-13)
    close(results["there.x"][-1], want["x"][-1], rel=1e-6 if solver == "BDF" else 1e-7)


@VERSIONS
@pytest.mark.parametrize("solver", ["RK45", "Radau", "RK4"])
def test_known_times_inside_an_fmu_are_stops_of_the_run(imported, tmp_path, version, solver, close):
    diagram = imported(diagram_of(STEPPED, tmp_path), ALONE.replace("OUT", "x"), version)
    results = sb.simulate(diagram, solver=solver, log=["there.x", "there.h"])
    # It names them some units in the last place early.
    close([event.t for event in results.events], [0.5, 0.75, 1.0, 1.5, 2.0], rel=1e-14)
    # Linear between the stops, so that a solver which meets them has no error at all.
    close(results.at([0.5, 0.75, 1.25, 2.0])["there.x"], [1.0, 1.25, 2.25, 3.75], rel=1e-12)
    close(results.at([0.4, 0.6, 1.1, 1.9])["there.h"], [0.5, 1.0, 1.75, 2.75], rel=1e-12)


@VERSIONS
@pytest.mark.parametrize("solver", ["RK45", "BDF"])
def test_a_ball_bounces_at_its_times(imported, version, solver, monkeypatch):
    starts = []
    begun = _fmu_continuous.Continuous._begun
    counted = lambda self, t: starts.append(t) or begun(self, t)  # noqa: E731
    monkeypatch.setattr(_fmu_continuous.Continuous, "_begun", counted)
    diagram = imported(ball(), ALONE.replace("OUT", "y"), version)
    results = sb.simulate(diagram, T=1.25, solver=solver, **SHARP)
    fall = 0.2**0.5
    times = np.array([event.t for event in results.events])
    for bounce in (fall, 2 * fall, 2.5 * fall, 2.75 * fall):
        assert np.abs(times - bounce).min() < 3e-8
    since = 1.25 - 2.75 * fall
    speed = np.sqrt(20) / 16
    assert results["there.y"][-1] == pytest.approx(speed * since - 5 * since**2, abs=1e-7)
    assert len(starts) == 1  # no run back to a mode before


def test_a_run_with_bounces_ends_with_what_the_fmu_says_where_they_accumulate(imported):
    diagram = imported(ball(), ALONE.replace("OUT", "y"), 3)
    with pytest.raises(RunError, match=r"block there: the FMU ball.fmu failed at its event") as e:
        sb.simulate(diagram, T=2.0)
    assert "accumulate (Zeno)" in str(e.value)


@VERSIONS
def test_a_stop_inside_an_fmu_ends_the_run(imported, tmp_path, version):
    diagram = imported(diagram_of(STOPPING, tmp_path), ALONE.replace("OUT", "x"), version)
    results = sb.simulate(diagram, T=5.0)
    assert results.complete
    assert results.stopped == "stopped by block there at t = 1.41421 s"
    assert results["there.x"][-1] == pytest.approx(0, abs=1e-9)
    after = sb.simulate(diagram, T=5.0, initial=results)
    assert (after.complete, after.t[-1]) == (True, results.t[-1])


# --- events of an FMU written by hand ---------------------------------------------------------


@VERSIONS
def test_a_state_is_reset_where_an_indicator_crosses(hand, version, close):
    results = sb.simulate(hand(version, {"k: 1.0": "level: 0.4"}))
    times = [event.t for event in results.events]
    close(times, [0.4, 0.8, 1.2, 1.6], rel=1e-9)  # and at 2.0 it is not yet beyond
    close(results["m.x"][-1], 0.4, rel=1e-9)
    assert results["m.resets"][-1] == 4


@VERSIONS
@pytest.mark.parametrize("told", ["true", "false"])
def test_time_events_that_appear_on_the_way_are_met_exactly(hand, version, told):
    results = sb.simulate(hand(version, {"k: 1.0": "every: 0.3"}, told))
    assert [event.t for event in results.events] == [k * 0.3 for k in range(1, 7)]
    assert results["m.ticks"][-1] == 6
    assert (results["m.steps"][-1] > 0) == (told == "true")


@VERSIONS
def test_an_event_that_is_asked_for_after_a_step_comes_there(hand, version):
    results = sb.simulate(hand(version, {"k: 1.0": "ask_at: 0.7"}))
    (event,) = results.events
    assert 0.7 <= event.t < 0.75
    assert results["m.asks"][-1] == 1


@VERSIONS
def test_an_fmu_that_asks_for_the_end_ends_the_run_well(hand, version):
    results = sb.simulate(hand(version, {"k: 1.0": "end_at: 0.7, every: 0.1"}))
    assert results.complete
    assert results.stopped == "stopped by block m at t = 0.7 s"
    assert results["m.x"][-1] == pytest.approx(0.7, rel=1e-12)


@VERSIONS
def test_an_fmu_may_ask_for_the_end_after_a_step(hand, version):
    results = sb.simulate(hand(version, {"k: 1.0": "end_at: 0.7"}))
    assert results.complete
    assert results.stopped == f"stopped by block m at t = {results.t[-1]:.6g} s"
    assert 0.7 <= results.t[-1] < 0.75


@VERSIONS
def test_inputs_that_jump_are_an_event_and_those_that_do_not_are_none(hand, version, close):
    step = {"{type: CONSTANT, value: 1.0}": "{type: STEP, T: 0.5, off: 1, on: 3}"}
    results = sb.simulate(hand(version, step))
    close(results.at([0.4, 0.6])["m.seen"], [1, 3], rel=1e-12)
    close(results["m.x"][-1], 0.5 + 1.5 * 3, rel=1e-9)
    ramp = {"{type: CONSTANT, value: 1.0}": "{type: RAMP, T: 0.5, slope: 3.0}"}
    assert sb.simulate(hand(version, ramp))["m.seen"][-1] == 0


def test_an_input_that_another_block_s_mode_makes_jump_is_an_event(hand, close):
    relay = "{type: RELAY, on: 0.5, off: -1, on_value: 3, off_value: 1}\n  time: {type: TIME}"
    changes = {"{type: CONSTANT, value: 1.0}": relay, "- u ->": "- time -> u\n  - u ->"}
    results = sb.simulate(hand(3, changes))
    assert [event.block for event in results.events] == ["u"]
    close(results.at([0.4, 0.6])["m.seen"], [1, 3], rel=1e-12)
    close(results["m.x"][-1], 0.5 + 1.5 * 3, rel=1e-9)


@pytest.mark.parametrize("port", ["mode", "k"])
@VERSIONS
def test_inputs_that_are_told_at_events_alone_come_there(hand, version, port, close):
    changes = {
        "{type: CONSTANT, value: 1.0}": "{type: STEP, T: 0.5, off: 1, on: 3}",
        "[u]": f"[{port}]",
        "m.u": f"m.{port}",
        "k: 1.0": "u: 1.0, k: 0.0",
    }
    results = sb.simulate(hand(version, changes))
    close(results["m.x"][-1], 0.5 + 1.5 * 3, rel=1e-9)


def test_a_whole_number_changes_where_its_signal_does(hand, close):
    changes = {
        "{type: CONSTANT, value: 1.0}": "{type: RAMP, T: 0.0, slope: 1.0}",
        "[u]": "[mode]",
        "m.u": "m.mode",
    }
    results = sb.simulate(hand(3, changes))
    close([event.t for event in results.events], [0.5, 1.5], rel=1e-9)
    close(results["m.x"][-1], 1 * 1.0 + 2 * 0.5, rel=1e-9)


def test_an_output_that_depends_on_inputs_passes_them_on(hand):
    assert not hand().bd["m"]._feedthrough
    changes = {
        "[x, seen": "[x, direct, seen",
        "m.x ->": "m.direct ->",
        "log: [": "log: [m.direct, ",
    }
    diagram = hand(3, {**changes, "k: 1.0": "k: 2.0"})
    assert diagram.bd["m"]._feedthrough
    assert sb.simulate(diagram)["m.direct"][-1] == 2.0


# --- what fails -------------------------------------------------------------------------------


@VERSIONS
@pytest.mark.parametrize("solver", ["RK45", "BDF", "LSODA"])
def test_a_discarded_trial_makes_the_step_shorter_up_to_where_none_is(hand, version, solver):
    with pytest.raises(RunError, match=r"block m: the FMU all.fmu does not give its deriv") as e:
        sb.simulate(hand(version, {"k: 1.0": "most: 0.7"}), solver=solver)
    assert "(discard)" in str(e.value)
    assert e.value.results.t[-1] == pytest.approx(0.7, abs=1e-4)


@VERSIONS
@pytest.mark.parametrize(("status", "word"), [(3, "error"), (4, "fatal")])
def test_an_error_of_the_fmu_ends_the_run(hand, version, status, word):
    diagram = hand(version, {"k: 1.0": f"fail_at: 0.7, status: {status}"})
    with pytest.raises(RunError, match=rf"failed with status {status} \({word}\)") as caught:
        sb.simulate(diagram)
    assert caught.value.block == "m"
    assert "hand.yaml:" in str(caught.value)
    assert 0.65 < caught.value.results.t[-1] <= 0.7
    assert sb.simulate(diagram, T=0.5)["m.x"][-1] == pytest.approx(0.5)  # and once more


# --- runs that begin or go on elsewhere --------------------------------------------------------


@VERSIONS
@pytest.mark.parametrize("told", ["true", "false"])
def test_runs_repeat_split_and_go_on(hand, version, told):
    diagram = hand(version, {"k: 1.0": "level: 0.4, every: 0.3"}, told)
    whole = sb.simulate(diagram)
    assert (sb.simulate(diagram)["m.x"] == whole["m.x"]).all()
    half = sb.simulate(diagram, T=1.1)
    quarter = sb.simulate(diagram, T=0.7)
    for start in (half, quarter, half):
        rest = sb.simulate(diagram, initial=start)
        for name in ("m.x", "m.ticks", "m.resets"):
            assert rest[name][-1] == pytest.approx(whole[name][-1], rel=1e-9)


def test_signals_that_were_not_kept_are_those_of_their_time(hand):
    diagram = hand(3, {"k: 1.0": "level: 0.4, every: 0.3"})
    kept = sb.simulate(diagram, every=0.1)
    late = sb.simulate(diagram, every=0.1, log=["u"])
    sb.simulate(diagram, T=0.5)  # the FMU has been elsewhere meanwhile
    for name in ("m.ticks", "m.resets", "m.x"):
        assert (kept[name] == late[name]).all()


def test_two_blocks_of_one_file_are_two_fmus_also_where_a_process_has_one(tmp_path, monkeypatch):
    given = exchange_fmus.description
    once = 'ModelExchange canBeInstantiatedOnlyOncePerProcess="true"'
    text = HAND.replace(
        "  scope:", "  n: {type: FMU_ME, file: all.fmu, start: {k: 2, level: 0.6}, "
        "input_ports: [u]}\n  scope:"
    ).replace("- u -> m.u", "- u -> m.u, n.u").replace("m.steps]}", "m.steps, n.x]}")  # fmt: skip
    (tmp_path / "two.yaml").write_text(text, encoding="utf-8")
    coarse = {"solver": "RK4", "max_step": 0.1, "every": 0.1}  # each turn begins anew
    for alone in (False, True):
        if alone:
            monkeypatch.setattr(
                exchange_fmus,
                "description",
                lambda *a: given(*a).replace("ModelExchange", once, 1),
            )
        fmu = exchange_fmus.write_fmu(tmp_path / "all.fmu")
        results = sb.simulate(sb.load(tmp_path / "two.yaml", blocks=[fmu]), T=0.4, **coarse)
        assert results["m.x"][-1] == pytest.approx(0.4)
        assert results["n.x"][-1] == pytest.approx(0.2)


def test_a_state_of_another_process_or_of_other_values_is_refused(hand, monkeypatch):
    half = sb.simulate(hand(), T=1.0)
    with pytest.raises(RunError, match="that of another FMU, or of other start values"):
        sb.simulate(hand(3, {"k: 1.0": "k: 2.0"}), initial=half)
    monkeypatch.setattr(_fmu_modes, "_KEPT", _fmu_modes._Kept())
    with pytest.raises(RunError, match=r"block m: the state is not one that the FMU has had"):
        sb.simulate(hand(), initial=half)


def test_the_oldest_modes_are_forgotten(hand, monkeypatch):
    monkeypatch.setattr(_fmu_modes, "MOST_KEPT", 60)
    diagram = hand(3, {"k: 1.0": "every: 0.3"})
    first, *_, last = [sb.simulate(diagram, T=1.0) for _ in range(6)]
    assert sb.simulate(diagram, initial=last).complete
    with pytest.raises(RunError, match="not one that the FMU has had here"):
        sb.simulate(diagram, initial=first)


# --- what a diagram may say ------------------------------------------------------------------


def test_each_block_says_which_is_for_the_other_interface(tmp_path):
    stepped = fmu_files.write_fmu(tmp_path / "lag.fmu")
    solved = exchange_fmus.write_fmu(tmp_path / "all.fmu")
    bd = new_diagram("wrong")
    with pytest.raises(InputError, match=r"is not for model exchange\n.*block FMU, with a clock"):
        bd.FMU_ME(stepped)
    with pytest.raises(InputError, match=r"is not for co-simulation\n.*FMU_ME, which needs no"):
        bd.FMU(solved, clock=bd.clock(0.1))


def test_it_runs_only_where_the_user_names_it(hand):
    file = hand().source
    own_blocks._ALLOWED.clear()
    with pytest.raises(InputError, match="which is run only where you allow it"):
        sb.load(file)


def test_what_needs_a_program_says_why_there_is_none(hand):
    with pytest.raises(TraceError, match=r"m \(FMU_ME\).* machine code of another tool"):
        sb.simulate(hand(), engine="native")
    with pytest.raises(TraceError, match=r"m \(FMU_ME\).* machine code of another tool"):
        sb.linearize(hand(), inputs=["u"], outputs=["m.x"])
    with pytest.raises(InputError, match="CVODES cannot run with blocks that are not traced"):
        sb.simulate(hand(), solver="CVODES")
    with pytest.warns(SpartWarning, match=r"running on the interpreter: .*m \(FMU_ME\)"):
        sb.simulate(hand())

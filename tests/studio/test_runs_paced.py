"""A run in the studio, without its process: pace, pauses and changes of parameters, on a clock that
the tests turn."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from spart_blocks.run import DiagramFile, begin, finish
from spart_blocks.studio.runs.answers import ANSWERS
from spart_blocks.studio.runs.pace import LATE, Pace, Strides
from spart_blocks.studio.runs.runner import COMPILING, INITIALIZING, LOADING, TRACING, Runner

DIAGRAMS = Path(__file__).parents[2] / "diagrams"
LAG = """
blocks:
  step: {type: STEP, T: 0.5}
  gain: {type: GAIN, K: 2}
  lag: {type: LTI_SISO, N: [1], D: [1, 1]}
  scope: {type: SCOPE}
wires: [step -> gain, gain -> lag, lag -> scope]
run: {T: 3, max_step: 0.01}
"""


class Wall:
    """A clock that goes on only while somebody waits, and a little with each look."""

    def __init__(self, script=()):
        self.t = 0.0
        self.waited = []
        self.script = list(script)  # (at a time of the run [s], command)
        self.runner = None

    def now(self):
        self.t += 1e-4
        return self.t

    def next(self, seconds):
        """The commands that are due; when all is done, the process would wait for ever."""
        reached = self.runner.t if self.runner else 0.0
        if self.script and (reached >= self.script[0][0] or self.runner.state == "paused"):
            return self.script.pop(0)[1]
        if seconds is None:
            raise EOFError
        self.waited.append(seconds)
        self.t += max(seconds, 0.0)
        return None


class Heard:
    has_room = True

    def __init__(self):
        self.frames = []

    def send(self, header, body=b""):
        self.frames.append((json.loads(json.dumps(header)), body))

    def tables(self):
        found = [(h, np.frombuffer(b)) for h, b in self.frames if h.get("tell") == "rows"]
        return [numbers.reshape(h["rows"], h["width"] + 1) for h, numbers in found]

    def last(self, what):
        return [h for h, _ in self.frames if h.get("tell") == what][-1]


def job(path, **more):
    root = DIAGRAMS.parent if path.is_relative_to(DIAGRAMS) else path.parent
    file = {"path": str(path), "root": str(root), "variants": [], "blocks": []}
    return {"file": file, **more}


def ran(path, script=(), **more):
    """A run that has ended: its runner, its clock, what it told."""
    wall, heard = Wall(script), Heard()
    runner = wall.runner = Runner(job(path, **more), wall, heard, wall.now, ANSWERS)
    with pytest.raises(EOFError):
        runner.go()
    return runner, wall, heard


@pytest.fixture
def lag(tmp_path):
    path = tmp_path / "lag.yaml"
    path.write_text(LAG)
    return path


def same(a, b):
    assert np.array_equal(a.t, b.t)
    for one, other in ((a.signals, b.signals), (a.states, b.states)):
        assert one.keys() == other.keys()
        assert all(np.array_equal(values, other[name]) for name, values in one.items())


@pytest.mark.parametrize("name", ["spacecraft_sampled.yaml", "signals/thrusters.yaml"])
@pytest.mark.parametrize("speed", [None, 2.0])
def test_a_run_in_the_studio_is_the_run_of_the_command_line(name, speed):
    pauses = [(1.0, {"id": 1, "do": "pause"}), (1.0, {"id": 2, "do": "resume"})] if speed else []
    runner, wall, heard = ran(DIAGRAMS / name, pauses, speed=speed, T=3.0)
    assert heard.last("status")["state"] == "ended"
    (part,) = runner.parts
    plain = finish(begin(DiagramFile(DIAGRAMS / name), T=3.0))
    same(part.results, plain)
    told = np.vstack(heard.tables())[:, 0]
    assert np.isin(plain.t, told).all() if speed else np.isin(told, plain.t).all()
    rest = np.setdiff1d(told, plain.t)  # the instant at which it was paused
    assert len(rest) <= len(pauses[:1])
    assert all(1.0 <= t < 1.1 for t in rest)
    assert wall.t > (1.4 if speed else 0.0)


def test_a_paced_run_keeps_to_the_clock(lag):
    _, wall, heard = ran(lag, speed=2.0)
    assert wall.t == pytest.approx(1.5, abs=0.05)
    assert max(wall.waited) < 0.05
    assert 20 < len(heard.tables()) < 120
    states = [h["t"] for h, _ in heard.frames if h.get("tell") == "status"]
    assert states == sorted(states)


def test_a_stiff_run_keeps_to_the_clock_too(tmp_path):
    """A call of CVODES would lead to the next stop, which is the end."""
    path = tmp_path / "stiff.yaml"
    path.write_text(LAG.replace("run: {", "run: {solver: CVODES, "))
    _, wall, heard = ran(path, [(1.0, {"id": 1, "do": "speed", "speed": 1.0})], speed=2.0)
    assert max(wall.waited) < 0.15
    times = np.vstack(heard.tables())[:, 0]
    assert times[-1] == 3.0
    assert len(heard.tables()) > 15
    fast, _, _ = ran(path, speed=None)
    slow, _, _ = ran(path, speed=2.0)
    ends = [one.parts[-1].results.final_state.continuous for one in (fast, slow)]
    for name, state in ends[0].items():
        np.testing.assert_allclose(ends[1][name], state, rtol=1e-4, atol=1e-6)


def test_a_run_without_pace_waits_for_nothing(lag):
    _, wall, _ = ran(lag, speed=None)
    assert not any(wall.waited)


def test_the_speed_changes_while_it_runs(lag):
    _, wall, heard = ran(lag, [(1.0, {"id": 1, "do": "speed", "speed": 4.0})], speed=1.0)
    assert wall.t == pytest.approx(1.0 + 2.0 / 4, abs=0.1)
    assert heard.last("status")["speed"] == 4.0


def test_a_tuned_gain_holds_from_then_on(lag):
    runner, _, heard = ran(lag, [(1.0, {"id": 1, "do": "tune", "name": "gain.K", "text": "4"})])
    assert len(runner.parts) == 2
    from spart_blocks.studio.runs.record import joined

    whole = joined(runner.parts, runner.setting.texts)
    cut = runner.parts[1].begins
    assert 1.0 <= cut < 1.3
    exact = np.where(whole.t < 0.5, 0.0, 2 * (1 - np.exp(0.5 - whole.t)))
    at_cut = 2 * (1 - np.exp(0.5 - cut))
    after = 4 + (at_cut - 4) * np.exp(cut - whole.t)
    expected = np.where(whole.t <= cut, exact, after)
    assert whole["lag"] == pytest.approx(expected, abs=2e-3)
    before, later = whole["gain"][whole.t == cut][[0, -1]]
    assert (before, later) == (2.0, 4.0)
    assert whole.complete
    assert whole.info["tuned"] == "gain.K=4"
    assert heard.last("status")["tuned"] == {"gain.K": "4"}
    assert {h.get("id") for h, _ in heard.frames} >= {1}


def test_tuning_to_the_value_that_it_has_changes_nothing_but_steps(lag):
    runner, _, _ = ran(lag, [(1.0, {"id": 1, "do": "tune", "name": "gain.K", "text": "2"})])
    plain = finish(begin(DiagramFile(lag)))
    end = runner.parts[-1].results
    assert end["lag"][-1] == pytest.approx(plain["lag"][-1], rel=1e-6)


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("gain.Q", "4", "gain"),
        ("gain.K", "[1", "gain.K"),
        ("gain.K", "[1, 2]", "takes a number"),
        ("gain.K", ".nan", "finite"),
        ("nothing", "1", "nothing"),
    ],
)
def test_a_wrong_value_is_refused_and_the_run_goes_on(lag, name, text, why):
    runner, _, heard = ran(lag, [(1.0, {"id": 7, "do": "tune", "name": name, "text": text})])
    (answer,) = [h for h, _ in heard.frames if h.get("id") == 7]
    assert why in json.dumps(answer["error"])
    assert len(runner.parts) == 1
    assert runner.parts[0].results.complete


def test_what_the_program_has_not_as_a_parameter_is_traced_anew(tmp_path):
    path = tmp_path / "sum.yaml"
    path.write_text(LAG.replace("{type: GAIN, K: 2}", "{type: SUM, signs: '+'}"))
    tune = {"id": 1, "do": "tune", "name": "gain.signs", "text": "'-'"}
    runner, _, _ = ran(path, [(1.0, tune)])
    assert len(runner.parts) == 2
    assert runner.parts[0].results["gain"][-1] == 1.0
    assert runner.parts[1].results["gain"][0] == -1.0


def test_what_a_run_does_before_and_instead_of_steps_is_told(tmp_path):
    path = tmp_path / "sum.yaml"
    path.write_text(LAG.replace("{type: GAIN, K: 2}", "{type: SUM, signs: '+'}"))
    tune = {"id": 1, "do": "tune", "name": "gain.signs", "text": "'-'"}
    _, _, heard = ran(path, [(1.0, tune)])
    told = [(h["state"], h["doing"]) for h, _ in heard.frames if h.get("tell") == "status"]
    changes = [one for one, before in pairwise([*told, None]) if one != before]
    assert changes == [
        ("preparing", LOADING),
        ("preparing", TRACING),
        ("preparing", None),
        ("preparing", COMPILING),
        ("preparing", None),
        ("preparing", INITIALIZING),
        ("running", None),
        ("running", TRACING),
        ("running", None),
        ("running", COMPILING),
        ("running", None),
        ("ended", None),
    ]


def test_what_the_file_gives_to_blocks_is_listed_once_before_what_blocks_have(tmp_path):
    path = tmp_path / "shared.yaml"
    gains = "gain: {type: GAIN, K: $k}\n  more: {type: GAIN, K: $k}\n  last: {type: GAIN, K: $own}"
    text = LAG.replace("gain: {type: GAIN, K: 2}", gains)
    text = text.replace("gain -> lag", "gain -> more, more -> last, last -> lag")
    path.write_text("params: {k: 2, own: 1}\n" + text)
    ask, tune = {"id": 1, "do": "tunables"}, {"id": 2, "do": "tune", "name": "last.K", "text": "3"}
    runner, _, heard = ran(path, [(1.0, ask), (1.0, tune)])
    (found,) = [h["ok"] for h, _ in heard.frames if h.get("id") == 1]
    assert [(one["name"], one["used"]) for one in found if one["used"]] == [
        ("k", ["gain.K", "more.K"]),
        ("own", ["last.K"]),
    ]
    assert [one["name"] for one in found][:2] == ["k", "own"]
    assert not {"gain.K", "more.K", "last.K"} & {one["name"] for one in found}
    assert heard.last("status")["tuned"] == {"own": "3"}
    assert runner.parts[1].results["last"][-1] == pytest.approx(3 * 4)


@pytest.mark.parametrize("t", [0.7, 1.9])
def test_values_of_a_run_that_goes_on(lag, t):
    ask = {"id": 5, "do": "values", "at": "", "t": t, "names": ["gain", "lag", "none"]}
    runner, _, heard = ran(lag, [(2.0, ask)], speed=1.0)
    (found,) = [h["ok"] for h, _ in heard.frames if h.get("id") == 5]
    assert set(found) == {"gain", "lag"}
    assert found["gain"]["text"] == "2"
    assert float(found["lag"]["text"]) == pytest.approx(2 * (1 - np.exp(0.5 - t)), abs=5e-3)
    assert len(runner.parts) == 1


def test_rows_near_the_time_reached_are_looked_at_alone(lag, monkeypatch):
    monkeypatch.setattr("spart_blocks.studio.runs.runner.LAST_ROWS", 3)
    counts = []
    original = Runner.parts_at

    def looked(self, t):
        parts = original(self, t)
        counts.append([len(part.results.t) for part in parts])
        return parts

    monkeypatch.setattr(Runner, "parts_at", looked)
    asks = [(2.0, {"id": k, "do": "values", "at": "", "t": t}) for k, t in ((1, 0.6), (2, 1.999))]
    ran(lag, asks, speed=1.0)
    assert counts[0][0] > 10
    assert counts[1] == [3 + 1]  # and the state that is reached


def test_a_stopped_run_keeps_its_record(lag):
    runner, _, heard = ran(lag, [(1.0, {"id": 1, "do": "stop"})], speed=1.0)
    results = runner.parts[-1].results
    assert not results.complete
    assert 1.0 <= results.t[-1] < 1.1
    assert heard.last("status")["stopped"] == f"stopped at {results.t[-1]:.4g} s"


def test_a_run_continues_from_a_time_of_another(lag):
    from spart_blocks.studio.runs.record import plain_state, state_at

    first, _, _ = ran(lag)
    start = plain_state(state_at(first.parts, 1.5))
    start = json.loads(json.dumps(start))
    again, _, heard = ran(lag, start=start)
    assert heard.last("described")["start"] == 1.5
    whole, rest = first.parts[0].results, again.parts[0].results
    assert rest.t[0] == 1.5
    assert rest["lag"][0] == pytest.approx(whole.at([1.5])["lag"][0], abs=1e-3)
    assert rest["lag"][-1] == pytest.approx(whole["lag"][-1], rel=1e-9)
    other, _, _ = ran(lag, start=start, states={"lag": [7.0]}, tuned={"gain.K": "0"})
    assert other.parts[0].results["lag"][0] == 7.0
    assert other.parts[0].results["lag"][-1] == pytest.approx(7 * np.exp(-1.5), rel=1e-3)
    early = state_at(other.parts, 2.0)  # of a part with another start
    assert early.continuous["lag"][0] == pytest.approx(7 * np.exp(-0.5), rel=1e-3)


def test_a_value_tuned_while_a_run_is_paused_is_told_and_kept_at_once(lag):
    commands = [
        (1.0, {"id": 1, "do": "pause"}),
        (1.0, {"id": 2, "do": "tune", "name": "gain.K", "text": "4"}),
        (1.0, {"id": 3, "do": "tuned"}),
        (1.0, {"id": 4, "do": "resume"}),
    ]
    _, _, heard = ran(lag, commands)
    told = [header for header, _ in heard.frames]
    paused = [one for one in told if one.get("tell") == "status" and one["state"] == "paused"]
    assert paused[-1]["tuned"] == {"gain.K": "4"}
    assert next(one["ok"] for one in told if one.get("id") == 3) == {"gain.K": 4}


def test_a_late_run_does_not_hurry():
    pace = Pace(1.0)
    pace.starts(0.0, 10.0)
    assert pace.left(1.0, 10.2) == pytest.approx(0.8)
    assert pace.left(1.0, 11.0 + LATE + 0.1) == 0.0
    assert pace.left(1.5, 11.0 + LATE + 0.1) == pytest.approx(0.5)


def test_looks_are_a_sixtieth_of_a_second_apart():
    strides, steps, wall = Strides(), 0, 0.0
    for _ in range(40):  # 1 ms a step
        strides.rested(steps, steps * 0.5, wall)
        taken = strides.steps
        steps, wall = steps + taken, wall + 1e-3 * taken
        strides.next(steps, steps * 0.5, wall, None)
    assert 15 <= strides.steps <= 18
    for _ in range(5):  # paced: a step shows 0.5 s
        strides.rested(steps, steps * 0.5, wall)
        taken = strides.steps
        steps, wall = steps + taken, wall + 1e-3 * taken
        strides.next(steps, steps * 0.5, wall, 100.0)
    assert 3 <= strides.steps <= 4

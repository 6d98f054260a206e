"""Steps and breakpoints of runs, on a clock that the tests turn."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from test_runs_paced import ran, same

from spart_blocks.run import DiagramFile, begin, finish
from spart_blocks.studio.runs import runner as runners

FALL = """
clocks: {c: {T: 0.25}}
blocks:
  gravity: {type: CONSTANT, value: -9.81}
  v: {type: INTEGRATOR, x0: 0}
  h: {type: INTEGRATOR, x0: 1}
  hold: {type: ZOH, clock: c}
  scope: {type: SCOPE}
wires: [gravity -> v, v -> h, h -> hold, h -> scope]
run: {T: 2}
"""
MACHINE = """
blocks:
  wave: {type: WAVEFORM, wave: sine, freq: 0.5}
  modes:
    type: STATE_MACHINE
    states:
      "off": {}
      "on": {states: {fast: {}, slow: {}}, initial: fast}
    initial: "off"
    transitions:
      - {from: "off", to: "on", when: u > 0.5}
      - {from: fast, to: slow, when: u < 0.2}
      - {from: "on", to: "off", when: u < -0.5}
  scope: {type: SCOPE}
wires: [wave -> modes, modes -> scope]
run: {T: 4}
"""
FELL = np.sqrt(1 / 9.81)
"""When h is 0.5."""


def paused(heard):
    """Where the run was paused, in turn."""
    found = []
    for header, _ in heard.frames:
        if header.get("tell") == "status" and header["paused"] not in (None, *found[-1:]):
            found.append(header["paused"])
    return found


def at(heard):
    return [(one["why"], pytest.approx(one["t"], abs=1e-9)) for one in paused(heard)]


def answer(heard, n):
    return next(header["ok"] for header, _ in heard.frames if header.get("id") == n)


def do(n, what, **more):
    """A command for a run that is paused."""
    return (np.inf, {"id": n, "do": what, **more})


@pytest.fixture
def fall(tmp_path):
    path = tmp_path / "fall.yaml"
    path.write_text(FALL)
    return path


@pytest.fixture
def machine(tmp_path):
    path = tmp_path / "machine.yaml"
    path.write_text(MACHINE)
    return path


@pytest.mark.parametrize("speed", [None, 1.0])
def test_a_run_begins_paused_at_its_first_instant_and_steps_to_ticks_and_by_time(fall, speed):
    script = [do(1, "values", t=0.0, at="", names=["h", "hold"]), do(2, "step", to="tick"),
              do(3, "step", to="time", interval=0.3), do(4, "step", to="tick", t=0.55),
              do(5, "step", to="time", interval=0.01), do(6, "resume")]  # fmt: skip
    runner, wall, heard = ran(fall, script, speed=speed, paused=True)
    assert at(heard) == [("start", 0.0), ("tick", 0.25), ("time", 0.55), ("tick", 0.75),
                         ("time", 0.76)]  # fmt: skip
    assert [one["text"] for one in answer(heard, 1).values()] == ["1", "1"]
    same(runner.parts[0].results, finish(begin(DiagramFile(fall))))
    assert speed is None or wall.t > 1.0


@pytest.mark.parametrize(
    "options", ["", ", solver: RK4, max_step: 0.01", ", solver: CVODES", ", solver: LSODA"]
)
@pytest.mark.parametrize("compiler", ["", "none", "interpreter"])
def test_a_condition_is_located_within_a_step_on_every_engine(fall, monkeypatch, options, compiler):
    engine = "interpreter" if compiler == "interpreter" else "auto"
    if engine == "interpreter":
        if "CVODES" in options:
            pytest.skip("CVODES needs a program")
        monkeypatch.setattr(runners, "begin", partial(begin, engine="interpreter"))
    else:
        monkeypatch.setenv("SPART_COMPILER", compiler)
    fall.write_text(FALL.replace("T: 2}", f"T: 2{options}}}"))
    script = [do(n, "resume") for n in range(9)]
    conditions = ["h < 0.5", "h", "hold < 0.5", "norm(v) > 1e3"]
    runner, _, heard = ran(fall, script, speed=None, breakpoints=conditions)
    told = [(one["condition"], one["t"], one["text"]) for one in paused(heard)]
    assert [one[0] for one in told] == ["h < 0.5", "h", "hold < 0.5"]
    is_cvodes = runner.parts[0].results.info["solver"] == "CVODES"
    near = 1e-4 if is_cvodes else 1e-6  # its own error
    assert [one[1] for one in told] == pytest.approx([FELL, np.sqrt(2 / 9.81), 0.5], abs=near)
    assert told[0][2] == "h = 0.5"
    hits = heard.last("status")["breakpoints"]
    assert [one["hits"] for one in hits.values()] == [1, 1, 1, 0]
    if not is_cvodes:
        same(runner.parts[0].results, finish(begin(DiagramFile(fall), engine=engine)))


def test_a_run_steps_to_events_and_tells_what_changed(machine):
    script = [do(1, "step", to="event"), do(2, "changed", t=1 / 6), do(3, "step", to="event"),
              do(4, "moment", t=0.9, to="event", back=True), do(5, "changed", t=0.5),
              do(6, "resume")]  # fmt: skip
    runner, _, heard = ran(machine, script, speed=None, paused=True)
    fast, slow = 1 / 6, 1 - np.arcsin(0.2) / np.pi
    assert at(heard) == [("start", 0.0), ("event", fast), ("event", slow)]
    assert [one["text"] for one in paused(heard)] == ["", "modes off -> fast", "modes fast -> slow"]
    found = answer(heard, 2)
    assert found["events"] == [{"block": "modes", "what": "off -> fast"}]
    (mode,) = [one for one in found["changes"] if one["kind"] == "mode"]
    assert (mode["block"], mode["before"], mode["after"]) == ("modes", "off", "fast")
    assert answer(heard, 4) == pytest.approx(fast)
    assert answer(heard, 5)["events"] == answer(heard, 5)["changes"] == []
    same(runner.parts[0].results, finish(begin(DiagramFile(machine))))


def test_breakpoints_on_states_and_events_of_a_machine(machine):
    conditions = [
        "modes == 'on'",
        "modes == 'slow'",
        "event(modes)",
        "modes == 'of'",
        "event(wave)",
    ]
    script = [do(n, "resume") for n in range(9)]
    _, _, heard = ran(machine, script, speed=None, breakpoints=conditions)
    told = paused(heard)
    first, second = told[:2]
    assert first["condition"] == "event(modes); modes == 'on'"
    assert first["text"] == "modes off -> fast; modes = 2"
    assert second["condition"] == "event(modes); modes == 'slow'"
    about = heard.last("status")["breakpoints"]
    assert [one["hits"] for one in about.values()] == [2, 2, 6, 0, 0]
    assert "did you mean 'off' or 'on'" in about["modes == 'of'"]["problem"]
    assert "it has modes" in about["event(wave)"]["problem"]


def test_a_breakpoint_within_the_last_step_pauses_the_run(tmp_path):
    path = tmp_path / "fall.yaml"
    text = FALL.replace("  hold: {type: ZOH, clock: c}\n", "").replace("h -> hold, ", "")
    path.write_text(text.replace("clocks: {c: {T: 0.25}}\n", "").replace("T: 2", "T: 0.32"))
    _, _, heard = ran(path, [do(1, "resume")], speed=None, breakpoints=["h < 0.5"])
    assert at(heard) == [("breakpoint", FELL)]


def test_a_paused_run_is_tuned_and_goes_on_to_its_next_event(machine):
    script = [do(1, "tune", name="wave.freq", text="0.25"), do(2, "step", to="event"),
              do(3, "stop")]  # fmt: skip
    _, _, heard = ran(machine, script, speed=None, paused=True)
    assert at(heard)[1:] == [("event", 1 / 3)]
    assert heard.last("status")["stopped"] == "stopped at 0.3333 s"


def test_a_run_that_goes_on_from_a_breakpoint_is_not_paused_by_it_again(fall):
    script = [do(1, "state", t=FELL + 1e-6), do(2, "resume")]
    _, _, heard = ran(fall, script, speed=None, breakpoints=["h < 0.5"])
    start = answer(heard, 1)
    _, _, heard = ran(fall, speed=None, breakpoints=["h < 0.5"], start=start)
    assert paused(heard) == []

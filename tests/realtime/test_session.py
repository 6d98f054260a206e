"""Diagrams on the real clock: what they compute, what can be changed, what ends them."""

from __future__ import annotations

import os
import re
import socket
import struct
import sys
import time
from contextlib import contextmanager
from itertools import count

import numpy as np
import pytest
from free_ports import free_ports

import spart_blocks as sb
from spart_blocks.base.errors import InputError, pip_install
from spart_blocks.realtime import Session, prepare, run
from spart_blocks.realtime.structs import Ended

RAMP = """
name: ramp
blocks:
  one: {type: CONSTANT, value: 1.0}
  slope: {type: GAIN, K: 3.0}
  int: {type: INTEGRATOR, x0: 0.25}
  scope: {type: SCOPE}
wires:
  - one -> slope
  - slope -> int
  - int -> scope
realtime: {policy: catch-up} # every step is done, however slow the machine
export: {bounds: {slope.K: [0, 10]}}
"""

# Both halves of a loop, over ports that the test finds free; both are held where they are
# for a second without the other.
LOOP = """
name: loop
blocks:
  ref: {{type: CONSTANT, value: [1.0, -2.0]}}
  error: {{type: SUM, signs: "+-"}}
  ctrl: {{type: GAIN, K: 20.0}}
  out: {{type: UDP_OUT, port: {there}, frame: {{fields: {{v: 2 f64}}, sequence: u32}},
        safe: {{v: 0}}, timeout: 1.0}}
  plant: {{type: INTEGRATOR, x0: [0.5, 0.5]}}
  sense: {{type: UDP_IN, port: {here}, frame: {{fields: {{q: 2 f64}}, sequence: u32}},
          timeout: {timeout}}}
wires:
  - ref -> error.0
  - sense.q -> error.1
  - error -> ctrl
  - ctrl -> out.v
  - out.v -> plant
  - plant -> sense.q
realtime: {{watchdog: 30, policy: catch-up}}
"""
CONTROL = ["error", "ctrl", "ref"]
PATIENCE = 60.0  # s, until something is given up that should happen at once
FRAME, OUTPUT = struct.pack("<I2d", 0, 0.5, 0.5), (10.0, -50.0)
"""What the sensor says, and what the controller answers: 20 (ref - q)."""


@pytest.fixture
def ramp(tmp_path):
    path = tmp_path / "ramp.yaml"
    path.write_text(RAMP, encoding="utf-8")
    return path


@pytest.fixture
def loop(tmp_path):
    """loop(timeout): a file of a closed loop, its links on free ports of this machine."""

    def written(timeout=1.0):
        ports = dict(zip(("here", "there"), free_ports(2), strict=True))
        path = tmp_path / "loop.yaml"
        path.write_text(LOOP.format(**ports, timeout=timeout), encoding="utf-8")
        return path, ports

    return written


@contextmanager
def open_ends(ports):
    """Sockets in the place of the plant: of its actuator and of its sensor."""
    with (
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as actuator,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sensor,
    ):
        actuator.bind(("127.0.0.1", ports["there"]))
        actuator.settimeout(PATIENCE)
        yield actuator, sensor


def value(actuator):
    """The next one that comes."""
    return struct.unpack("<I2d", actuator.recv(100))[1:]


def heard(actuator, wanted, feed=lambda: None):
    """Feed again and again until this value comes. What nobody reads for long is dropped by
    the socket, so that no single frame can be counted on."""
    end = time.monotonic() + PATIENCE
    while True:
        feed()
        if value(actuator) == wanted:
            return
        assert time.monotonic() < end, f"{wanted} never came"


def recorded(prepared, attend=lambda loop: False):
    """The report and the signals of a run, which ends early once `attend` says so."""
    with Session(prepared, record=True) as session:
        for loop in session.moments():
            if attend(loop):
                session.stop()
    return session.report(), session.signals()


def test_the_loop_computes_what_the_simulation_does(ramp):
    prepared = prepare(ramp, rate=1000, T=0.2)
    report, signals = recorded(prepared)
    assert (report.steps, report.skipped, report.ended) == (200, 0, Ended.DONE)
    assert report.complete
    results = sb.simulate(ramp, T=0.2)
    np.testing.assert_allclose(signals["t"], np.arange(200) * 1e-3)
    want = np.interp(signals["t"], results.t, results["int"])  # a straight line
    np.testing.assert_allclose(signals["int"], want, rtol=1e-12)


def test_run_takes_a_path_and_reports(ramp):
    report = run(ramp, rate=2000, T=0.05)
    assert (report.steps, report.rate, report.policy) == (100, 2000.0, "catch-up")
    assert report.cpu_share > 0


def test_attend_sees_the_loop_and_changes_its_parameters(ramp):
    changed_at = []

    def attend(loop):
        """Change the slope once, and end the run some steps later."""
        if not changed_at and loop.struct.steps > 10:
            loop.parameters.set({"slope.K": 0.0})
            changed_at.append(loop.struct.steps)
        return changed_at and loop.struct.steps > changed_at[0] + 10

    report, signals = recorded(prepare(ramp), attend)
    rise = np.diff(signals["int"]) / np.diff(signals["t"])
    changed = int(np.argmax(rise < 1.5))
    np.testing.assert_allclose(rise[:changed], 3.0, rtol=1e-9)
    np.testing.assert_allclose(rise[changed:], 0.0, atol=1e-9)
    assert 0 < changed < len(rise)
    assert report.ended is Ended.ASKED


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ({"slop.K": 1.0}, "no parameter 'slop.K' that can be set\n.*slope.K"),
        ({"slope.K": 11.0}, "slope.K must lie between 0 and 10"),
        ({"slope.K": float("nan")}, "finite"),
        ({"slope.K": [1.0, 2.0]}, r"shape \(\), not \(2,\)"),
        ({"slope.K": "fast"}, "takes numbers"),
        ({"slope.K": 4.0, "one.value": [1.0, 2.0, 3.0]}, "one.value"),
        ({"int.x0": 1.0}, "no parameter 'int.x0' that can be set"),
    ],
)
def test_a_bad_value_is_refused_and_the_loop_goes_on(ramp, values, text):
    with Session(prepare(ramp)) as session:
        with pytest.raises(InputError, match=text):
            session.loop.parameters.set(values)
        assert session.loop.parameters.values["slope.K"] == 3.0
        assert not session.loop.wait(0)


def test_an_input_without_a_link_is_a_parameter(ramp):
    with Session(prepare(ramp, part=["int"])) as session:
        parameters = session.loop.parameters
        assert "slope" in parameters.names
        assert parameters.inputs == {"slope"}
        parameters.set({"slope": 7.0})
        assert parameters.values["slope"] == 7.0


def test_signals_can_be_asked_for_besides(ramp):
    _, signals = recorded(prepare(ramp, part=["slope", "int"], outputs=["slope"], T=0.01))
    assert set(signals) == {"t", "one", "int", "slope"}
    assert (signals["slope"] == 3.0).all()


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"policy": "hurry"}, "policy: .*'skip', 'catch-up' or 'stop'"),
        ({"T": -1.0}, "T: .*greater than 0"),
        ({"polisy": "skip"}, "no option 'polisy'.*\n.*policy"),
        ({"part": ["intt"]}, "there is no block 'intt'"),
        ({"method": "RK5"}, "no fixed-step method 'RK5'"),
    ],
)
def test_what_cannot_be_run_is_refused(ramp, options, text):
    with pytest.raises(InputError, match=text):
        prepare(ramp, **options)


def test_without_a_compiler_one_line_says_what_to_install(ramp, monkeypatch):
    monkeypatch.setenv("SPART_COMPILER", "none")
    with pytest.raises(InputError, match=re.escape(pip_install("compiler"))):
        prepare(ramp)


def test_another_system_is_refused(ramp, monkeypatch):
    monkeypatch.setattr(sys, "platform", "darwin")
    with pytest.raises(InputError, match="needs Linux"):
        prepare(ramp)


def test_a_stop_block_ends_the_run(tmp_path):
    path = tmp_path / "stop.yaml"
    path.write_text(
        "blocks: {step: {type: STEP, T: 0.05}, end: {type: STOP}}\nwires: [step -> end]\n"
    )
    report = run(path, T=30)
    assert report.ended is Ended.MODEL_STOPPED
    assert report.complete
    assert report.steps == 51


def test_a_result_that_is_no_number_ends_the_run(tmp_path):
    path = tmp_path / "inverse.yaml"
    path.write_text(
        "blocks:\n  step: {type: STEP, T: 0.02, off: 1.0, on: 0.0}\n"
        "  inverse: {type: POW, p: -1}\n  scope: {type: SCOPE}\n"
        "wires: [step -> inverse, inverse -> scope]\n"
    )
    report = run(path, T=30)
    assert report.ended is Ended.NOT_FINITE
    assert not report.complete
    assert report.steps == 20


def test_a_loop_closed_over_two_sessions_ends_where_the_simulation_does(loop):
    path, _ = loop(timeout=PATIENCE)
    results = sb.simulate(path, T=10.0)
    ended = results["plant"][-1]
    with (
        Session(prepare(path, part=["plant"], rate=1000)) as plant,
        Session(prepare(path, part=CONTROL, rate=1000)) as control,
    ):
        sensed = control.loop.u[:2]
        end = time.monotonic() + PATIENCE
        while np.abs(sensed - ended).max() > 1e-6:  # e' = -20 e, however late frames come
            assert time.monotonic() < end, f"it is at {sensed}"
            time.sleep(0.01)
    report = control.report()
    assert report.ended is Ended.ASKED
    assert report.stale == 0
    assert plant.report().links["out"]["received"] > 0


def test_time_stands_still_until_the_other_side_is_there(loop):
    path, ports = loop()
    with open_ends(ports) as (actuator, sensor), Session(prepare(path, part=CONTROL)) as session:
        assert [value(actuator) for _ in range(5)] == [(0.0, 0.0)] * 5
        assert session.loop.time == 0.0
        heard(actuator, OUTPUT, lambda: sensor.sendto(FRAME, ("127.0.0.1", ports["here"])))


def test_safe_outputs_are_sent_when_inputs_go_stale(loop):
    path, ports = loop(timeout=0.05)
    with open_ends(ports) as (actuator, sensor), Session(prepare(path, part=CONTROL)) as session:
        numbers = count(0)

        def feed():
            frame = struct.pack("<I", next(numbers)) + FRAME[4:]
            sensor.sendto(frame, ("127.0.0.1", ports["here"]))

        heard(actuator, OUTPUT, feed)
        heard(actuator, (0.0, 0.0))  # nothing is fed now
        assert not session.loop.wait(0)
    assert session.report().stale > 0


def test_a_run_that_is_called_off_before_it_begins_reports_too(ramp):
    session = Session(prepare(ramp))
    session.stop()
    with session:
        for _ in session.moments():
            pass
    report = session.report()
    assert (report.ended, report.steps) == (Ended.ASKED, 0)
    assert report.summary().startswith("ramp: it was interrupted after")


def test_a_port_that_is_taken_is_told_with_its_place(loop):
    path, ports = loop()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
        other.bind(("127.0.0.1", ports["here"]))
        with pytest.raises(InputError, match=r"loop.yaml:\d+:\d+: sense cannot receive"):
            Session(prepare(path, part=CONTROL)).__enter__()


def test_a_run_leaves_no_descriptor_open(loop):
    path, _ = loop()
    prepared = prepare(path, part=["plant"], T=0.01)
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(3):
        with Session(prepared) as session:
            session.loop.stop()
    del session
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_ball_bounces_in_a_loop_until_its_resets_accumulate(tmp_path):
    """At 0.4472 s first, each time half as fast; the fault at 1.3416 s names the block."""
    path = tmp_path / "ball.yaml"
    path.write_text("""
blocks:
  b: {type: HYBRID_SYSTEM, states: [y, v], x0: [1, 0], f: [v, "-10"],
    jumps: [{when: y < 0, set: {v: -v/2}}]}
  end: {type: SCOPE}
wires: [b.y -> end]
realtime: {policy: catch-up}
""")
    with Session(prepare(path, rate=100, T=2), record=True) as session:
        for _ in session.moments():
            pass
    report, signals = session.report(), session.signals()
    assert report.ended is Ended.FAULT
    assert "block b: its resets accumulate (Zeno)" in report.why
    t, y = signals["t"], np.asarray(signals["b.y"]).ravel()
    assert len(t) == 135
    s = t - np.sqrt(0.2)
    first = t < np.sqrt(0.2)
    second = ~first & (s < np.sqrt(0.2))
    np.testing.assert_allclose(y[first], 1 - 5 * t[first] ** 2, atol=1e-12)
    np.testing.assert_allclose(y[second], np.sqrt(5) * s[second] - 5 * s[second] ** 2, atol=2e-9)

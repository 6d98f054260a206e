"""Recordings of loops: what they have, what becomes of them when something breaks, and replays."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import spart_blocks as sb
from spart_blocks.base.errors import InputError, SpartWarning
from spart_blocks.realtime import Session, prepare, run
from spart_blocks.realtime.live import LiveServer
from spart_blocks.realtime.live_client import LiveClient
from spart_blocks.realtime.replay import read_steps, replay
from spart_blocks.results.logs.files import opened_mcap

SERVO = """
name: servo
params: {kp: 20.0}
blocks:
  goal: {type: CONSTANT, value: 1.0}
  error: {type: SUM, signs: "+-"}
  ctrl: {type: GAIN, K: $kp}
  mass: {type: INTEGRATOR, x0: 0.3}
  scope: {type: SCOPE}
wires: [goal -> error.0, mass -> error.1, error -> ctrl, ctrl -> mass, mass -> scope]
run: {log: [mass, ctrl]}
export: {rate: 200}
realtime: {priority: 0}
"""
ARM = Path(__file__).parents[2] / "diagrams" / "arm_computed_torque.yaml"


@pytest.fixture(scope="module")
def servo(tmp_path_factory):
    path = tmp_path_factory.mktemp("servo") / "servo.yaml"
    path.write_text(SERVO, encoding="utf-8")
    return prepare(path, T=0.4)


@pytest.fixture(scope="module")
def recorded(servo, tmp_path_factory):
    path = tmp_path_factory.mktemp("run") / "run.mcap"
    with Session(servo, record=path) as session:
        for number, loop in enumerate(session.moments()):
            loop.parameters.set({"ctrl.K": 20.0 + number})
    assert session.report().complete
    return path


def run_to_the_end(session):
    for _ in session.moments():
        pass


def test_a_tuned_run_is_computed_again_bit_for_bit(servo, recorded):
    found = replay(servo, recorded)
    steps = read_steps(recorded, servo.code)
    assert found.first is None
    assert found.steps == len(steps.t) > 10
    assert len(set(steps.tuning)) > 1  # parameters were set while it ran
    assert np.ptp(steps.y) > 0.1


def test_another_controller_is_told_with_its_first_other_output(recorded, tmp_path):
    path = tmp_path / "servo.yaml"
    path.write_text(SERVO.replace('signs: "+-"', 'signs: "++"'), encoding="utf-8")
    found = replay(prepare(path), recorded)
    assert found.first.t == 0
    assert found.first.signal == "ctrl"
    assert found.first.computed / found.first.recorded == pytest.approx(1.3 / 0.7)
    assert f"{found.steps} of {found.steps} steps have other outputs" in found.message
    assert re.search(r"where ctrl was [\d.]+, and is now [\d.]+$", found.message)


def test_results_are_loaded_from_the_recording(recorded, servo):
    results = sb.Results.load(recorded)
    steps = read_steps(recorded, servo.code)
    assert results.complete
    assert results.diagram_name == "servo"
    assert np.array_equal(results.t, steps.t)
    assert np.array_equal(np.column_stack([results["mass"], results["ctrl"]]), steps.y)


def test_messages_are_logged_at_the_time_of_their_deadline(recorded):
    with opened_mcap(recorded) as log:
        (steps,) = (one for one in log.channels if "steps" in one.metadata)
        times = np.array([logged for _, logged, _ in log.messages([steps])], dtype=np.int64)
    apart = np.diff(times)
    assert abs(times[0] / 1e9 - recorded.stat().st_mtime) < 60
    assert (apart >= 4_999_999).all()
    assert (np.abs(apart / 5e6 - np.rint(apart / 5e6)) < 1e-3).all()


def test_poses_of_a_robot_whose_joints_the_loop_tells_are_recorded(tmp_path):
    path = tmp_path / "run.mcap"
    run(ARM, rate=400, T=0.25, record=path)
    results = sb.Results.load(path)
    with opened_mcap(path) as log:
        topics = {channel.topic: channel for channel in log.channels}
        frames = list(log.messages([topics["/tf"]]))
    assert len(results.t) > 50
    assert len(results.t) // 4 - 10 <= len(frames) <= len(results.t) // 4 + 1  # 100 times a second
    assert {"/scene", "/robot_description", "/joint_states"} <= topics.keys()


def test_missed_deadlines_and_the_end_are_logged(servo, tmp_path):
    path = tmp_path / "run.mcap"
    with Session(servo, record=path) as session:
        session.loop.struct.missed[2] += 3  # as if the machine had been late
        run_to_the_end(session)
    told = texts(path)
    assert any("deadlines missed: 3, cause: wake-up" in text for text in told)
    assert any("ended: it ran to its end" in text for text in told)


def texts(path):
    with opened_mcap(path) as log:
        wanted = [channel for channel in log.channels if channel.topic == "/log"]
        return [data.decode("utf-8", "replace") for _, _, data in log.messages(wanted)]


def test_a_recording_and_a_client_see_every_row(servo, tmp_path):
    path = tmp_path / "run.mcap"
    with (
        Session(servo, record=path) as session,
        LiveServer(session.loop, "servo") as server,
        LiveClient(server.place) as client,
    ):
        client.watch(["mass"])
        run_to_the_end(session)
    assert replay(servo, path).first is None
    assert session.loop.recorded.dropped == 0


KILLED = """
import sys
from spart_blocks.realtime import Session, prepare
with Session(prepare(sys.argv[1]), record=sys.argv[2]) as session:
    print("runs", flush=True)
    for loop in session.moments():
        pass
"""


def test_a_process_that_is_killed_leaves_what_it_had(servo, tmp_path):
    path = tmp_path / "run.mcap"
    source = servo.diagram.source
    command = [sys.executable, "-c", KILLED, source, path]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "runs\n"
        while path.stat().st_size < 20_000 and process.poll() is None:
            time.sleep(0.05)
        process.send_signal(signal.SIGKILL)
    with pytest.warns(SpartWarning, match="ends before its end"):
        found = replay(servo, path)
    assert found.first is None
    assert found.steps > 50
    with pytest.warns(SpartWarning):
        assert not sb.Results.load(path).complete


def test_a_full_disk_ends_the_recording_and_not_the_loop(servo, tmp_path):
    path = tmp_path / "run.mcap"
    os.symlink("/dev/full", path)
    with pytest.warns(SpartWarning, match="the recording ends early: No space left on device"):
        report = run(servo, record=path)
    assert report.complete
    assert any("the recording ends early" in line for line in report.system)


def test_a_folder_that_is_not_there_is_told_before_the_loop_runs(servo, tmp_path):
    with pytest.raises(InputError, match=r"cannot write .*run\.mcap: No such file"):
        run(servo, record=tmp_path / "no" / "run.mcap")


def test_recordings_of_other_loops_are_refused(servo, recorded, tmp_path):
    with pytest.raises(InputError, match="its loop has other parameters or inputs"):
        replay(prepare(ARM), recorded)
    with pytest.raises(InputError, match="another rate than 100 Hz"):
        replay(prepare(servo.diagram.source, rate=100), recorded)
    run = sb.record(sb.simulate(servo.diagram.source, T=1), tmp_path / "run.mcap")
    with pytest.raises(InputError, match="no recording of a real-time loop"):
        replay(servo, run)

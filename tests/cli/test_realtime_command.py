"""`spart realtime`: what it says, what it writes, and its exit codes."""

from __future__ import annotations

import json
import re
import signal

import pytest

from spart_blocks.base.errors import pip_install

RAMP = """
name: ramp
blocks:
  one: {type: CONSTANT, value: 1.0}
  slope: {type: GAIN, K: 3.0}
  int: {type: INTEGRATOR}
wires:
  - one -> slope
  - slope -> int
realtime: {T: 0.05, policy: catch-up}
"""


@pytest.fixture
def ramp(tmp_path):
    path = tmp_path / "ramp.yaml"
    path.write_text(RAMP, encoding="utf-8")
    return path


def test_it_says_what_it_does_and_ends_with_the_report(spart, ramp):
    done = spart("realtime", ramp, "--part", "int", "--rate", 2000)
    assert done.code == 0
    assert "running ramp-int at 2000 Hz for 0.05 s; missed steps are done at once" in done.err
    assert "no link brings slope: held as at the start of the diagram" in done.err
    assert "ramp-int: it ran to its end after 0.05" in done.out
    assert "100 at 2000 Hz" in done.out
    assert "wake-up after the deadline" in done.out


def test_the_system_says_what_it_grants(spart, ramp):
    """Whether it grants them is the machine's; that it is told is not."""
    out = spart("realtime", ramp).out
    assert "memory locked" in out or "memory is not locked: " in out
    assert "SCHED_FIFO with priority 80" in out


def test_what_the_file_says_can_be_overridden(spart, ramp):
    out = spart("realtime", ramp, "--t", 0.01, "--policy", "skip", "--report", "a.json").out
    assert "after 0.01" in out
    with open("a.json", encoding="utf-8") as file:
        report = json.load(file)
    assert (report["policy"], report["T"]) == ("skip", 0.01)


def test_values_of_the_realtime_section_can_be_set(spart, ramp):
    done = spart("realtime", ramp, "--set", "realtime.priority=0")
    assert done.code == 0
    assert "SCHED_FIFO" not in done.out


def test_quiet_says_nothing_where_all_went_well(spart, ramp):
    done = spart("realtime", ramp, "--quiet")
    assert (done.code, done.out, done.err) == (0, "", "")


def test_reports_are_written(spart, ramp, tmp_path):
    done = spart("realtime", ramp, "--report", "new/a.json", "--report", "a.png")
    assert done.code == 0
    assert "written: new/a.json\nwritten: a.png" in done.err
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")


def test_a_processor_that_there_is_not_is_told(spart, ramp):
    done = spart("realtime", ramp, "--cpu", 1000)
    assert done.code == 2
    assert "there is no processor 1000 to run on\n  there are 0" in done.err


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (("--report", "a.pdf"), "--report a.pdf: the file type is not known"),
        (("--part", "in"), "there is no block 'in'"),
        (("--t", "0"), "T: input should be greater than 0"),
        (("--set", "realtime.policy=now"), "must be 'skip', 'catch-up' or 'stop'"),
        (("--set", "realtime.polisy=skip"), "unknown key 'polisy'"),
    ],
)
def test_wrong_input_exits_2_before_anything_runs(spart, ramp, options, text):
    done = spart("realtime", ramp, *options)
    assert done.code == 2
    assert text in done.err
    assert done.out == ""


def test_without_a_compiler_it_names_what_to_install(spart, ramp, monkeypatch):
    monkeypatch.setenv("SPART_COMPILER", "none")
    done = spart("realtime", ramp)
    assert done.code == 2
    assert pip_install("compiler") in done.err


def test_a_run_that_breaks_off_exits_1_with_its_report(spart, tmp_path):
    path = tmp_path / "inverse.yaml"
    path.write_text(
        "blocks:\n  step: {type: STEP, T: 0.02, off: 1.0, on: 0.0}\n"
        "  inverse: {type: POW, p: -1}\n  scope: {type: SCOPE}\n"
        "wires: [step -> inverse, inverse -> scope]\n"
    )
    done = spart("realtime", path, "--report", "a.json")
    assert done.code == 1
    assert "error: the run ended early: a result was not a number" in done.err
    assert "20 at 1000 Hz" in done.out
    assert (tmp_path / "a.json").exists()


@pytest.mark.parametrize(("options", "code"), [((), 0), (("--t", "100"), 1)])
def test_ctrl_c_ends_it_with_the_report(process, ramp, options, code):
    """Without an end in time, Ctrl-C is how it ends; else it ends early."""
    text = ramp.read_text(encoding="utf-8").replace("T: 0.05, ", "")
    ramp.write_text(text, encoding="utf-8")
    child = process("realtime", ramp, *options)
    for line in child.stderr:
        if b"running" in line or b"reach it" in line:  # whichever comes first
            break
    child.send_signal(signal.SIGINT)
    out, _ = child.communicate(timeout=300)
    assert child.returncode == code
    assert b"ramp: it was interrupted after" in out


def test_a_run_is_recorded_and_computed_again(spart, ramp):
    done = spart("realtime", ramp, "--record", "run.mcap")
    assert done.code == 0
    assert "written: run.mcap" in done.err
    again = spart("realtime", ramp, "--replay", "run.mcap")
    assert again.code == 0
    assert re.search(r"all \d+ steps have the recorded outputs, bit for bit", again.err)
    ramp.write_text(RAMP.replace("type: INTEGRATOR", "type: INTEGRATOR, max: 0.1, min: -1"))
    other = spart("realtime", ramp, "--replay", "run.mcap")
    assert other.code in (1, 2)


def test_a_recording_that_is_none_is_told(spart, ramp, tmp_path):
    (tmp_path / "run.mcap").write_bytes(b"not one")
    done = spart("realtime", ramp, "--replay", "run.mcap")
    assert done.code == 2
    assert "run.mcap: it is no MCAP file" in done.err


def test_a_replay_takes_no_options_of_a_run(spart, ramp):
    done = spart("realtime", ramp, "--replay", "run.mcap", "--record", "other.mcap")
    assert done.code == 2
    assert "steps are computed again as they were recorded" in done.err

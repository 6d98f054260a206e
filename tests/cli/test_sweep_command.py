"""`spart sweep`, `spart run --from-sweep`, and `spart compare` of two sweeps."""

from __future__ import annotations

import json
import re
import signal
import time

import pytest

from spart_blocks.cli.terminal import RunsBar
from spart_blocks.sweeps.results import SweepResults
from spart_blocks.sweeps.storage import store

STUDY = """
name: study
params: {height: 2.0}
blocks:
  step: {type: STEP, T: 1.0, on: $height}
  int: {type: INTEGRATOR}
  scope: {type: SCOPE}
wires:
  - step -> int
  - int -> scope
run: {T: 2}
sweep:
  runs: 20
  seed: 3
  over:
    height: {uniform: {low: 0, high: 2}}
  metrics: {last: final(int)}
expect:
  never_exceeds: [{signal: int, limit: 1.9}]
"""

# 1/(c - t) has no integral beyond t = c.
FAILING = """
name: failing
blocks:
  c: {type: CONSTANT, value: 3.0}
  time: {type: TIME}
  gap: {type: SUM, signs: "+-"}
  inverse: {type: POW, p: -1}
  int: {type: INTEGRATOR}
wires: [c -> gap.0, time -> gap.1, gap -> inverse, inverse -> int]
run: {T: 2}
sweep: {over: {c.value: [1, 3]}}
"""

# Some tenths of a second a run, so that one interrupts it between runs.
SLOW = STUDY.replace("T: 2}", "T: 200, max_step: 1e-3}").replace("runs: 20", "runs: 500")


@pytest.fixture
def study(tmp_path):
    path = tmp_path / "study.yaml"
    path.write_text(STUDY, encoding="utf-8")
    return path


def test_a_sweep_prints_its_statistics_and_keeps_its_table(spart, study, tmp_path):
    answer = spart("sweep", study)
    assert answer.code == 0
    assert "20 runs: 20 complete" in answer.out
    assert "last" in answer.out
    assert (
        "20 runs are in out/study-sweep\nspart run --from-sweep out/study-sweep --run N"
        in answer.out
    )
    found = SweepResults.load(tmp_path / "out" / "study-sweep")
    assert len(found) == 20
    assert found.complete


def test_variants_are_compared_on_their_draws(spart, tmp_path):
    path = tmp_path / "two.yaml"
    text = STUDY.replace("  int: {type: INTEGRATOR}\n", "")
    path.write_text(
        text.replace("sweep:\n", "sweep:\n  variants: {int: [one, two]}\n")
        + "variants:\n  int:\n    default: one\n    choices:\n"
        "      one: {type: INTEGRATOR}\n      two: {type: INTEGRATOR, gain: 2}\n",
        encoding="utf-8",
    )
    answer = spart("sweep", path, "--runs", 4)
    assert "8 runs: 8 complete" in answer.out
    # The integral of the one is half that of the other in each draw, so it is lower in all.
    [row] = re.findall(r"last +one - two +none +-.*", answer.out)
    assert row.split()[-5:] == ["0", "%", "0.12", "0.25", "4"]


def test_options_take_the_place_of_the_section(spart, study, tmp_path):
    answer = spart(
        *("sweep", study, "--over", "height=[0.5, 1, 1.5]", "--runs", 1, "--keep", "all"),
        *("--metric", "top=most(int)", "--t", 1.5, "--every", 0.5, "-o", "there", "-q"),
    )
    assert (answer.code, answer.out) == (0, "")
    found = SweepResults.load(tmp_path / "there")
    assert found["top"] == pytest.approx([0.25, 0.5, 0.75])
    assert found.histories()["time"].values.tolist() == [0, 0.5, 1.0, 1.5]


def test_derivatives_are_options_and_what_lacks_them_is_named(spart, study):
    """int(T) = height (T - 1); a step at the end of a run has no derivative by its time."""
    answer = spart(
        *("sweep", study, "--over", "step.T=[1.5, 2]", "--runs", 1),
        *("--gradient", "height", "--gradient", "step.T"),
    )
    assert answer.code == 0
    assert "d(last)/d(height)" in answer.out
    assert "1 of 2 runs lack derivatives" in answer.err
    assert "run 1: by step.T: block step: it switches" in answer.err
    found = SweepResults.load("out/study-sweep")
    assert found.gradients["last"]["height"] == pytest.approx([0.5, 0])
    assert found.gradients["last"]["step.T"][0] == pytest.approx(-2)
    again = spart("run", "--from-sweep", "out/study-sweep", "--run", 0)
    assert "run 0 has the stored metrics, bit for bit" in again.out + again.err


def test_a_distribution_on_the_command_line(spart, study, tmp_path):
    answer = spart("sweep", study, "--over", "height={normal: {mean: 1, sd: 0}}", "--runs", 2)
    assert answer.code == 0
    assert SweepResults.load("out/study-sweep")["height"].tolist() == [1, 1]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--over", "height"], "it has no name or no value"),
        (["--over", "heigt=[1]"], "heigt"),
        (["--over", "height=[1"], "--over height=[1"),
        (["--metric", "x=most(inte)"], "inte"),
        (["--gradient", "hight"], "there is no parameter 'hight'"),
        (["--keep", "some"], "none, failed, all or a number"),
        (["--until", "3"], "between 0 and 1"),
        (["--variant", "c=pd"], "no variants"),
        (["--report", "x.txt"], "--report x.txt"),
        (["--workers", "2", "--scheduler", "tcp://x"], "exclude each other"),
        (["--device", "gpu"], "there is no device"),
    ],
)
def test_wrong_options_are_refused_before_anything_runs(spart, study, tmp_path, options, said):
    answer = spart("sweep", study, *options)
    assert answer.code == 2
    assert said in answer.err
    assert not (tmp_path / "out").exists() or not any((tmp_path / "out").rglob("*.*"))


def test_a_folder_with_results_is_refused_and_resumed(spart, study):
    assert spart("sweep", study, "-q").code == 0
    again = spart("sweep", study, "-q")
    assert again.code == 2
    assert "--resume (resume=True) continues it" in again.err
    other = spart("sweep", study, "-q", "--resume", "--seed", 4)
    assert other.code == 2
    assert "seed: 3 there, 4 here" in other.err
    longer = spart("sweep", study, "--resume", "--runs", 30)
    assert longer.code == 0
    assert "30 runs: 30 complete" in longer.out


def test_failed_runs_are_named_and_do_not_end_the_sweep(spart, tmp_path):
    (tmp_path / "failing.yaml").write_text(FAILING)
    answer = spart("sweep", "failing.yaml")
    assert answer.code == 0
    assert "1 of 2 runs failed" in answer.err
    assert "run 0: " in answer.err
    assert "spart run --from-sweep out/failing-sweep --run 0" in answer.err
    alone = spart("sweep", "failing.yaml", "--over", "c.value=[1, 1.5]", "-o", "other")
    assert alone.code == 1
    assert "all runs failed" in alone.err


@pytest.mark.parametrize(("share", "code"), [(0.5, 0), (0.99, 1)])
def test_a_claim_of_success_decides_the_exit_code(spart, study, share, code):
    study.write_text(STUDY + f"  success: {{at_least: {share}}}\n", encoding="utf-8")
    answer = spart("sweep", study)
    assert answer.code == code
    assert ("error: expect: success: " in answer.err) == bool(code)


def test_a_report_is_written(spart, study, tmp_path):
    answer = spart("sweep", study, "--report", "new/folder/report.html", "--keep", 3)
    assert answer.code == 0
    text = (tmp_path / "new" / "folder" / "report.html").read_text(encoding="utf-8")
    assert "study" in text
    assert "the report is in new/folder/report.html" in answer.out


def test_a_sweep_ends_when_the_interval_is_narrow_enough(spart, study):
    answer = spart("sweep", study, "--runs", 5000, "--until", 0.3)
    assert answer.code == 0
    assert "runs were not needed" in answer.out
    assert len(SweepResults.load("out/study-sweep")) < 5000


def test_a_run_of_a_sweep_is_replayed(spart, study, tmp_path):
    spart("sweep", study, "-q")
    answer = spart("run", "--from-sweep", "out/study-sweep", "--run", 7, "-o", "run.npz")
    assert answer.code == 0
    assert "run 7 has the stored metrics, bit for bit" in answer.err
    assert "height = " in answer.err
    assert (tmp_path / "run.npz").exists()
    moved = study.rename(tmp_path / "moved.yaml")
    there = spart("run", moved, "--from-sweep", "out/study-sweep", "--run", 7)
    assert there.code == 0
    gone = spart("run", "--from-sweep", "out/study-sweep", "--run", 7)
    assert gone.code == 2
    assert "study.yaml, of which the sweep is, is not there" in gone.err
    assert "spart run FILE --from-sweep" in gone.err


def test_runs_that_could_not_be_written_are_not_said_to_be_there(spart, study, monkeypatch):
    def full(*given):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(store, "write_whole", full)
    answer = spart("sweep", study)
    assert answer.code == 1
    assert "20 runs are in" not in answer.out
    assert "No space left on device" in answer.err
    assert "0 runs are kept in out/study-sweep; make room there" in answer.err
    assert answer.err.count("--resume") == 1


def test_the_replay_of_a_failed_run_tells_why_it_failed(spart, tmp_path):
    (tmp_path / "failing.yaml").write_text(FAILING, encoding="utf-8")
    spart("sweep", "failing.yaml", "-q")
    answer = spart("run", "--from-sweep", "out/failing-sweep", "--run", 0)
    assert answer.code == 1
    assert "error: block int: " in answer.err
    assert "the run was" not in answer.err
    assert "did not pass" not in answer.err
    assert "run 0 has the stored metrics, bit for bit" in answer.err


def test_a_replay_that_is_not_the_stored_run_is_an_error(spart, study, monkeypatch):
    monkeypatch.setattr(store, "best_format", lambda: "npz")
    spart("sweep", study, "-q")
    found = SweepResults.load("out/study-sweep")
    columns = {c.name: found.columns.kept(c.name).copy() for c in found.store.schema}
    columns["last"][7] += 1e-12
    data = store.as_bytes("npz", found.store.schema, columns)
    next(found.folder.glob("table/*.npz")).write_bytes(data)
    for path in list(found.folder.glob("table/*.npz"))[1:]:
        path.unlink()
    answer = spart("run", "--from-sweep", "out/study-sweep", "--run", 7)
    assert answer.code == 1
    assert "run 7 is not as the sweep has stored it" in answer.err
    assert "last: 0.62" in answer.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "name a diagram"),
        (("--from-sweep", "out/study-sweep"), "go together"),
        (("--run", 3), "go together"),
        (("--from-sweep", "nowhere", "--run", 3), "there is no such folder"),
        (("--from-sweep", ".", "--run", 3), "holds no sweep"),
        (("--from-sweep", "out/study-sweep", "--run", 20), "has not done run 20"),
        (("--from-sweep", "out/study-sweep", "--run", 3, "--t", 1), "replayed as it was"),
        (("--from-sweep", "out/study-sweep", "--run", 3, "--set", "a=1"), "replayed as it was"),
    ],
)
def test_a_wrong_replay_is_refused(spart, study, arguments, said):
    spart("sweep", study, "-q")
    answer = spart("run", *arguments)
    assert answer.code == 2
    assert said in answer.err


def test_two_sweeps_are_compared(spart, study, tmp_path):
    spart("sweep", study, "-q")
    spart("sweep", study, "-q", "--set", "step.T=0.5", "-o", "out/earlier")
    answer = spart("compare", "out/study-sweep", "out/earlier", "-o", "table.csv")
    assert answer.code == 0
    assert "earlier" in answer.out
    assert "last" in answer.out
    assert (tmp_path / "table.csv").exists()
    refused = spart("compare", "out/study-sweep", "out/earlier", "--t", 3)
    assert refused.code == 2
    assert "compared as they are" in refused.err


def test_an_interrupt_keeps_what_has_ended_and_the_sweep_is_resumed(process, tmp_path):
    (tmp_path / "slow.yaml").write_text(SLOW, encoding="utf-8")
    child = process("sweep", "slow.yaml", "--workers", 1, "-o", "there")
    table = tmp_path / "there" / "table"
    until = time.monotonic() + 120
    while not (table.exists() and any(table.glob("0*"))) and time.monotonic() < until:
        assert child.poll() is None, child.communicate()
        time.sleep(0.05)
    child.send_signal(signal.SIGINT)
    _, err = child.communicate(timeout=60)
    assert child.returncode == 1
    assert b"interrupted after" in err
    assert b"--resume" in err
    kept = SweepResults.load(tmp_path / "there")
    assert 0 < len(kept) < 500
    assert kept["run"].tolist() == list(range(len(kept)))


def test_a_killed_process_loses_no_part_that_was_written(process, tmp_path):
    (tmp_path / "slow.yaml").write_text(SLOW, encoding="utf-8")
    child = process("sweep", "slow.yaml", "--workers", 1, "-o", "there", "-q")
    table = tmp_path / "there" / "table"
    until = time.monotonic() + 120
    while not (table.exists() and any(table.glob("0*"))) and time.monotonic() < until:
        assert child.poll() is None, child.communicate()
        time.sleep(0.05)
    child.kill()
    child.communicate()
    kept = SweepResults.load(tmp_path / "there")
    assert 0 < len(kept) < 500
    description = json.loads((tmp_path / "there" / "sweep.json").read_text())
    assert description["runs"] == 500


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("out/study-sweep",), "is one sweep; two are compared"),
        (("out/study-sweep", "study.yaml"), "study.yaml is a file, no folder of a sweep"),
        (("study.yaml", "out/study-sweep"), "study.yaml is a file, no folder of a sweep"),
        (("study.yaml", "study.yaml"), "a diagram is compared with another one"),
        (("study.yaml", "stady.yaml"), "stady.yaml: there is no such file"),
        (("out/study-sweep", "out/nowhere"), "out/nowhere: there is no such folder"),
    ],
)
def test_what_is_no_pair_of_sweeps_is_told_in_one_line(spart, study, given, said):
    spart("sweep", study, "-q", "--runs", 2)
    answer = spart("compare", *given)
    assert answer.code == 2
    assert said in answer.err
    assert answer.err.count("error:") == 1


def test_the_sweep_of_a_test_shows_its_progress_on_a_terminal(spart, study, monkeypatch):
    told = []
    monkeypatch.setattr("spart_blocks.cli.terminal._watched", lambda: True)
    monkeypatch.setattr("spart_blocks.cli.terminal._PATIENCE", -1.0)
    monkeypatch.setattr("spart_blocks.cli.terminal._PERIOD", 0.0)
    inner = RunsBar._text

    def noted(self, done, total):
        told.append((done, inner(self, done, total)))
        return told[-1][1]

    monkeypatch.setattr(RunsBar, "_text", noted)
    text = STUDY.replace("{height: 2.0}", "{height: 1.0}")  # which the claim on one run allows
    study.write_text(text.replace("expect:", "expect:\n  success: {at_least: 0.1}"))
    assert spart("test", study).code == 0
    assert told[-1][0] == 20
    assert "20 of 20 runs" in told[-1][1]
    told.clear()
    assert spart("test", study, "-q").code == 0
    assert not told

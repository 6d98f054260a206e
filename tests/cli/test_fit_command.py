"""`spart fit`: what it prints, writes and refuses."""

import json

import numpy as np
import pytest

DECAY = """# falls by k
name: decay
params:
  k: 2.0 # 1/s
  x0: 1.5
blocks:
  gain: {type: GAIN, K: $k}
  flip: {type: GAIN, K: -1}
  x: {type: INTEGRATOR, x0: $x0}
  s: {type: SCOPE}
wires: [x -> gain, gain -> flip, flip -> x, x -> s]
run: {T: 2, rtol: 1.0e-8}
fit:
  parameters: {k: [0, 10]}
  experiments:
    run: {file: m.csv, signals: {x: x}}
"""


@pytest.fixture
def decay(tmp_path):
    """A diagram with a section fit, and its data: x = 1.5 exp(-3 t), and noise."""
    path = tmp_path / "decay.yaml"
    path.write_text(DECAY, encoding="utf-8")
    t = np.linspace(0, 2, 41)
    x = 1.5 * np.exp(-3 * t) + 0.01 * np.random.default_rng(0).normal(size=41)
    table = np.column_stack([t, x])
    np.savetxt(tmp_path / "m.csv", table, delimiter=",", header="t,x", comments="")
    return path


def test_it_prints_estimates_and_writes_what_is_asked_for(spart, decay, tmp_path):
    out, page = tmp_path / "fit.json", tmp_path / "new" / "fit.html"
    answer = spart("fit", decay, "--out", out, "--report", page, "--write")
    assert answer.code == 0
    assert "41 numbers measured" in answer.out
    assert "standard error" in answer.out
    (found,) = json.loads(out.read_text())["parameters"]
    assert found["value"] == pytest.approx(3, abs=0.1)
    assert page.read_text().count("<img") == 1
    text = decay.read_text()
    (line,) = [one for one in text.splitlines() if one.startswith("  k: ")]
    assert line.startswith(f"  k: {found['value']:.8g} # 1/s")
    assert line.endswith("(95 %)")
    assert "  # fitted: k " in line
    assert text.replace(line, "  k: 2.0 # 1/s") == DECAY
    again = spart("fit", decay, "--write", "-q")
    assert (again.code, again.out) == (0, "")
    assert decay.read_text().count("# fitted:") == 1


def test_options_stand_for_the_section(spart, decay, tmp_path):
    options = ["--data", tmp_path / "m.csv", "--signal", "x=x", "-p", "k=[0, 10]", "-p", "x0"]
    answer = spart("fit", decay, *options, "--profile", "k")
    assert answer.code == 0
    assert "x0" in answer.out
    assert "by its profile k: " in answer.out
    other = spart("fit", decay, "-p", "k={min: 0, start: 1}", "--starts", 3, "--loss", "huber")
    assert other.code == 0


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["-p", "q"], "'q'"),
        (["-p", "k=[1"], "k=[1"),
        (["--data", "m.csv"], "--data and --signal go together"),
        (["--signal", "x=x"], "--data and --signal go together"),
        (["--loss", "best"], "loss"),
        (["--out", "fit.txt"], ".json"),
        (["--start", "none.json"], "none.json"),
        (["--profile", "q"], "no estimate 'q'"),
        (["--set", "fit.experiments.run.file=3"], "fit"),
    ],
)
def test_wrong_options_are_refused(spart, decay, options, text):
    answer = spart("fit", decay, *options)
    assert answer.code == 2
    assert text in answer.err
    assert decay.read_text() == DECAY


def test_a_search_that_has_not_ended_has_exit_code_1(spart, decay):
    answer = spart("fit", decay, "--iterations", 1)
    assert answer.code == 1
    assert "has not ended" in answer.err


def test_experiments_are_left_out_one_by_one(spart, decay, tmp_path):
    text = decay.read_text()
    line = "    run: {file: m.csv, signals: {x: x}}\n"
    two = line + line.replace("run", "late").replace("{file", "{since: 0.5, file")
    decay.write_text(text.replace(line, two))
    answer = spart("fit", decay, "--leave-one-out")
    assert answer.code == 0
    assert "left out  signal  rms error fitted  predicted" in answer.out


def test_what_is_asked_for_after_the_fit_is_checked_before_it(spart, decay):
    for options, text in ((["--profile", "q"], "the fit has no estimate 'q'"),
                          (["--leave-one-out"], "leaves out one experiment of two")):  # fmt: skip
        answer = spart("fit", decay, *options)
        assert answer.code == 2
        assert text in answer.err
        assert "standard error" not in answer.out

"""`spart tune`: what it prints, writes and refuses, and its words of before."""

import json

import pytest

DESIGN = """# y = a k
name: design
params:
  k: 1.0 # the gain
  a: 1.0
blocks:
  one: {type: CONSTANT, value: 1.0}
  a: {type: GAIN, K: $a}
  y: {type: GAIN, K: $k}
  s: {type: SCOPE}
wires: [one -> a, a -> y, y -> s]
run: {T: 1}
expect:
  never_exceeds: [{signal: y, limit: 1.2}]
tune:
  parameters: {k: [0, 2]}
  minimize: (final(y) - 1)**2
  over: {a: [1, 3]}
"""


@pytest.fixture
def design(tmp_path):
    """A diagram of y = a k with a section tune: k = 1/2 is best for a = 1 and 3."""
    path = tmp_path / "design.yaml"
    path.write_text(DESIGN, encoding="utf-8")
    return path


def test_it_prints_the_design_and_writes_what_is_asked_for(spart, design, tmp_path):
    out, page = tmp_path / "design.json", tmp_path / "new" / "design.html"
    answer = spart("tune", design, "--out", out, "--report", page, "--write")
    assert answer.code == 0
    assert "in 2 cases" in answer.out
    assert "a = 3" in answer.out
    (found,) = json.loads(out.read_text())["parameters"]
    assert found["value"] == pytest.approx(0.5, abs=1e-6)
    assert "<img" in page.read_text()
    written = float(f"{found['value']:.9g}")
    assert design.read_text() == DESIGN.replace("k: 1.0 #", f"k: {written} #")
    again = spart("tune", design, "--start", out, "--samples", 0, "-q")
    assert (again.code, again.out) == (0, "")


def test_options_stand_for_the_section(spart, design):
    answer = spart("tune", design, "-p", "k={min: 0.1, max: 2, scale: log}", "--aggregate", "mean",
                   "--minimize", "(final(y) - 1)**2", "--samples", 4, "--searches", 1)  # fmt: skip
    assert answer.code == 0
    assert "0.4" in answer.out
    answer = spart("tune", design, "--maximize", "final(y)", "--claim", "all", "--samples", 0)
    assert answer.code == 0
    assert "never_exceeds y, most" in answer.out
    answer = spart("tune", design, "-c", "low=final(y) >= 0.9", "--samples", 0,
                   "--derivative-free", "--aggregate", "0.5", "--iterations", 30)  # fmt: skip
    assert answer.code == 0
    assert "at least 0.9" in answer.out


def test_what_cannot_be_fulfilled_has_the_exit_code_1(spart, design):
    answer = spart("tune", design, "-c", "low=final(y) <= 1", "-c", "high=final(y) >= 2")
    assert answer.code == 1
    assert "none fulfils all constraints" in answer.out
    assert "not fulfilled: high is " in answer.out
    assert "error: no design that was tried fulfils all constraints; " in answer.err
    assert ", asked is at " in answer.err


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["-c", "torque"], "--constraint torque: takes NAME=INEQUALITY"),
        (["-c", "a=peak(y)"], "tune.constraints.a: takes an inequality, as peak(tau) <= 2"),
        (["-c", "a=peak(z) <= 2"], "metric a: formula 'peak(z)', column 6: there is no signal 'z'"),
        (["-p", "k=[2, 1]"], "tune.parameters.k: min, 2.0, is not below max, 1.0"),
        (["-p", "q=[0, 1]"], "there is nothing named 'q'"),
        (["--claim", "settles y"], "expect: has no claim 'settles y'"),
        (["--aggregate", "best"], "tune.aggregate: takes worst, mean or {quantile: 0.95}"),
        (["--start", "none.json"], "cannot read none.json"),
        (["--out", "design.yaml"], "design.yaml"),
        (["--minimize", "final(y)", "--maximize", "final(a)"], "their parts need names"),
    ],
)
def test_what_is_wrong_is_told(spart, design, options, text):
    answer = spart("tune", design, *options)
    assert answer.code == 2
    assert text in answer.err


def test_a_file_without_the_section_says_what_is_needed(spart, design):
    design.write_text(DESIGN.partition("tune:")[0])
    answer = spart("tune", design)
    assert answer.code == 2
    assert "a design needs parameters\n  tune: {parameters: " in answer.err


@pytest.mark.parametrize("words", [[], ["servo"], ["ctrl.kp=1"], ["--loop", "servo"]])
def test_where_a_loop_is_meant_it_is_as_spart_live_with_a_hint(spart, words):
    today, before = spart("live", *words), spart("tune", *words)
    assert (before.code, before.out) == (today.code, today.out)
    note = "note: spart live sets parameters of a running loop; spart tune FILE searches a design\n"
    assert before.err == note + today.err


def test_a_file_that_is_missing_is_no_loop(spart, tmp_path):
    answer = spart("tune", tmp_path / "none.yaml")
    assert answer.code == 2
    assert "there is no such file" in answer.err


def test_ctrl_c_keeps_the_best_so_far(spart, design, tmp_path, monkeypatch):
    def interrupted(ticker, text):
        if text.startswith("step 2"):
            raise KeyboardInterrupt

    monkeypatch.setattr("spart_blocks.cli.terminal.Ticker.__call__", interrupted)
    out = tmp_path / "best.json"
    answer = spart("tune", design, "--out", out)
    assert answer.code == 1
    assert "not at its end: interrupted" in answer.out
    assert json.loads(out.read_text())["why"] == "interrupted"

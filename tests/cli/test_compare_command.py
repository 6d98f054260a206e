"""`spart compare`: tables, files and exit codes."""

from __future__ import annotations

import csv

import pytest

# x' = k (r - x) with a step of r at 1 s.
LAG = """
name: lag
variants:
  gain:
    default: slow
    choices:
      slow: {type: GAIN, K: 2.0}
      fast: {type: GAIN, K: 5.0}
blocks:
  goal: {type: STEP, T: 1.0, on: 2.0}
  error: {type: SUM, signs: "+-"}
  x: {type: INTEGRATOR}
  scope: {type: SCOPE}
wires:
  - goal -> error.0
  - x -> error.1, scope
  - error -> gain
  - gain -> x
compare:
  track: {x: goal}
  effort: [gain]
run: {T: 6}
"""


@pytest.fixture
def lag(tmp_path):
    (tmp_path / "lag.yaml").write_text(LAG, encoding="utf-8")
    return tmp_path / "lag.yaml"


def test_every_choice_is_compared_by_default(spart, lag, tmp_path):
    answer = spart("compare", lag, "--out", "table.csv")
    assert answer.code == 0
    rows = [line.split() for line in answer.out.splitlines()]
    assert ["tracking"] in rows
    [slow] = [row for row in rows if row[:2] == ["x", "slow"]]
    [fast] = [row for row in rows if row[:1] == ["fast"] and len(row) == 6]
    assert float(slow[4]) == pytest.approx(1.099, abs=2e-3)  # ln(9) / 2
    assert float(fast[3]) == pytest.approx(0.439, abs=2e-3)  # ln(9) / 5
    assert "running slow, fast" in answer.err
    with (tmp_path / "table.csv").open(newline="") as file:
        assert [row["case"] for row in csv.DictReader(file)] == ["slow", "slow", "fast", "fast"]
    picture = tmp_path / "out" / "lag-compare" / "scope.png"
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert "  out/lag-compare/scope.png" in answer.out.splitlines()


def test_choices_and_sets_of_values_are_combined(spart, lag, tmp_path):
    answer = spart(
        "compare", lag, "--variant", "gain=fast", "--case", "low:goal.on=1",
        "--case", "low:run.T=2", "--case", "plain:", "--set", "goal.T=0.5",
        "--t", "1", "-j", "1", "--plots", "figs", "-q",
    )  # fmt: skip
    assert (answer.code, answer.out, answer.err) == (0, "", "")
    assert (tmp_path / "figs" / "scope.png").exists()
    assert not (tmp_path / "out").exists()


def test_a_case_that_fails_is_reported_beside_the_others(spart, failing, tmp_path):
    answer = spart(
        "compare", failing, "--case", "good:one.value=9", "--case", "bad:", "-o", "t.csv"
    )
    assert answer.code == 1
    assert "error: case bad: " in answer.err
    assert "note: nothing says what should follow what" in answer.out
    assert (tmp_path / "t.csv").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--variant", "gain"], "--variant gain: it has no name or no value"),
        (["--variant", "gain=slow,slower"], "gain has no choice 'slower'"),
        (["--variant", "gian=slow"], "there is no slot 'gian'"),
        (["--case", "kp=3"], "--case kp=3: it has no name"),
        (["--case", "a:goal.on=x", "--case", "b:"], "--set goal.on=x: case a: on of goal"),
        (["--out", "table.npz"], "the file type is not known"),
        (["--t", "-1"], "run option T"),
    ],
)  # fmt: skip
def test_wrong_input_is_refused_before_anything_runs(spart, lag, tmp_path, words, message):
    answer = spart("compare", lag, *words)
    assert answer.code == 2
    assert message in answer.err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["lag.yaml"]


def test_a_file_without_variants_says_what_to_do(spart, ramp):
    answer = spart("compare", ramp)
    assert answer.code == 2
    assert "nothing to compare: the file has no variants" in answer.err
    assert "--case soft:kp=10" in answer.err


def test_help_has_an_example(spart):
    answer = spart("compare", "--help")
    assert answer.code == 0
    assert "spart compare diagrams/spacecraft_controllers.yaml" in answer.out

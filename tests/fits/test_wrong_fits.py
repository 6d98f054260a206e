"""What a fit refuses, with where it is wrong."""

import numpy as np
import pytest

import spart_blocks as sb

T = np.linspace(0, 2, 21)


@pytest.fixture
def good(measured):
    return measured("good.csv", T, x=np.exp(-T))


@pytest.mark.parametrize(
    ("parameters", "text"),
    [
        ({"q": None}, "'q'"),
        ({"k": [3, 1]}, "min, 3.0, is not below max, 1.0"),
        ({"k": [3, 4]}, "the search for k starts at 2, outside its bounds"),
        ({"k": {"min": -1, "scale": "log"}}, "with scale log it is above zero"),
        ({"k": 3}, "takes bounds"),
        ({"k": [[1, 2], 3]}, "k has shape"),
        ({"k": None, "gain.K": None}, "k and gain.K are one number"),
        ({}, "parameters"),
    ],
)
def test_wrong_parameters_are_refused(decay, good, parameters, text):
    with pytest.raises(sb.InputError, match=text):
        sb.fit(decay, parameters, {"run": {"file": str(good), "signals": {"x": "x"}}})


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"file": "none.csv"}, "none.csv"),
        ({"signals": {"y": "x"}}, "'y'"),
        ({"signals": {"x": "w"}}, "w"),
        ({"signals": {}}, "signals"),
        ({"since": 5}, "has no sample in its window; it covers 0 to 2 s"),
        ({"offset": -1}, "has samples before the run starts at 0 s"),
        ({"set": {"nothing": 3}}, "nothing"),
        ({"since": 2, "until": 1}, "ends before it begins"),
        ({"hold_out": True}, "every experiment is held out"),
    ],
)
def test_wrong_experiments_are_refused(decay, good, change, text):
    with pytest.raises(sb.SpartError, match=text):
        sb.fit(decay, {"k": None}, {"run": {"file": str(good), "signals": {"x": "x"}, **change}})


@pytest.mark.parametrize(
    ("rows", "text"),
    [
        ("0,1\n1,nan\n", "not finite|nan"),
        ("0,1\n1,2\n1,3\n", "m.csv"),
        ("0,1\n1,two\n", "m.csv:3"),
        ("0,1\n", "no sample after the start"),
    ],
)
def test_wrong_data_are_refused(decay, tmp_path, rows, text):
    path = tmp_path / "m.csv"
    path.write_text(f"t,x\n{rows}")
    with pytest.raises(sb.InputError, match=text):
        sb.fit(decay, {"k": None}, {"run": {"file": str(path), "signals": {"x": "x"}}})


def test_more_estimates_than_numbers_are_refused(decay, tmp_path):
    path = tmp_path / "m.csv"
    path.write_text("t,x\n0.5,1\n")
    with pytest.raises(sb.InputError, match="1 numbers were measured, and 2 are estimated"):
        sb.fit(decay, {"k": None, "x0": None},
               {"run": {"file": str(path), "signals": {"x": "x"}}})  # fmt: skip


def test_a_wrong_section_is_told_with_its_place(decay):
    text = (
        decay.read_text()
        + "fit:\n  parameters: {k: [0, 9]}\n  experiments:\n    run: {file: m.csv}\n"
    )
    decay.write_text(text)
    with pytest.raises(sb.DiagramError, match=r"decay.yaml:\d+:\d+: .*signals"):
        sb.fit(decay)


def test_a_measured_file_stays_below_the_root(decay):
    text = decay.read_text() + (
        "fit:\n  parameters: {k: [0, 9]}\n  experiments:\n"
        "    run: {file: ../../../etc/passwd.csv, signals: {x: x}}\n"
    )
    decay.write_text(text)
    with pytest.raises(sb.InputError, match="leaves the project"):
        sb.fit(decay)


def test_a_diagram_without_the_section_says_what_it_needs(decay):
    with pytest.raises(sb.InputError, match="fit"):
        sb.fit(decay)


@pytest.mark.filterwarnings("ignore:runs go one by one")
def test_a_run_without_a_derivative_is_told_and_fitted_by_values(tmp_path, measured):
    """w begins where its rate jumps, on either side of it with another v0. v0 = 3 m/s."""
    t = np.linspace(0.0, 0.6, 61)
    measured("ball.csv", t, y=3.0 * t - 0.5 * 9.81 * t**2)
    path = tmp_path / "ball.yaml"
    path.write_text(
        """
params: {v0: 2.5}
blocks:
  ball:
    type: HYBRID_SYSTEM
    states: [y, v, w]
    f: [v, "-9.81", "1 + 0.5*sign(w - 2.5)"]
    x0: [0, $v0, $v0]
  measured: {type: DATA, file: ball.csv, signals: [y]}
  apart: {type: SUM, signs: "+-"}
wires: [ball.y -> apart.0, measured -> apart.1]
run: {T: 0.6, sliding: filippov}
fit: {parameters: {v0: [1, 5]}, experiments: {file: ball.csv, signals: {ball.y: y}}}
tune:
  {parameters: {v0: [1, 5]}, minimize: "integral(apart**2)", search: derivative-free, samples: 4}
""",
        encoding="utf-8",
    )
    rest = {"file": "ball.csv", "signals": {"ball.y": "y"}, "offset": 2.0}
    with pytest.raises(sb.NoGradientError, match="spart tune --derivative-free makes"):
        sb.fit(path, experiments={"late": {**rest, "file": str(tmp_path / "ball.csv")}})
    assert sb.tune(path)["v0"] == pytest.approx(3.0, abs=0.01)

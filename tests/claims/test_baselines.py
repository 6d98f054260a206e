"""Baselines: text that comes back as it was, is compared at its tolerances, and is not trusted."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from spart_blocks.analysis.claims import farthest
from spart_blocks.base.errors import InputError
from spart_blocks.claims.baselines import (
    FORMAT,
    Baseline,
    bands,
    changes,
    names_of,
    read,
    record,
    taken,
    text_of,
)
from spart_blocks.claims.outcome import Change
from spart_blocks.diagram import RunOptions
from spart_blocks.diagram.sections.expectations import BaselineSection
from spart_blocks.results import FinalState, Results

T = np.linspace(0, 10, 101)
SECTION = BaselineSection()


@pytest.fixture
def known(results_of):
    matrix = np.stack([[np.cos(T), -np.sin(T)], [np.sin(T), np.cos(T)]]).transpose(2, 0, 1)
    return results_of(x=np.stack([np.sin(T), 1e6 * T], axis=1), R=matrix, k=np.arange(101))


@pytest.fixture
def recorded(known, tmp_path):
    """The baseline of `known`, on disk."""
    path = tmp_path / "baselines" / "known.csv"
    baseline = taken(known, names_of(SECTION, known), SECTION)
    record(Change(path, text_of(baseline, known, RunOptions()), ()))
    return path


def failing(path, results, names=(), **section):
    """The signals that do not hold, with the worst sample's time or the reason."""
    section = BaselineSection(**section)
    names = names or names_of(section, results)
    found = {}
    for name, band in bands(read(path), results, names, section):
        if isinstance(band, str):
            found[name] = band
        elif (miss := farthest(band)) is not None:
            found[name] = float(band.t[miss.sample])
    return found


def changed(results, results_of, name, change):
    signals = {key: np.array(x, float) for key, x in results.signals.items()}
    signals[name] = change(signals[name])
    return results_of(**signals)


def test_a_baseline_comes_back_to_12_digits(known, recorded):
    back = read(recorded)
    assert list(back.columns) == ["x[0]", "x[1]", "R[0,0]", "R[0,1]", "R[1,0]", "R[1,1]", "k"]
    np.testing.assert_allclose(back.t, T[::2], rtol=1e-12)
    np.testing.assert_allclose(back.columns["x[0]"], np.sin(back.t), rtol=0, atol=1e-12)
    np.testing.assert_allclose(back.columns["x[1]"], 1e6 * back.t, rtol=0, atol=1e-6)
    assert failing(recorded, known) == {}
    assert failing(recorded, known, rtol=0, atol=1e-5) == {}


def test_a_baseline_says_what_made_it(recorded):
    head = recorded.read_text().splitlines()
    assert head[:3] == [
        "# spart_blocks baseline 1",
        "# diagram: known",
        "# run: engine native, solver auto, rtol 1e-06, atol 1e-08",
    ]
    assert head[3] == "# made with: numpy 2.0"
    assert head[4] == 't,x[0],x[1],"R[0,0]","R[0,1]","R[1,0]","R[1,1]",k'


def test_the_same_run_gives_the_same_bytes(known, recorded):
    again = taken(known, names_of(SECTION, known), SECTION)
    assert text_of(again, known, RunOptions()).encode() == recorded.read_bytes()


def test_noise_below_the_digits_of_a_column_is_not_recorded(results_of):
    x = np.stack([np.sin(T), 1e-18 * np.cos(T)], axis=1)
    x[3, 0] += 1e-14
    columns = taken(results_of(x=x), ["x"], BaselineSection(samples=100)).columns
    assert columns["x[0]"][3] == round(np.sin(0.3), 12)
    assert not columns["x[1]"].any()


@pytest.mark.parametrize(("samples", "rows"), [(50, 51), (2, 3), (30, 26), (100, 101), (5000, 101)])
def test_about_so_many_samples_are_taken_the_first_and_the_last_among_them(known, samples, rows):
    baseline = taken(known, ["k"], BaselineSection(samples=samples))
    assert len(baseline.t) == rows
    assert (baseline.t[0], baseline.t[-1]) == (0, 10)
    assert np.ptp(np.diff(baseline.t)[:-1]) < 1e-12


def test_where_a_stop_ended_the_run_is_not_recorded(results_of):
    """That time depends on the solver's tolerances; the end of a whole run does not."""
    t = [0, 1, 2, 3, 3.217]
    x = np.arange(5.0)
    assert taken(results_of(t=t, T=10, x=x), ["x"], SECTION).t.tolist() == [0, 1, 2, 3]
    assert taken(results_of(t=t, T=3.217, x=x), ["x"], SECTION).t.tolist() == t


@given(value=st.floats(-1e3, 1e3), rtol=st.floats(1e-6, 1e-1), atol=st.floats(1e-6, 1e-1))
@example(value=0.0, rtol=1e-4, atol=1e-6)
def test_the_tolerance_is_atol_and_rtol_of_the_largest_magnitude(value, rtol, atol):
    t = np.array([0.0, 1.0, 2.0])
    x = np.array([0.0, value, -value / 2])
    section = BaselineSection(rtol=rtol, atol=atol)

    def holds(part):
        got = x + np.array([0, 0, part * (atol + rtol * abs(value))])
        run = Results(t=t, signals={"x": got}, states={}, final_state=FinalState(2.0))
        [(_, band)] = bands(Baseline(t, {"x": x}), run, ["x"], section)
        return farthest(band) is None

    assert holds(1 - 1e-6)
    assert not holds(1 + 1e-6)


def test_the_signal_and_time_that_differ_are_named(known, recorded, results_of):
    def bump(x):
        x[40, 1] += 2e3  # 1e-4 of 1e7 is allowed
        return x

    assert failing(recorded, changed(known, results_of, "x", bump)) == {"x": 4.0}


@pytest.mark.parametrize(
    ("t", "message"),
    [
        (np.linspace(0, 10, 91), "keeps no sample at t = 0.2 s"),
        (np.linspace(0, 8, 81), "the run ends at t = 8 s, the baseline at 10 s"),
        (np.linspace(0, 12, 121), "the run goes on to t = 12 s, the baseline ends at 10 s"),
    ],
)
def test_a_sample_time_without_its_like_is_a_failure(recorded, results_of, t, message):
    found = failing(recorded, results_of(t=t, x=np.zeros((len(t), 2))))
    assert list(found) == [""]
    assert message in found[""]
    assert "spart test --update" in found[""]


def test_sample_times_are_equal_up_to_rounding(recorded, known, results_of):
    t = np.nextafter(T, 11)
    assert failing(recorded, results_of(t=t, **known.signals)) == {}


def test_signals_that_are_new_or_gone_are_failures(known, recorded, results_of):
    found = failing(recorded, results_of(x=known["x"], R=known["R"], new=np.zeros((101, 2))))
    assert found["new"].startswith("new[0], new[1] are not in the baseline")
    assert found[""].startswith("k is in the baseline but recorded no more")


def test_nothing_to_record_is_refused(results_of):
    with pytest.raises(InputError, match="no signals to record"):
        names_of(SECTION, results_of())


def test_changes_name_the_largest_difference_and_when(known, results_of):
    old = taken(known, ["x", "k"], SECTION)
    other = known["x"].copy()
    other[40, 0] += 0.25
    results = results_of(x=other, y=T)
    lines = changes(old, taken(results, ["x", "y"], SECTION))
    assert lines == (
        f"x[0]: by 0.25 at most, at t = 4 s from {np.sin(4):.9g} to {np.sin(4) + 0.25:.9g}",
        "y: new",
        "k: gone",
    )
    assert changes(old, old) == ()
    [line] = changes(old, taken(known, ["x", "k"], BaselineSection(samples=10)))
    assert line == "samples: 51 to 10 s become 11 to 10 s"


# Files that are not what they should be

HEAD = f"{FORMAT}\n# diagram: known\n"
BROKEN = {
    "another version": ("# spart_blocks baseline 2\nt,x\n0,1\n", 1, "this version reads"),
    "no columns": (HEAD, None, "has no row of names"),
    "no rows": (HEAD + "t,x\n", 3, "no rows of finite numbers follow"),
    "no time": (HEAD + "x,y\n0,1\n", 3, "the columns must be t and the signals"),
    "no signals": (HEAD + "t\n0\n", 3, "the columns must be t and the signals"),
    "a column twice": (HEAD + "t,x,x\n0,1,1\n", 3, "each once"),
    "a short row": (HEAD + "t,x\n0,1\n1\n", 5, "the row has 1 cells, the header 2"),
    "a long row": (HEAD + "t,x\n0,1\n1,2,3\n", 5, "the row has 3 cells, the header 2"),
    "a word": (HEAD + "t,x\n0,1\n1,two\n", 5, "column 'x' needs finite numbers, not 'two'"),
    "nan": (HEAD + "t,x\n0,nan\n", 4, "needs finite numbers, not 'nan'"),
    "infinity": (HEAD + "t,x\n0,1e999\n", 4, "needs finite numbers, not '1e999'"),
    "an underscore": (HEAD + "t,x\n0,1_0\n", 4, "needs finite numbers, not '1_0'"),
    "times that fall": (HEAD + "t,x\n0,1\n2,1\n1,1\n", 6, "t does not rise"),
    "a time twice": (HEAD + "t,x\n0,1\n0,1\n", 5, "t does not rise"),
    "a merge conflict": (
        HEAD + "t,x\n0,1\n<<<<<<< ours\n1,2\n",
        5,
        "the row has 1 cells, the header 2",
    ),
    "an open quote": (HEAD + 't,"x\n0,1\n', 3, "unexpected end of data"),
}


@pytest.mark.parametrize(("text", "line", "message"), BROKEN.values(), ids=BROKEN)
def test_a_broken_baseline_is_told_at_its_line(tmp_path, text, line, message):
    path = tmp_path / "broken.csv"
    path.write_text(text)
    with pytest.raises(InputError) as error:
        read(path)
    assert (f"{path}:{line}:" if line else str(path)) in str(error.value)
    assert message in str(error.value)
    assert "spart test --update" in str(error.value)


def test_a_file_that_is_no_baseline_is_not_to_be_recorded_over(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("t,x\n0,1\n")
    with pytest.raises(InputError) as error:
        read(path)
    assert f"{path}:1: is no baseline" in str(error.value)
    assert "--update" not in str(error.value)


def test_what_is_too_large_or_no_text_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "b.csv"
    path.write_bytes(HEAD.encode() + b"t,x\n0,\xff\n")
    with pytest.raises(InputError, match=r"b.csv:4: is not UTF-8 text"):
        read(path)
    monkeypatch.setattr("spart_blocks.claims.baselines.MAX_BYTES", 30)
    with pytest.raises(InputError, match="larger than 30 bytes"):
        read(path)
    with pytest.raises(InputError, match="cannot be read"):
        read(tmp_path / "none.csv")


@given(text=st.text(alphabet="t,x01e-+.\"'\n#\r\0 ", max_size=60))
def test_any_text_is_a_baseline_or_refused(tmp_path_factory, text):
    path = tmp_path_factory.getbasetemp() / "any.csv"
    path.write_bytes((HEAD + text).encode())
    try:
        back = read(path)
    except InputError as error:
        message = str(error)
    else:
        assert np.isfinite([back.t, *back.columns.values()]).all()
        return
    assert str(path) in message

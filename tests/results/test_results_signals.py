"""Signals are found by name, short name and slice; anything else is explained."""

from __future__ import annotations

import dataclasses
import subprocess
import sys

import numpy as np
import pytest

from spart_blocks.base.errors import InputError
from spart_blocks.results import FinalState, Results, ScopeSpec


def test_names_short_names_and_slices_reach_the_same_numbers(run):
    q = run.signals["plant.qm"]
    assert run["plant.qm"] is q
    assert run["ctrl"] is run.signals["ctrl.tau"]
    np.testing.assert_array_equal(run["plant.qm[0]"], q[:, 0])
    np.testing.assert_array_equal(run["plant.qm[-1]"], q[:, 2])
    np.testing.assert_array_equal(run["plant.qm[0:2]"], q[:, :2])
    np.testing.assert_array_equal(run["plant.qm[::2]"], q[:, ::2])
    np.testing.assert_array_equal(run["ctrl[1:]"], run["ctrl.tau"][:, 1:])
    np.testing.assert_array_equal(run["plant.Mm[1, 0]"], run["plant.Mm"][:, 1, 0])
    np.testing.assert_array_equal(run["plant.Mm[0]"], run["plant.Mm"][:, 0])
    np.testing.assert_array_equal(run["states.plant[3]"], run.states["plant"][:, 3])


def test_results_are_a_collection_of_the_kept_signals(run):
    assert list(run) == list(run.keys()) == ["plant.qm", "ctrl.tau", "plant.Mm", "clock.k"]
    assert len(run) == 4
    assert "plant.qm" in run
    assert "ctrl" in run
    assert "ctrl[0]" in run
    assert "plant.um" not in run
    assert 3 not in run
    assert run.scale("ctrl") == np.abs(run["ctrl.tau"]).max()


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("plant.qn", "no signal 'plant.qn' in the results\n  did you mean 'plant.qm'"),
        ("plant", "plant is a block with several signals\n  it has plant.qm, plant.Mm"),
        ("plant.qm[3]", "'plant.qm[3]': index 3 is out of range, the size is 3"),
        ("plant.qm[0:4]", "bound 4 is out of range, the size is 3"),
        ("plant.qm[2:1]", "the slice is empty"),
        ("plant.qm[::0]", "step 0"),
        ("plant.qm[a]", "'a' is not an index; write [0], [0:2], [:] or [0,1]"),
        ("plant.qm[]", "is not an index"),
        ("plant.qm[0,1]", "too many indices, each sample has shape (3,)"),
        ("clock.k[0]", "too many indices, the signal is a scalar"),
        ("plant.qn[0]", "did you mean 'plant.qm'"),
    ],
)
def test_a_wrong_name_says_what_would_be_right(run, name, text):
    with pytest.raises(InputError) as error:
        run[name]
    assert text in str(error.value)


def test_results_without_signals_say_how_to_keep_one():
    empty = Results(np.zeros(0), {}, {}, FinalState(0.0))
    with pytest.raises(InputError, match="name it under run: log:"):
        empty["plant.qm"]
    assert "signals kept: none" in empty.summary()
    assert empty.plot() == []


def test_a_signal_that_was_not_kept_is_computed_once(run):
    asked = []

    def recompute(name: str) -> np.ndarray:
        asked.append(name)
        if name != "plant.um":
            raise KeyError(name)
        return np.ones((21, 3))

    run = dataclasses.replace(run, recompute=recompute)
    assert run["plant.um[1]"].shape == (21,)
    assert run["plant.um"].shape == (21, 3)
    assert asked == ["plant.um"]
    with pytest.raises(InputError, match=r"no signal 'plant.up'"):
        run["plant.up"]


def test_a_computed_signal_of_the_wrong_length_is_refused(run):
    run = dataclasses.replace(run, recompute=lambda name: np.ones(3))
    with pytest.raises(InputError, match=r"plant.um has shape \(3,\), takes \(21, ...\)"):
        run["plant.um"]


def test_results_cannot_be_changed_by_accident(run):
    with pytest.raises(ValueError, match="read-only"):
        run["plant.qm"][0] = 1.0
    with pytest.raises(dataclasses.FrozenInstanceError):
        run.t = np.zeros(3)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"t": np.zeros((3, 2))}, r"t has shape \(3, 2\), takes \(N,\)"),
        ({"signals": {"a.b": np.zeros(3)}}, r"a.b has shape \(3,\), takes \(21, ...\)"),
        ({"signals": {"a.b": np.array(1.0)}}, r"a.b has shape \(\)"),
        ({"states": {"a": np.array([object()] * 21)}}, "a holds object, takes numbers"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(run, change, text):
    with pytest.raises(InputError, match=text):
        dataclasses.replace(run, **change)


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"kind": "polar"}, "takes 'time' or 'xy'"),
        ({"scale": (1.0, 2.0, 3.0)}, r"should be \(min, max\)"),
        ({"kind": "xy", "signals": ("a",)}, "takes two signals"),
        ({"signals": ("a", "b"), "held": (True,)}, "held has 1 entries for 2 signals"),
    ],
)
def test_a_scope_checks_itself(fields, text):
    with pytest.raises(InputError, match=text):
        ScopeSpec("s", **fields)


def test_the_table_has_one_column_for_each_element(run):
    table = run.table("plant.qm[1:]", "clock.k", "plant.Mm")
    assert list(table) == [
        "t", "plant.qm[1]", "plant.qm[2]", "clock.k",
        "plant.Mm[0,0]", "plant.Mm[0,1]", "plant.Mm[1,0]", "plant.Mm[1,1]",
    ]  # fmt: skip
    np.testing.assert_array_equal(table["plant.qm[2]"], run["plant.qm"][:, 2])
    np.testing.assert_array_equal(table["plant.Mm[1,0]"], run["plant.Mm"][:, 1, 0])
    assert "states.plant[5]" in run.table()
    assert list(run.to_dict()) == ["t", *run.keys()]


def test_results_are_taken_to_other_times(run):
    part = run.at([0.05, 1.0, 2.0])
    np.testing.assert_array_equal(part.t, [0.05, 1.0, 2.0])
    np.testing.assert_allclose(part["plant.qm"][0], run["plant.qm"][:2].mean(axis=0))
    np.testing.assert_array_equal(part["plant.qm"][1:], run["plant.qm"][[10, 20]])
    assert part["plant.Mm"].shape == (3, *run["plant.Mm"].shape[1:])
    jump = dataclasses.replace(
        run, t=np.array([0.0, 1.0, 1.0]), signals={"u": np.array([0.0, 0.0, 5.0])}, states={}
    )
    np.testing.assert_array_equal(jump.at([0.5, 1.0])["u"], [0.0, 5.0])
    assert run.at([])["plant.qm"].shape == (0, *run["plant.qm"].shape[1:])
    for wrong in ([-1.0], [0.0, 3.0], [1.0, 0.5], [[1.0]], [np.nan]):
        with pytest.raises(InputError, match="times"):
            run.at(wrong)
    with pytest.raises(InputError, match="no signal"):
        part["nothing"]


def test_the_summary_tells_the_run_in_a_page(run):
    text = run.summary()
    for piece in (
        "arm-pd: complete",
        "0 to 2 s",
        "samples           21",
        "solver            RK45",
        "wall time         0.5 s\n",
        "real-time factor  4",
        "plant.qm",
        "rad",
        "qd: step",
    ):
        assert piece in text
    versions = {**run.info, "numpy": "2.0.1", "scipy": "1.9"}
    made = dataclasses.replace(run, info=versions)
    assert "2.0.1" not in made.summary()
    assert made.summary(versions=True).endswith("made with numpy 2.0.1, scipy 1.9")
    stopped = dataclasses.replace(run, complete=False, stopped="Ctrl-C").summary()
    assert "stopped early: Ctrl-C" in stopped


def test_importing_results_loads_neither_matplotlib_nor_scipy_nor_bdsim():
    code = (
        "import sys, spart_blocks.results\n"
        "heavy = {'matplotlib', 'scipy', 'bdsim'} & set(sys.modules)\n"
        "sys.exit(', '.join(heavy) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr

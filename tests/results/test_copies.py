"""Results go through pickles and copies, whole and read-only."""

from __future__ import annotations

import copy
import dataclasses
import pickle

import numpy as np
import pytest


def pickled(results):
    return pickle.loads(pickle.dumps(results))


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, pickled])
def test_a_copy_has_all_that_the_results_have(run, again):
    other = again(run)
    assert other is not run
    np.testing.assert_array_equal(other.t, run.t)
    for part in ("signals", "states"):
        mine, theirs = getattr(run, part), getattr(other, part)
        assert list(theirs) == list(mine)
        for name in mine:
            np.testing.assert_array_equal(theirs[name], mine[name])
            assert not theirs[name].flags.writeable
    np.testing.assert_array_equal(
        other.final_state.continuous["plant"], run.final_state.continuous["plant"]
    )
    assert not other.final_state.discrete["hold"].flags.writeable
    for part in (
        "scopes",
        "events",
        "info",
        "aliases",
        "units",
        "levels",
        "diagram_name",
        "complete",
    ):
        assert getattr(other, part) == getattr(run, part)


def test_a_deep_copy_shares_no_numbers_and_computes_as_before(run):
    run = dataclasses.replace(run, recompute=lambda name: np.full(21, 7.0))
    other = copy.deepcopy(run)
    assert not np.shares_memory(other["plant.qm"], run["plant.qm"])
    np.testing.assert_array_equal(other["plant.um"], 7.0)


def test_what_cannot_go_into_a_pickle_is_left_out(run):
    run = dataclasses.replace(run, recompute=lambda name: np.full(21, 7.0))
    other = pickled(run)
    assert other.recompute is None
    np.testing.assert_array_equal(pickled(run.at([0.5]))["plant.qm"], run.at([0.5])["plant.qm"])

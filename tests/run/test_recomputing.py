"""Signals that a run has not kept, after its results were copied or pickled."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import spart_blocks as sb
from spart_blocks.base.errors import InputError

SPACECRAFT = "diagrams/spacecraft_pd.yaml"
SAMPLED = "diagrams/arm_over_udp.yaml"


@pytest.fixture(scope="module")
def results(request):
    return sb.simulate(request.config.rootpath / SPACECRAFT, T=1)


def test_a_pickle_computes_what_was_not_kept(results):
    other = pickle.loads(pickle.dumps(results))
    again = pickle.loads(pickle.dumps(other))
    for name in ("plant.um", "rates.plant"):
        assert name not in other
        np.testing.assert_array_equal(other[name], results[name])
        np.testing.assert_array_equal(again[name], results[name])
    np.testing.assert_array_equal(
        other.config("plant", "Joint_2").ddq, results.config("plant", "Joint_2").ddq
    )
    times = [0.25, 0.5]
    moved = pickle.loads(pickle.dumps(results.at(times)))
    np.testing.assert_array_equal(moved["plant.um"], results.at(times)["plant.um"])


def test_a_deep_copy_computes_what_was_not_kept(results):
    np.testing.assert_array_equal(copy.deepcopy(results)["plant.um"], results["plant.um"])


def test_discrete_states_are_put_back_in_their_places(pytestconfig):
    results = sb.simulate(pytestconfig.rootpath / SAMPLED, T=0.2)
    other = pickle.loads(pickle.dumps(results))
    names = [name for name in results._ipython_key_completions_() if name not in results]
    assert names
    for name in names:
        np.testing.assert_array_equal(other[name], results[name], err_msg=name)


def test_a_pickle_of_an_interpreted_run_says_that_it_cannot(pytestconfig):
    results = sb.simulate(pytestconfig.rootpath / SPACECRAFT, T=0.1, engine="interpreter")
    assert len(results["plant.u0"]) == len(results.t)
    other = pickle.loads(pickle.dumps(results))
    assert "plant.um" not in other
    with pytest.raises(InputError, match=r"plant\.um was not kept.*\n.*log: \[plant\.um\]"):
        other["plant.um"]
    with pytest.raises(InputError, match="did you mean"):
        other["plant.unn"]


def test_signals_that_can_be_computed_complete_in_a_notebook(results):
    offered = results._ipython_key_completions_()
    assert {"plant.um", "ctrl.tau", "rates.plant", "states.plant.qm.Joint_1"} <= set(offered)
    assert len(results["states.plant.qm.Joint_1"]) == len(results.t)

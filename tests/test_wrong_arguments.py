"""Arguments of the wrong kind are refused in a line of ours, whatever they are."""

from __future__ import annotations

import numpy as np
import pytest

import spart_blocks as sb
from spart_blocks.base.errors import InputError, SpartError

FILE = "diagrams/spacecraft_pd.yaml"
ODD = [3, None, object(), b"x", [1], (), {"a": 1}, float("nan"), np.array([1.0, np.nan]), "no"]


pytestmark = pytest.mark.filterwarnings("ignore::spart_blocks.base.errors.SpartWarning")


@pytest.fixture(scope="module")
def diagram():
    return sb.load(FILE)


@pytest.fixture(scope="module")
def rested(diagram):
    return sb.simulate(diagram, T=60, solver="RK45", rtol=1e-6)


@pytest.fixture(scope="module")
def system(diagram, rested):
    return sb.linearize(diagram, inputs="plant.taum", outputs="plant.qm", at=rested)


def refused(call, value):
    """Whether a call takes a value, or refuses it as all errors here are."""
    try:
        call(value)
    except SpartError as error:
        text = str(error)
        assert not [bad for bad in ("Error:", "object has no", "attribute '") if bad in text]
    return True


RESULTS = {
    "[]": lambda r, v: r[v],
    "at": lambda r, v: r.at(v),
    "scale": lambda r, v: r.scale(v),
    "unit": lambda r, v: r.unit(v),
    "labels": lambda r, v: r.labels(v),
    "table": lambda r, v: r.table(v),
    "to_dataframe": lambda r, v: r.to_dataframe(v),
    "to_xarray": lambda r, v: r.to_xarray(v),
    "plot": lambda r, v: r.plot(v),
    "configs": lambda r, v: r.configs(v),
    "config": lambda r, v: r.config("plant", v),
    "save": lambda r, v: r.save(v),
    "save_plots": lambda r, v: r.save_plots("no_folder", v),
    "load": lambda r, v: type(r).load(v),
}


def named(value):
    """The same in every process: an object alone is shown with its address."""
    return "object" if type(value) is object else repr(value)


@pytest.mark.parametrize("what", RESULTS)
@pytest.mark.parametrize("value", ODD, ids=named)
def test_results_take_names_times_and_paths(what, value, rested, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert refused(lambda v: RESULTS[what](rested, v), value)


@pytest.mark.parametrize("what", ["bode", "frequency_response", "plot", "save"])
@pytest.mark.parametrize("value", ODD, ids=named)
def test_a_linear_system_takes_frequencies_and_paths(what, value, system, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert refused(getattr(system, what), value)


@pytest.mark.parametrize("what", ["inputs", "outputs", "open_at", "at", "t"])
def test_linearize_takes_names_and_a_point(what, diagram, rested):
    given = {"inputs": "plant.taum", "outputs": "plant.qm", "at": rested}
    for value in ODD:
        if not (what == "at" and value is None):
            assert refused(lambda v: sb.linearize(diagram, **{**given, what: v}), value)


OPTIONS = "engine initial progress overrides variants blocks T solver rtol atol max_step every log"


@pytest.mark.parametrize("what", [*OPTIONS.split(), "first_tick", "sliding"])
def test_simulate_takes_options(what):
    for value in ODD:
        assert refused(lambda v: sb.simulate(FILE, **{"T": 0.01, what: v}), value)


def test_results_of_another_diagram_are_named(diagram, tmp_path):
    path = sb.simulate("diagrams/dual_arm.yaml", T=0.1).save(tmp_path / "other.npz")
    for call in (
        lambda: sb.linearize(diagram, inputs="plant.taum", outputs="plant.qm", at=path),
        lambda: sb.simulate(diagram, initial=path),
    ):
        with pytest.raises(InputError, match=r"of another diagram, 'dual-arm'"):
            call()


def test_a_file_of_another_kind_is_no_file_of_blocks():
    with pytest.raises(InputError, match=r"dual_arm\.yaml is no file of blocks\n.*\.py"):
        sb.load(FILE, blocks=["diagrams/dual_arm.yaml"])

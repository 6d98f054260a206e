"""What a call of `simulate` changes of a diagram: run options, and values of its file."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import spart_blocks as sb
from spart_blocks.base.errors import DiagramError, InputError
from spart_blocks.diagram import RunOptions
from spart_blocks.run.engines import from_file
from spart_blocks.run.simulate import RunChanges

TEXT = """
params: {gain: [2.0, 3.0]}
blocks:
  goal: {type: STEP, T: 0.1, on: 1.0}
  amplify: {type: GAIN, K: $gain}
  scope: {type: SCOPE}
wires: [goal -> amplify, amplify -> scope]
run: {T: 1.0, every: 0.25}
"""


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.setenv("SPART_CACHE", str(tmp_path / "cache"))
    path = tmp_path / "gain.yaml"
    path.write_text(TEXT)
    return path


def test_every_run_option_is_a_parameter():
    parameters = inspect.signature(sb.simulate).parameters
    assert set(RunOptions.model_fields) <= set(parameters)
    assert set(RunOptions.model_fields) == set(RunChanges.__annotations__)


def test_a_checker_refuses_other_names():
    """`Never` takes no value, so that mypy and pyright report `Tend=5`."""
    assert sb.simulate.__annotations__["unknown"] == "Never"


@pytest.mark.parametrize("engine", ["native", "interpreter"])
def test_options_take_the_place_of_the_files(file, engine):
    whole = sb.simulate(file, engine=engine)
    assert whole.t.tolist() == [0.0, 0.25, 0.5, 0.75, 1.0]
    assert sb.simulate(file, engine=engine, T=0.5, every=0.5).t.tolist() == [0.0, 0.5]
    assert sb.simulate(file, engine=engine, every=None).info["record"] == "lines"
    assert "goal" in sb.simulate(file, engine=engine, log="goal")


@pytest.mark.parametrize("engine", ["native", "interpreter"])
def test_a_call_logs_what_its_file_may_log(engine):
    """Accelerations come from a block that is made when someone asks for them."""
    names = ["plant.umdot[0]", "plant.qm"]
    path, options = "diagrams/spacecraft_pd.yaml", {"T": 0.01, "engine": engine}
    results = sb.simulate(path, log=names, **options)
    by_file = sb.simulate(path, overrides={"run.log": names}, **options)
    np.testing.assert_array_equal(results["plant.umdot"], by_file["plant.umdot"])


@pytest.mark.parametrize("engine", ["native", "interpreter"])
def test_a_signal_that_is_none_is_told_with_the_nearest(engine):
    with pytest.raises(InputError, match=r"no port 'umdto'.*\n.*did you mean 'umdot'"):
        sb.simulate("diagrams/spacecraft_pd.yaml", T=0.1, log="plant.umdto", engine=engine)


def test_a_wrong_name_is_told_with_the_right_one(file):
    with pytest.raises(InputError, match=r"there is no run option 'rtoll'\n  did you mean 'rtol'"):
        sb.simulate(file, rtoll=1e-3)


@pytest.mark.parametrize(
    "overrides",
    [
        {"params.gain": [5.0, 7.0]},
        {"gain": np.array([5.0, 7.0])},
        ["params.gain=[5, 7]"],
        "gain=[5, 7]",
        {"blocks.amplify.K": (5.0, 7.0)},
    ],
)
def test_overrides_are_those_of_the_command(file, overrides):
    results = sb.simulate(file, overrides=overrides)
    np.testing.assert_array_equal(results["amplify"][-1], [5.0, 7.0])
    np.testing.assert_array_equal(sb.simulate(file)["amplify"][-1], [2.0, 3.0])


def test_overridden_files_are_kept_too(file, monkeypatch):
    count = []
    load = from_file.DiagramFile.load

    def counted(file, *given):
        count.append(file)
        return load(file, *given)

    monkeypatch.setattr(from_file.DiagramFile, "load", counted)
    for gain in (5.0, 7.0, 5.0):
        results = sb.simulate(file, overrides={"gain": [gain, gain]})
        np.testing.assert_array_equal(results["amplify"][-1], [gain, gain])
    assert len(count) == 2


@pytest.mark.parametrize(
    ("overrides", "text"),
    [
        ({"gian": 3}, "there is nothing named 'gian'\n  did you mean 'gain'"),
        (["gain"], "has no path or no value"),
        ({"gain": object()}, "override gain: .* has no place in a diagram file\n  give a number"),
        ({"gain": float("nan")}, "override gain: nan has no place in a diagram file"),
    ],
)
def test_a_wrong_override_is_told(file, overrides, text):
    with pytest.raises(InputError, match=text):
        sb.simulate(file, overrides=overrides)


def test_a_loaded_diagram_takes_no_overrides(file):
    with pytest.raises(
        InputError, match=r"apply to a file when it is loaded\n.*pass them to sb.load"
    ):
        sb.simulate(sb.load(file), overrides={"gain": 3.0})


def test_a_value_of_the_wrong_kind_is_told(file):
    with pytest.raises((InputError, DiagramError), match="run option T: Input should be greater"):
        sb.simulate(file, T=-1.0)

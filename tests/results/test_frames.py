"""Results as tables of pandas and data sets of xarray, with names and units."""

from __future__ import annotations

import dataclasses
import re
import sys

import numpy as np
import pytest

from spart_blocks.base.errors import InputError, pip_install

NAMES = ("qm.shoulder", "qm.elbow", "qm.wrist", "um.shoulder", "um.elbow", "um.wrist")


@pytest.fixture
def named(run):
    units = {**run.units, "plant.um": "rad/s"}
    return dataclasses.replace(run, state_names={"plant": NAMES}, units=units)


def test_a_dataframe_has_the_columns_of_the_csv_file(named, tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = named.to_dataframe()
    read = pandas.read_csv(named.save(tmp_path / "run.csv"))
    pandas.testing.assert_frame_equal(read, frame, check_dtype=False, check_exact=True)
    assert "states.plant.qm.elbow" in frame.columns
    np.testing.assert_array_equal(frame["t"], named.t)
    assert list(named.to_dataframe("ctrl", "plant.qm[1:]").columns) == [
        "t", "ctrl[0]", "ctrl[1]", "ctrl[2]", "plant.qm[1]", "plant.qm[2]",
    ]  # fmt: skip


def test_a_dataframe_knows_the_unit_of_each_column(named):
    pytest.importorskip("pandas")
    frame = named.to_dataframe()
    units = frame.attrs["units"]
    assert list(units) == list(frame.columns)
    assert units["t"] == "s"
    assert units["ctrl.tau[2]"] == "N m"
    assert units["states.plant.qm.elbow"] == "rad"
    assert units["states.plant.um.elbow"] == "rad/s"
    assert units["clock.k"] == ""
    assert frame.attrs["diagram"] == "arm-pd"


def test_a_data_set_has_a_variable_for_each_signal(named):
    pytest.importorskip("xarray")
    data = named.to_xarray()
    assert list(data.data_vars) == [*named, "states.plant"]
    assert data["plant.qm"].attrs["units"] == "rad"
    assert data["t"].attrs["units"] == "s"
    assert data["plant.Mm"].dims == ("t", "plant.Mm.0", "plant.Mm.1")
    elbow = data["states.plant"].sel({"states.plant.0": "qm.elbow"})
    np.testing.assert_array_equal(elbow, named.states["plant"][:, 1])
    assert data.attrs["diagram"] == "arm-pd"
    assert list(named.to_xarray("clock.k").data_vars) == ["clock.k"]


@pytest.mark.parametrize(
    ("package", "method"), [("pandas", "to_dataframe"), ("xarray", "to_xarray")]
)
def test_without_the_package_the_error_says_how_to_install_it(run, monkeypatch, package, method):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(InputError, match=re.escape(pip_install(package))):
        getattr(run, method)()


def test_a_state_goes_by_its_name(named):
    np.testing.assert_array_equal(named["states.plant.um.wrist"], named.states["plant"][:, 5])
    assert named.unit("states.plant.um.wrist") == "rad/s"
    with pytest.raises(InputError, match=r"did you mean 'states\.plant"):
        named["states.plant.um.wrst"]
    odd = dataclasses.replace(named, state_names={"plant": ("q",) * 6})
    assert "states.plant[5]" in odd.table()  # names that are not different are no names


def test_names_complete_in_a_notebook(named):
    offered = named._ipython_key_completions_()
    assert offered == [
        *named, "ctrl", "states.plant", *(f"states.plant.{name}" for name in NAMES),
    ]  # fmt: skip
    for name in offered:
        assert len(named[name]) == 21


def test_states_by_name_are_read_from_a_csv_file(named, tmp_path):
    from spart_blocks.results.recordings import read_recording

    path = named.save(tmp_path / "run.csv")
    found = read_recording(path, ["states.plant", "states.plant.qm.elbow"])
    np.testing.assert_array_equal(found["states.plant"].values, named.states["plant"])
    np.testing.assert_array_equal(
        found["states.plant.qm.elbow"].values, named.states["plant"][:, 1]
    )

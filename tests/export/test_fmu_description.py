"""What an FMU says of itself: names, units, bounds, and what depends on what."""

from pathlib import Path

import fmpy
import pytest
from fmpy.validation import validate_fmu

from spart_blocks.base.errors import InputError
from spart_blocks.export import export_fmu
from spart_blocks.export.fmu.description import base_units
from spart_blocks.export.fmu.variables import structured
from spart_blocks.program.subdiagram import subdiagram_of

CHAIN = """
name: a chain
blocks:
  u: {type: CONSTANT, value: [1.0, 2.0]}
  gain: {type: GAIN, K: 2.0}
  x: {type: INTEGRATOR, x0: [0.0, 0.0]}
  y: {type: GAIN, K: 3.0}
  through: {type: GAIN, K: 4.0}
wires: [u -> gain, gain -> x, x -> y, u -> through]
run: {T: 2, log: [y, through]}
export: {outputs: [through], bounds: {y.K: [0, 10]}}
"""


@pytest.fixture
def described(part_from, tmp_path, monkeypatch):
    """The description of the chain's FMU, by version."""
    monkeypatch.setenv("SPART_COMPILER", "none")

    def make(version):
        with pytest.warns(match="only sources"):
            path = export_fmu(part_from(CHAIN, "gain", "x", "y", "through"), tmp_path, version)
        assert validate_fmu(str(path)) == []
        return fmpy.read_model_description(str(path))

    return make


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("plant.qm", "plant.qm"),
        ("left/pd.tau", "left.pd.tau"),
        ("plant.qm[0:3]", "plant.qm_0_3"),
        ("plant.u0[-3:]", "plant.u0_m3"),
        ("plant.tau0=0", "plant.'tau0=0'"),
        ("a b", "'a b'"),
        ("2nd.K", "'2nd'.K"),
        ("été.x", "'_t_'.x"),
        ("it's", "'it_s'"),
    ],
)
def test_names_follow_the_structured_convention(title, name):
    assert structured(title) == name


@pytest.mark.parametrize(
    ("unit", "base"),
    [
        ("rad", {"rad": 1}),
        ("kg m^2", {"kg": 1, "m": 2}),
        ("N m s", {"kg": 1, "m": 2, "s": -1}),
        ("rad/s^2", {"rad": 1, "s": -2}),
        ("parsec", None),
    ],
)
def test_units_are_told_in_base_units(unit, base):
    assert base_units(unit) == base


def test_outputs_and_derivatives_depend_on_what_they_read(described):
    for version in (3, 2):
        found = described(version)

        def names(unknowns):
            return {u.variable.name: {v.name for v in u.dependencies} for u in unknowns}

        if version == 3:
            assert names(found.outputs) == {"y": {"x.x"}, "through": {"u"}}
            assert names(found.derivatives) == {"der(x.x)": {"u"}}
            start = names(found.initialUnknowns)
            assert start["y"] == {"y.K", "x.x0"}
            assert start["x.x"] == {"x.x0"}
        else:
            assert names(found.outputs)["y[2]"] == {"x.x[2]"}
            assert names(found.derivatives)["der(x.x[1])"] == {"u[1]"}
            assert names(found.initialUnknowns)["through[2]"] == {"u[2]", "through.K"}


def test_bounds_of_parameters_are_told_and_kept(described):
    (variable,) = (v for v in described(3).modelVariables if v.name == "y.K")
    assert (variable.min, variable.max, variable.start) == ("0.0", "10.0", "3.0")


def test_signals_bring_their_units_along(tmp_path, monkeypatch):
    monkeypatch.setenv("SPART_COMPILER", "none")
    file = Path(__file__).parents[2] / "diagrams" / "spacecraft_functions.yaml"
    with pytest.warns(match="only sources"):
        path = export_fmu(subdiagram_of(file, ["diff", "attitude"], ["attitude"]), tmp_path)
    found = {v.name: v.unit for v in fmpy.read_model_description(str(path)).modelVariables}
    assert (found["pose.r0"], found["kin.rL"], found["attitude.angles"]) == ("m", "m", "rad")


def test_wrong_options_are_refused(part_from, tmp_path):
    part = part_from(CHAIN)
    with pytest.raises(InputError, match="FMI 1 is not supported"):
        export_fmu(part, tmp_path, 1)
    with pytest.raises(InputError, match="no fixed-step method 'RK5'"):
        export_fmu(part, tmp_path, method="RK5")
    with pytest.raises(InputError, match=r"rate must be .*, not 1e-09"):
        export_fmu(part, tmp_path, rate=1e-9)
    with pytest.raises(InputError, match=r"give a file NAME\.fmu"):
        export_fmu(part, tmp_path / "chain.zip")
    assert not list(tmp_path.glob("*.fmu"))

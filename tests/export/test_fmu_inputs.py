"""The values that an FMU's inputs have until an importer sets them."""

from pathlib import Path

import fmpy
import numpy as np
import pytest
from fmus import instance, references

from spart_blocks.errors import InputError
from spart_blocks.export import export_fmu, verify_fmu
from spart_blocks.export.fmu_inputs import started
from spart_blocks.program.part import part_of

FOLDER = Path(__file__).parents[2] / "diagrams"

# The log of an input that is zero is not finite.
LOGARITHM = """
name: logarithm
blocks:
  a: {type: CONSTANT, value: 2.0}
  b: {type: CONSTANT, value: 3.0}
  y: {type: FCN, expression: "log(a) + b", arguments: [a, b]}
  x: {type: INTEGRATOR}
wires: [a -> y.a, b -> y.b, y -> x]
run: {T: 1, log: [x]}
"""

# 5 m/s^2 at the start of the diagram.
DRIVEN = """
name: driven
blocks:
  push: {type: CONSTANT, value: 5.0}
  v: {type: INTEGRATOR}
wires: [push -> v]
run: {T: 1, log: [v]}
"""


@pytest.mark.parametrize("version", [3, 2])
def test_nothing_moves_a_plant_before_an_importer_sets_its_input(version, part_from, tmp_path):
    part = part_from(DRIVEN, "v")
    for inputs, end in (("zero", 0.0), ("diagram", 5.0)):
        path = export_fmu(part, tmp_path, version, inputs=inputs)
        (u,) = (v for v in fmpy.read_model_description(str(path)).modelVariables
                if v.causality == "input")  # fmt: skip
        assert float(u.start) == end
        assert verify_fmu(path, part, inputs=inputs).passed
        with instance(path) as fmu:
            fmu.doStep(0.0, 1.0)
            at = [references(part)["v"]]
            (v,) = fmu.getFloat64(at) if version == 3 else fmu.getReal(at)
            assert v == pytest.approx(end, abs=1e-12)


def test_a_shipped_plant_waits_for_its_torques():
    part = part_of(FOLDER / "spacecraft_pd.yaml", ["plant"])
    (torque,) = part.inputs
    assert np.abs(part.program.p[torque.part]).max() > 0
    assert (started(part).program.p[torque.part] == 0).all()


def test_a_rotation_starts_as_one():
    part = part_of(FOLDER / "control/attitude_pd.yaml", ["one_law"])
    found = {slot.name: slot for slot in part.inputs}
    p, first = started(part).program.p, part.program.p
    assert (p[found["one.R0"].part] == np.eye(3).ravel()).all()
    assert (first[found["one.R0"].part] != np.eye(3).ravel()).any()
    assert (p[found["one.u0"].part] == 0).all()


def test_an_input_that_cannot_be_zero_keeps_its_first_value(part_from):
    part = started(part_from(LOGARITHM, "y", "x"))
    assert {slot.name: part.program.p[slot.part].tolist() for slot in part.inputs} == {
        "a": [2.0],
        "b": [0.0],
    }


def test_another_choice_is_refused(part_from, tmp_path):
    with pytest.raises(InputError, match=r"no start values 'ones' of inputs\n  there are zero"):
        export_fmu(part_from(DRIVEN), tmp_path, inputs="ones")

"""Wrong names in Python are told with the nearest right ones, and stay AttributeErrors."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
import robots

import spart_blocks as sb


@pytest.fixture
def bd():
    return sb.new_diagram("names")


@pytest.fixture
def plant(bd):
    return bd.MULTIBODY(robots.golden_robot("spart_sc_3dof"), name="plant")


def test_a_wrong_port(plant):
    with pytest.raises(sb.InputError, match=r"^no port 'tam' on plant \(MULTIBODY\): it ") as error:
        plant.tam  # noqa: B018
    assert isinstance(error.value, AttributeError)
    assert "takes tau0, taum" in str(error.value)
    assert "did you mean 'taum'" in error.value.faults[0].hint


def test_hasattr_and_getattr_answer_as_ever(bd, plant):
    assert not hasattr(plant, "tam")
    assert getattr(plant, "tam", 3) == 3
    assert hasattr(plant, "taum")
    assert not hasattr(bd, "MULTIBDY")
    assert not hasattr(plant, "__wrapped__")


def test_a_wire_to_a_wrong_port(bd, plant):
    with pytest.raises(sb.InputError, match="no port 'tam' on plant"):
        plant.tam = bd.STEP(on=np.zeros(3))
    plant.remark = "a note"
    plant.taum = bd.STEP(on=np.zeros(3))
    assert sb.simulate(bd, T=0.1).complete


def test_a_block_whose_ports_go_by_number(bd):
    with pytest.raises(sb.InputError, match=r"no port 'u' on k \(GAIN\): its ports go by number"):
        bd.GAIN(2, name="k").u  # noqa: B018


def test_an_attribute_of_a_block(bd):
    with pytest.raises(sb.InputError, match="did you mean 'premul'"):
        bd.GAIN(2, name="k").premull  # noqa: B018


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("MULTIBDY", "did you mean 'MULTIBODY'"),
        ("multibody", "did you mean 'MULTIBODY'"),
        ("Gain", "did you mean 'GAIN'"),
        ("QQQQQQQQ", "`spart blocks` lists them"),
        ("conect", "did you mean 'connect'"),
    ],
)
def test_a_wrong_type_of_block(bd, name, hint):
    with pytest.raises(sb.InputError) as error:
        getattr(bd, name)
    assert isinstance(error.value, AttributeError)
    assert hint in str(error.value)


def test_the_error_and_the_diagram_are_copied(bd, plant):
    with pytest.raises(sb.InputError) as error:
        plant.tam  # noqa: B018
    assert str(pickle.loads(pickle.dumps(error.value))) == str(error.value)
    assert copy.copy(bd).name == bd.name

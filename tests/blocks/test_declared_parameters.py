"""Parameters that a class of blocks declares: its constructor, checks, signature and help."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest
from bdsim.components import FunctionBlock

import spart_blocks as sb
from spart_blocks.base.errors import InputError
from spart_blocks.blocks import Declared, ParamSpec, PortSpec, fixed, tunable
from spart_blocks.diagram.build.registry import find_type


class Law(Declared):
    """What both blocks share.

    :arg gain: factor of u, for each
        entry
    :arg offset: what is added
    """

    gain = tunable("float or n", "N/m")
    offset = tunable("float", "N", 0.0, least=-1, most=1)


class Line(Law, FunctionBlock):
    """y = gain u + offset.

    :arg offset: added to y
    :arg mode: how
    """

    nin = 1
    nout = 1
    takes = (PortSpec("u", "float or n", "m", "any signal"),)
    gives = (PortSpec("y", "float or n", "N", "the line"),)
    mode = fixed("str", "", "exact", choices=("exact", "rough"))
    limit = fixed("3", "N", None, text="largest of each")

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        return [self.gain * inputs[0] + self.offset]


class Folded(Line, FunctionBlock):
    """A line whose mode is used by its constructor only."""

    nin = 1
    nout = 1

    def build(self, mode: str) -> dict[str, Any]:
        self.words = mode.split("a")
        return super().build()


def test_parameters_are_given_by_place_or_by_name_and_become_attributes():
    for block in (Line(2.0, 0.5, "rough"), Line(mode="rough", offset=0.5, gain=2.0)):
        assert (block.gain, block.offset, block.mode, block.limit) == (2.0, 0.5, "rough", None)
        assert block.tunable == ("gain", "offset")
        assert block.in_ports[0].shape == ()
    np.testing.assert_array_equal(Line([1, 2], limit=[1, 2, 3]).limit, [1.0, 2.0, 3.0])
    assert Line([1, 2]).out_ports[0].shape == (2,)
    assert Line(1.0, name="mine").name == "mine"


def test_what_build_names_does_not_become_an_attribute():
    block = Folded(1.0, mode="exact")
    assert block.words == ["ex", "ct"]
    assert "mode" not in vars(block)
    assert block.offset == 0.0


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"gain": "x"}, ValueError, "gain must be a number or a list of numbers, not 'x'"),
        ({"gain": np.inf}, ValueError, "gain must be finite"),
        ({"gain": 1, "offset": 2}, InputError, "offset must be at most 1, not 2"),
        ({"gain": 1, "offset": -2}, InputError, "offset must be at least -1, not -2"),
        ({"gain": 1, "mode": "exakt"}, InputError, "did you mean 'exact'"),
        ({"gain": 1, "limit": [1, 2]}, ValueError, r"limit has shape \(2,\), it takes \(3,\)"),
        ({}, TypeError, "Line missing required arguments: 'gain'"),
        ({"gain": 1, "gian": 1}, ValueError, "gian"),
    ],
)
def test_a_wrong_parameter_is_refused_by_its_name(given, error, message):
    with pytest.raises(error, match=message):
        Line(**given)


def test_places_are_counted_and_not_given_twice():
    with pytest.raises(TypeError, match="Line takes 4 parameters, 5 are given"):
        Line(1, 0, "exact", None, 5)
    with pytest.raises(TypeError, match="Line got multiple values for argument 'gain'"):
        Line(1, gain=2)


def test_signature_and_help_follow_from_the_declaration():
    assert str(inspect.signature(Line)) == (
        "(gain: 'Any', offset: 'float' = 0.0, mode: 'str' = 'exact', limit: 'Any' = None, "
        "**blockargs)"
    )
    assert ":param gain: factor of u [N/m], for each entry\n" in Line.__doc__
    assert ":type gain: float or array_like(n)\n" in Line.__doc__
    assert ":param offset: added to y [N]\n" in Line.__doc__
    assert ":type limit: array_like(3), optional" in Line.__doc__
    assert ":arg" not in Line.__doc__
    assert ":param offset: what is added [N]\n" in Law.__doc__


def test_a_declaration_is_data():
    gain = Line.parameters[0]
    assert isinstance(gain, ParamSpec)
    assert (gain.name, gain.unit, gain.tunable, gain.required) == ("gain", "N/m", True, True)
    assert [spec.kind for spec in Line.parameters] == ["array", "number", "choice", "array"]
    assert not hasattr(Line, "mode")


def test_the_clock_of_a_sampled_block_comes_first_or_last():
    assert next(iter(find_type("PT1_S").parameters)) == "clock"
    assert list(find_type("IK").parameters)[-1] == "clock"
    last = inspect.signature(find_type("IK").cls).parameters["clock"]
    assert last.kind is last.KEYWORD_ONLY


def test_a_block_with_a_constructor_of_its_own_needs_no_declaration():
    class Own(Declared, FunctionBlock):
        nin = 1
        nout = 1
        takes = (PortSpec("u", "", "", "a number"),)
        gives = (PortSpec("y", "", "", "the same"),)

        def __init__(self, factor: float, **blockargs: Any) -> None:
            self.factor = factor
            super().__init__(**self.resolve_ports(), **blockargs)

        def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
            return [self.factor * inputs[0]]

    assert Own(2.0).factor == 2.0
    assert list(inspect.signature(Own).parameters) == ["factor", "blockargs"]


def test_units_of_entries_are_declared():
    parameter = find_type("MULTIBODY").parameters["initial"]
    assert parameter.entries["um"] == "rad/s, m/s"
    assert sb.new_diagram("d").PULSE().period == 1.0

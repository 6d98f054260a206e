"""Names that stand where they mean nothing: of parameters without their $, and in formulas."""

from __future__ import annotations

import pytest

import spart_blocks as sb
from spart_blocks.base.errors import SpartWarning

WRITE = "write $Kt for the parameter Kt"


def with_block(text):
    return (
        f"params: {{Kt: 3}}\nblocks:\n  t: {{type: TIME}}\n  k: {{{text}}}\n"
        "  n: {type: 'NULL'}\nwires:\n  - t -> k\n  - k -> n\n"
    )


@pytest.mark.parametrize(
    "written", ["'${Kt}'", "params.Kt", "'$params.Kt'", "'{{Kt}}'", "'{Kt}'", "'<Kt>'", "'%Kt'"]
)
def test_other_ways_to_refer_to_a_parameter(read, written):
    with pytest.raises(sb.DiagramError) as error:
        read(with_block(f"type: GAIN, K: {written}"))
    assert error.value.faults[0].hint == WRITE


@pytest.mark.parametrize("written", ["'2*$Kt'", "2 * Kt", "'-$Kt'"])
def test_a_computation_with_a_parameter(read, written):
    with pytest.raises(sb.DiagramError) as error:
        read(with_block(f"type: GAIN, K: {written}"))
    assert "a value is no formula: write $Kt alone" in error.value.faults[0].hint


def test_of_a_block_of_ours(faults):
    text = with_block("type: JOINT_PD, kp: Kt, kd: 1")
    [found] = [fault for fault in faults(text) if "Kt" in fault[2]]
    assert found[3] == WRITE


@pytest.mark.parametrize(
    "block", ["type: CONSTANT, value: Kt", "type: STEP, T: Kt", "type: STEP, on: [Kt, 1]"]
)
def test_of_a_source(faults, block):
    [found] = faults(f"params: {{Kt: 3}}\nblocks: {{k: {{{block}}}, n: {{type: 'NULL'}}}}\n"
                     "wires: [k -> n]\n")  # fmt: skip
    assert "takes " in found[2]
    assert found[3] == WRITE


def test_a_formula_that_uses_a_parameter_of_the_file(faults):
    [found] = faults(with_block("type: FCN, expression: Kt*u"))
    assert "there is no 'Kt'" in found[2]
    assert found[:2] == (4, 30)
    assert "params: {Kt: $Kt}" in found[3]


def test_a_formula_with_a_reference(faults):
    [found] = faults(with_block("type: FCN, expression: $Kt*u"))
    assert "names stand in a formula without $" in found[3]
    assert "params: {Kt: $Kt}" in found[3]


@pytest.mark.parametrize(
    ("name", "meaning"), [("e", "Euler's number"), ("pi", "half a turn"), ("t", "the time")]
)
def test_a_name_with_a_meaning_in_formulas(faults, name, meaning):
    [found] = faults(with_block(f"type: FCN, expression: u, params: {{{name}: 2}}"))
    assert f"{name} is {meaning} in formulas" in found[2]
    assert "another name" in found[3]


def test_a_formula_that_takes_eulers_number_beside_a_parameter_e(read):
    text = with_block("type: FCN, expression: e*u").replace("Kt: 3", "e: 3")
    with pytest.warns(SpartWarning, match=r":4:.*k \(FCN\) takes e for Euler's number"):
        read(text)


@pytest.mark.parametrize("text", ["2*e", "e", "u - e", "e**u + e"])
def test_e_that_may_be_meant_as_a_signal(read, text):
    with pytest.warns(SpartWarning, match=r":4:30: k \(FCN\) takes e for Euler's number, 2.71828"):
        read(with_block(f"type: FCN, expression: '{text}'"))


@pytest.mark.parametrize("text", ["e**u", "2*e**(-u)", "exp(u)", "2*pi*u"])
def test_constants_that_are_meant(read, text):
    read(with_block(f"type: FCN, expression: '{text}'"))


@pytest.mark.parametrize(
    ("more", "column", "parameter"),
    [("arguments: [u, error]", 46, "arguments"), ("params: {e_max: 2}", 43, "params")],
)
def test_what_no_formula_reads(read, more, column, parameter):
    block = with_block(f"type: FCN, expression: 2*u, {more}")
    name = "e_max"
    if parameter == "arguments":
        name, block = "error", block.replace("- t -> k\n", "- t -> k.u\n  - t -> k.error\n")
    where = rf":4:{column}: k \(FCN\): {parameter} has {name}, which no formula"
    with pytest.warns(SpartWarning, match=where):
        read(block)


def test_an_abbreviated_parameter(faults):
    found = faults(with_block("type: FCN, expr: u"))
    assert any("did you mean 'expression'" in (fault[3] or "") for fault in found)


@pytest.mark.parametrize("section", ["wire: [t -> n]", "wires: t -> n", "Wires: [t -> n]"])
def test_wires_under_another_name(faults, section):
    found = faults(f"blocks: {{t: {{type: TIME}}, n: {{type: 'NULL'}}}}\n{section}\n")
    assert len(found) == 1
    assert "wires" in found[0][3]

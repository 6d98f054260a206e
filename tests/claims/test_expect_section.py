"""The section `expect:` is read with its file, and each mistake in it is told at its place."""

from __future__ import annotations

import json

import pytest

import spart_blocks as sb
from spart_blocks.diagram import load_expectations
from spart_blocks.diagram.sections.expectations import CLAIMS, ExpectSection
from spart_blocks.diagram.sections.schema import json_schema

# The section's entries begin in line 10, after two blanks.
WRONG = {
    "unknown kind": ("settle: []", 3, "unknown key 'settle' in expect", "'settles'"),
    "unknown key": (
        "final: [{signal: x, val: 1, value: 1, within: 1}]",
        23,
        "unknown key 'val' in expect.final.0",
        "'value'",
    ),
    "misspelt from": (
        "stays_within: [{signal: x, low: 0, form: 1}]",
        38,
        "unknown key 'form' in expect.stays_within.0",
        "'from'",
    ),
    "unknown key of the baseline": ("baseline: {signal: [x]}", 14, "unknown key", "'signals'"),
    "no list": ("final: {signal: x}", 10, "expect.final must be a list, not a mapping", ""),
    "no value": ("final: [{signal: x, within: 1}]", 11, "expect.final.0 needs 'value'", ""),
    "text for a number": (
        "final: [{signal: x, value: [one], within: 1}]",
        30,
        "expect.final.0.value: must be a finite number, or a list of them",
        "",
    ),
    "true for a number": ("never_exceeds: [{signal: x, limit: true}]", 38, "finite number", ""),
    "infinity": ("never_exceeds: [{signal: x, limit: .inf}]", 38, "finite number", ""),
    "an empty list": ("never_exceeds: [{signal: x, limit: []}]", 38, "finite number", ""),
    "no tolerance": (
        "final: [{signal: x, value: 1, within: 0}]",
        41,
        "expect.final.0.within must be greater than 0, not 0",
        "",
    ),
    "no bound": (
        "stays_within: [{signal: x}]",
        18,
        "expect.stays_within.0: needs low or high",
        "",
    ),
    "a band upside down": (
        "stays_within: [{signal: x, low: 1, high: 0.5}]",
        18,
        "low, 1, is above high, 0.5",
        "",
    ),
    "a time that ends before it begins": (
        "stays_within: [{signal: x, low: 0, from: 2, until: 1}]",
        18,
        "from is later than until",
        "",
    ),
    "neither way": (
        "monotone: [{signal: x, direction: up}]",
        37,
        "must be 'rising' or 'falling', not 'up'",
        "",
    ),
    "few samples": ("baseline: {samples: 1}", 23, "must be 2 or more, not 1", ""),
    "no probability": ("success: {at_least: 99}", 23, "must be 1 or less, not 99", ""),
    "a whole confidence": (
        "success: {at_least: 0.9, confidence: 1}",
        40,
        "must be less than 1, not 1",
        "",
    ),
    "no sweep": (
        "success: {at_least: 0.9}",
        12,
        "success is about a sweep, and there is no sweep:",
        "write sweep: {runs: 300",
    ),
    "unknown parameter": ("speed: {times_real_time: $fast}", 28, "unknown parameter $fast", "rate"),
    "speed alone": ("speed: true", 10, "expect.speed must be a mapping, not True", ""),
    "no such block": (
        "conserved: [{signal: xx, within: 1}]",
        24,
        "expect 'xx': there is no block 'xx'",
        "'x'",
    ),
    "no such signal to record": ("baseline: {signals: [x, y]}", 27, "there is no block 'y'", ""),
    "not a signal": ("conserved: [{signal: 'x y', within: 1}]", 24, "cannot read 'x y'", ""),
    "outside the project": (
        "baseline: {file: ../x.csv}",
        20,
        "../x.csv leaves the project",
        "--root",
    ),
    "not a csv": ("baseline: {file: spart.toml}", 20, "'spart.toml' must end in .csv", ""),
}


@pytest.mark.parametrize(("claim", "column", "message", "hint"), WRONG.values(), ids=WRONG)
def test_a_mistake_is_told_at_its_place(ramp, claim, column, message, hint):
    file = ramp(claim)
    with pytest.raises(sb.DiagramError) as error:
        sb.load(file)
    [fault] = error.value.faults
    assert message in fault.message
    assert (fault.place.file, fault.place.line, fault.place.column) == (str(file), 10, column)
    assert hint in (fault.hint or "")


def test_an_element_that_a_vector_lacks_is_told(ramp):
    file = ramp("conserved: [{signal: 'angles.angles[3]', within: 1}]")
    text = file.read_text().replace("  scope: {", "  R: {type: CONSTANT, value: [[1]]}\n  angles: "
                                    "{type: R_ANGLES321}\n  scope: {").replace(
        "wires: [", "wires: [R -> angles, ")  # fmt: skip
    file.write_text(text)
    with pytest.raises(sb.DiagramError, match=r"has 3 entries; \[3\] takes others"):
        sb.load(file)


def test_a_number_of_python_that_no_float_holds_is_told():
    with pytest.raises(ValueError, match="must be a finite number"):
        CLAIMS["never_exceeds"](signal="x", limit=10**400)


def test_every_mistake_is_told_at_once(ramp):
    with pytest.raises(sb.DiagramError) as error:
        sb.load(ramp("settle: []", "final: [{signal: x}]", "conserved: [{signal: z, within: 1}]"))
    assert [fault.place.line for fault in error.value.faults] == [10, 11, 11, 12]


def test_references_stand_for_parameters(ramp):
    file = ramp("final: [{signal: x, value: [$rate], within: $rate}]", "engines: {T: $rate}")
    section = sb.load(file, overrides=["rate=3"]).expect
    assert section.final[0].value == (3.0,)
    assert section.final[0].within == section.engines.T == 3.0


def test_the_section_alone_is_that_of_the_diagram(ramp):
    file = ramp("baseline:", "engines: true", "stays_within: [{signal: x, low: 0, from: 1}]")
    alone = load_expectations(file)
    assert alone.section == sb.load(file).expect
    assert alone.name == "ramp"
    assert alone.baseline == file.parent / "baselines" / "ramp.csv"
    assert alone.places["stays_within", 0].line == 12
    assert alone.section.stays_within[0].since == 1.0


def test_switches_are_on_or_off(ramp):
    on = load_expectations(ramp("baseline:", "engines: true")).section
    assert (on.baseline.samples, on.engines.within) == (50, 1e-7)
    off = load_expectations(ramp("baseline: false", "engines: false")).section
    assert off == ExpectSection()


def test_an_empty_section_is_a_test_and_none_is_not(ramp):
    file = ramp()
    assert load_expectations(file).section == ExpectSection()
    assert sb.load(file).expect == ExpectSection()
    file.write_text(file.read_text().replace("expect:", ""))
    assert load_expectations(file) is None
    assert sb.load(file).expect is None


def test_a_claim_about_an_acceleration_brings_the_companion(tmp_path, spacecraft):
    text = spacecraft + "expect: {never_exceeds: [{signal: plant.umdot, limit: 1e6}]}\n"
    (tmp_path / "sc.yaml").write_text(text)
    diagram = sb.load(tmp_path / "sc.yaml", root="/")
    assert any(block.name == "plant.companion" for block in diagram.bd.blocklist)


def test_the_schema_knows_every_claim():
    definitions = json.loads(json_schema())["$defs"]
    properties = definitions["ExpectSection"]["properties"]
    assert set(CLAIMS) < set(properties)
    assert {"type": "boolean"} in properties["engines"]["anyOf"]
    assert set(definitions["StaysWithinClaim"]["properties"]) == {
        "signal", "low", "high", "from", "until"
    }  # fmt: skip
    assert {"$ref": "#/$defs/Reference"} in definitions["FinalClaim"]["properties"]["value"][
        "anyOf"
    ]

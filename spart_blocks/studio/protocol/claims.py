"""Tests: the section `expect:`."""

from __future__ import annotations

from typing import Literal, TypedDict

from spart_blocks.studio.protocol.problems import Problem
from spart_blocks.studio.protocol.types import Field


class Claims(TypedDict):
    """do: "claims" {path}: what the file claims of its runs, and its test. Claims are edited by
    "edit": append, set and unset of their paths.
    do: "test" {path, update?} -> Test: does what `spart test FILE` does, for the file as it is on
    disk; with update what `spart test --update` does: baselines that are not there are recorded,
    others are not written before "record".
    do: "stop-test" {path}. do: "record" {path} -> Test: writes the baselines that would change. A
    test ends when no page has its file open any more."""

    # Whether there is a section `expect:`; without one there is no test.
    tested: bool
    claims: list[Claim]
    # What can be claimed.
    kinds: list[ClaimKind]
    test: Test | None


class Claim(TypedDict):
    # What "set" and "unset" name: "expect.final[1]", "expect.baseline".
    path: str
    kind: str
    # "" where it is not about one signal.
    signal: str
    # Of the signal.
    unit: str
    line: int
    # The kind with all values, by which a test tells what it has found of it.
    key: str
    fields: list[Field]


class ClaimKind(TypedDict):
    kind: str
    doc: str
    # Whether it is about a signal, and there may be several.
    several: bool
    # Their paths are their names.
    fields: list[Field]


class Test(TypedDict):
    state: Literal["running", "ended", "stopped", "failed"]
    update: bool
    # Of the text that is tested.
    revision: str
    # The case that runs, and how far it is: seconds of its run, or runs of its sweep.
    running: str
    done: float
    all: float
    unit: Literal["s", "runs"]
    # Those that have ended: the diagram as it is, and its other variants where `each_variant`
    # says so.
    cases: list[TestCase]
    problem: Problem | None


class TestCase(TypedDict):
    name: str
    passed: bool
    seconds: float
    findings: list[Finding]
    # Why it could not be checked.
    faults: list[Problem]
    warnings: list[str]
    # The baseline that is or would be recorded.
    change: BaselineChange | None


class BaselineChange(TypedDict):
    """What a test would write to the file of a baseline, and whether it has."""

    file: str
    lines: list[str]
    written: bool


class Finding(TypedDict):
    """What a test has found of a claim, or of one of the signals of a baseline."""

    # The `key` of the claim; "" for the run itself.
    key: str
    kind: str
    verdict: Literal["passed", "failed", "warned"]
    # The element that comes closest to the limit, or is farthest beyond it, and its time [s].
    signal: str
    t: float | None
    # Got, when, and expected, in words.
    message: str


# For each kind of claim, the texts of its values.
Suggested = dict[str, dict[str, str]]

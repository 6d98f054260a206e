"""The outcome of a test, as the page shows it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from spart_blocks.base.document import Keys
from spart_blocks.claims.outcome import CaseOutcome, Failure
from spart_blocks.studio.files.mistakes import called
from spart_blocks.studio.requests import problem_of_fault

MOST_FINDINGS = 500


def told_case(
    outcome: CaseOutcome, keys: Mapping[Keys, str], root: Path, written: bool
) -> dict[str, Any]:
    """The outcome of a test case as data for the page. keys: texts of the file's claims by their
    paths in `expect:`. written: whether its baseline has been recorded already."""
    change = outcome.change
    return {
        "name": outcome.case.name,
        "passed": outcome.passed,
        "seconds": outcome.seconds,
        "findings": list(islice(_findings(outcome, keys), MOST_FINDINGS)),
        "faults": [problem_of_fault(called(fault, root)) for fault in outcome.faults],
        "warnings": list(outcome.warnings),
        "change": change
        and {
            "file": str(change.path.resolve().relative_to(root)),
            "lines": list(change.lines),
            "written": written,
        },
    }


def _findings(outcome: CaseOutcome, keys: Mapping[Keys, str]) -> Iterator[dict[str, Any]]:
    for finding in (*outcome.failures, *outcome.held):
        yield {
            "key": keys.get(finding.claim, finding.kind if finding.claim else ""),
            "kind": finding.kind,
            "verdict": "failed" if isinstance(finding, Failure) else "passed",
            "signal": finding.signal,
            "t": finding.t,
            "message": finding.message,
        }
    if outcome.slow is not None:
        key = keys.get(("speed",), "speed")
        told = {"kind": "speed", "signal": "", "t": None, "message": outcome.slow}
        yield {"key": key, "verdict": "warned", **told}

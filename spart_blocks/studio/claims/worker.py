"""Worker process for the test of a file.

The first message is the job, {"file": {path, root, blocks}, "update"}. Messages to the parent are
"began", "progress", "tested" with the text of a baseline as the body, and at the end "done",
"stopped" or "failed". Another message from the parent interrupts the test, as Ctrl-C does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

from spart_blocks.base.cache import key_of
from spart_blocks.base.document import Keys, parse_document, read_file
from spart_blocks.base.errors import InputError
from spart_blocks.claims.baselines import record
from spart_blocks.claims.check import Manner, check
from spart_blocks.claims.files import cases
from spart_blocks.claims.outcome import CaseOutcome, Failure
from spart_blocks.studio.claims.listing import keys_in
from spart_blocks.studio.files.mistakes import called
from spart_blocks.studio.requests import problem_of_fault
from spart_blocks.workers.frames import Inbox, Outbox
from spart_blocks.workers.job import Say, serve_job
from spart_blocks.workers.progress import Report, throttled


def serve(inbox: Inbox, outbox: Outbox) -> None:
    """Perform the test of the job, and send its findings."""
    serve_job(inbox, outbox, _test)


def _test(job: dict[str, Any], say: Say) -> None:
    file = job["file"]
    path, root = Path(file["path"]), Path(file["root"])
    text = read_file(path)[1]
    keys = keys_in(parse_document(text, str(path)).data)
    say({"tell": "began", "revision": key_of(text)})
    for case in cases(path, root=root, blocks=tuple(file["blocks"])):
        reports = [_reporter(say, case.name, unit) for unit in ("s", "runs")]
        outcome = check(case, Manner(update=job["update"]), *reports)
        if outcome.interrupted:
            raise KeyboardInterrupt
        outcome, written = _recorded(outcome)
        change = outcome.change
        body = b"" if change is None or written else change.text.encode()
        say({"tell": "tested", "case": case_data(outcome, keys, root, written)}, body)


def _recorded(outcome: CaseOutcome) -> tuple[CaseOutcome, bool]:
    """Record a baseline unless it would replace an existing one. Returns the outcome, and whether
    it was recorded."""

    if outcome.change is None or outcome.change.path.exists():
        return outcome, False
    try:
        record(outcome.change)
    except InputError as error:
        return replace(outcome, faults=error.faults, change=None), False
    return outcome, True


def _reporter(say: Say, name: str, unit: str) -> Report:
    """A function that reports the progress of a test case."""
    message = {"tell": "progress", "running": name, "unit": unit}
    return throttled(lambda done, whole: say({**message, "done": done, "all": whole}))


# --- the outcome of a test case as data -----------------------------------------------------------


MOST_FINDINGS = 500


def case_data(
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
        slow = {"kind": "speed", "signal": "", "t": None, "message": outcome.slow}
        yield {"key": key, "verdict": "warned", **slow}

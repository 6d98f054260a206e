"""Tests of a file in a process of their own: `python -m spart_blocks.studio.claims.worker`.

The job comes as a line on stdin, {"file": {path, root, blocks}, "update"}; what has been found goes
to stdout in frames (runs/frames.py): "began", "progress", "tested" with the text of a baseline as
its body, "done". A second line on stdin asks to stop, as Ctrl-C does; when stdin is closed, the
process ends.
"""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from io import RawIOBase
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spart_blocks.base.errors import InputError
from spart_blocks.run.worker import described, own_stdout
from spart_blocks.studio.runs.frames import frame

if TYPE_CHECKING:
    from spart_blocks.claims.outcome import Outcome

_PERIOD = 0.1  # s between reports of progress


def main() -> None:
    """Test, and tell."""
    answers = own_stdout()
    # What every test needs is imported before there is a job, in a process that waits for one.
    import spart_blocks.claims.check
    import spart_blocks.studio.claims.outcome_messages  # noqa: F401

    asked = os.fdopen(0, "rb", buffering=0)
    line = asked.readline()
    if not line:
        return
    job = json.loads(line)
    over = threading.Event()
    threading.Thread(target=_watch, args=(asked, over), daemon=True).start()

    def say(header: dict[str, Any], body: bytes = b"") -> None:
        answers.write(frame(header, body))
        answers.flush()

    try:
        _test(job, say)
    except KeyboardInterrupt:
        say({"tell": "stopped"})
    except Exception as error:
        say({"tell": "failed", "error": described(error)})
    over.set()


def _watch(asked: RawIOBase, over: threading.Event) -> None:
    """Interrupt the main thread when that is asked for; end with the studio."""
    main_thread = threading.main_thread().ident
    assert main_thread is not None
    while asked.readline():
        if not over.is_set():
            signal.pthread_kill(main_thread, signal.SIGINT)
    if not over.is_set():
        os._exit(1)


def _test(job: dict[str, Any], say: Callable[..., None]) -> None:
    from spart_blocks.base.cache import key_of
    from spart_blocks.base.document import parse_document, read_file
    from spart_blocks.claims.check import Manner, check
    from spart_blocks.claims.files import cases
    from spart_blocks.studio.claims.listing import keys_in
    from spart_blocks.studio.claims.outcome_messages import told_case

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
        say({"tell": "tested", "case": told_case(outcome, keys, root, written)}, body)
    say({"tell": "done"})


def _recorded(outcome: Outcome) -> tuple[Outcome, bool]:
    """The outcome once a baseline is recorded that takes no other's place, and whether it was."""
    from spart_blocks.claims.baselines import record

    if outcome.change is None or outcome.change.path.exists():
        return outcome, False
    try:
        record(outcome.change)
    except InputError as error:
        return replace(outcome, faults=error.faults, change=None), False
    return outcome, True


def _reporter(say: Callable[..., None], name: str, unit: str) -> Callable[[float, float], None]:
    """Report how far a case is, at a limited rate."""
    due = 0.0

    def report(done: float, end: float) -> None:
        nonlocal due
        now = time.monotonic()
        if now >= due:
            due = now + _PERIOD
            say({"tell": "progress", "running": name, "done": done, "all": end, "unit": unit})

    return report


if __name__ == "__main__":
    main()

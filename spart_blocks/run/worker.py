"""A run in a separate process: `python -m spart_blocks.run.worker`.

The job comes as one line of JSON on stdin, answers go as lines of JSON to stdout: the progress of
the run, and at last its outcome. Results are in the file that the job names.
`processes.py` is the other end.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
import traceback
import warnings
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any, BinaryIO

from spart_blocks.base.errors import InputError, RunError, SpartError, SpartWarning

_PERIOD = 0.1  # s between reports of progress


def main() -> None:
    """Do the job and answer. The parent handles an interrupt and then ends this process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    answers = own_stdout()
    job = json.loads(sys.stdin.buffer.readline())
    over = threading.Event()
    threading.Thread(target=_end_with_the_parent, args=(over,), daemon=True).start()

    def say(answer: dict[str, Any]) -> None:
        answers.write(json.dumps(answer).encode() + b"\n")
        answers.flush()

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        answer = _answer(job, say)
    told = [str(w.message) for w in caught if issubclass(w.category, SpartWarning)]
    over.set()
    say({**answer, "warnings": told})


def own_stdout() -> BinaryIO:
    """This process's end of the pipe; output printed by blocks goes to stderr instead."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return answers


def _end_with_the_parent(over: threading.Event) -> None:
    """End the process when stdin closes, since the parent is gone. After the job the process ends
    by itself, and removes its temporary files."""
    while os.read(0, 64):
        pass
    if not over.is_set():
        os._exit(1)


def _answer(job: dict[str, Any], say: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
    try:
        from spart_blocks.run import begin, finish
        from spart_blocks.run.measure.gauges import Gauge

        run = begin(_file(job["file"]), progress=_reporter(say), **job["options"])
        run.measure(Gauge(**gauge) for gauge in job["gauges"])
        finish(run).save(Path(job["results"]))
    except Exception as error:
        return {"error": described(error)}
    readings = [
        (asdict(gauge), {name: values.tolist() for name, values in read.items()})
        for gauge, read in run.readings.items()
    ]
    return {"done": True, "readings": readings}


def _file(plain: dict[str, Any]) -> Any:
    """The diagram file that `processes.plain_file` turned into JSON."""
    from spart_blocks.run import DiagramFile

    values = {key: _tuples(value) for key, value in plain.items()}
    root = plain["root"] and Path(plain["root"])
    return DiagramFile(**values | {"path": Path(plain["path"]), "root": root})


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def _reporter(say: Callable[[dict[str, Any]], None]) -> Callable[[float, float], None]:
    """Report progress at a limited rate."""
    due = 0.0

    def report(t: float, end: float) -> None:
        nonlocal due
        now = time.monotonic()
        if now >= due:
            due = now + _PERIOD
            say({"t": t, "end": end})

    return report


def described(error: Exception) -> dict[str, Any]:
    """An error as JSON, which `processes.error_from` turns back into an error."""
    if isinstance(error, InputError):
        faults = [
            {
                "message": fault.message,
                "hint": fault.hint,
                "place": fault.place and [fault.place.file, fault.place.line, fault.place.column],
            }
            for fault in error.faults
        ]
        return {"kind": type(error).__name__, "faults": faults}
    if isinstance(error, RunError):
        known = {key: getattr(error, key) for key in ("message", "block", "time", "hint")}
        return {"kind": "RunError", **known}
    if isinstance(error, SpartError):
        return {"kind": "RunError", "message": str(error)}
    trace = "".join(traceback.format_exception(error)).rstrip()
    message = f"this should not have happened: {type(error).__name__}: {error}"
    return {"kind": "RunError", "message": message, "trace": trace}


if __name__ == "__main__":
    main()

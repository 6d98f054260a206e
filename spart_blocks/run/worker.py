"""Executes runs of diagram files in a worker process, for `processes.py`.

The message is the job. The answers are the progress of the run, and at the end its outcome; the
results are in the file that the job names.
"""

from __future__ import annotations

import warnings
from dataclasses import asdict
from pathlib import Path
from typing import Any

from spart_blocks.base.errors import SpartWarning
from spart_blocks.run.engines.from_file import DiagramFile
from spart_blocks.run.measure.gauges import Gauge
from spart_blocks.run.simulate import begin, finish
from spart_blocks.workers.frames import Inbox, Outbox, error_as_json
from spart_blocks.workers.progress import Report, throttled


def serve(inbox: Inbox, outbox: Outbox) -> None:
    """Execute one job and send answers."""
    job, _ = inbox.receive()
    progress = throttled(lambda t, end: outbox.send({"t": t, "end": end}))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        answer = _answer(job, progress)
    told = [str(w.message) for w in caught if issubclass(w.category, SpartWarning)]
    outbox.send({**answer, "warnings": told})


def _answer(job: dict[str, Any], progress: Report) -> dict[str, Any]:
    try:
        run = begin(_file(job["file"]), progress=progress, **job["options"])
        run.measure(Gauge(**gauge) for gauge in job["gauges"])
        finish(run).save(Path(job["results"]))
    except Exception as error:
        return {"error": error_as_json(error)}
    readings = [
        (asdict(gauge), {name: values.tolist() for name, values in read.items()})
        for gauge, read in run.readings.items()
    ]
    return {"done": True, "readings": readings}


def _file(plain: dict[str, Any]) -> DiagramFile:
    """The diagram file from the JSON of `processes.plain_file`."""
    values = {key: _tuples(value) for key, value in plain.items()}
    root = plain["root"] and Path(plain["root"])
    return DiagramFile(**values | {"path": Path(plain["path"]), "root": root})


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value

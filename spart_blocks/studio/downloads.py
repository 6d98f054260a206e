"""Results of runs as files for download."""

from __future__ import annotations

import asyncio
from pathlib import Path

from spart_blocks.base.errors import Fault, InputError
from spart_blocks.results import Results
from spart_blocks.results.signal_names import file_name
from spart_blocks.studio.client import Session
from spart_blocks.studio.runs.registry import loaded, runs_of

MEDIA = {
    "npz": "application/octet-stream",
    "csv": "text/csv; charset=utf-8",
    "mcap": "application/octet-stream",
    "html": "text/html; charset=utf-8",
    "live.html": "text/html; charset=utf-8",
}
PATIENCE = 120.0


def _save(results: Results, file: Path) -> None:
    """Write results in the format of the file's suffix."""
    if file.suffix == ".mcap":
        from spart_blocks.recordings.record import record

        record(results, file)
    else:
        results.save(file)


async def download(session: Session, path: str, run: str, kind: str) -> tuple[str, str, bytes]:
    """The results of a run as a file: its name, media type and bytes. kind: npz, csv, mcap for
    a recording, html for a page with its motion, or live.html for a page that runs. Raises
    InputError or RunError."""
    if kind not in MEDIA:
        raise InputError(f"a run is saved as {', '.join(MEDIA)}, not {kind[:20]!r}")
    registry = runs_of(session)
    entry = registry.entry(path, int(run) if run.isdecimal() and len(run) < 9 else run)
    file = registry.new_file(f".{kind}")
    try:
        if entry.process is not None:
            await entry.process.ask("save", {"file": str(file)}, PATIENCE)
        elif entry.saved is not None and not kind.endswith("html"):
            await asyncio.to_thread(_save, loaded(entry.saved), file)
        else:
            label = entry.facts["label"]
            hint = "run it again"
            raise InputError(Fault(f"{label} has no process any more to save it", hint=hint))
        data = await asyncio.to_thread(file.read_bytes)
    finally:
        file.unlink(missing_ok=True)
    name = file_name(Path(path).stem, "run")
    return f"{name}-run{entry.number}.{kind}", MEDIA[kind], data

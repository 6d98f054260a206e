"""Runs cases in forked children, a chunk at a time, and keeps what went wrong.

A child that takes longer than LIMIT for a case is interrupted there, as Ctrl-C would, and one
that does not heed that is killed; the rest of its chunk is then taken by another. What was done
is in a file, so that a run that was ended goes on where it was.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import resource
import select
import shutil
import signal
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fuzz.cases import PROJECT, Case, Format

LIMIT = 10.0
"""Seconds of the processor for a case, so that a busy machine fails none."""
HEED = 1.0
"""Seconds of the processor in which an interrupt must be heeded."""
PATIENCE = 180.0
"""Seconds by the clock after which a child that says nothing is killed."""
CHUNK = 250
MOST_MEMORY = 6 << 30


@dataclass
class Tally:
    """What was tried of a format. done: chunks. answers: what came, by its kind. failures: by
    the number of the case. slowest: seconds of the processor, and by which case."""

    cases: int = 0
    seconds: float = 0.0
    slowest: float = 0.0
    slowest_case: int = 0
    done: list[int] = field(default_factory=list)
    answers: Counter[str] = field(default_factory=Counter)
    failures: dict[str, str] = field(default_factory=dict)


class _TooLong(BaseException):
    pass


def night(
    formats: Sequence[Format], count: int, seed: int, out: Path, *, told: Any = print
) -> dict[str, Tally]:
    """Try so many cases of the formats together; what was done before is left out."""
    _warm(formats)
    out.mkdir(parents=True, exist_ok=True)
    kept = out / f"seed-{seed}.json"
    tallies = _read(kept)
    whole = sum(f.share for f in formats)
    todo = []
    for form in formats:
        chunks = max(1, round(count * form.share / whole / CHUNK))
        tally = tallies.setdefault(form.name, Tally())
        todo += [((k + 0.5) / chunks, form, k) for k in range(chunks) if k not in tally.done]
    for _, form, k in sorted(todo, key=lambda item: item[0]):
        tally = tallies[form.name]
        _chunk(form, range(k * CHUNK, (k + 1) * CHUNK), seed, tally, out)
        tally.done.append(k)
        kept.write_text(json.dumps({name: vars(t) for name, t in tallies.items()}))
        told(f"{form.name} {tally.cases} cases, {len(tally.failures)} failures, "
             f"slowest {tally.slowest:.1f} s, {tally.seconds:.0f} s in all")  # fmt: skip
    return tallies


def _warm(formats: Sequence[Format]) -> None:
    """Load what the children need, once for all of them."""

    from spart_blocks.diagram.build.registry import block_types

    block_types()
    for form in formats:
        form.case(0, 0)


def _read(kept: Path) -> dict[str, Tally]:
    if not kept.exists():
        return {}
    found = json.loads(kept.read_text())
    return {n: Tally(**{**t, "answers": Counter(t["answers"])}) for n, t in found.items()}


def _chunk(form: Format, numbers: range, seed: int, tally: Tally, out: Path) -> None:
    """Try these cases, in as many children as it takes."""
    first = numbers.start
    while first < numbers.stop:
        first = _child(form, range(first, numbers.stop), seed, tally, out)


def _child(form: Format, numbers: range, seed: int, tally: Tally, out: Path) -> int:
    """Try cases in a forked child until it ends; the number of the next one."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:  # pragma: no cover
        os.close(reader)
        _work(form, numbers, seed, writer, out)
    os.close(writer)
    began, number = time.monotonic(), numbers.start
    with os.fdopen(reader, "rb", buffering=0) as pipe:
        for report in _reports(pipe, PATIENCE):
            if report is None:
                os.kill(pid, signal.SIGKILL)
                break
            tally.cases += 1
            if report["seconds"] > tally.slowest:
                tally.slowest, tally.slowest_case = report["seconds"], number
            tally.answers[report["answer"]] += 1
            if "failure" in report:
                tally.failures[str(number)] = report["failure"]
            number += 1
    _, status = os.waitpid(pid, 0)
    tally.seconds += time.monotonic() - began
    if number < numbers.stop and (os.WIFSIGNALED(status) or os.WEXITSTATUS(status) != 3):
        text = f"the process ended with {status}: a hang in machine code, or a crash"
        tally.cases += 1
        tally.answers["FAILED"] += 1
        tally.failures[str(number)] = text
        form.case(seed, number).keep(out / f"{form.name}-{seed}-{number}")
        number += 1
    return number


def _reports(pipe: Any, patience: float) -> Iterator[dict[str, Any] | None]:
    """The lines of a child; None where it says nothing for so long."""
    waiting = b""
    while True:
        if not select.select([pipe], [], [], patience)[0]:
            yield None
            return
        piece = pipe.read(65536)
        if not piece:
            return
        waiting += piece
        *lines, waiting = waiting.split(b"\n")
        yield from map(json.loads, lines)


def _work(form: Format, numbers: range, seed: int, pipe: int, out: Path) -> None:
    """The child: tries cases until one takes too long, and tells each."""
    code = 1
    try:
        resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
        signal.signal(signal.SIGPROF, _alarm)
        with ground() as folder:
            for number in numbers:
                case = form.case(seed, number)
                report = tried(form, case, folder)
                if "failure" in report:
                    kept = out / f"{form.name}-{seed}-{number}"
                    case.keep(kept)
                    (kept / "failure.txt").write_text(report["failure"])
                os.write(pipe, json.dumps(report).encode() + b"\n")
                if report["answer"] == "TOO LONG":
                    code = 3
                    break
            else:
                code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


def _alarm(*_: Any) -> None:
    raise _TooLong


@contextlib.contextmanager
def ground() -> Iterator[Path]:
    """A folder with the project's models and diagrams, into which cases are put."""
    with tempfile.TemporaryDirectory(prefix="fuzz") as folder:
        for name in ("models", "diagrams"):
            shutil.copytree(PROJECT / name, Path(folder, name))
        Path(folder, "spart.toml").touch()
        yield Path(folder)


def tried(form: Format, case: Case, folder: Path) -> dict[str, Any]:
    """What came of a case: how long it took, the kind of the answer, and the failure."""
    from spart_blocks.base.errors import SpartError

    case.put(folder)
    began = time.process_time()
    report: dict[str, Any] = {}
    signal.setitimer(signal.ITIMER_PROF, LIMIT)
    try:
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            report["answer"] = form.attempt(case, folder)
    except SpartError as error:
        report |= _refusal(error)
    except _TooLong:
        report |= {"answer": "TOO LONG", "failure": traceback.format_exc(limit=-25)}
    except BaseException as error:
        text = f"{type(error).__name__}: {error}\n{traceback.format_exc(limit=-25)}"
        report |= {"answer": "FAILED", "failure": text}
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        for name in case.files:
            (folder / name).unlink(missing_ok=True)
    report["seconds"] = time.process_time() - began
    if report["seconds"] > LIMIT + HEED and report["answer"] == "TOO LONG":
        report["failure"] = f"slow to interrupt, {report['seconds']:.1f} s\n{report['failure']}"
    return report


def _refusal(error: Any) -> dict[str, Any]:
    """The kind of an error of the package; its text must be one that can be shown."""
    text = str(error)
    odd = [c for c in text if (c != "\n" and ord(c) < 32) or 0x7F <= ord(c) < 0xA0]
    if not text or odd or len(text) > 400_000:
        return {"answer": "FAILED", "failure": f"a message that cannot be shown: {text[:999]!r}"}
    try:
        text.encode()
    except UnicodeEncodeError:
        return {"answer": "FAILED", "failure": f"a message that is no text: {text[:999]!r}"}
    return {"answer": type(error).__name__}

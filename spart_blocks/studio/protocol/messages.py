"""What the page of the studio and its server say to each other over one WebSocket, /socket.

The page sends requests, {n, do, ...arguments}; the server answers each with its number n. In
between it tells what has happened, {tell, ...}. Rows of numbers come as binary messages: the
length of a JSON header (uint32, little-endian), the header, zeros up to a multiple of 8 bytes,
and float64 numbers. `python docs/make_protocol.py` writes these types as studio/src/protocol.ts.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypedDict

from spart_blocks.studio.protocol.changes import Changes, Revisions
from spart_blocks.studio.protocol.claims import Claims, Suggested, Test
from spart_blocks.studio.protocol.files import (
    Bus,
    Changed,
    Completion,
    Content,
    FileText,
    Fits,
    ModelFile,
    Opened,
    Panels,
    Project,
    Sheet,
    Tried,
    Unfit,
)
from spart_blocks.studio.protocol.jobs import Job, JobKind, SweepTable
from spart_blocks.studio.protocol.problems import Problem
from spart_blocks.studio.protocol.runs import (
    Active,
    AtInstant,
    Breakpoint,
    Loop,
    Rows,
    Run,
    State,
    Tunable,
    Value,
)
from spart_blocks.studio.protocol.types import BlockType, Form, Kinds


class FileChanged(TypedDict):
    """The file has changed outside, and was read again."""

    tell: Literal["changed"]
    path: str
    opened: Opened


class FileConflict(TypedDict):
    """It has changed outside, and cannot be read, or is gone."""

    tell: Literal["conflict"]
    path: str
    problem: Problem


class RunTold(TypedDict):
    tell: Literal["run"]
    path: str
    run: Run


class RunDropped(TypedDict):
    """A run is no longer kept."""

    tell: Literal["run-dropped"]
    path: str
    run: int


class TestTold(TypedDict):
    tell: Literal["test"]
    path: str
    test: Test


class JobTold(TypedDict):
    tell: Literal["job"]
    path: str
    job: Job


class JobDropped(TypedDict):
    """A job is no longer kept."""

    tell: Literal["job-dropped"]
    path: str
    job: int


class LoopEnded(TypedDict):
    tell: Literal["loop-ended"]
    loop: str
    reason: str


class BreakpointsTold(TypedDict):
    tell: Literal["breakpoints"]
    path: str
    breakpoints: list[Breakpoint]


Told = (
    FileChanged
    | FileConflict
    | RunTold
    | RunDropped
    | TestTold
    | JobTold
    | JobDropped
    | LoopEnded
    | BreakpointsTold
)

ANSWERS: Mapping[str, Any] = {
    "project": Project,
    "named": str | None,
    "models": list[ModelFile],
    "open": Opened,
    "new": Opened,
    "close": None,
    "sheet": Sheet,
    "form": Form,
    "kinds": Kinds,
    "bus": Bus,
    "fits": Fits,
    "unfit": Unfit,
    "contents": list[Content],
    "text": FileText,
    "complete": list[Completion],
    "edit": Changed,
    "try": Tried,
    "undo": Changed,
    "redo": Changed,
    "place": Changed,
    "tidy": Changed,
    "choose": Changed,
    "panels": Panels,
    "keep-panels": None,
    "types": list[BlockType],
    "run": Run,
    "continue": Run,
    "pause": None,
    "resume": None,
    "step": None,
    "moment": float | None,
    "changed": AtInstant,
    "breakpoints": list[Breakpoint],
    "set-breakpoints": list[Breakpoint],
    "stop": None,
    "speed": None,
    "tune": None,
    "push": None,
    "keep": Changed,
    "runs": list[Run],
    "values": dict[str, Value],
    "signals": Rows,
    "suggest": Suggested,
    "states": list[State],
    "active": list[Active],
    "pushed": list[str],
    "tunables": list[Tunable],
    "motion": Any,
    "loops": list[Loop],
    "attach": Run,
    "watch": None,
    "detach": None,
    "claims": Claims,
    "test": Test,
    "stop-test": None,
    "record": Test,
    "job-options": list[JobKind],
    "job": Job,
    "jobs": list[Job],
    "stop-job": None,
    "resume-job": Job,
    "forget-job": None,
    "sweep-table": SweepTable,
    "sweep-run": Run,
    "revisions": Revisions,
    "changes": Changes,
}
"""What each request is answered with. Those of "signals" are binary: Rows are their header."""

"""Jobs: sweeps, comparisons and exports, as commands of `spart` in processes of their own."""

from __future__ import annotations

from typing import Literal, TypedDict

from spart_blocks.studio.protocol.problems import Problem


class JobKind(TypedDict):
    """do: "job-options" -> JobKind[]: the commands that the page can give."""

    # What "job" names.
    kind: str
    # "export c".
    command: str
    title: str
    # Whether it is an export.
    export: bool
    # File types to choose from; the first is the usual one.
    formats: list[str]
    options: list[JobOption]


class JobOption(TypedDict):
    """An option of a command, as its help has it."""

    # Without "--".
    name: str
    doc: str
    # The word for its value: "PATH=VALUE".
    value: str
    choices: list[str]
    # Whether it has no value.
    flag: bool
    # Whether it may be repeated.
    several: bool
    required: bool
    default: str


class Job(TypedDict):
    """do: "job" {path, kind, options, format?, other?} -> Job: does what the command does for the
    file as it is on disk, in a folder of its own. options: texts, lists of texts, or true, by name.
    other: a second diagram, for "compare".
    do: "jobs" {path} -> Job[]: those that are kept. do: "stop-job" {job}. do: "forget-job" {job}.
    do: "resume-job" {job} -> Job: goes on with a sweep that was stopped.
    Jobs go on when the page is closed; they end with the studio."""

    job: int
    path: str
    kind: str
    title: str
    state: Literal["running", "ended", "stopped", "failed"]
    # How far it is: seconds of a run, or runs of a sweep; 0 of 0 where that is not known.
    done: float
    all: float
    unit: Literal["s", "runs"]
    # The last lines of its output; those that begin with "! " are messages and errors.
    lines: list[str]
    # The exit code of the command.
    code: int | None
    # Once it is over: GET /job?job=...&file=...; without a file all of them in one archive, and
    # with &view=1 to look at.
    files: list[JobFile]
    problem: Problem | None


class JobFile(TypedDict):
    """A file of a job: its path in the job's folder, and its size [bytes]."""

    name: str
    size: int


class SweepTable(TypedDict):
    """do: "sweep-table" {job, start, sort?, down?}: rows of the table of a sweep, one for each run.
    do: "sweep-run" {job, run, speed?} -> Run: starts a run with the values of one of the sweep."""

    columns: list[str]
    # Those of the columns that are metrics.
    metrics: list[str]
    # null is no value.
    rows: list[list[float | str | bool | None]]
    # The number of the first row that is here, of all that there are.
    start: int
    count: int
    planned: int
    failed: int

"""Small diagrams of which many runs are made."""

import numpy as np
import pytest

import spart_blocks as sb
from spart_blocks.measures.work import Work
from spart_blocks.workers.executor import Processes


@pytest.fixture
def diagram_file(tmp_path):
    """diagram_file(text): the path of a diagram with this text."""

    def write(text, name="diagram.yaml"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write


@pytest.fixture
def work_of():
    """work_of(program, {name: values (n, ...)}, ...): runs that differ in some parameters."""

    def make(program, values, **more):
        if not isinstance(program, sb.program.Program):
            program = sb.trace(sb.load(program))
        count = len(next(iter(values.values())))
        rows = [
            program.with_parameters({name: column[k] for name, column in values.items()}).p
            for k in range(count)
        ]
        return Work(program, np.arange(count, dtype=np.int64), np.array(rows), **more)

    return make


@pytest.fixture
def bare(monkeypatch):
    """An executor of one process that has no compiler."""
    with Processes(1) as processes:
        monkeypatch.setenv("SPART_COMPILER", "none")
        processes.submit(int).result()  # starts the process
        monkeypatch.delenv("SPART_COMPILER")
        yield processes

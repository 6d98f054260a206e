"""Memory does not grow with the number of runs of a sweep that keeps no histories."""

from __future__ import annotations

import tracemalloc

import pytest

import spart_blocks as sb
from spart_blocks.program.c.compiler import compiler_name
from spart_blocks.sweeps.run import batches

pytestmark = pytest.mark.skipif(compiler_name() is None, reason="no C compiler")

DECAY = """
name: decay
blocks:
  pole: {type: GAIN, K: -1.0}
  x: {type: INTEGRATOR, x0: 1.0}
wires: [pole -> x, x -> pole]
run: {T: 1.0}
"""
OVER = {"x.x0": {"uniform": {"low": 0.0, "high": 1.0}}}


FEW, MANY, SLACK = 512, 2048, 200_000


def most_memory(path, runs, out=None, **options):
    """The most memory [bytes] that a sweep takes at once, beyond what was there."""
    before = tracemalloc.get_traced_memory()[0]
    tracemalloc.reset_peak()
    sb.sweep(path, OVER, runs=runs, metrics={"last": "final(x)"}, workers=1, out=out, **options)
    return tracemalloc.get_traced_memory()[1] - before


@pytest.fixture
def path(diagram_file, monkeypatch):
    """The diagram, after a sweep that has compiled and imported all that it needs."""
    monkeypatch.setattr(batches, "MOST_BATCH", 256)
    path = diagram_file(DECAY)
    sb.sweep(path, OVER, runs=8, metrics={"last": "final(x)"}, workers=1)
    tracemalloc.start()
    yield path
    tracemalloc.stop()


def test_runs_whose_histories_are_not_kept_take_no_memory(path, tmp_path):
    few = most_memory(path, FEW, tmp_path / "few")
    many = most_memory(path, MANY, tmp_path / "many")
    assert many < few + SLACK


def test_a_row_of_the_table_takes_about_a_hundred_bytes(path):
    few, many = most_memory(path, FEW), most_memory(path, MANY)
    assert many < few + 150 * (MANY - FEW)


def test_histories_in_memory_are_noticed(path):
    few, many = (most_memory(path, runs, keep="all", every=0.002) for runs in (FEW, MANY))
    assert many > few + SLACK

"""bdsim's published examples run natively, with the interpreter's results and bdsim's own."""

from __future__ import annotations

from contextlib import redirect_stdout
from io import StringIO

import book_examples  # noqa: F401 - registers its examples
import numpy as np
import pytest
from bdsim.connect import Plug
from bdsim_examples import EXAMPLES
from same_results import assert_same_results

import spart_blocks as sb
from spart_blocks.diagram.network.flatten import flatten

GRID = 0.01731  # s: no sample falls on a tick or a switch, where bdsim keeps the value before
LONGEST = 6.0  # s, for bdsim


@pytest.fixture
def draw(bdsim_runtime):
    """draw(name): a fresh diagram of the example."""

    def draw(name):
        bd = bdsim_runtime.blockdiagram(name=name)
        EXAMPLES[name].build(bd)
        return bd

    return draw


def options_of(name):
    one = EXAMPLES[name]
    return {
        "T": one.T, "every": one.T / 500,
        "solver": one.solver, "rtol": one.rtol, "atol": one.rtol / 100,
    }  # fmt: skip


def signals_of(bd):
    return [slot.name for slot in sb.trace(sb.Diagram(name="example", bd=bd)).signals]


def our_names(bd):
    """Our names of the blocks within PID and others, by those in bdsim."""
    return {node.part.former: node.name for node in flatten(bd).nodes if node.part is not None}


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_of_bdsim_runs_natively_as_its_blocks_do(name, draw):
    options = {**options_of(name), "log": signals_of(draw(name))}
    native = sb.simulate(draw(name), engine="native", **options)
    blocks = sb.simulate(draw(name), engine="interpreter", **options)
    assert set(options["log"]) <= set(blocks.signals)
    assert_same_results(native, blocks)


def test_a_loose_run_is_told_apart(draw):
    options = options_of("proportional_loop")
    good = sb.simulate(draw("proportional_loop"), **options)
    loose = sb.simulate(draw("proportional_loop"), **options | {"rtol": 1e-4, "atol": 1e-6})
    with pytest.raises(AssertionError, match="plant: differs by"):
        assert_same_results(loose, good)


def watched_by_bdsim(bd, signals, ours):
    """The outputs that both know, by our names of them."""
    found = {}
    for block in bd.blocklist:
        name = ours.get(block.name, block.name)
        ports = [s for s in signals if s == name or s.startswith(f"{name}.")]
        found |= {name: Plug(block, number) for number, name in enumerate(ports)}
    return found


def run_bdsim(bd, signals, name):
    """bdsim's results, and the watched signals in the order of their columns."""
    options = options_of(name)
    # With dt it goes on from the last sample before an event, not from the event.
    dt = None if any(block.type == "event" for block in bd.blocklist) else GRID
    with redirect_stdout(StringIO()):
        ours = our_names(bd)
        bd.compile()  # puts inner blocks beside the others
        plugs = watched_by_bdsim(bd, signals, ours)
        out = bd.runtime.run(
            bd,
            T=min(options["T"], LONGEST),
            dt=dt,
            solver=options["solver"],
            solver_args={key: options[key] for key in ("rtol", "atol")},
            watch=list(plugs.values()),
        )
    return out, list(plugs)


def assert_close(got, want, what):
    error = np.abs(got - want).max(initial=0.0)
    assert error <= 1e-6 * max(np.abs(want).max(initial=0.0), 1e-3), f"{what}: {error:.3g} apart"


def pairs_in_time(ours, theirs, end):
    """Indices of the times that both have: the grid's, and the end where nothing ticks."""
    pairs = [(i, round(t / GRID)) for i, t in enumerate(theirs.t) if t < ours.t[-1]]
    pairs = [(i, k) for i, k in pairs if abs(theirs.t[i] - k * GRID) < 1e-12]
    clocks = any(key.startswith("clock") for key in theirs)
    if not clocks and theirs.t[-1] == ours.t[-1] == end:
        pairs.append((len(theirs.t) - 1, len(ours.t) - 1))
    return np.array(pairs).T


@pytest.mark.parametrize("name", [name for name, one in EXAMPLES.items() if not one.slow])
def test_an_example_gives_what_bdsim_gives(name, draw):
    end = min(EXAMPLES[name].T, LONGEST)
    signals = signals_of(draw(name))
    theirs, watched = run_bdsim(draw(name), signals, name)
    options = {"T": end, "every": GRID, "first_tick": "bdsim", "log": signals}
    ours = sb.simulate(draw(name), engine="native", **options_of(name) | options)
    names = our_names(draw(name))
    rows, grid = pairs_in_time(ours, theirs, end)
    columns = iter(np.asarray(theirs.y, float).T)
    for signal in watched:
        want = ours[signal][grid].reshape(len(grid), -1)
        got = np.array([next(columns)[rows] for _ in want.T]).T
        assert_close(got, want, signal)
    for clock in (theirs[key] for key in theirs if key.startswith("clock")):
        # A state is held from its tick on.
        held = np.searchsorted(clock.t, ours.t[1:-1]) - 1
        for column, label in enumerate(clock.Xnames):
            block, _, number = label.rpartition(":X_")
            block = names.get(block, block)
            state = ours.states[block][1:-1, int(number)]
            assert_close(clock.X[held[held >= 0], column], state[held >= 0], label)

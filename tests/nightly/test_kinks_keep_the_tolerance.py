"""Random kinked blocks and signals, for every solver with error control that locates kinks: the
error is at most what the tolerance allows each part between two kinks, twice, or twice that of the
same run in parts, with steps that end at the known times of its kinks."""

from __future__ import annotations

import numpy as np
import pytest
from kinked import BLOCKS, SMOOTH, SOURCES, integral, passed, text

import spart_blocks as sb

CASES = 100
ONE_STEP = ["RK45", "RK23", "DOP853", "Radau"]
MULTISTEP = ["BDF", "LSODA", "CVODES", "Adams"]


def error(source, kinked, case, run):
    """Of a run, in multiples of what the tolerances allow, and the kinks passed."""
    wanted, allowed, kinks = integral(source, kinked, case)
    return abs(run["x"][-1].item() - wanted) / allowed, kinks


def errors(source, kinked, solver, cases, engine, load):
    """Of each case, and the kinks passed."""
    program = sb.trace(load(text(source, kinked, solver))) if engine == "native" else None
    for case in cases:
        given = (
            program.with_parameters(case) if program else load(text(source, kinked, solver, case))
        )
        yield error(source, kinked, case, sb.simulate(given, engine=engine))


@pytest.fixture
def load(tmp_path):
    def make(text):
        path = tmp_path / "diagram.yaml"
        path.write_text(text)
        return sb.load(path)

    return make


@pytest.mark.parametrize("engine", ["native", "interpreter"])
@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize("name", SOURCES)
@pytest.mark.parametrize("solver", ONE_STEP)
def test_kinks_keep_the_tolerance(solver, name, block, engine, load):
    source, kinked, rng = SOURCES[name], BLOCKS[block], np.random.default_rng(5)
    cases = [source.draw(rng) for _ in range(CASES)]
    smooth = errors(source, SMOOTH, solver, cases, engine, load)
    cases = [case | kinked.draw(rng) for case in cases]
    bent = errors(source, kinked, solver, cases, engine, load)
    for case, (plain, _), (got, kinks) in zip(cases, smooth, bent, strict=True):
        if got > 2 * (1 + kinks) * max(1.0, plain):
            parts = load(text(source, kinked, solver, case, passed(source, kinked, case)))
            known, _ = error(source, kinked, case, sb.simulate(parts, engine=engine))
            assert got <= 2 * known, case


@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize("name", SOURCES)
@pytest.mark.parametrize("solver", [*ONE_STEP, "BDF", "LSODA"])
def test_kinks_take_at_most_one_step_each(solver, name, block, load):
    source, kinked, rng = SOURCES[name], BLOCKS[block], np.random.default_rng(5)
    each = 5 if solver == "LSODA" else 1  # it starts anew twice at each
    more, kinks = 0, 0
    for _ in range(20):
        case = source.draw(rng) | kinked.draw(rng)
        taken, known = (
            sb.simulate(load(text(source, kinked, solver, case, stops))).info["steps"]
            for stops in ((), passed(source, kinked, case))
        )
        more, kinks = more + taken - known, kinks + integral(source, kinked, case)[2]
    assert more <= each * kinks


@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize("name", SOURCES)
@pytest.mark.parametrize("solver", MULTISTEP)
def test_kinks_cost_multistep_methods_no_more_than_restarts_there(solver, name, block, load):
    """Their error at a restart is several times the tolerance, whatever the cause: that of the same
    run with steps that end at the known times of its kinks."""
    source, kinked, rng = SOURCES[name], BLOCKS[block], np.random.default_rng(5)
    errors = []
    for _ in range(CASES):
        case = source.draw(rng) | kinked.draw(rng)
        ends = (), passed(source, kinked, case)
        texts = (text(source, kinked, solver, case, at) for at in ends)
        errors.append([error(source, kinked, case, sb.simulate(load(one)))[0] for one in texts])
    got, known = np.max(errors, axis=0)
    assert got <= 2 * max(known, 1.0)

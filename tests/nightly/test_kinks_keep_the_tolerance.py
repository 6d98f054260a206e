"""Random kinked blocks and signals, for every solver with error control that locates kinks: the
error is at most what the tolerance allows each part between two kinks, twice, or twice that of the
same run in parts, with steps that end at the known times of its kinks."""

from __future__ import annotations

import numpy as np
import pytest
from kinked import BLOCKS, SMOOTH, SOURCES, integral, passed, text

import spart_blocks as sb

CASES = 100
ENGINES = ["native", "interpreter"]
ONE_STEP = ["RK45", "RK23", "DOP853", "Radau"]
MULTISTEP = [
    *((solver, engine) for solver in ("BDF", "LSODA") for engine in ENGINES),
    *((solver, "native") for solver in ("CVODES", "Adams")),
]


@pytest.fixture
def runner(tmp_path):
    """A function that runs a case; stops: times at which steps end. A program is traced once for
    each number of these."""

    def make(source, kinked, solver, engine="native"):
        programs = {}

        def run(case, stops=()):
            path = tmp_path / "diagram.yaml"
            if engine == "interpreter":
                path.write_text(text(source, kinked, solver, case, stops))
                return sb.simulate(sb.load(path), engine=engine)
            if len(stops) not in programs:
                path.write_text(text(source, kinked, solver, case, stops))
                programs[len(stops)] = sb.trace(sb.load(path))
            times = {f"stop{k}.T": float(t) for k, t in enumerate(stops)}
            return sb.simulate(programs[len(stops)].with_parameters(case | times))

        return run

    return make


def error(source, kinked, case, run):
    """Of a run, in multiples of what the tolerances allow."""
    wanted, allowed, _ = integral(source, kinked, case)
    return abs(run["x"][-1].item() - wanted) / allowed


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize("name", SOURCES)
@pytest.mark.parametrize("solver", ONE_STEP)
def test_kinks_keep_the_tolerance(solver, name, block, engine, runner):
    source, kinked, rng = SOURCES[name], BLOCKS[block], np.random.default_rng(5)
    smooth, bent = (runner(source, b, solver, engine) for b in (SMOOTH, kinked))
    plain = [source.draw(rng) for _ in range(CASES)]
    for base in plain:
        case = base | kinked.draw(rng)
        got, kinks = error(source, kinked, case, bent(case)), integral(source, kinked, case)[2]
        if got > 2 * (1 + kinks) * max(1.0, error(source, SMOOTH, base, smooth(base))):
            parts = bent(case, passed(source, kinked, case))
            assert got <= 2 * error(source, kinked, case, parts), case


@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize("name", SOURCES)
@pytest.mark.parametrize("solver", [*ONE_STEP, "BDF", "LSODA"])
def test_kinks_take_at_most_one_step_each(solver, name, block, runner):
    source, kinked, rng = SOURCES[name], BLOCKS[block], np.random.default_rng(5)
    each = 5 if solver == "LSODA" else 1  # it starts anew twice at each
    run, more, kinks = runner(source, kinked, solver), 0, 0
    for _ in range(20):
        case = source.draw(rng) | kinked.draw(rng)
        stops = passed(source, kinked, case)
        taken, known = (run(case, at).info["steps"] for at in ((), stops))
        more, kinks = more + taken - known, kinks + len(stops)
    assert more <= each * kinks


@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize("name", SOURCES)
@pytest.mark.parametrize(("solver", "engine"), MULTISTEP)
def test_kinks_cost_multistep_methods_no_more_than_restarts_there(
    solver, engine, name, block, runner
):
    """Their error at a restart is several times the tolerance, whatever the cause: that of the same
    run with steps that end at the known times of its kinks."""
    source, kinked, rng = SOURCES[name], BLOCKS[block], np.random.default_rng(5)
    run, errors = runner(source, kinked, solver, engine), []
    for _ in range(CASES):
        case = source.draw(rng) | kinked.draw(rng)
        ends = (), passed(source, kinked, case)
        errors.append([error(source, kinked, case, run(case, at)) for at in ends])
    got, known = np.max(errors, axis=0)
    assert got <= 2 * max(known, 1.0)

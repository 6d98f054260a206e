"""Where a number is not finite, the first block that made it so is named, and when."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import spart_blocks as sb
from spart_blocks.base.tableaus import FIXED_STEP

BLOCKS = {
    "one": "{type: CONSTANT, value: -1.0}",
    "x": "{type: INTEGRATOR, x0: 1.0}",
    "root": '{type: FCN, expression: "sqrt(u)"}',
    "after": "{type: GAIN, K: 2.0}",
    "y": "{type: INTEGRATOR, x0: 0.0}",
    "again": "{type: GAIN, K: 3.0}",
    "z": "{type: INTEGRATOR, x0: 0.0}",
}
WIRES = "wires: [one -> x, x -> root, root -> after, after -> y, y -> again, again -> z]"
SOLVERS = ["RK45", "DOP853", "RK23", "Radau", "BDF", "LSODA", "CVODES", "Adams"]
WAYS = ["compiled", "virtual machine", "interpreter", "file", "cached file", "program"]


def text_of(names):
    lines = "\n".join(f"  {name}: {BLOCKS[name]}" for name in names)
    return f"blocks:\n{lines}\n{WIRES}\n"


@pytest.fixture(params=WAYS)
def failure(request, tmp_path, monkeypatch):
    """failure(text, ...): the error of a run that must fail, on one of the ways to run it."""
    way = request.param

    def fail(text, **options):
        if way == "interpreter" and options.get("solver") in ("CVODES", "Adams"):
            pytest.skip("they are for programs")
        path = tmp_path / "cause.yaml"
        path.write_text(text)
        diagram = path if "file" in way else sb.load(path)
        engine = "interpreter" if way == "interpreter" else "native"
        if way == "program":
            diagram = sb.trace(diagram)
        if way == "virtual machine":
            monkeypatch.setattr(
                "spart_blocks.run.engines.compiled.library_of", lambda *a, **k: None
            )
        for _ in range(2 if way == "cached file" else 1):
            with pytest.raises(sb.RunError) as error:
                sb.simulate(diagram, engine=engine, **options)
        return error.value

    return fail


@pytest.mark.parametrize("solver", [*SOLVERS, *FIXED_STEP])
def test_every_solver_names_the_first_block_and_its_time(failure, solver):
    # x = 1 - t has no root beyond 1 s; y and z follow from it.
    error = failure(text_of(BLOCKS), T=2, solver=solver)
    assert error.block == "root.y"
    # A fixed step looks at the end of a step of T/500; the others come near by themselves.
    assert error.time == pytest.approx(1, abs=0.004 if solver in FIXED_STEP else 1e-6)
    assert error.results.t[-1] == pytest.approx(1, abs=0.0081)


@pytest.mark.parametrize(
    "order", [list(reversed(BLOCKS)), ["z", "after", "y", "root", "again", "x", "one"]]
)
def test_the_order_in_the_file_does_not_matter(failure, order):
    error = failure(text_of(order), T=2)
    assert (error.block, error.time) == ("root.y", pytest.approx(1, abs=1e-6))


def test_a_block_that_divides_by_zero_is_named_not_its_followers(failure):
    text = """
blocks:
  t: {type: TIME}
  over: {type: FCN, expression: "1/(u - 0.5)"}
  wave: {type: FCN, expression: "sin(u)"}
  x: {type: INTEGRATOR, x0: 0.0}
wires: [t -> over, over -> wave, wave -> x]
run: {T: 1, solver: RK4, max_step: 0.125}
"""
    error = failure(text)
    assert (error.block, error.time) == ("over.y", pytest.approx(0.5, abs=1e-9))


def test_a_tick_that_gives_no_number_names_the_block_before_it(failure):
    text = """
clocks: {c: {T: 0.25}}
blocks:
  t: {type: TIME}
  log: {type: FCN, expression: "log(0.6 - u)"}
  twice: {type: GAIN, K: 2.0}
  hold: {type: ZOH, clock: c}
  x: {type: INTEGRATOR, x0: 0.0}
wires: [t -> log, log -> twice, twice -> hold, hold -> x]
run: {T: 1, every: 0.25}
"""
    error = failure(text)
    assert (error.block, error.time) == ("log.y", pytest.approx(0.75, abs=1e-12))


def test_a_state_that_overflows_is_named_itself(failure):
    # RK4 multiplies by 7 in 0.05 s, where exp(40 t) does by e**2: 1.8e308 / 40 comes at 18.15 s.
    text = """
blocks:
  x: {type: INTEGRATOR, x0: 1.0}
  gain: {type: GAIN, K: 40.0}
wires: [x -> gain, gain -> x]
run: {T: 40, solver: RK4, max_step: 0.05}
"""
    error = failure(text)
    assert error.block in ("x", "gain")
    assert error.time == pytest.approx(18.15, abs=0.1)


def test_a_block_that_fails_for_what_it_was_given_is_not_blamed(diagram, wire, interpret):
    def careful(u):
        if np.isnan(u):
            raise ValueError("not a number")
        return u

    bd = diagram()
    bd.TIME(name="time")
    bd.FUNCTION(lambda t: np.nan if t > 0.5 else 1.0, name="bad")
    bd.FUNCTION(careful, name="careful")
    bd.INTEGRATOR(x0=0.0, name="x")
    wire(bd, "time -> bad", "bad -> careful", "careful -> x")
    with pytest.raises(sb.RunError, match="its output is not finite") as error:
        interpret(bd, T=1, every=0.1)
    assert error.value.block.startswith("bad")


@pytest.mark.parametrize("seed", range(6))
def test_of_a_random_chain_the_first_is_named(failure, seed):
    rng = np.random.default_rng(seed)
    length, bad = 8, int(rng.integers(1, 7))
    kinds = ["{type: INTEGRATOR, x0: 0.0}", "{type: GAIN, K: 1.5}"]
    names = [f"b{k}" for k in range(length)]
    lines = {name: kinds[int(rng.integers(2))] for name in names}
    lines[names[0]] = "{type: TIME}"
    lines[names[bad]] = '{type: FCN, expression: "u + log(0.7 - t)"}'
    order = [names[k] for k in rng.permutation(length)]
    body = "\n".join(f"  {name}: {lines[name]}" for name in order)
    wires = ", ".join(f"{a} -> {b}" for a, b in itertools.pairwise(names))
    error = failure(f"blocks:\n{body}\nwires: [{wires}]\nrun: {{T: 1, log: [b7]}}\n")
    assert error.block == f"{names[bad]}.y"
    assert error.time == pytest.approx(0.7, abs=0.0021)

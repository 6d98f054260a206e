"""A block's own one-step map replaces a fixed-step solver's step for that block."""

from __future__ import annotations

import numpy as np
import pytest
from bdsim.components import ContinuousBlock

import spart_blocks as sb


class Pendulum(ContinuousBlock):
    """A pendulum (g/l = 1) with the symplectic Euler step, which keeps its energy near."""

    nin, nout = 1, 1

    def __init__(self, **blockargs):
        super().__init__(nstates=2, **blockargs)
        self._x0 = np.array([1.0, 0.0])

    def output(self, t, inputs, x):
        return [x.copy()]

    def deriv(self, t, inputs, x):
        return np.array([x[1], inputs[0] - np.sin(x[0])])

    def advance(self, t, h, inputs, x):
        rate = x[1] + h * (inputs[0] - np.sin(x[0]))
        return np.array([x[0] + h * rate, rate])


class Plain(Pendulum):
    advance = property()  # hasattr says no


def energy(results):
    angle, rate = results["states.pendulum"].T
    return rate**2 / 2 - np.cos(angle)


@pytest.fixture
def run(runtime):
    def make(kind, **options):
        bd = runtime.blockdiagram(name="own")
        none = bd.CONSTANT(0.0, name="none")
        pendulum = kind(bd=bd, name="pendulum")
        rest = bd.INTEGRATOR(x0=2.0, name="rest")
        bd.connect(none, pendulum)
        bd.connect(none, rest)
        return sb.simulate(bd, T=100, every=1.0, max_step=0.1, **options)

    return make


@pytest.mark.parametrize("engine", ["native", "interpreter"])
def test_a_blocks_own_step_is_taken(run, engine):
    own = energy(run(Pendulum, engine=engine, solver="euler"))
    plain = energy(run(Plain, engine=engine, solver="euler"))
    # Symplectic: the energy stays within O(h) of its start for all times; Euler's grows.
    assert np.abs(own - own[0]).max() < 0.1
    assert np.abs(plain - plain[0]).max() > 0.5


def test_both_engines_and_the_virtual_machine_take_the_same_steps(run, monkeypatch):
    compiled = run(Pendulum, engine="native", solver="RK4")
    blocks = run(Pendulum, engine="interpreter", solver="RK4")
    monkeypatch.setattr("spart_blocks.run.engines.compiled.library_of", lambda *a, **k: None)
    machine = run(Pendulum, engine="native", solver="RK4")
    for other in (blocks, machine):
        difference = compiled["states.pendulum"] - other["states.pendulum"]
        assert np.abs(difference).max() < 1e-11
    assert (compiled["states.rest"] == 2.0).all()


def test_a_solver_with_error_control_keeps_to_the_derivative(run):
    own = run(Pendulum, engine="native", solver="RK45", rtol=1e-10, atol=1e-12)
    plain = run(Plain, engine="native", solver="RK45", rtol=1e-10, atol=1e-12)
    assert np.array_equal(own["states.pendulum"], plain["states.pendulum"])


class Strict(Pendulum):
    needs_fixed_steps = True


@pytest.mark.parametrize("engine", ["native", "interpreter"])
def test_a_block_may_refuse_a_solver_with_error_control(run, engine):
    with pytest.raises(sb.InputError, match="pendulum steps by itself, and solver RK45 chooses"):
        run(Strict, engine=engine, solver="RK45")
    own = run(Pendulum, engine=engine, solver="heun")
    strict = run(Strict, engine=engine, solver="heun")
    assert np.array_equal(strict["states.pendulum"], own["states.pendulum"])


class Wide(Pendulum):
    def project(self, x):
        return np.arange(4000.0)


class Short(Pendulum):
    def advance(self, t, h, inputs, x):
        return x[:1]


class Remembering(Pendulum):
    def __init__(self, **blockargs):
        super().__init__(**blockargs)
        self.calls = 0

    def advance(self, t, h, inputs, x):
        self.calls += 1
        return x + self.calls


class Bare(Pendulum):
    def output(self, t, inputs, x):
        return None


@pytest.mark.parametrize(
    ("kind", "text"),
    [(Wide, r"pendulum.*project gives \(4000,\)"), (Short, r"pendulum.*advance gives \(1,\)"),
     (Bare, "pendulum.*output gives nothing; it must give a list")],
)  # fmt: skip
@pytest.mark.parametrize("engine", ["native", "interpreter"])
def test_a_wrong_result_of_a_method_names_the_block(run, kind, text, engine):
    with pytest.raises(sb.SpartError, match=text):
        run(kind, engine=engine, solver="euler")


def test_a_step_that_remembers_is_found_out(run):
    with pytest.raises(sb.TraceError, match="own steps differ"):
        run(Remembering, engine="native", solver="euler")

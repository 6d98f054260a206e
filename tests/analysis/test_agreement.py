"""Both engines are compared signal by signal, and a difference is seen."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from spart_blocks.analysis import agreement
from spart_blocks.base.errors import RunError


def test_the_engines_agree(servo, sampled):
    for diagram in (servo, sampled):
        found = agreement.compare_engines(diagram, T=0.5)
        assert found
        assert all(one.alike for one in found)


def test_a_signal_that_differs_comes_first(sampled, monkeypatch):
    honest = agreement.simulate

    def bent(diagram, *, engine, **options):
        results = honest(diagram, engine=engine, **options)
        if engine == "interpreter":
            return results
        x = results.states["x"] + 1e-6 * np.eye(len(results.t))[7][:, None]
        return replace(results, states={**results.states, "x": x})

    monkeypatch.setattr(agreement, "simulate", bent)
    first, *others = agreement.compare_engines(sampled, T=0.5)
    assert first.name == "states.x"
    assert first.relative == pytest.approx(1e-6, rel=1e-6)
    assert first.t == pytest.approx(7 * 0.5 / 500)
    assert not first.alike
    assert all(one.alike for one in others)


def test_runs_of_different_length_are_no_comparison(sampled, monkeypatch):
    honest = agreement.simulate

    def short(diagram, *, engine, T, **options):
        return honest(diagram, engine=engine, T=T if engine == "native" else T / 2, **options)

    monkeypatch.setattr(agreement, "simulate", short)
    with pytest.raises(RunError, match="the engines kept different times"):
        agreement.compare_engines(sampled, T=0.5)


def test_a_solver_of_one_engine_is_compared_with_one_of_the_other(servo):
    diagram = servo.with_sections(run=servo.run.model_copy(update={"solver": "CVODES"}))
    assert all(one.alike for one in agreement.compare_engines(diagram, T=0.5))

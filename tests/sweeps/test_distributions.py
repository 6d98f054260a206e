"""Distributions against SciPy's, and values that do not depend on what is drawn with them."""

from __future__ import annotations

import numpy as np
import pytest
from pydantic import ValidationError
from scipy import stats

from spart_blocks.base.errors import InputError
from spart_blocks.diagram.sections.sweep_section import Varied
from spart_blocks.sweeps.plan.designs import philox_words, uniform, uniform_of
from spart_blocks.sweeps.plan.distributions import dimensions, values_of

N = 20_000


def drawn(given, nominal=None, n=N):
    varied = Varied.model_validate(given)
    d = dimensions(varied, nominal)
    return values_of(varied, uniform_of(philox_words(3, "x", np.arange(n), d)), nominal)


@pytest.mark.parametrize(
    ("given", "law"),
    [
        ({"normal": {"mean": 2, "sd": 3}}, stats.norm(2, 3)),
        ({"uniform": {"low": -1, "high": 4}}, stats.uniform(-1, 5)),
        ({"log_uniform": {"low": 0.1, "high": 1000}}, stats.loguniform(0.1, 1000)),
        (
            {"truncated_normal": {"mean": 1, "sd": 2, "low": 0, "high": 2}},
            stats.truncnorm(-0.5, 0.5, 1, 2),
        ),
        ({"truncated_normal": {"sd": 1, "low": 8}}, stats.truncnorm(8, np.inf)),
        ({"truncated_normal": {"sd": 1, "high": -30}}, stats.truncnorm(-np.inf, -30)),
    ],
)
def test_numbers_follow_the_law(given, law):
    assert stats.kstest(drawn(given), law.cdf).pvalue > 1e-3


def test_a_vector_has_independent_elements_and_their_own_parameters():
    x = drawn({"normal": {"mean": [1, 2, 3], "sd": [0.1, 1, 10]}})
    np.testing.assert_allclose((x.mean(axis=0) - [1, 2, 3]) / [0.1, 1, 10], 0, atol=0.03)
    np.testing.assert_allclose(x.std(axis=0), [0.1, 1, 10], rtol=0.02)
    assert abs(np.corrcoef(x.T)[np.triu_indices(3, 1)]).max() < 0.03


@pytest.mark.parametrize("C", [[[2, 1], [1, 3]], [[1, 2], [2, 4]]])
def test_a_covariance_is_that_of_the_numbers(C):
    x = drawn({"normal": {"mean": [5, -5], "covariance": C}})
    np.testing.assert_allclose(np.cov(x.T), C, atol=0.12)
    np.testing.assert_allclose(x.mean(axis=0), [5, -5], atol=0.05)


def test_choices_come_as_often_as_their_weights_say():
    x = drawn({"choice": {"values": ["a", "b", "c"], "weights": [1, 0, 3]}})
    assert set(x) == {"a", "c"}
    assert abs(np.mean(x == "c") - 0.75) < 0.01
    vectors = drawn({"choice": {"values": [[1, 2], [3, 4]]}})
    assert vectors.shape == (N, 2)


def test_any_rotation_is_equally_likely():
    q = drawn({"rotation": None})
    np.testing.assert_allclose(np.linalg.norm(q, axis=1), 1, atol=1e-12)
    turned = q * np.sign(q[:, 3:])  # q and -q are one rotation
    np.testing.assert_allclose(q.mean(axis=0)[:3], 0, atol=0.02)
    angle = 2 * np.arccos(turned[:, 3])
    law = lambda a: (a - np.sin(a)) / np.pi  # noqa: E731
    assert stats.kstest(angle, law).pvalue > 1e-3


def test_rotations_within_an_angle_are_about_the_nominal_one():
    nominal = np.array([0.5, 0.5, 0.5, 0.5])
    q = drawn({"rotation": {"within": 0.3}}, nominal)
    angle = 2 * np.arccos(np.minimum(1, abs(q @ nominal)))
    assert angle.max() <= 0.3 + 1e-7
    law = lambda a: (a - np.sin(a)) / (0.3 - np.sin(0.3))  # noqa: E731
    assert stats.kstest(angle, law).pvalue > 1e-3
    small = drawn({"rotation": {"sd": 0.01}})
    np.testing.assert_allclose((2 * small[:, :3]).std(axis=0), 0.01, rtol=0.03)


def test_relative_numbers_multiply_the_nominal_value():
    x = drawn({"uniform": {"low": 0.9, "high": 1.1}, "relative": True}, [2.0, 4.0])
    assert x.shape == (N, 2)
    np.testing.assert_array_equal(x[:, 1], 2 * x[:, 0])
    each = drawn({"uniform": {"low": 0.9, "high": 1.1}, "relative": True, "each": True}, [2.0, 4.0])
    assert abs(np.corrcoef(each.T)[0, 1]) < 0.03
    with pytest.raises(InputError, match="no number there"):
        drawn({"normal": {"sd": 1}, "relative": True}, None)
    with pytest.raises(InputError, match=r"factors have shape \(3,\), the value \(2,\)"):
        drawn({"normal": {"mean": [1, 1, 1], "sd": 1}, "relative": True}, [1.0, 2.0])


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"normal": {"mean": 1}}, "either sd or covariance"),
        ({"normal": {"sd": -1}}, "must not be negative"),
        ({"normal": {"covariance": [[1, 2], [2, 1]]}}, "negative eigenvalue"),
        ({"normal": {"covariance": [[1, 2], [0, 1]]}}, "must be symmetric"),
        ({"normal": {"mean": [1, 2, 3], "sd": [1, 2]}}, "shapes of mean .3,. and sd .2,. differ"),
        ({"uniform": {"low": 2, "high": 1}}, "is below low"),
        ({"log_uniform": {"low": 0, "high": 1}}, "must be above zero"),
        ({"truncated_normal": {"sd": 1}}, "needs low or high"),
        ({"truncated_normal": {"sd": 1, "low": 40}}, "37 standard deviations"),
        ({"choice": {"values": [1, 2], "weights": [1]}}, "1 weights for 2 values"),
        ({"choice": {"values": [1], "weights": [0]}}, "all zero"),
        ({"rotation": {"within": 1, "sd": 1}}, "either within or sd"),
        ({}, "takes one of"),
        ({"values": [1], "normal": {"sd": 1}}, "takes one of"),
        ({"choice": {"values": ["a"]}, "relative": True}, "takes numbers"),
    ],
)
def test_what_is_no_distribution_is_told(given, told):
    with pytest.raises(ValidationError, match=told):
        Varied.model_validate(given)


@pytest.mark.parametrize("design", ["random", "sobol", "halton", "latin_hypercube", "saltelli"])
def test_each_draw_is_known_alone(design):
    sizes = {"a": 3, "b": 1}
    whole = uniform(design, 5, 300, sizes, np.arange(300))
    some = np.array([299, 3, 3, 150])
    part = uniform(design, 5, 300, sizes, some)
    for name, numbers in whole.items():
        np.testing.assert_array_equal(part[name], numbers[some])
        assert numbers.min() > 0
        assert numbers.max() < 1


@pytest.mark.parametrize("design", ["random", "sobol", "halton", "saltelli"])
def test_a_longer_sweep_begins_as_a_shorter_one(design):
    short = uniform(design, 5, 40, {"a": 2}, np.arange(40))["a"]
    longer = uniform(design, 5, 4000, {"a": 2}, np.arange(4000))["a"]
    np.testing.assert_array_equal(longer[:40], short)


def test_far_apart_draws_are_computed_one_by_one():
    far = np.array([10**12, 5, 10**9])
    words = philox_words(1, "x", far, 3)
    for k, draw in enumerate(far):
        np.testing.assert_array_equal(words[k], philox_words(1, "x", np.array([draw]), 3)[0])


def test_names_and_seeds_have_their_own_numbers():
    draws = np.arange(1000)
    columns = [philox_words(s, n, draws, 1)[:, 0] for s, n in ((1, "a"), (1, "b"), (2, "a"))]
    assert len(set(np.concatenate(columns).tolist())) == 3000


def test_designs_fill_the_space_more_evenly_than_chance():
    apart = {}
    for design in ("random", "sobol", "halton", "latin_hypercube"):
        u = uniform(design, 1, 1024, {"a": 2}, np.arange(1024))["a"]
        apart[design] = stats.qmc.discrepancy(u)
    assert max(apart[d] for d in ("sobol", "halton", "latin_hypercube")) < apart["random"] / 3


def test_the_rows_of_a_saltelli_design_exchange_one_path_at_a_time():
    found = uniform("saltelli", 1, 8, {"a": 1, "b": 2}, np.arange(8 * 4))
    a, b = found["a"][:, 0].reshape(8, 4), found["b"][:, 0].reshape(8, 4)
    assert (a[:, 0] != a[:, 1]).all()
    np.testing.assert_array_equal(a[:, [2, 3]], a[:, [1, 0]])
    np.testing.assert_array_equal(b[:, [2, 3]], b[:, [0, 1]])


@pytest.mark.parametrize(
    "given",
    [
        {"normal": {"mean": [0, 0], "covariance": [[2, 1], [1, 2]]}},
        {"log_uniform": {"low": 0.1, "high": 9}},
        {"truncated_normal": {"sd": 1, "low": 1}},
        {"rotation": {"within": 1}},
        {"rotation": {"sd": 1}},
    ],
)
def test_a_value_is_the_same_bits_however_many_are_drawn_with_it(given):
    varied = Varied.model_validate(given)
    d = dimensions(varied)
    u = uniform_of(philox_words(3, "x", np.arange(501), d))
    whole = values_of(varied, u)
    for k in (0, 1, 7, 500):
        np.testing.assert_array_equal(values_of(varied, u[k : k + 1])[0], whole[k])

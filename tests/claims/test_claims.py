"""Each kind of claim passes and fails for the right reason, on signals with known numbers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spart_blocks.analysis.claims import KINDS, balances, band_of, farthest, near, told
from spart_blocks.base.errors import InputError
from spart_blocks.diagram.sections.expectations import CLAIMS, OF_ANSWERS
from spart_blocks.results import FinalState, Results

T = np.linspace(0, 10, 101)


@pytest.fixture
def known(results_of):
    """exp(-t) and 2 exp(-t), sin(t), t."""
    decay = np.exp(-T)
    return results_of(decay=np.stack([decay, 2 * decay], axis=1), wave=np.sin(T), ramp=T)


def judged(results, kind, **fields):
    band = band_of(kind, CLAIMS[kind].model_validate(fields), results)
    miss = farthest(band)
    return band, miss


# 2 exp(-3) = 0.0996, 2 exp(-4) = 0.0366; sin(1.6) = 0.99957, sin(2.0) = 0.9093,
# sin(2.1) = 0.8632, sin(4.7) = -0.99992.
HOLD = [
    ("settles", {"signal": "decay", "to": 0, "within": 0.05, "by": 4}),
    ("settles", {"signal": "decay[0]", "to": 0, "within": 0.05, "by": 3}),
    ("settles", {"signal": "ramp", "to": 3, "within": 0.6, "by": 2.5, "until": 3.5}),
    ("stays_within", {"signal": "wave", "low": -1, "high": 1}),
    ("stays_within", {"signal": "wave", "high": 0.9, "from": 2.1, "until": 7}),
    ("stays_within", {"signal": "decay", "low": 0, "high": [1, 2]}),
    ("never_exceeds", {"signal": "wave", "limit": 1}),
    ("conserved", {"signal": "decay", "within": 2}),
    ("monotone", {"signal": "decay", "direction": "falling"}),
    ("monotone", {"signal": "ramp", "direction": "rising"}),
    ("monotone", {"signal": "wave", "direction": "rising", "within": 2}),
    ("final", {"signal": "ramp", "value": 10, "within": 1e-9}),
    ("final", {"signal": "decay", "value": [np.exp(-10), 2 * np.exp(-10)], "within": 1e-12}),
]
FAIL = [
    ("settles", {"signal": "decay", "to": 0, "within": 0.05, "by": 3}, 1, 3.0,
     "got 0.0995741367 at t = 3 s, expected 0 within 0.05, off by 0.0996"),
    ("settles", {"signal": "ramp", "to": 9, "within": 2, "by": 3}, 0, 3.0, "off by 6"),
    ("settles", {"signal": "ramp", "to": 3, "within": 0.4, "by": 2.8, "until": 4}, 0, 4.0,
     "off by 1"),
    ("stays_within", {"signal": "wave", "high": 0.9}, 0, 1.6, "expected at most 0.9"),
    ("stays_within", {"signal": "wave", "low": -0.9}, 0, 4.7, "expected at least -0.9"),
    ("stays_within", {"signal": "wave", "low": -2, "high": 0.9, "from": 2, "until": 7}, 0, 2.0,
     "expected between -2 and 0.9"),
    ("stays_within", {"signal": "decay", "high": [1, 1.9]}, 1, 0.0, "got 2 at t = 0 s"),
    ("never_exceeds", {"signal": "wave", "limit": 0.999}, 0, 4.7,
     "got -0.999923258 at t = 4.7 s, expected a magnitude of at most 0.999"),
    ("conserved", {"signal": "decay", "within": 1.5}, 1, 10.0,
     "expected 2 as at the start, off by 2; all samples may range over 1.5"),
    ("monotone", {"signal": "decay", "direction": "rising"}, 1, 10.0,
     "expected at least 2, as it had risen"),
    ("monotone", {"signal": "ramp", "direction": "falling"}, 0, 10.0,
     "expected at most 0, as it had fallen"),
    ("monotone", {"signal": "wave", "direction": "rising", "within": 1.9}, 0, 4.7, "had risen"),
    ("final", {"signal": "ramp", "value": 9, "within": 0.5}, 0, 10.0, "expected 9 within 0.5"),
]  # fmt: skip


def test_every_kind_has_a_claim_that_holds_and_one_that_fails():
    """Those of answers to steps are of measurements, not of samples (test_answers.py)."""
    of_samples = set(CLAIMS) - set(OF_ANSWERS)
    assert set(KINDS) == set(CLAIMS)
    assert of_samples == {k for k, _ in HOLD} == {k for k, *_ in FAIL}


@pytest.mark.parametrize(("kind", "fields"), HOLD)
def test_a_claim_holds(known, kind, fields):
    band, miss = judged(known, kind, **fields)
    assert len(band.t)
    assert miss is None


@pytest.mark.parametrize(("kind", "fields", "element", "t", "text"), FAIL)
def test_a_claim_fails_at_its_worst_element_and_time(known, kind, fields, element, t, text):
    band, miss = judged(known, kind, **fields)
    assert miss.element == element
    assert band.t[miss.sample] == pytest.approx(t)
    assert text in told(band, miss)


@given(
    x=st.lists(st.floats(-1e3, 1e3), min_size=2, max_size=20).filter(lambda x: np.ptp(x) > 1e-3),
)
def test_conserved_is_about_the_range_and_names_what_is_farthest_from_the_start(x):
    x = np.array(x)
    run = Results(
        t=np.arange(len(x)) * 1.0, signals={"x": x}, states={}, final_state=FinalState(0.0)
    )
    for part, holds in ((1 - 1e-6, False), (1 + 1e-6, True)):
        band, miss = judged(run, "conserved", signal="x", within=part * np.ptp(x))
        assert (miss is None) == holds
        if miss is not None:
            farthest_from_start = np.abs(x - x[0]).max()
            assert abs(band.got[miss.sample, 0] - x[0]) == pytest.approx(farthest_from_start)


def test_what_never_changes_is_conserved_exactly(results_of):
    constant = results_of(x=np.full(101, 0.1))
    assert judged(constant, "conserved", signal="x", within=0)[1] is None


def test_the_elements_that_fail_are_counted(known):
    _, miss = judged(known, "never_exceeds", signal="decay", limit=0.5)
    assert (miss.element, miss.elements) == (1, 2)


def test_a_time_without_samples_leaves_nothing_to_hold(known):
    band, _ = judged(known, "settles", signal="ramp", to=0, within=1, by=11)
    assert len(band.t) == 0


def test_what_is_no_number_is_out_of_every_band(results_of):
    wave = np.sin(T)
    wave[70] = np.nan
    _, miss = judged(results_of(wave=wave), "never_exceeds", signal="wave", limit=0.5)
    assert miss.sample == 70


@pytest.mark.parametrize(
    ("signal", "value", "message"),
    [
        ("decay", [1, 2, 3], "decay has shape (2,), the value has shape (3,)"),
        ("wave", [1], "wave is a number, the value has shape (1,)"),
        ("decay", [[1, 2], [3]], "differ in length"),
        ("spin", 1, "spin is complex"),
    ],
)
def test_values_that_do_not_fit_their_signal_are_refused(results_of, signal, value, message):
    decay = np.exp(-T)
    results = results_of(
        decay=np.stack([decay, decay], axis=1), wave=np.sin(T), spin=np.exp(1j * T)
    )
    with pytest.raises(InputError) as error:
        judged(results, "final", signal=signal, value=value, within=1)
    assert message in str(error.value)


def test_a_matrix_is_compared_with_one_number_or_with_a_matrix(results_of):
    turns = np.broadcast_to(np.array([[0.0, -1.0], [1.0, 0.0]]), (101, 2, 2))
    results = results_of(R=turns)
    _, miss = judged(results, "final", signal="R", value=[[0, -1], [1, 0.5]], within=0.1)
    assert miss.element == 3
    assert judged(results, "never_exceeds", signal="R", limit=1)[1] is None


@given(
    expected=st.floats(-1e3, 1e3),
    within=st.floats(1e-3, 1e3),
    side=st.sampled_from([-1, 1]),
)
def test_a_tolerance_is_kept_up_to_its_edge_and_no_farther(expected, within, side):
    def holds(part):
        got = np.array([[expected + side * part * within]])
        return farthest(near(np.zeros(1), got, np.array([[expected]]), within)) is None

    assert holds(1 - 1e-9)
    assert not holds(1 + 1e-9)


# Balances of audited plants


def audited(results_of, drift):
    """A plant with momentum (0, 40, 0) kg m/s at most, and energy 0.3 J from work."""
    p = np.stack([0 * T, 40 * np.sin(T), 0 * T], axis=1)
    return results_of(
        plant__audit__p=p,
        plant__audit__p_balance=np.stack([0 * T, drift * T / 10, 0 * T], axis=1),
        plant__audit__energy=0.3 + 0 * T,
        plant__audit__work=0.3 + 0 * T,
        plant__audit__energy_balance=drift * T / 10,
        other__p_balance=T,
    )


def test_balances_are_held_relative_to_what_they_are_the_difference_of(results_of):
    found = dict(balances(audited(results_of, 0.9e-6 * 40), 1e-6))
    assert list(found) == ["plant.audit.p_balance", "plant.audit.energy_balance"]
    assert farthest(found["plant.audit.p_balance"]) is None
    assert farthest(found["plant.audit.energy_balance"]).sample == 100  # 3.6e-5 of 0.3 J
    found = dict(balances(audited(results_of, 1.1e-6 * 40), 1e-6))
    assert farthest(found["plant.audit.p_balance"]).element == 1


@pytest.mark.parametrize(
    ("energy", "allowed"),
    [
        (0.0, 1e-7),  # 1e-6 of 0.1 kg m/s
        (2.0, 2e-5),  # 1e-6 of sqrt(2 * 100 kg * 2 J)
    ],
)
def test_a_balance_of_no_momentum_is_held_to_that_of_the_parts(results_of, energy, allowed):
    for part, holds in ((0.9, True), (1.1, False)):
        balance = np.zeros((101, 3)) + part * allowed * T[:, None] / 10
        results = results_of(
            a__audit__h=balance, a__audit__h_balance=balance, a__audit__energy=energy + 0 * T
        )
        [(_, band)] = balances(results, 1e-6)
        assert (farthest(band) is None) == holds

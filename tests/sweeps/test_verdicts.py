"""Claims of `expect:` judge every run of a sweep at once, as `spart test` judges one run."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from measured_runs import done_of, with_values

import spart_blocks as sb
from spart_blocks.base.errors import InputError
from spart_blocks.claims.check import check_file
from spart_blocks.diagram.sections.expectations import CLAIMS, ExpectSection
from spart_blocks.sweeps.replay import replayed
from spart_blocks.sweeps.verdicts import Verdicts, left_out_of

# x' = k (1.5 - x), x(0) = 0: x = 1.5 (1 - exp(-k t)); both has x and 2 x.
LAG = """\
name: lag
params: {k: 2.0}
blocks:
  goal: {type: CONSTANT, value: 1.5}
  error: {type: SUM, signs: "+-"}
  gain: {type: GAIN, K: $k}
  x: {type: INTEGRATOR}
  twice: {type: GAIN, K: 2.0}
  both: {type: MUX, nin: 2}
  scope: {type: SCOPE, vector: 2}
wires:
  - goal -> error.0
  - x -> error.1, both.0, twice
  - twice -> both.1
  - both -> scope
  - error -> gain -> x
run: {T: 4, rtol: 1.0e-8, atol: 1.0e-10}
expect:
""".replace("error -> gain -> x", "error -> gain\n  - gain -> x")
K = np.array([0.5, 2.0, 3.0, -1e3])
# k = 0.5: 1.297 at 4 s, 0.948 at 2 s; k = 2: 1.49950, 1.473; k = 3: 1.499991, 1.4963. The last
# grows beyond what a float holds, and fails.
CASES = {
    "settles: [{signal: x, to: 1.5, within: 0.02, by: 2}]": [0, 0, 1],
    "settles: [{signal: both, to: [1.5, 3], within: 0.06, by: 2}]": [0, 1, 1],
    "stays_within: [{signal: x, low: 1.4, from: 2}]": [0, 1, 1],
    "stays_within: [{signal: both, high: [1.4997, 2.9994]}]": [1, 1, 0],
    "never_exceeds: [{signal: 'both[1]', limit: 2.9995}]": [1, 1, 0],
    "conserved: [{signal: x, within: 1.3}]": [1, 0, 0],
    "monotone: [{signal: x, direction: rising, within: 1.0e-6}]": [1, 1, 1],
    "monotone: [{signal: x, direction: falling, within: 1.4}]": [1, 0, 0],
    "final: [{signal: both, value: [1.5, 3], within: 1.0e-3}]": [0, 0, 1],
    # ln(9) / k and ln(50) / k; with k = 0.5 x does not get so far.
    "rise_time: [{signal: x, to: goal, limit: 1}]": [0, 0, 1],
    "settling_time: [{signal: x, to: goal, limit: 1.96}]": [0, 1, 1],
    "overshoot: [{signal: 'both[1]', to: goal, limit: 80}]": [1, 0, 0],
    "overshoot: [{signal: both, to: goal, limit: [0.1, 80]}]": [1, 0, 0],
    "overshoot: [{signal: goal, to: goal, limit: 80}]": [0, 0, 0],
    "final: [{signal: x, value: 1.5, within: 1.0e-3}]\n  settles: [{signal: x, to: 1.5, "
    "within: 1, by: 1}]": [0, 1, 1],
    "settles: [{signal: x, to: 1.5, within: 9, by: 5}]": [0, 0, 0],
    "{}": [1, 1, 1],
}  # fmt: skip


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    file = tmp_path_factory.mktemp("lag") / "lag.yaml"
    file.write_text(LAG + "  {}\n", encoding="utf-8")
    return sb.trace(sb.load(file))


def section_of(tmp_path, claims):
    (tmp_path / "spart.toml").touch()
    file = tmp_path / "lag.yaml"
    text = LAG.rstrip("\n") + " {}\n" if claims == "{}" else LAG + f"  {claims}\n"
    file.write_text(text, encoding="utf-8")
    return file, sb.load(file).sections.expect


@pytest.mark.parametrize("claims", CASES)
def test_all_runs_are_judged_as_each_alone(program, tmp_path, claims):
    file, section = section_of(tmp_path, claims)
    verdicts = Verdicts(section, program)
    done = done_of(program, with_values(program, k=K), verdicts.gauges)
    passed = verdicts.passed(done)
    assert passed.dtype == bool
    assert passed.tolist() == [*map(bool, CASES[claims]), False]
    for k, gain in enumerate(K):
        outcome = check_file(file, overrides=(f"params.k={float(gain)!r}",))
        reasons = verdicts.reasons(done, k)
        assert outcome.passed == passed[k] == (not reasons)
        if k < 3:
            alone = [f"{f.kind} {f.signal}: {f.message}" for f in outcome.failures]
            assert reasons == alone
    assert "at t = " in verdicts.reasons(done, 3)[0]


def test_the_kinds_of_claims_are_all_tried():
    assert {claims.split(":")[0] for claims in CASES} - {"{}"} == set(CLAIMS)


def test_claims_that_are_not_about_one_run_are_left_out(program):
    section = ExpectSection.model_validate(
        {"baseline": True, "speed": {"times_real_time": 1}, "audit": {"within": 1}, "engines": True}
    )
    verdicts = Verdicts(section, program)
    assert left_out_of(section) == ("baseline", "engines", "speed", "audit")
    assert verdicts.gauges == ()
    assert left_out_of(None) == ()
    assert Verdicts(None, program).names == ()


def test_values_that_do_not_fit_are_told_at_once(program):
    section = ExpectSection.model_validate(
        {
            "settles": [{"signal": "both", "to": [1, 2, 3], "within": 1, "by": 1}],
            "never_exceeds": [{"signal": "x", "limit": [1]}, {"signal": "both[9]", "limit": 1}],
            "final": [{"signal": "none", "value": 1, "within": 1}],
        }
    )
    with pytest.raises(InputError) as error:
        Verdicts(section, program)
    assert len(error.value.faults) == 4
    assert "both has shape (2,), the value has shape (3,)" in str(error.value)


def test_runs_that_could_not_be_measured_fail(program, tmp_path):
    _, section = section_of(tmp_path, "final: [{signal: x, value: 1.5, within: 1}]")
    verdicts = Verdicts(section, program)
    done = done_of(program, with_values(program, k=K[-1:]), verdicts.gauges)

    assert verdicts.passed(replace(done, readings={})).tolist() == [False]


def test_a_replay_says_which_claims_its_run_does_not_fulfil(tmp_path):
    file, _ = section_of(tmp_path, "final: [{signal: x, value: 1.5, within: 1.0e-3}]")
    found = sb.sweep(file, {"k": [0.5, 2.0]})
    assert found["passed"].tolist() == [False, True]
    [reason] = replayed(found, 0).reasons
    assert reason.startswith("final x: got 1.29699")
    assert replayed(found, 1).reasons == ()

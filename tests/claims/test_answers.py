"""Claims about how a signal follows a step: `rise_time`, `settling_time`, `overshoot`."""

import pytest

import spart_blocks as sb
from spart_blocks.claims.check import Manner, check_file

# A second-order lag with damping 0.3 and 4 rad/s: overshoot exp(-pi 0.3 / sqrt(0.91)) = 37.23 %.
SECOND = """
name: second
blocks:
  r: {type: STEP, T: 0.1, on: 2}
  y: {type: PT2, damping: 0.3, omega: 4, gain: 1}
  s: {type: SCOPE}
wires: [r -> y, y -> s]
run: {T: 6}
expect:
"""


@pytest.fixture
def checked(tmp_path):
    def check(claims, text=SECOND, **options):
        path = tmp_path / "second.yaml"
        path.write_text(text + f"  {claims}\n", encoding="utf-8")
        return check_file(path, **options)

    return check


@pytest.mark.parametrize(
    ("claim", "text"),
    [
        ("rise_time: [{signal: y, to: r, limit: 0.34}]", ""),
        ("settling_time: [{signal: y, to: r, limit: 2.81}]", ""),
        ("overshoot: [{signal: y, to: r, limit: 37.3}]", ""),
        ("rise_time: [{signal: y, to: r, limit: 0.3}]",
         "got 0.330335 at t = 6 s, expected a rise time of at most 0.3 s"),
        ("settling_time: [{signal: y, to: r, limit: 1}]", "a settling time of at most 1 s"),
        ("overshoot: [{signal: y, to: r, limit: 5}]",
         "got 37.2326 at t = 6 s, expected an overshoot of at most 5 %"),
        ("overshoot: [{signal: r, to: y, limit: 5}]", "y makes no step in this run that r could"),
    ],
)  # fmt: skip
def test_it_is_measured_over_the_whole_run(checked, tmp_path, claim, text):
    outcome = checked(claim, manner=Manner(plots=tmp_path / "plots"))
    assert outcome.passed == (not text)
    if text:
        (failure,) = outcome.failures
        assert text in _rounded(failure.message)
        assert failure.picture is None


def _rounded(message):
    """The message with its first number to six digits."""
    words = message.split(" ")
    if words[0] == "got":
        words[1] = f"{float(words[1]):.6g}"
    return " ".join(words)


def test_what_has_not_settled_at_the_end_fails(checked):
    outcome = checked(
        "settling_time: [{signal: y, to: r, limit: 9}]", SECOND.replace("T: 6", "T: 1")
    )
    assert "got inf" in outcome.failures[0].message


def test_a_reference_that_does_not_exist_is_told_with_its_place(checked):
    outcome = checked("rise_time: [{signal: y, to: q, limit: 1}]")
    assert "q" in outcome.faults[0].message
    assert outcome.faults[0].place.line == 10


def test_a_design_takes_it_as_a_constraint(tmp_path):
    """The damping of 5 % overshoot: ln(20) / sqrt(pi^2 + ln(20)^2)."""
    path = tmp_path / "second.yaml"
    claim = "  overshoot: [{signal: y, to: r, limit: 5}]\n"
    path.write_text(SECOND + claim, encoding="utf-8")
    found = sb.tune(
        path, {"y.damping": [0.1, 2]}, minimize="rise_time(y, r)", claims="all", samples=8
    )
    assert found["y.damping"] == pytest.approx(0.690107, abs=2e-4)

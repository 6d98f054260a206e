"""At which steps clocks tick, and which rates a part can have."""

from fractions import Fraction

import pytest

from spart_blocks.base.errors import InputError
from spart_blocks.export.schedule import rate_reason, schedule_of
from spart_blocks.program.subdiagram import subdiagram_of


def sampled(tmp_path, clocks, more=""):
    """A part with a hold on each clock."""
    lines = [f"  {name}: {clock}" for name, clock in clocks.items()]
    holds = [f"  z{name}: {{type: ZOH, clock: {name}, x0: 0.0}}" for name in clocks]
    wires = [f"  - t -> z{name}" for name in clocks]
    text = ["clocks:", *lines, "blocks:", "  t: {type: TIME}", *holds, "wires:", *wires, more]
    path = tmp_path / "sampled.yaml"
    path.write_text("\n".join(text))
    return subdiagram_of(path)


def test_without_a_rate_it_is_a_kilohertz():
    schedule = schedule_of(subdiagram_of("diagrams/spacecraft_pd.yaml"))
    assert schedule.step == Fraction(1, 1000)
    assert schedule.time(3) == 3 / 1000


SAMPLED = """
clocks: {c: {rate: 200}, slow: {rate: 10}}
blocks:
  wanted: {type: ZOH, clock: slow, x0: 0.0}
  t: {type: TIME}
  e: {type: SUM, signs: "+-"}
  k: {type: GAIN, K: 2.0}
  limit: {type: CLIP, min: -1, max: 1}
  hold: {type: ZOH, clock: c, x0: 0.0}
  x: {type: INTEGRATOR}
wires: [t -> wanted, wanted -> e.0, x -> e.1, e -> k, k -> limit, limit -> hold, hold -> x]
run: {T: 1, log: [x]}
"""


@pytest.mark.parametrize(
    ("blocks", "rate", "why"),
    [
        (["limit", "hold"], 200, "at which its clocks tick"),
        (["hold", "wanted"], 200, "at which its clocks tick"),
        (["wanted"], 10, "at which its clocks tick"),
        (["k"], 200, "at which the clocks around it tick"),
        (["x"], 1000, "for states that move between ticks; the clocks around it tick at 200 Hz"),
        ([], 1000, "for states that move between ticks; its clocks tick at 200 Hz"),
        (["t"], 10, "at which the clocks around it tick"),
    ],
)
def test_without_a_rate_it_is_that_of_the_clocks(tmp_path, blocks, rate, why):
    (tmp_path / "sampled.yaml").write_text(SAMPLED)
    part = subdiagram_of(tmp_path / "sampled.yaml", blocks)
    schedule = schedule_of(part)
    assert schedule.rate == rate
    assert rate_reason(part, schedule, asked=False) == why
    assert rate_reason(part, schedule_of(part, 2000), asked=True) == "as asked for"


def test_without_a_clock_it_is_as_usual():
    part = subdiagram_of("diagrams/spacecraft_pd.yaml", ["ctrl"])
    assert rate_reason(part, schedule_of(part), asked=False) == "as usual without clocks"


def test_without_a_rate_all_ticks_fall_on_steps(tmp_path):
    part = sampled(tmp_path, {"a": "{T: 0.004, offset: 0.0015}", "b": "{T: 0.0025}"})
    schedule = schedule_of(part)
    assert schedule.step == Fraction(1, 2000)
    assert [(c.period, c.offset) for c in schedule.clocks] == [(8, 3), (5, 0)]


def test_without_a_rate_states_move_in_steps_of_a_millisecond_or_less(tmp_path):
    text = "run: {T: 1}"
    part = sampled(tmp_path, {"a": "{rate: 3}"}, text)
    assert schedule_of(part).step == Fraction(1, 3)
    path = tmp_path / "sampled.yaml"
    path.write_text(
        path.read_text().replace("wires:", "  x: {type: INTEGRATOR}\nwires:\n  - t -> x")
    )
    assert schedule_of(subdiagram_of(path)).step == Fraction(1, 1002)


def test_a_clock_given_by_its_rate_falls_on_steps_of_that_rate(tmp_path):
    schedule = schedule_of(sampled(tmp_path, {"a": "{rate: 300}"}), 600)
    assert schedule.step == Fraction(1, 600)  # 1/300 s is no decimal number
    assert schedule.clocks[0].period == 2


def test_a_clock_ticks_at_its_offset_and_every_period(tmp_path):
    (clock,) = schedule_of(sampled(tmp_path, {"a": "{T: 0.003, offset: 0.002}"}), 1000).clocks
    assert [k for k in range(12) if clock.due(k)] == [2, 5, 8, 11]


def test_bdsims_rule_has_the_first_tick_a_period_later(tmp_path):
    part = sampled(tmp_path, {"a": "{T: 0.003}"}, "run: {first_tick: bdsim}")
    (clock,) = schedule_of(part, 1000).clocks
    assert [k for k in range(8) if clock.due(k)] == [3, 6]


def test_a_rate_at_which_a_tick_falls_between_steps_is_refused_with_one_that_does_not(tmp_path):
    part = sampled(tmp_path, {"a": "{T: 0.004}"})
    with pytest.raises(InputError, match=r"at 300 Hz ticks of the clock of za fall between") as e:
        schedule_of(part, 300)
    assert "the rate must be 250 Hz or a multiple of it" in str(e.value)


@pytest.mark.parametrize("rate", [0, -5, 2e6, float("nan"), float("inf")])
def test_rates_that_are_none_are_refused(rate):
    with pytest.raises(InputError, match="the rate must be above 0 and up to 1e\\+06 Hz"):
        schedule_of(subdiagram_of("diagrams/spacecraft_pd.yaml", ["ctrl"]), rate)


def test_clocks_that_need_a_rate_beyond_the_highest_are_refused(tmp_path):
    part = sampled(tmp_path, {"a": "{T: 0.001, offset: 1.0e-07}"})
    with pytest.raises(InputError, match=r"need steps at 1e\+07 Hz\n.*multiples of 1 ms"):
        schedule_of(part)


def test_a_step_that_cannot_be_counted_is_refused():
    with pytest.raises(InputError, match="cannot be counted exactly"):
        schedule_of(subdiagram_of("diagrams/spacecraft_pd.yaml", ["ctrl"]), 1234.5678901234567)


def test_a_method_that_there_is_not_is_refused():
    with pytest.raises(InputError, match=r"no fixed-step method 'RK45'"):
        schedule_of(subdiagram_of("diagrams/spacecraft_pd.yaml", ["ctrl"]), 1000, "RK45")

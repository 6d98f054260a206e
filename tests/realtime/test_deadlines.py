"""What the loop does with its deadlines, on a clock that the test directs."""

from __future__ import annotations

import numpy as np
import pytest

from spart_blocks.realtime.structs import CAUSES, Ended

MS = 1_000_000  # ns
US = 1_000
NONE = dict.fromkeys(CAUSES, 0)


def test_every_step_is_done_once_and_in_order(rig):
    run = rig(ticks=100).run()
    assert run.ended is Ended.DONE
    assert (run.rig.outputs, run.rig.updates, run.loop.steps) == (100, 100, 100)
    assert list(run.rig.done[:100]) == list(range(100))
    assert run.loop.ended_ns - run.loop.begun_ns == 100 * MS  # the last period is over too


def test_deadlines_do_not_drift_with_the_work(rig):
    run = rig(ticks=50)
    run.rig.work[:50] = [300 * US] * 50
    run.run()
    assert run.loop.ended_ns - run.loop.begun_ns == 50 * MS
    assert run.missed == NONE


def test_deadlines_of_a_period_of_no_whole_nanoseconds_do_not_drift(rig):
    run = rig(ticks=3000)
    run.loop.model.period_s = 1 / 3000
    run.run()
    assert run.loop.ended_ns - run.loop.begun_ns == 1_000_000_000


@pytest.mark.parametrize(
    ("told", "cause"),
    [
        ({"work": 1200 * US}, "step"),
        ({"away": 1200 * US}, "interrupt"),
        ({"late": 1200 * US}, "wake-up"),
        ({"late": 900 * US, "work": 200 * US}, "wake-up"),
        ({"work": 400 * US, "away": 700 * US}, "interrupt"),
        ({"work": 1200 * US, "away": 1100 * US}, "step"),
        ({"work": 1200 * US, "away": 1300 * US}, "interrupt"),
        ({"sending": 1200 * US}, "links"),
        ({"work": 600 * US, "sending": 600 * US}, "links"),
        ({"work": 600 * US, "away": 500 * US, "sending": 600 * US}, "links"),
        ({"work": 1200 * US, "sending": 1200 * US}, "step"),
        ({"away": 700 * US, "sending": 700 * US}, "interrupt"),
        ({"late": 900 * US, "sending": 200 * US}, "wake-up"),
    ],
)
def test_a_missed_deadline_is_put_down_to_what_caused_it(rig, told, cause):
    run = rig(links=1)
    run.set("heard", **{f"_{k}": 1 for k in range(10)})
    for name, value in told.items():
        run.set(name, _4=value) if name != "late" else run.set(name, _3=value)  # step 0 sleeps not
    run.run()
    assert run.missed == NONE | {cause: 1}


def test_work_before_the_wake_up_is_not_that_of_the_step(rig):
    """Processor time between two steps, as of interrupts that come while the loop sleeps."""
    run = rig()
    run.set("between", _3=900 * US)
    run.set("away", _4=1200 * US)
    run.set("work", _4=300 * US)
    run.run()
    assert run.missed == NONE | {"interrupt": 1}


def test_a_step_that_ends_at_the_deadline_has_met_it(rig):
    run = rig()
    run.set("work", _4=MS)
    run.run()
    assert sum(run.missed.values()) == 0


def test_skip_leaves_out_the_deadlines_that_have_passed(rig):
    run = rig(policy="skip", rows=16)
    run.loop.watched.streaming = 1
    run.set("work", _2=3500 * US)  # from deadline 2 to 5.5
    run.run()
    assert run.missed["step"] == 1
    assert (run.loop.steps, run.loop.skipped) == (7, 3)
    assert run.loop.ended_ns - run.loop.begun_ns == 10 * MS
    # Time in the model is that of the steps done.
    np.testing.assert_allclose(run.drained()[:, 0], np.arange(7) * 1e-3)


def test_catch_up_does_every_step_and_returns_to_the_grid(rig):
    run = rig(policy="catch-up")
    run.set("work", _2=3500 * US)
    run.run()
    assert (run.loop.steps, run.loop.skipped) == (10, 0)
    assert run.loop.ended_ns - run.loop.begun_ns == 10 * MS
    # It is over at 5.5: the steps of deadlines 3 and 4 end too late for the same reason.
    assert run.missed == NONE | {"step": 3}


def test_what_follows_a_late_wake_up_is_not_blamed_on_the_step(rig):
    run = rig(policy="catch-up")
    run.set("late", _1=3500 * US)
    run.run()
    assert run.missed == NONE | {"wake-up": 3}


def test_stop_ends_at_the_first_missed_deadline(rig):
    run = rig(policy="stop", links=1)
    run.set("work", _4=2 * MS)
    run.set("heard", **{f"_{k}": 1 for k in range(10)})
    run.run()
    assert run.ended is Ended.OVERRUN
    assert run.loop.steps == 5
    assert run.rig.sent_safe == 3


def test_a_step_that_is_always_too_long_does_not_hang_the_loop(rig):
    run = rig(ticks=30)
    run.rig.work[:30] = [1500 * US] * 30
    run.run()
    assert run.ended is Ended.DONE
    assert (run.loop.steps, run.loop.skipped) == (15, 15)
    assert run.missed["step"] == 15


def test_latency_jitter_step_and_response_are_measured(rig):
    run = rig(ticks=4)
    run.set("late", _0=20 * US, _1=50 * US, _2=50 * US)
    run.rig.work[:4] = [100 * US] * 4
    run.run()
    latency, step = run.durations("latency"), run.durations("step")
    assert latency.count == 3
    assert latency.longest == pytest.approx(50e-6)
    assert (step.count, step.longest) == (4, pytest.approx(100e-6))
    assert run.durations("response").longest == pytest.approx(150e-6)
    # Periods of 1.02, 1.03 and 1 ms.
    longer = run.durations("longer")
    assert (longer.count, longer.longest) == (3, pytest.approx(30e-6))
    assert run.durations("shorter").count == 0
    assert run.loop.cpu_ns == 400 * US


def test_a_shorter_period_is_counted_as_such(rig):
    run = rig(ticks=3)
    run.set("late", _0=70 * US)
    run.run()
    assert run.durations("shorter").longest == pytest.approx(70e-6)


def test_stop_is_heard_within_a_period_however_long(rig):
    run = rig(ticks=-1)
    run.loop.model.period_s = 3600.0
    run.rig.stop_at = 1
    run.run()
    assert run.ended is Ended.ASKED
    assert run.loop.steps == 1
    assert run.loop.ended_ns == run.loop.begun_ns  # it did not even begin to sleep


def test_a_long_sleep_is_one_of_many_heartbeats(rig):
    run = rig(ticks=2)
    run.loop.model.period_s = 1.0
    run.run()
    assert run.rig.sleeps == 40  # of 50 ms


@pytest.mark.parametrize(
    ("status", "ended", "updates"),
    [(1, Ended.MODEL_STOPPED, 3), (2, Ended.NOT_FINITE, 3)],
)
def test_the_model_can_end_the_loop(rig, status, ended, updates):
    run = rig(links=1)
    run.set("status", _3=status)
    run.run()
    assert run.ended is ended
    assert run.rig.updates == updates
    assert run.rig.sent == 3  # what is not finite, or comes with the stop, is not sent
    assert run.rig.sent_safe == 3 + (ended is Ended.MODEL_STOPPED)

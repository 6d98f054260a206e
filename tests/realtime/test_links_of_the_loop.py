"""Stale inputs, waiting for the first ones, safe outputs, and the heartbeat."""

from __future__ import annotations

from spart_blocks.realtime.structs import Ended, Phase

MS = 1_000_000  # ns
ALWAYS = {f"_{k}": 1 for k in range(100)}


def test_outputs_are_sent_once_a_step_and_safe_ones_at_the_end(rig):
    run = rig(links=1)
    run.set("heard", **ALWAYS)
    run.run()
    assert (run.rig.sent, run.rig.sent_safe) == (10, 3)


def test_safe_outputs_are_sent_while_inputs_are_stale(rig):
    run = rig(links=1)
    run.set("heard", **ALWAYS)
    run.rig.stale_from, run.rig.stale_until = 5 * MS + 3 * MS, 5 * MS + 7 * MS
    run.run()
    assert (run.rig.sent, run.rig.sent_safe) == (6, 4 + 3)
    assert run.loop.stale == 4
    assert run.loop.steps == 10  # the model goes on with the inputs that it has


def test_time_stands_still_until_every_link_is_heard(rig):
    run = rig(links=1, wait=1)
    run.set("heard", _5=1)
    run.run()
    assert run.rig.updates == 10
    assert run.loop.begun_ns == 5 * MS + 5 * MS  # five periods later
    assert run.rig.sent_safe == 5 + 3
    assert run.rig.seen_u[0] == 6  # the first step has the input that was waited for


def test_waiting_is_not_counted_as_running(rig):
    run = rig(links=1, wait=1)
    run.set("heard", _5=1)
    run.set("late", _2=20 * MS)
    run.run()
    assert sum(run.missed.values()) == 0
    assert run.durations("latency").count == 9


def test_a_loop_that_waits_can_be_stopped(rig):
    run = rig(links=1, wait=1)
    run.loop.stop = 1
    run.run()
    assert run.ended is Ended.ASKED
    assert run.rig.outputs == 0
    assert run.rig.sent_safe == 1 + 3


def test_without_links_there_is_nothing_to_wait_for(rig):
    assert rig(wait=1).run().loop.steps == 10


def test_the_heartbeat_tells_when_it_beat_and_what_was_sent(rig):
    run = rig(links=1)
    run.set("heard", **ALWAYS)
    run.run()
    assert run.heartbeat.phase == Phase.ENDED
    assert run.loop.ended_ns - run.heartbeat.at_ns <= 1 * MS
    assert run.heartbeat.sequences[0] == 10  # of the next frame that a watchdog would send


def test_a_watchdog_that_has_taken_over_ends_the_loop(rig):
    run = rig(links=1)
    run.heartbeat.tripped = 1
    run.run()
    assert run.ended is Ended.TRIPPED
    assert run.rig.outputs == 0

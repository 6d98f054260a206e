"""Parameters go in and signals come out while the loop runs."""

from __future__ import annotations

import ctypes
import threading

import numpy as np

from spart_blocks.realtime.structs import Ended


def test_parameters_are_taken_at_the_start_of_a_step(rig):
    run = rig()
    values = np.array([7.0, 3.0])
    run.rig.tune, run.rig.tune_at = values.ctypes.data, 4  # within the fourth step
    run.run()
    assert list(run.rig.seen_p[:10]) == [0.0] * 4 + [7.0] * 6
    assert list(run.rig.seen_u[:10]) == [0.0] * 4 + [3.0] * 6  # an input without a link


def test_an_input_of_a_link_cannot_be_tuned(rig):
    run = rig(links=1)
    run.set("heard", _0=1)
    run.tune(7.0, 33.0)
    run.run()
    assert set(run.rig.seen_u[:10]) == {1.0}


def test_of_two_sets_of_parameters_before_a_step_the_last_counts(rig):
    run = rig()
    run.tune(1.0, 0.0)
    run.tune(2.0, 0.0)
    assert run.run().rig.seen_p[0] == 2.0


def test_signals_are_rows_of_time_inputs_and_outputs(rig):
    run = rig(rows=16)
    run.loop.watched.streaming = 1
    run.tune(0.0, 5.0)
    rows = run.run().drained()
    np.testing.assert_allclose(rows[:, 0], np.arange(10) * 1e-3)
    np.testing.assert_array_equal(rows[:, 1:], [[5.0, k, k, 1] for k in range(10)])
    assert len(run.drained()) == 0
    assert run.loop.watched.dropped == 0


def test_rows_without_room_are_dropped_and_counted(rig):
    run = rig(rows=4)
    run.loop.watched.streaming = 1
    run.run()
    assert run.loop.watched.dropped == 6
    np.testing.assert_array_equal(run.drained()[:, 2], range(4))  # the oldest are kept


def test_nothing_is_written_unless_someone_looks(rig):
    run = rig(rows=4).run()
    assert len(run.drained()) == 0
    assert run.loop.watched.dropped == 0


def test_the_ring_is_drained_piece_by_piece_in_order(rig):
    run = rig(rows=16)
    run.loop.watched.streaming = 1
    run.run()
    parts = [run.drained(3) for _ in range(5)]
    assert [len(part) for part in parts] == [3, 3, 3, 1, 0]
    np.testing.assert_array_equal(np.concatenate(parts)[:, 2], range(10))


def test_the_loop_never_sees_half_of_a_parameter_set(rig):
    """Vectors of equal numbers are written while it runs; the model counts those that are not."""
    size = 2000
    run = rig(ticks=-1, parameters=size)
    loop = threading.Thread(target=run.run)
    loop.start()
    vectors = [np.full(size + 1, float(k)) for k in range(50)]
    while run.rig.changes < 500:  # it runs while they are written
        for vector in vectors:
            run.library.sb_loop_tune(ctypes.byref(run.loop), vector.ctypes.data)
    run.loop.stop = 1
    loop.join()
    assert run.ended is Ended.ASKED
    assert run.rig.torn == 0


def test_no_row_is_torn_or_lost_between_two_threads(rig):
    run = rig(ticks=200_000, rows=64)
    run.loop.watched.streaming = 1
    got = []
    done = threading.Event()

    def drain():
        while not done.is_set():
            got.append(run.drained(64))
        got.append(run.drained(64))

    reader = threading.Thread(target=drain)
    reader.start()
    run.library.sb_loop_run(ctypes.byref(run.loop))
    done.set()
    reader.join()
    rows = np.concatenate(got)
    assert len(rows) + run.loop.watched.dropped == 200_000
    assert (np.diff(rows[:, 0]) > 0).all()
    np.testing.assert_allclose(rows[:, 2], rows[:, 0] * 1e3)

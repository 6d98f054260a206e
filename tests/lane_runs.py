"""Runs in lanes, compared bit by bit and with `simulate`."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from spart_blocks.measures.work import STATUSES, Work, joined
from spart_blocks.run import begin, finish
from spart_blocks.run.measure.gauges import Gauge
from spart_blocks.sweeps.run import lanes

RELAY = """
name: relay
params: {drive: 1.0}
blocks:
  gain: {type: GAIN, K: $drive}
  relay: {type: RELAY, off: -0.2, on: 0.3, on_value: 1.0, off_value: -1.0}
  back: {type: GAIN, K: -1.0}
  sum: {type: SUM, signs: "++"}
  x: {type: INTEGRATOR, x0: 0.0}
wires: [x -> back, back -> relay, relay -> gain, gain -> sum.0, x -> sum.1, sum -> x]
run: {T: 4.0}
"""


def same_bits(one, other):
    for name in ("runs", "status", "t", "steps", "x", "xd"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)
    assert one.readings.keys() == other.readings.keys()
    for gauge, read in one.readings.items():
        for name, values in read.items():
            np.testing.assert_array_equal(values, other.readings[gauge][name], err_msg=str(gauge))
    for block, times in one.events.items():
        np.testing.assert_array_equal(times, other.events[block])
    if one.rows is not None:
        np.testing.assert_array_equal(one.rows, other.rows)


def every_way(work):
    """The runs of a work in 8 lanes, which equal those in fewer, in two threads, and alone."""
    assert lanes.refusal(work) is None
    whole = in_order(lanes.run(work, lanes=8, threads=1))
    for count, threads in ((4, 1), (2, 2), (1, 1)):
        same_bits(whole, in_order(lanes.run(work, lanes=count, threads=threads)))
    last = in_order(lanes.run(work.part(slice(-1, None)), lanes=1, threads=1))
    assert last.x.tolist() == whole.x[-1:].tolist()
    return whole


def in_order(parts):
    done = joined(list(parts))
    order = np.argsort(done.runs)
    take = {n: getattr(done, n)[order] for n in ("runs", "status", "t", "steps", "x", "xd")}
    readings = {g: {n: v[order] for n, v in r.items()} for g, r in done.readings.items()}
    events = {b: v[order] for b, v in done.events.items()}
    rows = None if done.rows is None else done.rows[order]
    return replace(done, **take, readings=readings, events=events, rows=rows)


def spread(program, count, seed=0, size=0.02):
    """Parameters (count, np) near the nominal ones, of initial states and gains alike."""
    rng = np.random.default_rng(seed)
    return program.p * (1 + size * rng.uniform(-1, 1, (count, len(program.p))))


def measured(program):
    """Some gauges of every kind that fits."""
    some = [s.name for s in program.signals if 0 < np.prod(s.shape, dtype=int) < 12][:3]
    kinds = ("extremes", "square", "integral", "falling_back", "rising_back")
    gauges = [Gauge(kind, name) for name in some for kind in kinds]
    gauges += [Gauge("extremes", some[0], since=0.3, until=0.7), Gauge("displacement", some[0])]
    return (*gauges, Gauge("step", some[0], some[0]))


def nominal(program, gauges):
    """The states, readings and events of one run by `simulate`."""
    run = begin(program)
    run.measure(gauges)
    results = finish(run)
    return run.x, run.readings, results


def assert_lanes_as_alone(program):
    """Runs of a program have the same bits in any number of lanes, and are those of `simulate`."""
    p = np.vstack([program.p, *[program.p] * 4])
    p[1:] = spread(program, 4, size=1e-3) if not program.plants else program.p
    work = Work(program, np.arange(5), p, measured(program))
    done = every_way(work)
    x, readings, _ = nominal(program, work.gauges)
    assert STATUSES[done.status[0]] != "failed"
    np.testing.assert_allclose(done.x[0], x, atol=1e-6 * np.abs(x).max() + 1e-12)
    for gauge, read in readings.items():
        for name, values in read.items():
            if name in ("when", "when_least", "when_most", "reached", "got"):
                continue
            size = np.abs(values[np.isfinite(values)]).max(initial=1e-6)
            got = done.readings[gauge][name][0]
            np.testing.assert_allclose(got, values, rtol=0, atol=1e-4 * size, err_msg=str(gauge))

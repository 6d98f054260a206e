"""Signals through kinked blocks into an integrator, whose last value is known: the integral between
the known kinks, by Gauss's formula."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq

T = 2.0
RTOL, ATOL = 1e-6, 1e-8
NODES, WEIGHTS = np.polynomial.legendre.leggauss(20)


@dataclass(frozen=True)
class Source:
    """blocks and wires of a signal from block s; signal(t, p); draw(rng): parameters p."""

    blocks: dict
    wires: tuple[str, ...]
    signal: Callable
    draw: Callable[[np.random.Generator], dict[str, float]]


@dataclass(frozen=True)
class Kinked:
    """A block k; function(u, p); its kinks, values of u, by its parameters."""

    block: dict
    function: Callable
    kinks: Callable
    draw: Callable[[np.random.Generator], dict[str, float]] = lambda rng: {}


def _ramp(rng):
    slope = rng.uniform(0.5, 3) * rng.choice([-1, 1])
    return {"s.slope": slope, "s.off": -slope * rng.uniform(0.2, 1.8)}


def _decay(rng):
    c = rng.uniform(0.5, 3) * rng.choice([-1, 1])
    return {"g.a": rng.uniform(0.5, 3), "s.c": c, "s.d": -c * rng.uniform(0.2, 0.8)}


def _limits(low, high):
    return lambda rng: {low: rng.uniform(-0.8, -0.1), high: rng.uniform(0.1, 0.8)}


SOURCES = {
    "ramp": Source(
        {"s": {"type": "RAMP", "T": 0, "slope": 1.0, "off": -2.0}},
        (),
        lambda t, p: p["s.off"] + p["s.slope"] * t,
        _ramp,
    ),
    "sine": Source(
        {
            "t": {"type": "TIME"},
            "s": {
                "type": "FCN",
                "expression": "a*sin(w*u + p)",
                "params": {"a": 1.0, "w": 1.0, "p": 0.0},
            },
        },
        ("t -> s",),
        lambda t, p: p["s.a"] * np.sin(p["s.w"] * t + p["s.p"]),
        lambda rng: {
            "s.a": rng.uniform(0.5, 2),
            "s.w": rng.uniform(0.5, 1.5),
            "s.p": rng.uniform(0, 6),
        },
    ),
    "state": Source(  # y' = -a y, u = c y + d: the kink is where a state is
        {
            "g": {"type": "FCN", "expression": "-a*u", "params": {"a": 1.0}},
            "y": {"type": "INTEGRATOR", "x0": 1.0},
            "s": {"type": "FCN", "expression": "c*u + d", "params": {"c": 1.0, "d": 0.0}},
        },
        ("g -> y", "y -> g, s"),
        lambda t, p: p["s.c"] * np.exp(-p["g.a"] * t) + p["s.d"],
        _decay,
    ),
}
BLOCKS = {
    "ABS": Kinked({"type": "ABS"}, lambda u, p: np.abs(u), lambda p: [0]),
    "SATURATION": Kinked(
        {"type": "SATURATION", "lower": -0.5, "upper": 0.5},
        lambda u, p: np.clip(u, p["k.lower"], p["k.upper"]),
        lambda p: [p["k.lower"], p["k.upper"]],
        _limits("k.lower", "k.upper"),
    ),
    "DEADZONE": Kinked(
        {"type": "DEADZONE", "lower": -0.5, "upper": 0.5},
        lambda u, p: u - np.clip(u, p["k.lower"], p["k.upper"]),
        lambda p: [p["k.lower"], p["k.upper"]],
        _limits("k.lower", "k.upper"),
    ),
    "CLIP": Kinked(
        {"type": "CLIP", "min": -0.5, "max": 0.5},
        lambda u, p: np.clip(u, p["k.min"], p["k.max"]),
        lambda p: [p["k.min"], p["k.max"]],
        _limits("k.min", "k.max"),
    ),
    "FCN": Kinked(
        {"type": "FCN", "expression": "clip(u, l, h)*(1 + u)", "params": {"l": -0.5, "h": 0.5}},
        lambda u, p: np.clip(u, p["k.l"], p["k.h"]) * (1 + u),
        lambda p: [p["k.l"], p["k.h"]],
        _limits("k.l", "k.h"),
    ),
    "LOOKUP": Kinked(
        {"type": "LOOKUP", "x": [-1, -0.3, 0.2, 1], "y": [0, 1, -0.5, 2.0]},
        lambda u, p: np.interp(u, [-1, -0.3, 0.2, 1], [0, 1, -0.5, 2.0]),
        lambda p: [-1, -0.3, 0.2, 1],
    ),
    "jump": Kinked(
        {"type": "FCN", "expression": "2*u if u > l else u*u", "params": {"l": 0.2}},
        lambda u, p: np.where(u > p["k.l"], 2 * u, u * u),
        lambda p: [p["k.l"]],
        lambda rng: {"k.l": rng.uniform(-0.6, 0.6)},
    ),
}
SMOOTH = Kinked({"type": "GAIN", "K": 1.0}, lambda u, p: u, lambda p: [])


def text(
    source: Source,
    kinked: Kinked,
    solver: str,
    p: Mapping[str, float] = {},
    stops: Sequence[float] = (),
    tolerances: tuple[float, float] = (RTOL, ATOL),
) -> str:
    """The diagram, with these parameters in place of its own. stops: times at which steps end;
    tolerances: relative, absolute."""
    blocks = json.loads(json.dumps(source.blocks | {"k": kinked.block}))
    for name, value in p.items():
        block, _, entry = name.partition(".")
        where = blocks[block]
        where = where["params"] if entry in where.get("params", {}) else where
        where[entry] = float(value)
    blocks["x"] = {"type": "INTEGRATOR"}
    for k, t in enumerate(stops):
        blocks[f"stop{k}"] = {"type": "STEP", "T": float(t)}
    wires = [*source.wires, "s -> k", "k -> x"]
    wires += [f"stop{k} -> nothing{k}" for k in range(len(stops))]
    blocks |= {f"nothing{k}": {"type": "GAIN", "K": 1.0} for k in range(len(stops))}
    rtol, atol = tolerances
    run = {"T": T, "solver": solver, "rtol": rtol, "atol": atol, "log": ["x"]}
    return json.dumps({"name": "kinked", "blocks": blocks, "wires": wires, "run": run})


def passed(source: Source, kinked: Kinked, p: Mapping[str, float]) -> list[float]:
    """The times at which kinks are passed."""
    grid, times = np.linspace(0, T, 2001), []
    for kink in kinked.kinks(p):
        off = source.signal(grid, p) - kink
        for i in np.flatnonzero(np.sign(off[:-1]) * np.sign(off[1:]) < 0):
            ends = (grid[i], grid[i + 1])
            times.append(brentq(lambda t, kink=kink: source.signal(t, p) - kink, *ends, xtol=1e-15))
    return times


def integral(source: Source, kinked: Kinked, p: Mapping[str, float]) -> tuple[float, float, int]:
    """The last value, the error that the tolerances allow of one as large as the largest, and how
    many kinks are passed."""
    cuts = passed(source, kinked, p)
    edges = np.unique([*cuts, *np.linspace(0, T, 21)])
    a, b = edges[:-1, None], edges[1:, None]
    values = kinked.function(source.signal((a + b) / 2 + (b - a) / 2 * NODES, p), p)
    parts = np.cumsum(((b - a) / 2 * WEIGHTS * values).sum(axis=1))
    return float(parts[-1]), ATOL + RTOL * float(np.abs(parts).max()), len(cuts)


DIP = {
    "s.a": 0.7862219784155542, "s.w": 1.4873284330517944, "s.p": 3.7160941700808783,
    "k.lower": -0.6788022144982024, "k.upper": 0.3365671903511408,
}  # fmt: skip
"""Of a sine through DEADZONE: a dip beyond it from 0.31426 to 1.02545 s alone, so small that loose
tolerances allow the error of a step over it."""


def dip() -> tuple[str, float]:
    """Its diagram with loose tolerances, and its last value."""
    source, kinked = SOURCES["sine"], BLOCKS["DEADZONE"]
    content = text(source, kinked, "RK45", DIP, tolerances=(0.01, 0.01))
    return content, integral(source, kinked, DIP)[0]

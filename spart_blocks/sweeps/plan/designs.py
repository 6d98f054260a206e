"""Uniform random numbers of draws: independent ones, and designs that fill a space evenly.

Independent numbers come from Philox, a counter-based generator. Seed and name select a sequence,
and the number of the draw a position in it. So each draw can be computed alone, and the first
draws of a longer sweep are those of a shorter one.

Sources: J. Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC11 (2011), for Philox;
A. Saltelli et al., Computer Physics Communications 181 (2010) 259, for the rows of Sobol indices.
"""

from __future__ import annotations

import hashlib
import warnings
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from spart_blocks.base.errors import Fault, InputError
from spart_blocks.diagram.sections.sweep_section import Design

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Words = NDArray[np.uint64]

_WORDS = 4
"""Random numbers that Philox makes from one counter value."""
_GAP = 4
"""If draws span at most this many times their number, all draws of the span are computed at once.
"""
MOST_DIMENSIONS = 21_201
"""Largest dimension of scipy's Sobol points."""


def philox_words(seed: int, name: str, draws: Ints, count: int) -> Words:
    """Random 64-bit words (n, count) for draws (n,). They depend on seed, name and draw number
    only.
    """
    if not count or not len(draws):
        return np.zeros((len(draws), count), dtype=np.uint64)
    blocks = -(-count // _WORDS)

    def stretch(first: int, length: int) -> Words:
        words = _generator(seed, name, first * blocks).random_raw(length * blocks * _WORDS)
        return np.asarray(words).reshape(length, blocks * _WORDS)[:, :count]

    if bool((np.diff(draws) == 1).all()):
        return stretch(int(draws[0]), len(draws))
    out = np.empty((len(draws), count), dtype=np.uint64)
    for part, first, length in _stretches(draws):
        out[part] = stretch(first, length)[draws[part] - first]
    return out


def _stretches(draws: Ints) -> list[tuple[NDArray[np.intp], int, int]]:
    """Ranges of draws that are computed at once: the indices of the draws in each, its first draw
    and its length.
    """
    order = np.argsort(draws, kind="stable")
    rising = draws[order]
    first, last = int(rising[0]), int(rising[-1])
    if last - first < _GAP * len(draws) + 64:
        return [(order, first, last - first + 1)]
    cuts = np.flatnonzero(np.diff(rising) > 64) + 1
    return [
        (part, int(draws[part[0]]), int(draws[part[-1]] - draws[part[0]]) + 1)
        for part in np.split(order, cuts)
    ]


def _generator(seed: int, name: str, counter: int) -> np.random.Philox:
    return np.random.Philox(key=_key(seed, name), counter=counter)


@lru_cache(maxsize=1024)
def _key(seed: int, name: str) -> int:
    """The 128-bit Philox key of a seed and a name."""
    digest = hashlib.blake2b(f"{seed}\0{name}".encode(errors="surrogatepass"), digest_size=16)
    return int.from_bytes(digest.digest(), "little")


def uniform_of(words: Words) -> Floats:
    """Uniform numbers in the open interval (0, 1), with 53 bits, from 64-bit words."""
    return np.asarray(((words >> np.uint64(11)) + 0.5) * 2.0**-53)


def draws_of(design: Design, runs: int, factors: int) -> int:
    """The number of draws of a sweep. runs: as requested. factors: number of random paths."""
    return runs * (factors + 2) if design == "saltelli" else runs


def uniform(
    design: Design, seed: int, runs: int, sizes: dict[str, int], draws: Ints
) -> dict[str, Floats]:
    """Uniform numbers (n, d) by name, for draws (n,). runs: total number of draws. sizes: d for
    each name.
    """
    if design == "random":
        return {name: uniform_of(philox_words(seed, name, draws, d)) for name, d in sizes.items()}
    ends = np.cumsum([0, *sizes.values()])
    columns = {name: slice(*ends[k : k + 2]) for k, name in enumerate(sizes)}
    total = int(ends[-1])
    if not total:
        return {name: np.zeros((len(draws), 0)) for name in sizes}
    if design == "saltelli":
        return _saltelli(seed, columns, total, draws)
    points = _points(design, seed, runs, total, draws)
    return {name: np.ascontiguousarray(points[:, part]) for name, part in columns.items()}


def _saltelli(seed: int, columns: dict[str, slice], d: int, draws: Ints) -> dict[str, Floats]:
    """Uniform numbers of a Saltelli design, in groups of k + 2 rows for k names: a point of A, a
    point of B, and for each name the point of A with this name's numbers from B.
    """
    base, role = np.divmod(draws, len(columns) + 2)
    points = _points("sobol", seed, 0, 2 * d, base)
    found = {}
    for k, (name, part) in enumerate(columns.items()):
        other = ((role == 1) | (role == k + 2))[:, None]
        shifted = slice(part.start + d, part.stop + d)
        found[name] = np.where(other, points[:, shifted], points[:, part])
    return found


def noise_draws(design: Design, factors: int, draws: Ints) -> Ints:
    """The draw numbers (n,) that select the random sequences of noise blocks.

    In a Saltelli design the row of B has its own noise; the row of A and the rows derived from it
    share one. Noise then acts as a further factor that is always from A.
    """
    if design != "saltelli":
        return draws
    base, role = np.divmod(draws, factors + 2)
    return np.asarray(2 * base + (role == 1))


def _points(design: str, seed: int, runs: int, d: int, draws: Ints) -> Floats:
    """Points (n, d) of a design, with coordinates in the open interval (0, 1)."""
    if design == "latin_hypercube":
        return _hypercube(seed, runs, d)[draws]
    if d > MOST_DIMENSIONS:
        text = f"{design} points of {d:,} numbers; the most is {MOST_DIMENSIONS:,}"
        raise InputError(Fault(text, hint="take design: random"))
    out = np.empty((len(draws), d))
    for part, first, length in _stretches(draws) if len(draws) else []:
        out[part] = _sequence(design, seed, d, first, length)[draws[part] - first]
    return out


def _sequence(design: str, seed: int, d: int, first: int, count: int) -> Floats:
    """Points (count, d) of a Sobol or Halton sequence from point `first` on."""
    from scipy.stats import qmc

    kind = qmc.Sobol if design == "sobol" else qmc.Halton
    made = kind(d, scramble=True, seed=_seed_of(seed, design))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # on counts that are no powers of two
        if first:
            made.fast_forward(first)
        points = np.asarray(made.random(count))
    if design == "sobol":  # multiples of 2^-30, zero among them
        points = points + 2.0**-31
    return np.asarray(np.clip(points, 2.0**-53, 1 - 2.0**-53))


@lru_cache(maxsize=2)
def _hypercube(seed: int, runs: int, d: int) -> Floats:
    from scipy.stats import qmc

    points = qmc.LatinHypercube(d, seed=_seed_of(seed, "latin_hypercube")).random(runs)
    return np.asarray(np.clip(points, 2.0**-53, 1 - 2.0**-53))


def _seed_of(seed: int, design: str) -> int:
    """The seed for a design, hashed so that neighbouring seeds give unrelated points."""
    return _key(seed, f"design {design}") % 2**63

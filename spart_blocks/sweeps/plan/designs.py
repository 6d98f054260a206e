"""Uniform numbers for draws: independent ones, and designs that fill a space evenly.

Independent numbers are those of Philox, a counter-based generator: a draw is a place in a sequence
that its seed and name select, so that any draw is known alone, and a longer sweep begins as a
shorter one does.

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
"""Numbers that Philox makes of one value of its counter."""
_GAP = 4
"""Draws that lie within this many times their count are computed with those between them."""
MOST_DIMENSIONS = 21_201
"""Largest dimension of scipy's Sobol points."""


def philox_words(seed: int, name: str, draws: Ints, count: int) -> Words:
    """Random numbers (n, count) of 64 bits for draws (n,), by seed, name and draw alone."""
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
    """Places of draws that are computed together, with the first and the count of them."""
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
    """The key of a sequence, 128 bits."""
    digest = hashlib.blake2b(f"{seed}\0{name}".encode(errors="surrogatepass"), digest_size=16)
    return int.from_bytes(digest.digest(), "little")


def uniform_of(words: Words) -> Floats:
    """Numbers above 0 and below 1, of 53 bits."""
    return np.asarray(((words >> np.uint64(11)) + 0.5) * 2.0**-53)


def draws_of(design: Design, runs: int, factors: int) -> int:
    """The count of draws. runs: as asked for. factors: the count of random paths."""
    return runs * (factors + 2) if design == "saltelli" else runs


def uniform(
    design: Design, seed: int, runs: int, sizes: dict[str, int], draws: Ints
) -> dict[str, Floats]:
    """The uniform numbers (n, d) of draws (n,), by name. runs: how many there are in all. sizes:
    the count d of each name."""
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
    """Rows in groups of k + 2 for k names: a point of A, one of B, and for each name that of A with
    the name's numbers from B."""
    base, role = np.divmod(draws, len(columns) + 2)
    points = _points("sobol", seed, 0, 2 * d, base)
    found = {}
    for k, (name, part) in enumerate(columns.items()):
        other = ((role == 1) | (role == k + 2))[:, None]
        shifted = slice(part.start + d, part.stop + d)
        found[name] = np.where(other, points[:, shifted], points[:, part])
    return found


def noise_draws(design: Design, factors: int, draws: Ints) -> Ints:
    """The numbers by which draws (n,) select random sequences. Of a saltelli design, A and its
    neighbours share one, and B has another: the noise is a factor of its own, from A in all."""
    if design != "saltelli":
        return draws
    base, role = np.divmod(draws, factors + 2)
    return np.asarray(2 * base + (role == 1))


def _points(design: str, seed: int, runs: int, d: int, draws: Ints) -> Floats:
    """Points (n, d) of a design, each coordinate above 0 and below 1."""
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
    """Points (count, d) of a sequence that has no end."""
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
    """The seed of a design, so that those of neighbouring seeds differ in all."""
    return _key(seed, f"design {design}") % 2**63

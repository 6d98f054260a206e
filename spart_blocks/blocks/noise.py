"""Random signals."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from bdsim.components import SampledBlock

from spart_blocks.base.random_numbers import NUMBERS, advanced, normal, seeded, uniform
from spart_blocks.base.spatial import Array
from spart_blocks.block_support.declared import Declared, PortSpec
from spart_blocks.block_support.parameters import fixed, tunable
from spart_blocks.block_support.values import numbers

MOST_CHANNELS = 1_000


def _whole(given: Any, name: str, least: int = 0) -> int:
    number = isinstance(given, int | float | np.integer) and not isinstance(given, bool)
    if not number or given % 1 or given < least:
        raise ValueError(f"{name} must be a whole number from {least} on, not {given}")
    return int(given)


def _size(given: Any, name: str) -> int:
    return _whole(given, name, 1)


def _root(covariance: Any, name: str) -> Array:
    """The lower triangular L of C = L L'."""
    C = numbers(covariance, "covariance")
    if C.ndim != 2 or C.shape[0] != C.shape[1] or not np.array_equal(C, C.T):
        raise ValueError("covariance must be a symmetric matrix")
    try:
        return np.linalg.cholesky(C)
    except np.linalg.LinAlgError:
        raise ValueError("covariance must be positive definite") from None


class _Random(Declared):
    """A source of random numbers at the ticks of a clock.

    :arg seed: an integer that selects the sequence
    """

    nin = 0
    nout = 1

    is_random: ClassVar[bool] = True
    size = fixed("int", "", None, check=_size, late=True)
    seed = fixed("int", "", 0, check=_whole, late=True)

    def begin(self, size: int | None, seed: int, **given: Any) -> dict[str, Any]:
        """The arguments of bdsim's constructor. given: the parameters that may be vectors."""
        width = _width(size, given)
        self.channels, self.vector = width or 1, width is not None
        ports = self.resolve_ports(N=() if width is None else width)
        return {"x0": advanced(seeded(seed, self.channels)).ravel(), **ports}

    def _signal(self, y: Any) -> Any:
        return y if self.vector else y[0]

    def next(self, t: float, inputs: list[Any], x: Any) -> Any:
        return np.ravel(advanced(x.reshape(self.channels, NUMBERS)))


class Noise(_Random, SampledBlock):
    """Random numbers, drawn at each tick of a clock.

    ``normal``: mean + std z, or with a ``covariance`` C mean + L z where C = L L'. ``uniform``:
    from low to high. Entries of a vector are independent unless C is given; numbers of different
    ticks are independent. A seed gives the same numbers on every engine, platform and in exported
    code, because the generator uses exact integer arithmetic in doubles; export in single precision
    is rejected.

    For white noise of the power spectral density S [unit^2/Hz, two-sided], on a clock of the
    period T [s], std = sqrt(S / T).

    Source: P. L'Ecuyer's MRG32k3a, Operations Research 47 (1999), 159-164, a generator for
    each entry; M. J. Wichura's AS 241, Applied Statistics 37 (1988), 477-484.

    :arg distribution: normal or uniform
    :arg mean: of normal numbers, defaults to 0
    :arg std: standard deviation of normal numbers, defaults to 1
    :arg covariance: of normal numbers, instead of std
    :arg low: lower bound of uniform numbers, defaults to 0
    :arg high: upper bound of uniform numbers, defaults to 1
    :arg size: length of the vector, if the other parameters are scalars
    """

    gives = (PortSpec("y", "float or N", "", "normal or uniform numbers"),)
    distribution = fixed("str", "", "normal", choices=("normal", "uniform"))
    mean = fixed("float or N", "", None)
    std = fixed("float or N", "", None, least=0)
    covariance = fixed("N, N", "", None, check=_root)
    low = fixed("float or N", "", None)
    high = fixed("float or N", "", None)

    def build(
        self, mean: Any, std: Any, covariance: Any, low: Any, high: Any, size: Any, seed: Any
    ) -> dict[str, Any]:
        _refuse_others(self.distribution, mean=mean, std=std, covariance=covariance)
        _refuse_others(self.distribution, low=low, high=high)
        self.root: Array | None = None
        if self.distribution == "uniform":
            self.low, self.high = _or(low, 0.0), _or(high, 1.0)
            given = {"low": self.low, "high": self.high}
            self.tunable: tuple[str, ...] = ("low", "high")
        else:
            self.mean, self.std = _or(mean, 0.0), _or(std, 1.0)
            given = {"mean": self.mean, "std": self.std}
            self.tunable = ("mean", "std")
            if covariance is not None:
                if std is not None:
                    raise ValueError("give std or covariance, not both")
                self.root = covariance
                given["covariance"], self.tunable = self.root, ("mean",)
        begun = self.begin(size, seed, **given)
        if self.distribution == "uniform" and (self.high < self.low).any():
            raise ValueError(f"high must not be below low, {self.low}, as {self.high} is")
        return begun

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        u = uniform(x.reshape(self.channels, NUMBERS))
        if self.distribution == "uniform":
            y = self.low + (self.high - self.low) * u
        elif self.root is not None:
            y = self.mean + self.root @ normal(u)
        else:
            y = self.mean + self.std * normal(u)
        return [self._signal(y)]


class Band_Limited_Noise(_Random, SampledBlock):
    """White noise of a given power spectral density, drawn at each tick of a clock.

    y = sqrt(S / T) z, with the clock's period T [s] and independent normal numbers z: held until
    the next tick, it has the two-sided density S at frequencies far below 1 / T. The numbers are
    those of a NOISE of this seed.

    Source: J. L. Crassidis and J. L. Junkins, "Optimal Estimation of Dynamic Systems" (2012), sec.
    3.4, for the variance S / T.

    :arg power: power spectral density S, two-sided
    :arg size: length of the vector, if power is a scalar
    """

    gives = (PortSpec("y", "float or N", "", "white noise up to the clock's frequency"),)
    power = tunable("float or N", "unit^2/Hz", least=0)

    def build(self, size: Any, seed: Any) -> dict[str, Any]:
        return self.begin(size, seed, power=self.power)

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        z = normal(uniform(x.reshape(self.channels, NUMBERS)))
        y = np.sqrt(self.power / self.T) * z
        return [self._signal(y)]


class Random_Walk(_Random, SampledBlock):
    """A random walk (Wiener process), as of a gyro's bias, at the ticks of a clock.

    At each tick y becomes y + std sqrt(T) z, with the clock's period T [s] and independent normal
    numbers z: after a time t the variance of y - y0 is std^2 t, whatever the period. The numbers
    are those of a NOISE of this seed.

    Source: J. L. Crassidis and J. L. Junkins, "Optimal Estimation of Dynamic Systems" (2012), sec.
    4.7, for its steps.

    :arg std: standard deviation after one second, in the unit of y per sqrt(s)
    :arg y0: y before the first tick, in the unit of y
    :arg size: length of the vector, if the other parameters are scalars
    """

    gives = (PortSpec("y", "float or N", "", "the sum of the steps so far"),)
    std = tunable("float or N", "", 1.0, least=0)
    y0 = fixed("float or N", "", 0.0)

    def build(self, y0: Any, size: Any, seed: Any) -> dict[str, Any]:
        begun = self.begin(size, seed, std=self.std, y0=y0)
        self.random_entries = self.channels * NUMBERS
        x0 = np.concatenate([begun["x0"], np.broadcast_to(y0, (self.channels,))])
        return {**begun, "x0": x0}

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        return [self._signal(x[self.random_entries :])]

    def next(self, t: float, inputs: list[Any], x: Any) -> Any:
        drawn = x[: self.random_entries].reshape(self.channels, NUMBERS)
        step = self.std * np.sqrt(self.T) * normal(uniform(drawn))
        return np.concatenate([np.ravel(advanced(drawn)), x[self.random_entries :] + step])


def _refuse_others(distribution: str, **given: Any) -> None:
    """Refuse parameters of the other distribution."""
    theirs = "uniform" if "low" in given else "normal"
    for name, value in given.items():
        if value is not None and distribution != theirs:
            raise ValueError(f"{name} is a parameter of {theirs} noise, not of {distribution}")


def _or(value: Any, default: float) -> Array:
    """The value as an array, or the default where it is not given."""
    return np.asarray(default if value is None else value)


def _width(size: int | None, given: dict[str, Any]) -> int | None:
    """The length of the vector; None for a scalar."""
    widths = {name: len(value) for name, value in given.items() if np.ndim(value)}
    if size is not None:
        widths["size"] = size
    if len(set(widths.values())) > 1:
        raise ValueError(f"{' and '.join(f'{name} of {n}' for name, n in widths.items())} differ")
    width = next(iter(widths.values()), None)
    if width is not None and not 0 < width <= MOST_CHANNELS:
        raise ValueError(f"a block gives 1 to {MOST_CHANNELS} numbers, not {width}")
    return width

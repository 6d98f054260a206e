"""Terms of a design: numbers that depend on its parameters, with their derivatives."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass
from typing import Protocol

from spart_blocks.gradients.tangents import Floats


@dataclass(frozen=True)
class Row:
    """One number of a term. case: the number of its case. name: of the metric, or of another
    quantity, that it is an element of. element: which one.
    """

    case: int
    name: str
    element: int = 0


class Term(Protocol):
    """Numbers that depend on the values of a design, as the metrics of runs do.

    rows (r,): what each of them is.
    """

    @property
    def rows(self) -> tuple[Row, ...]: ...

    def values(self, values: Floats, cases: Container[int] | None = None) -> tuple[Floats, Floats]:
        """The numbers (r,) for values (k,) of the design, and their derivatives (r, k). cases:
        numbers of those whose derivatives are asked for, None for all; those of others may be left
        at zero. Raises RunError, with the case, where there are none.
        """
        ...

    def numbers(self, points: Floats) -> Floats:
        """The numbers (n, r) for n values (n, k) of the design; NaN where there are none."""
        ...

"""Errors in a user's code during tracing: their location and cause."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
import scipy

from spart_blocks.base.errors import Place, SpartError, told
from spart_blocks.diagram.network.flatten import Node
from spart_blocks.program.tracing.symbol import TraceError

_MACHINERY = tuple(
    str(folder)
    for folder in (
        Path(__file__).parents[1],
        *(Path(str(package.__file__)).parent for package in (np, scipy, ca)),
    )
)


def label_of(node: Node) -> str:
    """Name of a block for messages."""
    return f"block {node.label}"


class OfBlock:
    """A context in which an unexpected exception becomes a TraceError that names the block. This is
    a class because it is faster than a generator.
    """

    __slots__ = ("node",)

    def __init__(self, node: Node) -> None:
        self.node = node

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, Exception) and not isinstance(error, SpartError):
            raise located(label_of(self.node), error, self.node.place) from error


@contextmanager
def tracing(name: str) -> Iterator[None]:
    """The same for errors that belong to no single block; the TraceError names the diagram."""
    try:
        yield
    except SpartError:
        raise
    except Exception as error:
        raise located(f"diagram {name}", error) from error


def located(what: str, error: Exception, place: Place | None = None) -> TraceError:
    """A TraceError with the traced object, its place in the file, and the last line of user code
    before NumPy's or ours.
    """
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame for frame in frames if not frame.filename.startswith(_MACHINERY)]
    where = f" ({lines[-1].filename}:{lines[-1].lineno})" if lines else ""
    text = str(error) if isinstance(error, TraceError) else told(error)
    written = f"\n  the block is written at {place}" if place else ""
    return TraceError(f"{what}{where}: {text}{written}")

"""Opens files of messages by their kind."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from spart_blocks.base.errors import Fault, InputError, MissingExtraError, SpartError, told, warn
from spart_blocks.results.logs.mcap_log import McapLog
from spart_blocks.results.logs.signals import read_log
from spart_blocks.results.samples import Samples

MCAP = ".mcap"


def read_messages(path: Path, names: Sequence[str], time: str) -> dict[str, Samples]:
    """The named signals of a file of messages; see `read_log`. Raises InputError."""
    with opened(path) as log:
        return read_log(log, names, time)


@contextmanager
def opened_mcap(path: Path) -> Iterator[McapLog]:
    """An MCAP file; a warning tells if it has no end. Raises InputError for a damaged one, also
    while it is read."""
    with _refused(path), path.open("rb") as file:
        log = McapLog(file)
        if not log.whole:
            warn(f"{path} ends before its end, as where a program has died; what is whole is read")
        yield log


opened = opened_mcap


@contextmanager
def _refused(path: Path) -> Iterator[None]:
    """Turn the errors that a file leads to into InputError that names it."""
    try:
        yield
    except MissingExtraError:
        raise
    except InputError as error:
        faults = [Fault(f"{path}: {one.message}", hint=one.hint) for one in error.faults]
        raise InputError(faults) from None
    except SpartError:
        raise
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from None
    except Exception as error:  # what damaged records and definitions lead to
        raise InputError(Fault(f"{path} is damaged", hint=told(error))) from error

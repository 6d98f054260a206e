"""Opens files of messages by their kind."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

from spart_blocks.base.errors import Fault, InputError, MissingExtraError, SpartError, told, warn
from spart_blocks.results.logs.bags import METADATA, ros1_bag, ros2_bag, ros2_folder
from spart_blocks.results.logs.log import Log
from spart_blocks.results.logs.mcap_log import McapLog
from spart_blocks.results.logs.signals import read_log
from spart_blocks.results.samples import Samples

MCAP = ".mcap"


def is_log(path: Path) -> bool:
    """Whether a path is that of a file of messages, or of a folder of them."""
    return path.suffix.lower() in KINDS or path.name == METADATA or path.is_dir()


def read_messages(path: Path, names: Sequence[str], time: str) -> dict[str, Samples]:
    """The named signals of a file of messages; see `read_log`. Raises InputError."""
    with _refused(path), ExitStack() as stack:
        folder = path.parent if path.name == METADATA else path
        one = partial(_log, stack=stack)
        log = ros2_folder(folder, stack, one) if folder.is_dir() else one(path)
        return read_log(log, names, time)


@contextmanager
def opened_mcap(path: Path) -> Iterator[McapLog]:
    """An MCAP file. Raises InputError for a damaged one, also while it is read."""
    with _refused(path), ExitStack() as stack:
        yield _mcap(path, stack)


def _log(path: Path, stack: ExitStack) -> Log:
    """A file by its kind. stack: what closes it."""
    make = KINDS.get(path.suffix.lower())
    if make is None:
        raise InputError(Fault(f"no messages can be read from {path.name}", hint=_OF_KINDS))
    return make(path, stack)


def _mcap(path: Path, stack: ExitStack) -> McapLog:
    """An MCAP file; a warning tells if it has no end."""
    log = McapLog(stack.enter_context(path.open("rb")))
    if not log.whole:
        warn(f"{path} ends before its end, as where a program has died; what is whole is read")
    return log


KINDS: dict[str, Callable[[Path, ExitStack], Log]] = {
    MCAP: _mcap,
    ".bag": ros1_bag,
    ".db3": ros2_bag,
}
_OF_KINDS = f"files of messages are {', '.join(KINDS)}, and folders of ROS 2 with {METADATA}"


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

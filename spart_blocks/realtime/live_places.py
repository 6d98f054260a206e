"""Where running loops listen: a socket and a token for each, in a folder of the user."""

from __future__ import annotations

import hmac
import os
import re
import secrets
import socket
import stat
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from spart_blocks.base.errors import Fault, InputError, did_you_mean
from spart_blocks.realtime.system import check_system, has_loops
from spart_blocks.results.signal_names import file_name

_SOCKET = re.compile(r"(?P<name>.+)\.(?P<pid>\d{1,10})\.sock")
_MOST_PATH = 107  # bytes, of sun_path in <sys/un.h>
_MOST_NAME = 40
_MOST_TOKEN = 200
_BEGINNING = 10.0  # s
_QUEUE = 128  # connections that wait to be accepted


@dataclass(frozen=True)
class LoopPlace:
    """The place where a loop listens. name: of its subdiagram, as allowed in a file name. pid: of
    its process.
    """

    name: str
    pid: int
    socket: Path

    @property
    def token_file(self) -> Path:
        return self.socket.with_suffix(".token")

    @property
    def token(self) -> str:
        """The token that a client must show. Raises InputError if it cannot be read."""
        try:
            with self.token_file.open(encoding="ascii", errors="replace") as file:
                return file.read(_MOST_TOKEN).strip()
        except OSError as error:
            raise InputError(f"cannot read {self.token_file}: {error.strerror}") from None

    def remove(self) -> None:
        """Remove both files."""
        for path in (self.socket, self.token_file):
            with suppress(OSError):
                path.unlink()


def same_token(shown: object, token: str) -> bool:
    """Whether it is the token, compared in constant time."""
    return isinstance(shown, str) and hmac.compare_digest(
        shown.encode("utf-8", "surrogatepass"), token.encode()
    )


def folders() -> list[Path]:
    """The folders in which loops of this user may listen: the one for runtime files, if the system
    has one, and one in the temporary folder. None where loops cannot run."""
    if not has_loops():
        return []
    chosen = os.environ.get("XDG_RUNTIME_DIR", "")
    own = Path(tempfile.gettempdir(), f"spart-{os.getuid()}")
    return [Path(chosen, "spart"), own] if os.path.isabs(chosen) else [own]


def is_private(folder: Path) -> bool:
    """Whether it is a folder of this user to which no other user has access."""
    try:
        status = folder.lstat()
    except OSError:
        return False
    return (
        stat.S_ISDIR(status.st_mode)
        and status.st_uid == os.geteuid()
        and not stat.S_IMODE(status.st_mode) & 0o077
    )


def listen(name: str) -> tuple[LoopPlace, str, socket.socket]:
    """A place for a loop of this process, its token, and its listening socket.

    Raises InputError if there is no folder that is private to the user.
    """
    remove_stale()
    plain = file_name(name.encode("ascii", "replace").decode(), "loop")[:_MOST_NAME]
    for folder in folders():
        with suppress(OSError):
            folder.mkdir(mode=0o700)
        if is_private(folder):
            place = _free(folder, plain)
            if len(os.fsencode(place.socket)) <= _MOST_PATH:
                return place, _put_token(place), _listener(place)
    listed = " or ".join(map(str, folders()))
    hint = "XDG_RUNTIME_DIR names a folder of yours with a short path and mode 0700"
    raise InputError(Fault(f"a loop cannot listen in {listed}", hint=hint))


def _free(folder: Path, name: str) -> LoopPlace:
    """A place not used by another loop of this process: the second 'pd' is 'pd-2'."""
    pid, number, given = os.getpid(), 1, name
    while (folder / f"{name}.{pid}.sock").exists():
        number += 1
        name = f"{given}-{number}"
    return LoopPlace(name, pid, folder / f"{name}.{pid}.sock")


def _put_token(place: LoopPlace) -> str:
    token = secrets.token_urlsafe(32)
    place.token_file.unlink(missing_ok=True)  # of an earlier process with this id
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    with os.fdopen(os.open(place.token_file, flags, 0o600), "w", encoding="ascii") as file:
        file.write(token)
    return token


def _listener(place: LoopPlace) -> socket.socket:
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        listener.bind(str(place.socket))
        place.socket.chmod(0o600)
        listener.listen(_QUEUE)
        listener.setblocking(False)
    except OSError as error:
        listener.close()
        place.remove()
        raise InputError(f"a loop cannot listen at {place.socket}: {error.strerror}") from None
    return listener


def running() -> list[LoopPlace]:
    """The running loops of this user, sorted by name."""
    places = [place for place in _all() if _alive(place)]
    return sorted(places, key=lambda place: (place.name, place.pid))


def remove_stale() -> None:
    """Remove the files of dead processes."""
    for place in _all():
        if not _alive(place):
            place.remove()


def _all() -> list[LoopPlace]:
    found = []
    for folder in dict.fromkeys(folders()):
        if is_private(folder):
            for path in folder.glob("*.sock"):
                parts = _SOCKET.fullmatch(path.name)
                if parts:
                    found.append(LoopPlace(parts["name"], int(parts["pid"]), path))
    return found


def _alive(place: LoopPlace) -> bool:
    """Whether a process listens there. The process id alone is not enough: it may have been
    reused, or belong to another container."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.setblocking(False)
        try:
            probe.connect(str(place.socket))
        except BlockingIOError:  # the queue of connections is full
            return True
        except ConnectionRefusedError:
            return _begins(place)
        except OSError:
            return False
    return True


def _begins(place: LoopPlace) -> bool:
    """Whether a live process has just created the socket but does not listen yet."""
    try:
        os.kill(place.pid, 0)
        return time.time() - place.socket.lstat().st_mtime < _BEGINNING
    except (OSError, OverflowError):
        return False


def chosen(wanted: str | None) -> LoopPlace:
    """The loop with this name or process id, or whose name begins with it. None: the only one.

    Raises InputError that lists the loops if none fits, or more than one.
    """
    check_system()
    places = running()
    if not places:
        hint = "start one: spart realtime FILE"
        raise InputError(Fault("no loop is running", hint=hint))
    fitting = [p for p in places if wanted in (None, p.name, str(p.pid))]
    fitting = fitting or [p for p in places if wanted and p.name.startswith(wanted)]
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        listed = ", ".join(f"{place.name} ({place.pid})" for place in fitting)
        hint = f"give the name or the process id of one: {listed}"
        raise InputError(Fault(f"{len(fitting)} loops are running", hint=hint))
    names = [p.name for p in places] + [str(p.pid) for p in places]
    raise InputError(Fault(f"no loop {wanted!r} is running", hint=did_you_mean(str(wanted), names)))

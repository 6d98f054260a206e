"""Python with what Windows' lacks, as far as Linux can show it: `python tests/without_posix.py
COMMAND ...` runs a command of spart there, and `python tests/without_posix.py` imports every
module of the package.

Modules and names of POSIX are gone, sys.platform is win32, and msvcrt locks bytes of files by the
locks that Linux has for them. OTHERS are imported before: there they are other files.
"""

from __future__ import annotations

import fcntl
import importlib
import mmap
import os
import signal
import socket
import sys
from pathlib import Path
from types import ModuleType

OTHERS = (
    "bdsim.blocks casadi matplotlib.pyplot rich.progress scipy.integrate scipy.interpolate "
    "scipy.linalg scipy.optimize scipy.signal scipy.stats starlette.applications "
    "starlette.websockets sympy typer.main uvicorn zmq asyncio multiprocessing subprocess tempfile"
)
MODULES = {"fcntl", "grp", "posix_ipc", "pty", "pwd", "resource", "syslog", "termios", "tty"}
NAMES = {
    os: "O_CLOEXEC O_NOFOLLOW O_NONBLOCK fchmod fork geteuid getgid getloadavg getpgid getuid "
    "killpg memfd_create MFD_CLOEXEC MFD_ALLOW_SEALING mkfifo nice posix_fallocate pread pwrite "
    "setpriority PRIO_PROCESS sched_getaffinity sched_setaffinity sched_setscheduler sched_param "
    "SCHED_FIFO setsid statvfs sysconf uname",
    signal: "SIGALRM SIGCHLD SIGHUP SIGKILL SIGPIPE SIGQUIT SIGTSTP SIGUSR1 SIGUSR2 "
    "pthread_sigmask setitimer",
    socket: "AF_UNIX SOCK_SEQPACKET",
    mmap: "MAP_PRIVATE MAP_SHARED PROT_READ PROT_WRITE",
}


class Absent:
    """A finder that hides modules."""

    def find_spec(self, name, path=None, target=None):
        if name in MODULES:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


def msvcrt(lockf=fcntl.lockf, exclusive=fcntl.LOCK_EX | fcntl.LOCK_NB, off=fcntl.LOCK_UN):
    """The module of this name, as far as it locks."""
    module = ModuleType("msvcrt")
    module.LK_UNLCK, module.LK_NBLCK = 0, 2
    module.locking = lambda fd, mode, size: lockf(fd, exclusive if mode else off, size, 0, 1)
    return module


def become():
    """Let this process lack what Windows lacks."""
    for name in MODULES:
        sys.modules.pop(name, None)
    sys.meta_path.insert(0, Absent())
    sys.modules["msvcrt"] = msvcrt()
    for module, names in NAMES.items():
        for name in names.split():
            if hasattr(module, name):
                delattr(module, name)
    sys.platform = "win32"


def import_all():
    import spart_blocks

    root = Path(spart_blocks.__file__).parent
    for path in sorted(root.rglob("*.py")):
        name = ".".join(path.relative_to(root.parent).with_suffix("").parts)
        if not name.endswith(("__main__", "cuda")):
            importlib.import_module(name.removesuffix(".__init__"))


if __name__ == "__main__":
    for name in OTHERS.split():
        importlib.import_module(name)
    become()
    if sys.argv[1:]:
        from spart_blocks.cli import main

        sys.exit(main(sys.argv[1:]))
    import_all()

"""Locks of files: between processes, of POSIX and of Windows."""

from __future__ import annotations

import errno
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import pytest

from spart_blocks.base import file_locks
from spart_blocks.base.file_locks import lock, unlock

pytest.importorskip("fcntl", reason="both kinds of locks are Linux' here")
without_posix = pytest.importorskip("without_posix")

OTHER = """\
import sys, importlib
sys.path.insert(0, {tests!r})
from spart_blocks.base import file_locks
{windows}
file = open({path!r}, "ab")
print(file_locks.lock(file), file.tell(), flush=True)
sys.stdin.read()
"""
WINDOWS = """\
import without_posix
without_posix.become()
"""


@pytest.fixture(params=["POSIX", "Windows"])
def system(request, monkeypatch):
    """The system whose locks are used, here and by `other`."""
    if request.param == "Windows":
        fake = without_posix.msvcrt()

        def without_fcntl(name):
            if name == "fcntl":
                raise ModuleNotFoundError(name)
            return fake if name == "msvcrt" else import_module(name)

        monkeypatch.setattr(file_locks, "import_module", without_fcntl)
    return request.param


def other(path, system):
    """Another process that locks a file, and says whether it could, until its input ends."""
    code = OTHER.format(
        tests=str(Path(__file__).parents[1]),
        path=str(path),
        windows=WINDOWS if system == "Windows" else "",
    )
    return subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


def test_a_lock_of_another_process_is_seen_until_it_ends(tmp_path, system):
    path = tmp_path / "file"
    path.write_bytes(b"text")
    with other(path, system) as process:
        assert process.stdout.readline().split() == ["True", "4"]
        with open(path, "rb+") as file:
            assert not lock(file)
            assert file.read() == b"text"
            process.stdin.close()
            assert lock(file, wait=True)
            assert file.tell() == 4


def test_a_lock_can_be_ended_before_the_file_is_closed(tmp_path, system):
    path = tmp_path / "file"
    with open(path, "ab") as file:
        assert lock(file)
        unlock(file)
        with other(path, system) as process:
            assert process.communicate()[0].split()[0] == "True"


def test_a_file_system_without_locks_is_told(tmp_path, monkeypatch):
    def refused(fd, mode, size):
        raise OSError(errno.ENOLCK, "no locks")

    def found(name):
        if name == "fcntl":
            raise ModuleNotFoundError(name)
        return SimpleNamespace(LK_NBLCK=2, locking=refused)

    monkeypatch.setattr(file_locks, "import_module", found)
    with open(tmp_path / "file", "ab") as file, pytest.raises(OSError, match="no locks"):
        lock(file)

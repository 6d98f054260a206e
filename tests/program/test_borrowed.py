"""Libraries that another process compiled: which machines can use them, and where they lie."""

from dataclasses import replace

import pytest

from spart_blocks.base.errors import InputError
from spart_blocks.program.c import borrowed
from spart_blocks.program.c.borrowed import LibraryWantedError, Machine, borrowing, lent, received
from spart_blocks.program.c.compiler import compiler_name, loaded_library

SOURCE = "int answer(void); int answer(void) { return 42; }"
MACHINE = Machine("a", "linux x86_64 glibc 2.36", "CPU", frozenset(["sse2", "avx2"]))


@pytest.fixture(autouse=True)
def nothing_borrowed(monkeypatch):
    monkeypatch.setattr(borrowed, "_HERE", {})


@pytest.mark.skipif(compiler_name() is None, reason="no C compiler")
def test_a_library_is_asked_for_once_and_then_loaded():
    with borrowing(), pytest.raises(LibraryWantedError) as found:
        loaded_library(SOURCE)
    wanted = found.value.wanted
    received({wanted.key: lent(wanted)})
    with borrowing():
        assert loaded_library(SOURCE).answer() == 42
        with pytest.raises(LibraryWantedError):
            loaded_library(SOURCE, ("-O1",))
    path = borrowed._HERE[wanted.key]
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert not path.stat().st_mode & 0o077


def test_what_no_compiler_made_is_none_for_the_borrower_too():
    received({borrowed._key(SOURCE, ()): b""})
    with borrowing():
        assert loaded_library(SOURCE) is None


def test_what_cannot_be_loaded_is_refused():
    with pytest.raises(InputError, match="cannot be loaded on"):
        received({borrowed._key(SOURCE, ()): b"no library"})


def test_libraries_fit_machines_that_have_what_they_use():
    assert MACHINE.lacks(MACHINE) is None
    assert replace(MACHINE, features=MACHINE.features | {"avx512f"}).lacks(MACHINE) is None
    assert "no avx2" in replace(MACHINE, features=frozenset(["sse2"])).lacks(MACHINE)
    assert "glibc 2.31" in replace(MACHINE, system="linux x86_64 glibc 2.31").lacks(MACHINE)
    unknown = replace(MACHINE, features=frozenset())
    assert unknown.lacks(unknown) is None
    assert "another processor" in unknown.lacks(replace(unknown, processor="other"))

"""A C source becomes a library once, and never in a way that stops a run."""

from __future__ import annotations

import ctypes
import os
import signal
import stat
import subprocess
import sys
import time
import warnings
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest

from spart_blocks.base import cache as cache_module
from spart_blocks.base.errors import SpartWarning
from spart_blocks.program.c import compiler
from spart_blocks.program.c.compiler import compiler_name, shared_library

SOURCE = "#include <math.h>\ndouble root(double x) { return sqrt(x) + 1.0; }\n"
REAL = """
case "$*" in *--version*) ;; *) echo run >> {count}; sleep {delay} ;; esac
exec gcc "$@"
"""


def root(path):
    function = ctypes.CDLL(str(path)).root
    function.restype, function.argtypes = ctypes.c_double, [ctypes.c_double]
    return function


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """An empty cache folder, not made yet."""
    compiler._answers.cache_clear()
    compiler._looked_up.cache_clear()
    monkeypatch.setenv("SPART_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("SPART_COMPILER", raising=False)
    yield tmp_path / "cache"
    compiler._looked_up.cache_clear()


@pytest.fixture
def install(tmp_path, monkeypatch):
    """install(script) makes a shell script the environment's CC."""

    def installed(script):
        path = tmp_path / "fake_cc"
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
        os.utime(path, ns=(1, 1))  # the same compiler, however often it is written
        monkeypatch.setenv("CC", str(path))
        compiler._answers.cache_clear()
        return path

    return installed


@pytest.fixture
def counted(tmp_path, install):
    """A real compiler as CC; counted() is how often it has compiled."""
    count = tmp_path / "count"
    install(REAL.format(count=count, delay=0))
    return lambda: len(count.read_text().splitlines()) if count.exists() else 0


def objects(folder):
    return sorted(path for path in folder.iterdir() if path.suffix == ".so")


def test_a_source_becomes_a_library_that_runs(cache):
    path = shared_library(SOURCE)
    assert root(path)(16.0) == 5.0
    assert list(cache.iterdir()) == [path]
    assert stat.S_IMODE(cache.stat().st_mode) == 0o700
    assert stat.S_IMODE(path.stat().st_mode) == 0o700


def test_checks_for_nan_survive_the_optimiser():
    path = shared_library("int bad(double x) { return x != x; }")
    bad = ctypes.CDLL(str(path)).bad
    bad.argtypes = [ctypes.c_double]
    assert (bad(float("nan")), bad(1.0)) == (1, 0)


def test_the_cache_answers_without_a_compiler(counted, monkeypatch):
    first = shared_library(SOURCE)
    os.utime(first, (0, 0))
    monkeypatch.setattr(subprocess, "Popen", None)  # nothing at all is started
    assert shared_library(SOURCE) == first
    assert counted() == 1
    assert time.time() - first.stat().st_mtime < 60  # used now, so the last to go


def test_another_source_is_another_library(counted):
    assert shared_library(SOURCE) != shared_library(SOURCE + "/**/")
    assert counted() == 2


@pytest.mark.parametrize(
    ("name", "other"),
    [("_flags", ["-O0", "-fPIC", "-shared"]), ("processor", "another CPU"), ("system", "musl")],
)
def test_flags_cpu_and_system_are_in_the_key(counted, monkeypatch, name, other):
    first = shared_library(SOURCE)
    monkeypatch.setattr(compiler, name, lambda *_: other)
    assert shared_library(SOURCE) != first
    assert counted() == 2


def test_a_new_version_of_the_compiler_compiles_again(counted):
    first = shared_library(SOURCE)
    os.utime(os.environ["CC"], (1e9, 1e9))
    assert shared_library(SOURCE) != first
    assert counted() == 2


def test_the_cpu_is_described_with_its_instruction_sets():
    compiler.processor.cache_clear()
    fields = {line.split(" ")[0] for line in compiler.processor().lower().splitlines()}
    assert fields & {"flags", "features", "isa", "cpu"}
    assert not {"processor", "bogomips"} & fields


@pytest.mark.parametrize("damage", [b"", b"\x7fELF not really", None])
def test_a_damaged_library_is_made_anew(counted, cache, damage):
    first = shared_library(SOURCE)
    whole = first.read_bytes()
    first.write_bytes(whole[: len(whole) // 2] if damage is None else damage)
    again = shared_library(SOURCE)
    assert (counted(), again.read_bytes()) == (2, whole)
    assert objects(cache) == [again]


def test_what_others_could_have_written_is_not_loaded(counted, cache):
    shared_library(SOURCE).chmod(0o707)
    shared_library(SOURCE)
    assert counted() == 2
    cache.chmod(0o777)
    with pytest.warns(SpartWarning, match="writable by everyone"):
        elsewhere = shared_library(SOURCE)
    assert elsewhere.parent != cache
    assert root(elsewhere)(4.0) == 3.0


def test_what_others_own_is_not_loaded(counted, monkeypatch):
    first = shared_library(SOURCE)
    monkeypatch.setattr(os, "geteuid", lambda: first.stat().st_uid + 1)
    with pytest.warns(SpartWarning, match="another user"):
        assert shared_library(SOURCE).parent != first.parent
    assert counted() == 2


def test_a_link_in_the_cache_is_not_followed(counted, tmp_path):
    first = shared_library(SOURCE)
    first.rename(tmp_path / "moved.so")
    first.symlink_to(tmp_path / "moved.so")
    assert not shared_library(SOURCE).is_symlink()
    assert counted() == 2


@pytest.mark.parametrize("where", ["file/cache", "/proc/spart_blocks"])
def test_a_cache_that_cannot_be_made_is_done_without(counted, tmp_path, monkeypatch, where):
    (tmp_path / "file").touch()
    monkeypatch.setenv("SPART_CACHE", str(tmp_path / where))
    source = f"{SOURCE}/* {where} */"
    path = shared_library(source)
    assert root(path)(9.0) == 4.0
    assert shared_library(source) == path
    assert counted() == 1


def test_a_cache_that_may_only_be_read_is_read(counted, cache, monkeypatch):
    first = shared_library(SOURCE)

    def read_only(prefix, dir=None, make=compiler.tempfile.mkdtemp):
        if dir and Path(dir) == cache:
            raise PermissionError(13, "Permission denied", str(dir))
        return make(prefix=prefix, dir=dir)

    monkeypatch.setattr(compiler.tempfile, "mkdtemp", read_only)
    assert shared_library(SOURCE) == first
    assert root(shared_library(SOURCE + "// read only"))(9.0) == 4.0
    assert objects(cache) == [first]


def test_two_processes_that_ask_at_once_compile_once(tmp_path, install, cache):
    count = tmp_path / "count"
    install(REAL.format(count=count, delay=1))
    code = (
        "import ctypes, sys; from spart_blocks.program.c.compiler import shared_library;"
        "path = shared_library(sys.argv[1]); ctypes.CDLL(str(path)).root; print(path)"
    )
    command = [sys.executable, "-W", "error", "-c", code, SOURCE]
    runs = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    paths = {run.communicate(timeout=300)[0].strip() for run in runs}
    assert [run.returncode for run in runs] == [0, 0]
    assert paths == {str(path) for path in cache.iterdir()}
    if sys.platform != "win32":
        assert count.read_text().splitlines() == ["run"]


def test_a_failing_compiler_gives_one_warning_and_its_words(cache):
    with pytest.warns(SpartWarning) as caught:
        assert shared_library("int broken(") is None
    (warning,) = caught
    message = str(warning.message)
    assert "exit code 1" in message
    assert "program.c:1" in message
    assert "SPART_COMPILER=none" in message
    assert warning.filename == __file__
    assert list(cache.iterdir()) == []


def test_a_compiler_that_makes_nothing_has_failed(install):
    install("exit 0")  # not even a version
    assert compiler._answers(compiler._compilers()[0]) is None
    install("echo 'nothing, version 1'")
    with pytest.warns(SpartWarning, match="exit code 0"):
        assert shared_library(SOURCE) is None


def test_a_compiler_that_cannot_start_is_passed_over(install):
    install("exit 3")
    assert root(shared_library(SOURCE))(1.0) == 2.0
    assert "fake" not in compiler_name()


@pytest.mark.parametrize("cc", ["no-such-compiler -m64", '"unclosed', ""])
def test_no_compiler_is_no_library_and_no_noise(monkeypatch, tmp_path, cc):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("CC", cc)
    monkeypatch.setattr(compiler, "find_spec", lambda name: None)
    assert shared_library(SOURCE) is None
    assert compiler_name() is None


def test_compiling_can_be_switched_off(counted, cache, monkeypatch):
    shared_library(SOURCE)
    monkeypatch.setenv("SPART_COMPILER", "none")
    assert shared_library(SOURCE) is None
    assert compiler_name() is None
    assert counted() == 1


# As in gcc, the work is in a child, which must not live on.
WORK = 'sleep 300 & echo $! > "${0%/*}/child"; wait'


def test_a_compiler_that_takes_too_long_is_stopped_and_not_asked_again(
    tmp_path, install, cache, monkeypatch
):
    count = tmp_path / "count"
    install(f'case "$*" in *--version*) echo 1; exit;; esac; echo run >> {count}; {WORK}')
    impatient_once_there_is(tmp_path / "child", monkeypatch)
    with pytest.warns(SpartWarning, match=r"stopped after 120 s"):
        assert shared_library(SOURCE) is None
    assert ended(tmp_path / "child")
    with pytest.warns(SpartWarning, match="too long before; remove"):
        assert shared_library(SOURCE) is None
    assert count.read_text() == "run\n"
    (mark,) = cache.iterdir()
    os.utime(mark, (0, 0))
    with pytest.warns(SpartWarning, match="stopped after"):
        shared_library(SOURCE)
    assert ended(tmp_path / "child")


def impatient_once_there_is(file, monkeypatch):
    """The time for a compiler is over as soon as it has written a file, and not before."""
    wait = subprocess.Popen.wait

    def until_then(process, timeout=None):
        if timeout != compiler.TIMEOUT:
            return wait(process, timeout)
        while not (file.exists() and file.read_text()):
            time.sleep(0.01)
        raise subprocess.TimeoutExpired(process.args, timeout)

    monkeypatch.setattr(subprocess.Popen, "wait", until_then)


def ended(file):
    """Whether the process whose number the file holds is gone, or only waits for burial."""
    place = Path("/proc", file.read_text().strip(), "cmdline")
    until = time.monotonic() + 60
    while time.monotonic() < until:
        try:
            if not place.read_bytes():
                return True
        except OSError:
            return True
        time.sleep(0.05)
    return False


def test_ctrl_c_leaves_nothing_behind(tmp_path, install, cache):
    install(f'case "$*" in *--version*) echo 1; exit;; esac; echo half > program.so; {WORK}')
    code = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler);"
        "from spart_blocks.program.c.compiler import shared_library; shared_library('')"
    )
    run = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while not (tmp_path / "child").exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    time.sleep(0.3)
    run.send_signal(signal.SIGINT)
    errors = run.communicate(timeout=300)[1]
    assert errors.rstrip().endswith("KeyboardInterrupt")
    assert list(cache.iterdir()) == []
    assert ended(tmp_path / "child")


def test_a_compiler_ends_with_the_process_that_started_it_and_was_killed(tmp_path, install, cache):
    install(f'case "$*" in *--version*) echo 1; exit;; esac; {WORK}')
    code = "from spart_blocks.program.c.compiler import shared_library; shared_library('')"
    run = subprocess.Popen([sys.executable, "-c", code])
    deadline = time.monotonic() + 60
    while not (tmp_path / "child").exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    time.sleep(0.3)
    run.kill()
    run.wait()
    assert ended(tmp_path / "child")


def test_a_long_compilation_is_announced_with_its_size(cache, install, monkeypatch, caplog):
    monkeypatch.setattr(compiler, "LONG", 3)
    compiler.shared_library("int x;\n\n\n\n")
    [told] = caplog.messages
    assert told.startswith("compiling 4 lines of C (0.0 MB)")


def test_the_cache_forgets_what_was_not_used_for_longest(cache, monkeypatch):
    monkeypatch.setattr(cache_module, "MOST_FILES", 2)
    sources = [f"int f(void) {{ return {k}; }}" for k in range(4)]
    paths = []
    for age, source in zip((300, 400, 200, 100), sources, strict=True):
        paths.append(shared_library(source))
        os.utime(paths[-1], (time.time() - age,) * 2)
    assert objects(cache) == sorted(paths[2:])
    monkeypatch.setattr(cache_module, "LARGEST_CACHE", 1)
    assert objects(cache) != [newest := shared_library(SOURCE)]
    assert objects(cache) == [newest]  # the one just made stays, whatever its size


def test_abandoned_builds_are_cleared_and_other_files_left_alone(cache):
    cache.mkdir(mode=0o700)
    for name in (".build-old", ".build-new", "mine"):
        (cache / name).mkdir()
        (cache / name / "file").touch()
    for name in (".build-old", "mine"):
        os.utime(cache / name, (0, 0))
    path = shared_library(SOURCE)
    assert {p.name for p in cache.iterdir()} == {".build-new", "mine", path.name}


def test_the_compiler_has_a_name(install):
    install("echo; echo 'Fine C 1.2'")
    assert compiler_name() == "Fine C 1.2"


def test_cc_may_carry_arguments(counted, monkeypatch):
    monkeypatch.setenv("CC", os.environ["CC"] + " -DSCALE=2.0")
    path = shared_library("double root(double x) { return SCALE * x; }")
    assert root(path)(4.0) == 8.0
    assert counted() == 1


# --- command lines ------------------------------------------------------------------


def a_compiler(zig=False):
    return compiler._Compiler(("zig" if zig else "/usr/bin/cc",), (), zig)


@pytest.mark.parametrize(
    ("machine", "system", "expected"),
    [
        ("x86_64", "linux", "{level} -march=native -fno-math-errno -fPIC -shared"),
        ("aarch64", "linux", "{level} -mcpu=native -fno-math-errno -fPIC -shared"),
        ("arm64", "darwin", "{level} -mcpu=native -fno-math-errno -fPIC -shared"),
        ("AMD64", "win32", "{level} -march=native -fno-math-errno -shared"),
        ("riscv64", "linux", "{level} -fno-math-errno -fPIC -shared"),
    ],
)
def test_flags_suit_the_machine(monkeypatch, machine, system, expected):
    monkeypatch.setattr(compiler.platform, "machine", lambda: machine)
    monkeypatch.setattr(compiler.sys, "platform", system)
    level = "-O1 -ftree-vectorize -fexpensive-optimizations -fno-tree-sink"
    assert compiler._flags(a_compiler()) == expected.format(level=level).split()


def test_zig_is_the_last_resort(monkeypatch, tmp_path, cache):
    (tmp_path / "ziglang").mkdir()
    spec = ModuleSpec("ziglang", None, is_package=True)
    spec.submodule_search_locations.append(str(tmp_path / "ziglang"))
    monkeypatch.setattr(compiler, "find_spec", {"ziglang": spec}.get)
    assert [found.zig for found in compiler._compilers()][-2:] == [False, True]
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    (zig,) = compiler._compilers()
    assert zig.command == (sys.executable, "-m", "ziglang", "cc")
    assert zig.files == (str(tmp_path / "ziglang" / "zig"),)
    assert compiler._flags(zig)[:2] == ["-O3", "-mcpu=native"]

    commands = []

    def run(command, folder, environment, output, limit):
        assert limit > compiler.TIMEOUT  # it compiles libraries of its own first
        commands.append((command, folder, environment))
        (folder / "program.so").write_bytes(b"made by zig")
        return 0

    monkeypatch.setattr(compiler, "_run", run)
    monkeypatch.setattr(compiler, "_output", lambda *command: "clang version 22\n")
    assert shared_library(SOURCE).read_bytes() == b"made by zig"
    ((command, folder, environment),) = commands
    flags = "-O3 -mcpu=native -fno-math-errno -fPIC -shared -o program.so program.c -lm"
    assert command == [sys.executable, "-m", "ziglang", "cc", *flags.split()]
    assert environment["ZIG_LOCAL_CACHE_DIR"] == str(folder / "zig")
    assert environment["ZIG_GLOBAL_CACHE_DIR"] == str(cache / "zig")
    assert compiler_name() == "ziglang: clang version 22"


def test_macos_stubs_are_not_started(monkeypatch):
    asked = []
    monkeypatch.setattr(compiler.sys, "platform", "darwin")
    monkeypatch.setattr(compiler, "_output", lambda *command: asked.append(command))
    assert compiler._answers(a_compiler()) is None
    assert asked == [("/usr/bin/xcode-select", "-p")]


@pytest.mark.parametrize(
    ("system", "environment", "expected"),
    [
        ("linux", {}, "/home/ann/.cache/spart_blocks"),
        ("linux", {"XDG_CACHE_HOME": "/big"}, "/big/spart_blocks"),
        ("linux", {"XDG_CACHE_HOME": "relative"}, "/home/ann/.cache/spart_blocks"),
        ("darwin", {}, "/home/ann/Library/Caches/spart_blocks"),
        ("win32", {"LOCALAPPDATA": "/local"}, "/local/spart_blocks"),
        ("win32", {}, None),
        ("linux", {"SPART_CACHE": "/mine"}, "/mine"),
    ],
)
def test_the_cache_is_where_the_system_keeps_caches(monkeypatch, system, environment, expected):
    for name in ("SPART_CACHE", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {"HOME": "/home/ann", **environment}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(cache_module.sys, "platform", system)
    assert cache_module.cache_folder() == (Path(expected) if expected else None)


def test_the_module_starts_light():
    code = (
        "import sys; before = set(sys.modules); import spart_blocks.base.errors, importlib.util;"
        "spec = importlib.util.spec_from_file_location('c', sys.argv[1]);"
        "module = importlib.util.module_from_spec(spec); sys.modules['c'] = module;"
        "spec.loader.exec_module(module); print(*set(sys.modules) - before)"
    )
    command = [sys.executable, "-c", code, compiler.__file__]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    roots = {name.split(".")[0] for name in run.stdout.split()} - set(sys.stdlib_module_names)
    assert roots <= {"c", "spart_blocks"}


def test_a_hit_gives_no_warning(counted):
    shared_library(SOURCE)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        shared_library(SOURCE)


def test_compilers_are_looked_up_once_and_where_the_environment_changes(
    install, monkeypatch, tmp_path
):
    looked = []
    which = compiler.shutil.which
    monkeypatch.setattr(
        compiler.shutil, "which", lambda name: (looked.append(name), which(name))[1]
    )
    first = compiler._compilers()
    assert looked
    looked.clear()
    assert compiler._compilers() == first
    assert not looked
    fake = install("exit 0")  # sets CC
    assert compiler._compilers()[0].command == (str(fake),)
    fake.unlink()
    assert fake.name not in str(compiler._compilers())
    monkeypatch.delenv("CC")
    assert compiler._compilers() == first
    monkeypatch.setenv("PATH", str(tmp_path))
    assert not any("cc" in one.command[0] for one in compiler._compilers())
    monkeypatch.setenv("SPART_COMPILER", "none")
    assert not compiler._compilers()


def test_a_library_that_is_compiled_ahead_is_made_once(install, tmp_path):
    """Who asks for it meanwhile waits for it."""
    count = tmp_path / "count"
    install(REAL.format(count=count, delay=0.1))
    compiler.compile_ahead(SOURCE)
    while not count.exists():
        time.sleep(0.005)
    assert root(shared_library(SOURCE))(9.0) == 4.0
    assert count.read_text() == "run\n"


def test_a_failure_ahead_is_told_to_who_asks_alone(install, tmp_path, recwarn):
    count = tmp_path / "count"
    install(f"case $* in *--version*) echo it;; *) echo run >> {count}; exit 1;; esac")
    compiler.compile_ahead(SOURCE)
    while not count.exists():
        time.sleep(0.005)
    assert not recwarn.list
    with pytest.warns(SpartWarning, match="made no library"):
        assert shared_library(SOURCE) is None

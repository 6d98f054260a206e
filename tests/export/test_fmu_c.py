"""The C of an FMU: every compiler takes it, it is FMI's, and nothing leaks."""

import ctypes
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import fmpy
import pytest
from fmus import EVENTFUL, SLIDING, SMOOTH, STOPPING

from spart_blocks.export import export_fmu
from spart_blocks.program.subdiagram import subdiagram_of

STRICT = ["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-O1"]
COMPILERS = {
    "gcc": ["gcc"],
    "clang": ["clang"],
    "zig": [sys.executable, "-m", "ziglang", "cc"],
}
OFFICIAL = Path(fmpy.__file__).parent / "c-code"
HERE = Path(__file__).parent


def compiled(command, folder, *arguments):
    run = subprocess.run([*command, *arguments], cwd=folder, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr[:3000]


def compilers():
    """Those that this machine has."""
    found = {name: c for name, c in COMPILERS.items() if len(c) == 1 and shutil.which(c[0])}
    if subprocess.run([*COMPILERS["zig"], "--version"], capture_output=True).returncode == 0:
        found["zig"] = COMPILERS["zig"]
    return found


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    """The folder of sources of an FMU, its token, and its path, by diagram and version."""
    made = {}

    def make(text, version, *blocks):
        key = (text, version, blocks)
        if key not in made:
            folder = tmp_path_factory.mktemp("fmu")
            (folder / "diagram.yaml").write_text(text)
            path = export_fmu(subdiagram_of(folder / "diagram.yaml", blocks), folder, version)
            with zipfile.ZipFile(path) as archive:
                archive.extractall(folder)
            name = re.search(r"SB_TOKEN (\S+)", (folder / "sources/sb_fmu_model.h").read_text())[1]
            made[key] = folder / "sources", name, path
        return made[key]

    return make


@pytest.mark.parametrize("version", [3, 2])
@pytest.mark.parametrize(
    ("text", "blocks"),
    [(EVENTFUL, ()), (EVENTFUL, ("gain",)), (STOPPING, ()), (SLIDING, ())],
    ids=["eventful", "one gain", "stopping", "sliding"],
)
def test_no_compiler_warns(text, blocks, version, sources, tmp_path):
    folder, _, _ = sources(text, version, *blocks)
    found = compilers()
    assert found
    for command in found.values():
        out = str(tmp_path / "m.so")
        compiled(command, folder, *STRICT, "-fPIC", "-shared", f"sb_fmu{version}.c", "-o", out)


@pytest.mark.parametrize("version", [3, 2])
def test_its_functions_are_declared_as_the_official_headers_have_them(version, sources, tmp_path):
    folder, _, _ = sources(SMOOTH, version)
    # In place of our declarations those that FMPy ships.
    (tmp_path / "official.h").write_text(
        f'#define SB_FMI{version}_H\n#include "fmi{version}Functions.h"\n'
        "#define SB_NAME(name) name\n#define SB_EXPORT\n"
    )
    command = next(iter(compilers().values()))
    include = ["-include", str(tmp_path / "official.h"), f"-I{OFFICIAL}"]
    compiled(command, folder, "-std=c99", "-Wall", *include, "-c", f"sb_fmu{version}.c", "-o",
             str(tmp_path / "m.o"))  # fmt: skip
    header = (OFFICIAL / f"fmi{version}Functions.h").read_text()
    names = set(re.findall(rf"^\s*FMI{version}_Export\s+\w+\s+(\w+);", header, re.MULTILINE))
    assert len(names) > 30
    (binary,) = (folder.parent / "binaries").rglob("*.so")
    library = ctypes.CDLL(str(binary))
    assert [name for name in sorted(names) if not hasattr(library, name)] == []


def cycling(sources, tmp_path, command, *flags):
    """A program that makes and frees two FMUs linked into it, compiled with these flags."""
    objects, tokens = [], []
    for prefix, text in (("one", EVENTFUL), ("two", SMOOTH)):
        folder, token, _ = sources(text, 3)
        objects.append(str(tmp_path / f"{prefix}.o"))
        tokens.append(f"-D{prefix.upper()}_TOKEN={token}")
        prefixed = f"-DFMI3_FUNCTION_PREFIX={prefix}_"
        compiled(command, folder, *STRICT, *flags, prefixed, "-c", "sb_fmu3.c", "-o", objects[-1])
    program = str(tmp_path / "cycles")
    main = [str(HERE / "fmu_cycles.c"), f"-I{folder}", *tokens]
    compiled(command, tmp_path, "-std=c99", *flags, *main, *objects, "-lm", "-o", program)
    return program


def test_ten_thousand_instances_leave_no_memory_behind(sources, tmp_path):
    program = cycling(sources, tmp_path, next(iter(compilers().values())))
    said = subprocess.run([program, "10000"], capture_output=True, text=True, check=True).stdout
    early, late = map(int, said.split())
    assert late - early <= 4  # pages; a byte lost in each cycle would be 70 of them


def test_sanitizers_find_nothing(sources, tmp_path):
    flags = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-g"]
    command = next(c for c in (["gcc"], ["clang"]) if shutil.which(c[0]))
    program = cycling(sources, tmp_path, command, *flags)
    run = subprocess.run([program, "50"], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr[:3000]


def test_the_same_part_gives_the_same_file(part_from, tmp_path):
    part = part_from(EVENTFUL)
    first = export_fmu(part, tmp_path / "a.fmu").read_bytes()
    assert export_fmu(part, tmp_path / "b.fmu").read_bytes() == first
    assert export_fmu(part, tmp_path / "c.fmu", rate=500).read_bytes() != first

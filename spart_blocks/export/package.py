"""A folder with the C code of a subdiagram, ready to build."""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from spart_blocks.base.errors import Fault, InputError
from spart_blocks.export.exported_links import LiveLink, linked_inputs
from spart_blocks.export.header import filled, runtime_file
from spart_blocks.export.loop_files import CORTEX_M7, links_header, model_header, readme
from spart_blocks.export.step import StepCode, included

WRITTEN = ".spart-export.json"
"""List of the files that an export wrote into its folder, with the digest of each."""
RUNTIME = ("sb_loop.h", "sb_loop.c", "sb_link.h", "sb_link.c")


def package_files(code: StepCode, links: Sequence[LiveLink] = ()) -> dict[str, str]:
    """The files of the folder, by name. links: of the subdiagram."""
    return {
        **code.files,
        f"{code.name}_model.h": model_header(code),
        f"{code.name}_links.h": links_header(code, links),
        "main.c": filled("main.c", code.name),
        **{name: runtime_file(name) for name in RUNTIME},
        "Makefile": filled(
            "Makefile",
            code.name,
            CORTEX_M7=CORTEX_M7,
            HEADERS=" ".join(included(code.part.program, code.schedule.method)),
        ),
        "CMakeLists.txt": filled("CMakeLists.txt", code.name),
        "README.md": readme(code, linked_inputs(code, links)),
    }


def check_folder(folder: Path) -> None:
    """Raise InputError if an export would overwrite files: the folder is a file, or it contains
    files and no earlier export."""
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder} is a file; give a folder with -o")
    marked = (folder / WRITTEN).is_file()
    earlier = marked or all((folder / name).is_file() for name in ("Makefile", *RUNTIME))
    if folder.is_dir() and any(folder.iterdir()) and not earlier:
        hint = "give another folder with -o, or empty it"
        raise InputError(Fault(f"{folder} contains files that are not from an export", hint=hint))


def write_package(files: Mapping[str, str], folder: Path) -> list[Path]:
    """Write the files into a folder, all or none. The folder is created, or contains an earlier
    export. Files of the earlier export that are not written again are removed, unless they were
    changed since. Raises InputError as `check_folder` does, and if it cannot write."""
    check_folder(folder)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".spart-", dir=folder.parent) as made:
            for name, text in {**files, WRITTEN: _list_of(files)}.items():
                path = Path(made, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8", newline="\n")
            folder.mkdir(exist_ok=True)
            written = {folder / name for name in files}
            stale = [path for path in _written_before(folder) if path not in written]
            for name in (*files, WRITTEN):
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.move(Path(made, name), folder / name)
            for path in stale:
                path.unlink()
                with suppress(OSError):  # what else is in its folder stays
                    if path.parent != folder:
                        path.parent.rmdir()
    except OSError as error:
        raise InputError(f"cannot write {folder}: {error.strerror or error}") from None
    return [folder / name for name in files]


def _list_of(files: Mapping[str, str]) -> str:
    digests = {name: _digest(text.encode()) for name, text in files.items()}
    return json.dumps({"files": digests}, indent=1) + "\n"


def _written_before(folder: Path) -> list[Path]:
    """The unchanged files of an earlier export. Its list is not trusted: only files within the
    folder are considered, none over a link."""
    try:
        listed = dict(json.loads((folder / WRITTEN).read_text(encoding="utf-8"))["files"])
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        return []  # the list is missing or invalid
    found = []
    for path in _files_within(folder):
        digest = listed.get(path.relative_to(folder).as_posix())
        with suppress(OSError):
            if digest is not None and _digest(path.read_bytes()) == digest:
                found.append(path)
    return found


def _files_within(folder: Path) -> Iterator[Path]:
    for path in folder.iterdir():
        if path.is_symlink():
            continue
        if path.is_file():
            yield path
        elif path.is_dir():
            yield from _files_within(path)


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()

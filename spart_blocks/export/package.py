"""A folder with the C of a part, ready to build."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from spart_blocks.errors import Fault, InputError
from spart_blocks.export.build_files import cmake_lists, makefile, readme
from spart_blocks.export.links import LiveLink, linked_inputs
from spart_blocks.export.model import links_header, main_source, model_header, runtime_file
from spart_blocks.export.step import StepCode

RUNTIME = ("sb_loop.h", "sb_loop.c", "sb_link.h", "sb_link.c")


def package_files(code: StepCode, links: Sequence[LiveLink] = ()) -> dict[str, str]:
    """The files of the folder, by name. links: those of the part."""
    return {
        f"{code.name}.h": code.header,
        f"{code.name}.c": code.source,
        f"{code.name}_model.h": model_header(code),
        f"{code.name}_links.h": links_header(code, links),
        "main.c": main_source(code),
        **{name: runtime_file(name) for name in RUNTIME},
        "Makefile": makefile(code),
        "CMakeLists.txt": cmake_lists(code),
        "README.md": readme(code, linked_inputs(code, links)),
    }


def write_package(files: Mapping[str, str], folder: Path) -> list[Path]:
    """Write the files into a folder, which is made, or holds an earlier export; all of them
    or none. Raises InputError where the folder holds anything else."""
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder} is a file; give a folder with -o")
    earlier = all((folder / name).is_file() for name in ("Makefile", *RUNTIME))
    if folder.is_dir() and any(folder.iterdir()) and not earlier:
        hint = "give another folder with -o, or empty it"
        raise InputError(Fault(f"{folder} holds other files than an export", hint=hint))
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".spart-", dir=folder.parent) as made:
            for name, text in files.items():
                Path(made, name).write_text(text, encoding="utf-8", newline="\n")
            folder.mkdir(exist_ok=True)
            for name in files:
                shutil.move(Path(made, name), folder / name)
    except OSError as error:
        raise InputError(f"cannot write {folder}: {error.strerror or error}") from None
    return [folder / name for name in files]

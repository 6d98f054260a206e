"""Hooks of MkDocs: pages that are made of what is elsewhere in the repository, and links to
files that are no pages.

The README becomes a page, bdsim's help on its blocks a page beside that of ours, every
public name of the package a heading of the API pages with its docstring, and a link to a file
outside docs/ one to a copy of it under source/.

With SPART_DOCS_LIVE=marked, `<!-- live: diagrams/FILE.yaml -->` in a page becomes the diagram,
running there; with all, diagrams of the gallery run, too. That takes minutes, and ziglang.
"""

from __future__ import annotations

import importlib
import logging
import os
import posixpath
import re
import runpy
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

log = logging.getLogger("mkdocs.hooks.live")
ROOT = Path(__file__).parents[1]
COPIES = "source"
"""The folder of the site with files of the repository that pages link to."""
WHOLE = {
    "readme.md": "README.md",
    "contributing.md": "CONTRIBUTING.md",
    "changelog.md": "CHANGELOG.md",
}
LIVE = re.compile(r"<!-- live: (diagrams/\S+\.yaml) -->")
ENTRY = re.compile(r"(?<=\[The file\]\(\.\./)(diagrams/\S+\.yaml)\)$", re.MULTILINE)
"""Where the gallery names a diagram."""
FRAME = """\
<p>Move a slider: the diagram runs here, compiled, in your browser.
<a href="{page}" target="_blank">By itself</a></p>
<iframe src="{page}" title="{file}, running" loading="lazy"
style="width:100%;height:34em;border:1px solid #8884"></iframe>
"""
LINK = re.compile(r"(?<=\]\()(?!https?:|mailto:|#)([^)\s#]+)(#[^)\s]*)?(?=\))")


def on_files(files: Files, config: Any) -> Files:
    """Add the pages that are made, and the files that pages link to."""
    made = {page: (ROOT / file).read_text("utf-8") for page, file in WHOLE.items()}
    made |= {
        "api.md": _names(),
        "api_dynamics.md": _module("dynamics"),
        "api_spart.md": _module("spart"),
        "blocks_bdsim.md": runpy.run_path(str(ROOT / "docs" / "make_blocks_page.py"))["of_bdsim"](),
    }
    for page, text in made.items():
        files.append(File.generated(config, page, content=text))
    pages = {file.src_uri: file.content_string for file in files.documentation_pages()}
    linked = {target for page, text in pages.items() for target in _linked(page, text)}
    for folder in sorted(target for target in linked if (ROOT / target).is_dir()):
        inside = _files_in(ROOT / folder)
        linked |= set(inside)
        files.append(File.generated(config, _copy(folder), content=_listing(folder, inside)))
    for path in sorted(target for target in linked if (ROOT / target).is_file()):
        files.append(File.generated(config, _copy(path), abs_src_path=str(ROOT / path)))
    for file in _live_in(pages):
        text = _live_page(file)
        if text:
            files.append(File.generated(config, _live(file), content=text))
    return files


def _live_in(pages: dict[str, str]) -> list[str]:
    """The diagrams that run in pages of the site."""
    asked = os.environ.get("SPART_DOCS_LIVE", "")
    marked = [file for text in pages.values() for file in LIVE.findall(text)] if asked else []
    shown = ENTRY.findall(pages["gallery.md"]) if asked == "all" else []
    return list(dict.fromkeys((*marked, *shown)))


def _live(file: str) -> str:
    """The address of the page in which a diagram runs."""
    return f"live/{file.removeprefix('diagrams/').removesuffix('.yaml').replace('/', '-')}.html"


def _live_page(file: str) -> str | None:
    """The page in which a diagram runs; None if it cannot."""
    import spart_blocks as sb

    try:
        return sb.live(ROOT / file).page
    except sb.SpartError as error:
        log.info("%s does not run in the site: %s", file, error)
        return None


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """Let links to files of the repository lead to their pages, or to their copies."""
    name = page.file.src_uri

    def led(match: re.Match[str]) -> str:
        path = _in_repository(name, match[1])
        if path is None:
            return match[0]
        page_of = {file: made for made, file in WHOLE.items()}
        inside = path.removeprefix("docs/") if path.startswith("docs/") else _copy(path)
        return page_of.get(path, inside) + (match[2] or "")

    def running(match: re.Match[str]) -> str:
        page, there = _live(match[1]), files.get_file_from_path(_live(match[1]))
        return FRAME.format(page=page, file=match[1]) if there else ""

    def linked(match: re.Match[str]) -> str:
        there = files.get_file_from_path(_live(match[1]))
        return f"{match[0]}, [running in your browser]({_live(match[1])})" if there else match[0]

    if name.startswith(f"{COPIES}/"):
        return markdown
    if name == "gallery.md":
        markdown = ENTRY.sub(linked, markdown)
    return LINK.sub(led, LIVE.sub(running, markdown))


def _copy(path: str) -> str:
    """Where in the site a file of the repository lies, or the page that lists a folder."""
    name = f"{COPIES}/{path}"
    return f"{name}/contents.md" if (ROOT / path).is_dir() else name.replace(".md", ".md.txt")


def _files_in(folder: Path) -> list[str]:
    """The texts right in a folder."""
    texts = (".py", ".yaml", ".csv", ".urdf", ".md", ".ipynb")
    found = (path for path in sorted(folder.iterdir()) if path.suffix in texts)
    return [path.relative_to(ROOT).as_posix() for path in found]


def _listing(folder: str, inside: list[str]) -> str:
    """The page of a folder."""
    rows = [f"- [{Path(path).name}]({Path(_copy(path)).name})" for path in inside]
    return "\n".join([f"# {folder}/", "", *rows, ""])


def _in_repository(page: str, link: str) -> str | None:
    """The file of the repository that a page links to; None where there is none of the name."""
    folder = "" if page in WHOLE else "docs"
    path = posixpath.normpath(posixpath.join(folder, link))
    return path if (ROOT / path).exists() and not path.startswith("..") else None


def _linked(page: str, text: str) -> Iterable[str]:
    """The files outside docs/ that a page links to."""
    for match in LINK.finditer(text):
        path = _in_repository(page, match[1])
        if path and not path.startswith("docs/") and path not in WHOLE.values():
            yield path


# --- the API --------------------------------------------------------------------------------


def _names() -> str:
    """The page of the package's own names."""
    import spart_blocks as sb

    text = "# The names of the package\n\nWhat `import spart_blocks as sb` gives.\n"
    return text + _entries(sb)


def _module(name: str) -> str:
    """The page of one module's public names."""
    module = importlib.import_module(f"spart_blocks.{name}")
    first, *others = (module.__doc__ or "").strip().split("\n\n")
    return "\n\n".join([f"# `spart_blocks.{name}`", first, *others, _entries(module)])


def _entries(module: Any) -> str:
    """What a module's public names are, each under its name there."""
    text = ""
    for name in module.__all__:
        value = getattr(module, name)
        if hasattr(value, "__qualname__"):
            place = f"{value.__module__}.{value.__qualname__}"
            text += f"\n::: {place}\n    options: {{heading: {name}, toc_label: {name}}}\n"
    return text

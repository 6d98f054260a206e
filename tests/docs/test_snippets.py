"""What README.md and docs/ show works: Python, diagrams, commands, and links.

Python blocks of a page run in order in one namespace; each diagram loads and runs for a
moment; each `spart` command is run. All as a reader would, from the root of the repository,
but in a copy of it, so that what they write does not stay.
"""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import spart_blocks as sb
from spart_blocks.cli import main
from spart_blocks.diagram.build.library import runtime

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
FENCE = re.compile(r"^```(\w+)[^\n]*\n(.*?)^```", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\]\(([^)\s#]+)(?:#[^)]*)?\)")
FIGURE = re.compile(r"(?<![\w.^])-?\d+(?:\.\d+)?(?:e-?\d+)?")
MOMENT = 0.02  # s, what a shown diagram runs for
pytestmark = pytest.mark.usefixtures("stub_viewer")


@dataclass(frozen=True)
class Snippet:
    """A fenced block of a page: its language, its text, and the line it begins in."""

    page: Path
    language: str
    text: str
    line: int

    def __str__(self) -> str:
        return f"{self.page.name}:{self.line}"


def snippets(page):
    if not page.exists():
        return []
    text = page.read_text(encoding="utf-8")
    return [
        Snippet(page, found[1], found[2], text.count("\n", 0, found.start(2)) + 1)
        for found in FENCE.finditer(text)
    ]


def of_language(*languages):
    return [s for page in PAGES for s in snippets(page) if s.language in languages]


def diagrams():
    """Whole diagrams: README's with blocks, and docs' that name their file; those with ports
    run in the diagrams that use them."""
    return [
        s
        for s in of_language("yaml")
        if s.text.startswith("# file:") or s.page.name == "README.md"
        if re.search(r"^blocks:", s.text, re.MULTILINE)
        if not re.search(r"^inputs:", s.text, re.MULTILINE)
    ]


def put_files(page, folder):
    """Write the files of a page, those that begin with their name; returns their paths."""
    paths = []
    for snippet in snippets(page):
        found = re.match(r"# file: (\S+)\n", snippet.text)
        if found:
            path = folder / found[1]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(snippet.text, encoding="utf-8")
            paths.append(path)
    return paths


def commands():
    """The lines that call spart, wherever it is installed, comments and prompts aside."""
    found = []
    for snippet in of_language("sh", "bash", "console"):
        text = snippet.text.replace("\\\n", " ")
        for line in text.splitlines():
            for part in line.removeprefix("$ ").split("&&"):
                words = shlex.split(part.split(" > ")[0], comments=True)
                if words and Path(words[0]).name == "spart":
                    name = f"{snippet}: {shlex.join(words)}"
                    found.append(pytest.param(snippet.page, words[1:], id=name))
    return found


@pytest.fixture
def workplace(tmp_path, monkeypatch):
    """A folder with the repository's models, diagrams and docs, current for the test."""
    (tmp_path / "spart.toml").touch()
    for name in ("models", "diagrams", "docs", "examples"):
        shutil.copytree(ROOT / name, tmp_path / name)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    return tmp_path


def printing(page):
    """A print for the snippets of a page: what it prints has the figures of the comment behind
    it, to the digits that they have; `1.30...` is cut off."""
    lines = page.read_text(encoding="utf-8").splitlines()

    def told(*values, **options):
        print(*values, **options)
        number = sys._getframe(1).f_lineno
        _, found, comment = lines[number - 1].partition("  # ")
        said = [float(text) for text in FIGURE.findall(" ".join(map(str, values)))]
        for text in FIGURE.findall(comment) if found else ():
            digits = len(text.partition(".")[2].partition("e")[0])
            power = int(text.partition("e")[2] or 0)
            near = 10.0 ** (power - digits) if digits or power else 1e-9
            close = [v for v in said if abs(v - float(text)) < near]
            assert close, f"{page.name}:{number}: printed {values}, not {text}"

    return told


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_python_of_a_page_runs(page, workplace, monkeypatch):
    bdsim = sys.modules.get("bdsim")
    # A reader's process begins with the block library unread.
    if bdsim is not None and bdsim.BDSim._blocklibrary is not None:
        monkeypatch.setattr(bdsim.BDSim, "_blocklibrary", None)
        runtime.cache_clear()
    put_files(page, workplace)  # the Python of a page may use its files by name
    names = {"__name__": "__main__", "print": printing(page)}
    with np.printoptions():
        for snippet in snippets(page):
            if snippet.language == "python" and not snippet.text.startswith("# file:"):
                # Empty lines in front make a traceback name the line of the page.
                source = "\n" * (snippet.line - 1) + snippet.text
                exec(compile(source, str(page), "exec"), names)


def commit_all(folder):
    """Make a repository of a folder."""
    for words in ("init -q", "add .", "-c user.name=a -c user.email=a@b commit -qm first"):
        subprocess.run(["git", *words.split()], cwd=folder, check=True, capture_output=True)


@pytest.mark.filterwarnings("ignore:running on the interpreter")
@pytest.mark.parametrize("snippet", diagrams(), ids=str)
def test_a_diagram_runs(snippet, workplace):
    blocks = [path for path in put_files(snippet.page, workplace) if path.suffix == ".py"]
    file = workplace / "diagram.yaml"
    file.write_text(snippet.text, encoding="utf-8")
    results = sb.simulate(sb.load(file, blocks=blocks), T=MOMENT)
    assert results.complete
    assert results.t[-1] == MOMENT


@pytest.mark.parametrize(("page", "words"), commands())
def test_a_command_runs(page, words, workplace, capsys):
    put_files(page, workplace)
    if words[0] in ("run", "compare"):  # a later --t wins over the one shown
        words = [*words, "--headless", "--quiet", "--t", str(MOMENT)]
    if words[0] in ("realtime", "check"):
        words = [*words, "--t", str(MOMENT)]
    if words[0] == "show":
        words = [*words, "--headless"]
    if words[0] == "diff":
        commit_all(workplace)
    code = main(words)
    said = capsys.readouterr()
    right = (0, 1) if words[0] == "diff" else (0,)  # 1: the files differ
    assert code in right, said.out + said.err


def test_every_page_is_read():
    assert commands()
    assert diagrams()
    languages = {s.language for page in PAGES for s in snippets(page)}
    assert languages <= {"python", "yaml", "sh", "bash", "console", "json", "text", "toml", "c"}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_links_of_a_page_lead_somewhere(page):
    for target in LINK.findall(page.read_text(encoding="utf-8")):
        if "://" not in target:
            assert (page.parent / target).exists(), f"{page.name} links to {target}"

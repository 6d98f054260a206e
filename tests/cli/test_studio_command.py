"""`spart studio`: what it prints, how it ends, what it refuses."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from contextlib import redirect_stdout
from io import StringIO
from urllib.request import urlopen

import pytest

from spart_blocks.base.errors import pip_install
from spart_blocks.base.web_build import STUDIO, found_node, is_fresh
from spart_blocks.cli import main

pytest.importorskip("starlette")

needs_page = pytest.mark.skipif(not (is_fresh(STUDIO) or found_node()), reason="needs Node.js")
COMMAND = [sys.executable, "-m", "spart_blocks", "studio", "--no-browser"]


@pytest.fixture
def project(tmp_path):
    (tmp_path / "spart.toml").write_text("")
    (tmp_path / "one.yaml").write_text("blocks: {one: {type: CONSTANT}}\n")
    return tmp_path


@needs_page
def test_it_prints_a_link_serves_and_ends_with_ctrl_c(project):
    with subprocess.Popen(
        [*COMMAND, "one.yaml"], cwd=project, text=True, stdout=-1, stderr=-1
    ) as process:
        link = process.stdout.readline().strip()
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/\?token=\S+", link)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    assert process.returncode == 0, said
    assert "Traceback" not in said
    with pytest.raises(OSError):
        urlopen(link, timeout=5)


def test_the_link_is_printed_while_another_thread_silences_bdsim(project, monkeypatch, capsys):
    from spart_blocks.cli import studio as command
    from spart_blocks.studio import serve

    def served(session, gate, page, say, begun):
        with redirect_stdout(StringIO()):
            begun("http://the.link")

    monkeypatch.setattr(command, "built", lambda *_: project)
    monkeypatch.setattr(serve, "serve", served)
    assert main(["studio", str(project / "one.yaml"), "--no-browser"]) == 0
    assert capsys.readouterr().out == "http://the.link\n"


def test_it_knows_the_blocks_that_are_named(project, monkeypatch):
    from spart_blocks.cli import studio as command
    from spart_blocks.studio import serve
    from spart_blocks.studio.files.opened import OpenedFile

    (project / "mine.py").write_text(
        "from bdsim.components import FunctionBlock\n\n\n"
        "class StudioTwice(FunctionBlock):\n"
        "    nin = nout = 1\n\n"
        "    def output(self, t, inputs, x):\n"
        "        return [2 * inputs[0]]\n"
    )
    path = project / "own.yaml"
    path.write_text("blocks: {a: {type: CONSTANT}, b: {type: STUDIOTWICE}}\nwires: [a -> b]\n")
    opened = []
    monkeypatch.setattr(command, "built", lambda *_: project)
    monkeypatch.setattr(
        serve, "serve", lambda session, *_: opened.append(OpenedFile.of(path, "own.yaml", project))
    )
    assert main(["studio", str(path), "--blocks", str(project / "mine.py")]) == 0
    assert opened[0].opened()["problems"] == []


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (["none.yaml"], "there is no such file"),
        (["one.yaml", "--root", "inner"], "is not in"),
        (["--host", "192.0.2.7"], "cannot listen on 192.0.2.7:0"),
        (["--port", "1000000"], "--port"),
    ],
)
@needs_page
def test_what_it_cannot_open_is_told_in_a_line(project, given, told):
    (project / "inner").mkdir()
    done = subprocess.run(
        [*COMMAND, *given], cwd=project, text=True, capture_output=True, timeout=120, check=False
    )
    assert done.returncode == 2
    assert told in done.stderr
    assert "Traceback" not in done.stderr


def test_without_its_server_the_extra_is_named(project):
    code = (
        "import sys; sys.modules['uvicorn'] = None; sys.argv = ['spart', 'studio'];"
        "from spart_blocks.cli import main; sys.exit(main())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=project, text=True, capture_output=True, check=False
    )
    assert done.returncode == 2
    assert pip_install("studio") in done.stderr

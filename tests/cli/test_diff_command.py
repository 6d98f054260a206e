"""`spart diff`."""

from __future__ import annotations

import json

import pytest

from spart_blocks.base.document import MAX_BYTES
from spart_blocks.cli import main

TEXT = "blocks: {t: {type: TIME}, g: {type: GAIN, K: 1}}\nwires: [t -> g]\n"


@pytest.fixture
def files(tmp_path):
    """Two files that differ in a gain."""
    old, new = tmp_path / "old.yaml", tmp_path / "new.yaml"
    old.write_text(TEXT)
    new.write_text(TEXT.replace("K: 1", "K: 2"))
    return str(old), str(new)


def test_the_exit_code_says_whether_they_differ(files, capsys):
    old, new = files
    assert main(["diff", old, new]) == 1
    assert "~ g.K: 1, now 2" in capsys.readouterr().out
    assert main(["diff", old, old]) == 0
    assert "mean the same" in capsys.readouterr().out


def test_formats(files, capsys):
    assert main(["diff", *files, "--format", "json"]) == 1
    data = json.loads(capsys.readouterr().out)
    assert [one["path"] for one in data["changes"]] == ["g.K"]
    assert main(["diff", *files, "-f", "markdown"]) == 1
    assert "- changed `g.K: 1, now 2`" in capsys.readouterr().out


def test_no_file_is_all_removed(files, capsys):
    assert main(["diff", files[0], "/dev/null"]) == 1
    assert "- g: GAIN, K: 1" in capsys.readouterr().out


BAD = {
    "missing": (None, "there is no such file"),
    "binary": (b"\x7fELF\x00\xff\xfe", "is not UTF-8 text"),
    "control": (b"a: \x00", "is not allowed in YAML"),
    "large": (b"a" * (MAX_BYTES + 1), "is larger than"),
    "broken": (b"blocks: {t: [", "not YAML"),
    "list": (b"- 1", "must be a mapping"),
    "empty": (b"", "the file is empty"),
    "circle": (b"blocks: {x: {use: bad.yaml}}", "bad.yaml uses itself"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_bad_side_is_told_in_words(files, tmp_path, capsys, case):
    content, problem = BAD[case]
    bad = tmp_path / "bad.yaml"
    if content is not None:
        bad.write_bytes(content)
    for sides in ((files[0], str(bad)), (str(bad), files[0])):
        assert main(["diff", *sides]) == 2
        captured = capsys.readouterr()
        assert problem in captured.err
        assert "Traceback" not in captured.err
        assert captured.out == ""

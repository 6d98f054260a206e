"""What the user set up beside a diagram is kept for its file, outside of the file."""

from __future__ import annotations

import pytest
from asking import Asking

LOOP = "blocks: {one: {type: CONSTANT}, scope: {type: SCOPE}}\nwires: [one -> scope]\n"


@pytest.fixture
def asking(tmp_path, monkeypatch):
    monkeypatch.setenv("SPART_CACHE", str(tmp_path / "cache"))
    for name in ("a.yaml", "b.yaml"):
        (tmp_path / name).write_text(LOOP)
    found = Asking(tmp_path)
    found.ok("open", path="a.yaml")
    found.ok("open", path="b.yaml")
    return found


def test_panels_are_kept_for_each_file_and_not_in_it(asking, tmp_path):
    assert asking.ok("panels", path="a.yaml") == {}
    panels = {
        "layout": {"bottom": [{"tabs": ["tune"], "at": "tune"}]},
        "dashboard": [{"kind": "lamp"}],
    }
    asking.ok("keep-panels", path="a.yaml", panels=panels)
    asking.ok("keep-panels", path="b.yaml", panels={})
    assert asking.ok("panels", path="a.yaml") == panels
    assert asking.ok("panels", path="b.yaml") == {}
    assert (tmp_path / "a.yaml").read_text() == LOOP
    assert asking.ok("open", path="a.yaml")["undo"] is None


@pytest.mark.parametrize(
    ("panels", "why"),
    [
        (["scopes"], "needs the panels"),
        (None, "needs the panels"),
        ({"of": "x" * 100_001}, "too large to keep"),
        ({"of": float("inf")}, "not finite"),
    ],
)
def test_panels_that_cannot_be_kept_are_refused_and_the_others_stay(asking, panels, why):
    asking.ok("keep-panels", path="a.yaml", panels={"a": 1})
    assert why in asking.ask("keep-panels", path="a.yaml", panels=panels)["problem"]["message"]
    assert asking.ok("panels", path="a.yaml") == {"a": 1}
    assert "not open" in asking.ask("panels", path="c.yaml")["problem"]["message"]


@pytest.mark.parametrize("text", ["", "[1]", "{", "\xff\xfe", "[" * 100_000])
def test_a_damaged_store_of_panels_is_none(asking, tmp_path, text):
    asking.ok("keep-panels", path="a.yaml", panels={"a": 1})
    (file,) = (tmp_path / "cache").rglob("*.panels.json")
    file.write_text(text, encoding="latin-1")
    assert asking.ok("panels", path="a.yaml") == {}

"""A function with groups of options becomes a command with all of them, in their places."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from spart_blocks.base.errors import InputError
from spart_blocks.cli.commands import QUIET, argument, command, option, switch


@dataclass(frozen=True)
class Group:
    """Two options."""

    size: int | None = option("--size -s N", "A size.", min=1)
    name: str = option("--name NAME", "A name.", "none")


GIVEN = {}


@command("spart tried FILE")
def tried(
    *,
    file: Path = argument("FILE", "A file."),
    first: bool = switch("--first", "The first."),
    group: Group,
    quiet: bool = QUIET,
    debug: bool,
) -> int | None:
    """Keep what is given."""
    GIVEN.update(file=file, first=first, group=group, quiet=quiet, debug=debug)
    if group.name == "wrong":
        raise InputError("the name is wrong")
    return group.size


@pytest.fixture
def invoked(monkeypatch):
    monkeypatch.delenv("SPART_DEBUG", raising=False)
    app = typer.Typer(rich_markup_mode=None)
    app.command()(tried)
    return lambda *words: CliRunner().invoke(app, words)


def test_the_options_of_a_group_stand_in_its_place_and_debug_last(invoked):
    text = invoked("--help").output
    names = ["FILE", "--first", "--size", "--name", "--quiet", "--debug"]
    places = [text.index(name, text.index("Arguments")) for name in names]
    assert places == sorted(places)


def test_a_group_is_given_whole(invoked):
    assert invoked("a.yaml", "--name", "x", "-q").exit_code == 0
    group = Group(size=None, name="x")
    assert {"file": Path("a.yaml"), "first": False, "group": group, "quiet": True,
            "debug": False} == GIVEN  # fmt: skip


def test_what_it_returns_is_the_exit_code(invoked):
    assert invoked("a.yaml", "-s", "3").exit_code == 3
    assert invoked("a.yaml", "-s", "0").exit_code == 2  # refused


def test_an_error_is_told_and_traced_with_debug(invoked):
    answer = invoked("a.yaml", "--name", "wrong")
    assert answer.exit_code == 2
    assert "Traceback" not in answer.output
    answer = invoked("a.yaml", "--name", "wrong", "--debug")
    assert "Traceback" in answer.output
    assert GIVEN["debug"]

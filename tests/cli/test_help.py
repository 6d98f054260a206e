"""The help of every command: whole, with examples that are right, in one form."""

from __future__ import annotations

import re
import shlex
from collections import defaultdict

import pytest

from spart_blocks.cli import app as cli

# What is another thing in another command keeps another word for it.
OF_THEIR_OWN = {"--out", "--at", "--variant", "--input", "--output", "--version", "--t"}


def commands():
    """Every command by its words, groups too."""
    found, left = {}, [((), cli.command())]
    while left:
        words, command = left.pop()
        found[words] = command
        left += [((*words, name), one) for name, one in getattr(command, "commands", {}).items()]
    return found


ALL = commands()
every = pytest.mark.parametrize("words", ALL, ids=lambda words: " ".join(words) or "spart")


@pytest.fixture
def helped(words, spart, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERMINAL_WIDTH", "80")
    answer = spart(*words, "--help")
    assert answer.code == 0
    return ALL[words], answer.out


def test_every_command_is_listed_once():
    leaves = [" ".join(words) for words, one in ALL.items() if not hasattr(one, "commands")]
    assert sorted(leaves) == sorted(cli.COMMANDS)


@every
def test_every_help_has_an_example_of_its_command(words, helped, spart):
    assert " ".join(["spart", *words]) in helped[1].partition("Examples:")[2]
    assert spart(*words, "-h").out == helped[1]


@every
def test_nothing_is_cut(helped):
    _, text = helped
    body = text.split("Examples:")[0]
    assert not re.search(r"…|\w\.\.\.$", body, re.MULTILINE)
    assert max(map(len, body.splitlines())) <= 80


@every
def test_the_usage_is_in_words(helped):
    _, text = helped
    usage = text.split("\n\n")[0]
    assert not re.search(r"[{}<>]|\[\[", usage), usage
    assert not re.search(r"<(list|path|str|int|float|Path)", text)


@every
def test_every_parameter_is_explained(helped):
    command, _ = helped
    for parameter in command.params:
        assert getattr(parameter, "help", None), parameter.name
    for one in getattr(command, "commands", {}).values():
        assert one.short_help


@every
def test_there_are_examples_that_can_be_parsed(helped):
    _, text = helped
    examples = text.split("Examples:\n")[1].splitlines()
    assert examples
    for line in examples:
        words = shlex.split(re.sub(r"\$\(([^)]*)\)", "file", line).split(" > ")[0])
        assert words[0] == "spart"
        command, rest = cli.command(), words[1:]
        while rest and rest[0] in getattr(command, "commands", {}):
            command, rest = command.commands[rest[0]], rest[1:]
        if rest not in (["COMMAND", "--help"], ["--help"]):
            command.make_context("spart", list(rest), resilient_parsing=True)
            known = {name for p in command.params for name in (*p.opts, *p.secondary_opts)}
            assert {word for word in rest if re.match(r"--?[a-zA-Z]", word)} <= known, line


def test_an_option_has_one_word_for_its_value():
    words = defaultdict(set)
    for command in ALL.values():
        for parameter in command.params:
            name = next((n for n in parameter.opts if n.startswith("--")), "")
            if name and name not in OF_THEIR_OWN:
                words[name].add(parameter.metavar)
    assert {name: found for name, found in words.items() if len(found) > 1} == {}

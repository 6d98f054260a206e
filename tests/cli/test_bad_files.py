"""Every command answers to every kind of broken file with its place and a fix, exit code 2,
no traceback and nothing written."""

from __future__ import annotations

import pytest

GOOD = "  a: {type: CONSTANT}\n  g: {type: GAIN}\n"
BOMB = "a0: &a0 [1]\n" + "".join(
    f"a{i + 1}: &a{i + 1} [{', '.join([f'*a{i}'] * 9)}]\n" for i in range(9)
)
# The text of main.yaml, then where the mistake is, what it is, and how to mend it.
FILES = {
    "truncated": ("blocks: {a: {type: CONST", "2:1", "not YAML", "brackets and quotes"),
    "nesting": ("a: " + "[" * 500, "1:67", "nested deeper than 64 levels", "fewer levels"),
    "deep nesting": ("a: " + "[" * 5000, "1:", "nested deeper than 64 levels", "fewer levels"),
    "alias bomb": (BOMB, "7:10", "aliases counted in full", "fewer aliases"),
    "number": ("params: {k: 1e999}\n", "1:13", "1e999 is out of range", ".inf"),
    "type": ("blocks: {a: {type: [1]}}\n", "1:20", "must be text, not [1]", ""),
    "unicode name": ("blocks:\n  ﬁ: {type: TIME}\n", "2:3", "normal form", "'fi'"),
    "escape in a name": (
        'blocks:\n  "a\\e[2J": {type: TIME}\n',
        "2:3",
        r"the block name 'a\x1b[2J'",
        "",
    ),
    "unknown key": ("blockz: {}\n", "1:1", "unknown key 'blockz'", "did you mean 'blocks'"),
    "circle of files": (
        "blocks:\n  a: {use: part.yaml}\n",
        "2:16",
        "part.yaml uses itself",
        "take one of these uses out",
    ),
    "wire to nowhere": (
        f"blocks:\n{GOOD}wires:\n  - a -> h\n",
        "5:10",
        "there is no block 'h'",
        "it has a, g",
    ),
    "two wires": (
        f"blocks:\n{GOOD}wires:\n  - a -> g\n  - a -> g\n",
        "6:10",
        "input g.0 has a wire already, in line 5",
        "SUM",
    ),
    "no wire": (f"blocks:\n{GOOD}", "3:3", "input 0 of g (GAIN) has no wire", "wire to g.0"),
    "path": (
        "robots: {r: {urdf: ../../secret.urdf}}\nblocks: {t: {type: TIME}}\n",
        "1:20",
        "leaves the project",
        "--root",
    ),
    "code": (
        "blocks: !!python/object/apply:os.system ['touch owned']\n",
        "1:9",
        "os.system is refused",
        "plain values only",
    ),
    "encoding": (b"name: \xff\n", "1:7", "is not UTF-8", "save it as UTF-8"),
    "robot": (
        "robots: {r: {spart: r.json}}\nblocks: {t: {type: TIME}}\n",
        "",
        "r.json:1:2: not JSON",
        "JSON library",
    ),
    "variants": (
        "variants: {v: {default: b, choices: {a: {type: TIME}}}}\nblocks: {}\n",
        "1:25",
        "has no choice 'b', its default",
        "it has a",
    ),
}
LOOP = """blocks:
  a: {type: GAIN}
  b: {type: GAIN}
wires: [a -> b, b -> a]
"""
COMMANDS = {
    "run": (),
    "show": (),
    "check": (),
    "linearize": ("--input", "a", "--output", "a"),
    "margins": ("--cut", "a"),
}


@pytest.fixture
def main(in_an_empty_folder):
    """main(text): a project's diagram, of a file that uses itself, and half a JSON file."""
    folder = in_an_empty_folder
    (folder / "part.yaml").write_text("blocks: {b: {use: part.yaml}}\n")
    (folder / "r.json").write_text("{")

    def main(text):
        raw = text if isinstance(text, bytes) else text.encode()
        (folder / "main.yaml").write_bytes(raw)
        return "main.yaml"

    return main


def state(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("case", FILES)
def test_a_broken_file_is_told_with_its_place_and_a_fix(spart, main, tmp_path, command, case):
    text, place, message, fix = FILES[case]
    file = main(text)
    before = state(tmp_path)
    answer = spart(command, file, *COMMANDS[command])
    assert answer.code == 2
    where = "part.yaml:1:19" if case == "circle of files" else f"main.yaml:{place}".rstrip(":")
    assert where in answer.err or not place
    assert message in answer.err
    assert fix in answer.err
    assert "this should not have happened" not in answer.err
    assert "\x1b[2J" not in answer.err + answer.out
    assert state(tmp_path) == before


@pytest.mark.parametrize("command", ["run", "check", "linearize"])
def test_an_algebraic_loop_is_named_block_by_block(spart, main, tmp_path, command):
    file = main(LOOP)
    before = state(tmp_path)
    answer = spart(command, file, *COMMANDS[command])
    assert answer.code == 2
    assert "main.yaml:2:3: algebraic loop: a (GAIN) -> b (GAIN) -> a (GAIN)" in answer.err
    assert "break it with a block that has a state" in answer.err
    assert state(tmp_path) == before


def test_show_draws_an_algebraic_loop_so_that_it_can_be_seen(spart, main, tmp_path):
    assert spart("show", main(LOOP), "--out", "loop.svg").code == 0
    assert (tmp_path / "loop.svg").stat().st_size > 0


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--set", "a.K"), "--set a.K: has no path or no value"),
        (("--set", "params." + "x." * 9999 + "=1"), "more than 64 levels"),
        (("--set", "k=[1, 2"), "not YAML"),
        (("--set", "kk=1"), "there is nothing named 'kk'"),
        (("--variant", "v=1"), "--variant v=1: there is no slot 'v'"),
        (("--variant", "\x1b[2J"), r"names no slot or no choice"),
    ],
)
def test_broken_options_are_told_as_they_were_typed(spart, main, tmp_path, options, told):
    file = main("params: {k: 1}\nblocks: {c: {type: CONSTANT, value: $k}}\n")
    before = state(tmp_path)
    answer = spart("run", file, *options)
    assert answer.code == 2
    assert told in answer.err
    assert "\x1b[2J" not in answer.err
    assert state(tmp_path) == before


@pytest.mark.parametrize("file", ["none.yaml", ".", "a" * 5000, "x\x1b[2J.yaml"])
def test_a_file_that_cannot_be_read_is_told(spart, tmp_path, file):
    for command, options in COMMANDS.items():
        answer = spart(command, file, *options)
        assert answer.code == 2
        assert "\x1b[2J" not in answer.err.replace(f"loading {file}", "")

"""Broken projects of every kind, and what must hold whatever the loader answers to them.

A project is a diagram, files that it uses, and robots. `projects()` draws one of any kind;
`examine` loads it and checks the answer; `Watch` sees to it that nothing is executed,
written, or read elsewhere.
"""

from __future__ import annotations

import importlib
import json
import random
import re
import sys
import sysconfig
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, field, replace
from io import StringIO
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

import spart_blocks as sb
from spart_blocks.base.errors import Fault, InputError, SpartError, SpartWarning
from spart_blocks.diagram import Diagram, load

MODELS = Path(__file__).parents[1] / "models"
MAIN = """\
name: everything
params: {kp: [1, 2], g: $kp, n: 2}
robots: {r: {dh: arm.yaml}, u: {urdf: arm.urdf}}
clocks: {fast: {rate: 100}, slow: {T: 0.1, offset: 0.02}}
variants:
  ctrl:
    default: pd
    choices:
      pd: {use: controllers/pd.yaml, k: $n}
      gain: {type: GAIN, K: 2}
subsystems:
  servo:
    params: {k: 2}
    inputs: [r, y]
    outputs: [u]
    blocks:
      err: {type: SUM, signs: "+-"}
      g: {type: GAIN, K: $k}
      z: {type: ZOH, clock: fast, x0: [0, 0]}
    wires: [in.r -> err.0, in.y -> err.1, err -> g, g -> z, z -> out.u]
blocks:
  qd: {type: STEP, T: 1.0, on: $kp}
  loop: {type: servo, k: 3}
  int: {type: INTEGRATOR, x0: [0, 0], min: -1}
  pid: {type: PID, P: 1, D: $n}
  scope: {type: SCOPE, labels: [a, b]}
  mux: {type: MUX}
  n: {type: "NULL"}
wires:
  - qd -> loop.r
  - int -> ctrl, scope
  - ctrl -> loop.y
  - loop -> int
  - int[0] -> mux, pid.0, pid.1
  - pid -> n
  - int[0:2] -> mux
tunable: [r.mass]
run: {T: 3, log: [loop/g, int], rtol: 1e-7}
"""
PD = """\
description: a gain in two steps
params: {k: 4}
inputs: [u]
outputs: [y]
blocks:
  a: {type: GAIN, K: $k}
  b: {use: half.yaml}
wires:
  - in.u -> a
  - a -> b
  - b -> out.y
"""
HALF = """\
inputs: [u]
outputs: [y]
blocks: {h: {type: GAIN, K: 0.5}}
wires: [in.u -> h, h -> out.y]
"""
# Whoever imports or runs this is found out.
EVIL = "raise SystemExit('a file of the project was executed')\n"
FILES: Mapping[str, bytes] = {
    "main.yaml": MAIN.encode(),
    "controllers/pd.yaml": PD.encode(),
    "controllers/half.yaml": HALF.encode(),
    "arm.yaml": (MODELS / "spacecraft_dh_5dof.yaml").read_bytes(),
    "arm.urdf": (MODELS / "spacecraft_3dof.urdf").read_bytes(),
    "arm.json": b'{"name": "s", "n_q": 0, "n_links_joints": 0, "links": [], "joints": []}',
    "evil.py": EVIL.encode(),
    "spart.toml": b"",
}
YAML_FILES = ("main.yaml", "controllers/pd.yaml", "controllers/half.yaml")

PIECES = [
    *"{}[]:,-&*!|>'\"%@`#?$ \n\t.\\\0é\u2028",
    *("\n  ", "->", "[0:2]", "[1", "$kp", "$x", "&a", "*a", "<<: ", "!!str ", "--- ", "1e999"),
    *("null", "true", "on", ".nan", ".inf", "-1", "99999999999", "0x", "type: ", "in", "out"),
    *("SCOPE", "MUX", "CONSTANT", "LTI_SS", "PIECEWISE", "POSEINTEGRATOR", "INDEX", "servo"),
    *("{type: GAIN}", "wires:", "blocks:", "run: ", "x0: ", "nin: -3", "vector: [0, a]"),
    *("use: ", "use: ../main.yaml", "evil", "!!python/object/apply:os.system ['exit 1']"),
]
WORDS = [*re.findall(r"[\w.$]+", MAIN + PD), *PIECES, "[1, 2, 3]", "{a: 1}", "[a, [1]]", "1e300"]
NUMBERS = ["1e308", "-1e308", "5e-324", "1e999", ".nan", "-.inf", "9" * 200, "0x" + "f" * 299,
           "99999999999999999999", "-0.0", "017", "0o9", "true", "1e-400"]  # fmt: skip
NAMES = ["e\u0301", "\u0627\u0644", "a\u202eb", "\U0001f680", "\u0430lpha", "ﬁ",
         "x" * 300, "İ", "\\ud800", "\\0", "\\e[31m", "\u200b", "a b", "~", "<<", "$k",
         "in", "e" * 190]  # fmt: skip
PATHS = ["../outside.yaml", "../../../../etc/passwd", "/etc/passwd", "~/x.yaml", "C:\\\\x.yaml",
         "file:///etc/passwd", "https://example.org/x.yaml", "link.yaml", "folder/../main.yaml",
         "x\\0.yaml", ".", "..", "controllers", "", "//server/share", "evil.py", "/dev/zero",
         "controllers/pd.yaml/x", "a" * 5000, "main.yaml"]  # fmt: skip
TAGS = ["!!python/object/apply:os.system ['touch owned']", "!!python/name:os.system", "!!map",
        "!<tag:yaml.org,2002:python/module:evil>", "!!binary aGk=", "!x"]  # fmt: skip


@dataclass(frozen=True)
class Project:
    """Files by name, how they are loaded, and what kind of mistake is in them. told: a part
    of the message that one fault must have, and of its fix."""

    kind: str
    files: Mapping[str, bytes] = field(default_factory=lambda: FILES)
    options: Mapping[str, Any] = field(default_factory=dict)
    links: Mapping[str, str] = field(default_factory=dict)
    told: tuple[str, str] | None = None

    def with_file(self, name: str, text: str | bytes) -> Project:
        """The project with this file as this text."""
        raw = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
        return replace(self, files={**self.files, name: raw})


def put(project: Project, folder: Path) -> Path:
    """The project's files in a folder; its diagram."""
    for name, raw in project.files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(raw)
    for name, target in project.links.items():
        (folder / name).symlink_to(target)
    return folder / "main.yaml"


# --- kinds of projects -------------------------------------------------------------------


def mutated(seed: int, text: str = MAIN) -> str:
    """A text with a few words exchanged, or pieces cut, doubled or put in."""
    chance = random.Random(seed)
    for _ in range(chance.randint(1, 4)):
        if chance.random() < 0.7:
            word = chance.choice(list(re.finditer(r"[\w.$]+", text)) or [re.match("", text)])
            a, b, piece = word.start(), word.end(), chance.choice(WORDS)
        else:
            a = chance.randrange(len(text) + 1)
            b = min(len(text), a + chance.choice([0, 1, 5, 20]))
            piece = chance.choice([*PIECES, text[a:b] * 2, ""])
        text = text[:a] + piece + text[b:]
    return text


def _mutation(chance: random.Random) -> Project:
    name = chance.choice(["main.yaml", "main.yaml", *YAML_FILES, "arm.yaml", "arm.urdf"])
    text = mutated(chance.getrandbits(32), FILES[name].decode())
    return Project("mutated").with_file(name, text)


def _truncation(chance: random.Random) -> Project:
    name = chance.choice([*YAML_FILES, "main.yaml", "arm.yaml", "arm.urdf", "arm.json"])
    project = Project("truncated").with_file(
        name, FILES[name][: chance.randrange(len(FILES[name]))]
    )
    if name == "arm.json":
        project = project.with_file("main.yaml", MAIN.replace("urdf: arm.urdf", "spart: arm.json"))
    return project


def _bytes(chance: random.Random) -> Project:
    """Text in a wrong encoding, with marks, tabs, other ends of lines, or a second document."""
    name = chance.choice(YAML_FILES)
    raw = FILES[name]
    at = chance.randrange(len(raw))
    put_in = [b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\0", b"\t", b"\r", b"\x1b[2J",
              b"\n---\n", b"\n...\n", b"%YAML 9.9\n---\n", "\u202e".encode()]  # fmt: skip
    whole = [raw.replace(b"\n", b"\r\n"), b"\xef\xbb\xbf" + raw, raw.decode().encode("utf-16"),
             raw.replace(b"  ", b"\t"), b"", b"#", b"\n" * 5000, raw * 2, raw[::-1]]  # fmt: skip
    broken = raw[:at] + chance.choice(put_in) + raw[at:]
    return Project("bytes").with_file(name, chance.choice([broken, broken, *whole]))


def _value(chance: random.Random, depth: int = 3) -> str:
    """Any value, as YAML writes it in one line."""
    pick = chance.random()
    if depth and pick < 0.2:
        items = [_value(chance, depth - 1) for _ in range(chance.randrange(5))]
        return f"[{', '.join(items)}]"
    if depth and pick < 0.35:
        items = [f"{chance.choice(WORDS_AS_KEYS)}: {_value(chance, depth - 1)}"
                 for _ in range(chance.randrange(4))]  # fmt: skip
        return f"{{{', '.join(items)}}}"
    words = [*NUMBERS, *NUMBERS, "$kp", "$no", "1", "2", "[1, 2]", "fast", "r", "text", "''"]
    words += [f'"{name}"' for name in NAMES]
    return chance.choice([*words, chance.choice(TAGS)] if chance.random() < 0.1 else words)


WORDS_AS_KEYS = ["type", "use", "K", "T", "params", "blocks", "wires", "x0", "urdf", "dh", "on"]


def _types(chance: random.Random) -> Project:
    """A value of another type, a number out of range or a strange name at some place."""
    text = MAIN
    for _ in range(chance.randint(1, 3)):
        spots = list(re.finditer(r"(?<=: )(\[[^\]\n]*\]|[^\s{}\[\],]+)(?=[,}\n])", text))
        spot = chance.choice(spots)
        text = text[: spot.start()] + _value(chance) + text[spot.end() :]
    return Project("types").with_file("main.yaml", text)


BLOCKS: list[tuple[str, list[str]]] = []
"""Each type that a file can name and its parameters, once they have been asked for."""


def _blocks() -> list[tuple[str, list[str]]]:
    if not BLOCKS:
        from spart_blocks.diagram.build.registry import block_types

        BLOCKS.extend((kind.name, list(kind.parameters)) for kind in block_types())
    return BLOCKS


def _generated(chance: random.Random) -> Project:
    """Blocks of any types with any parameters, and wires between any of them."""
    names = [f"b{i}" for i in range(chance.randint(1, 6))]
    rows = []
    for name in names:
        kind, parameters = chance.choice(_blocks())
        given = chance.sample(parameters, chance.randint(0, len(parameters)))
        values = {"robot": "r", "clock": "fast"}
        texts = [f"{key}: {values.get(key) or _value(chance)}" for key in given]
        rows.append(f"  {name}: {{{', '.join([f'type: {json.dumps(kind)}', *texts])}}}")
    wires = []
    for _ in range(chance.randint(0, 8)):
        ends = [chance.choice([*names, "no"]) + chance.choice(["", "", ".0", ".1", "[0]", ".x"])
                for _ in range(2)]  # fmt: skip
        wires.append(f"  - '{ends[0]} -> {ends[1]}'")
    text = "params: {kp: [1, 2]}\nrobots: {r: {urdf: arm.urdf}}\nclocks: {fast: {T: 0.004}}\n"
    text += "blocks:\n" + "\n".join(rows) + "\nwires:\n" + "\n".join(wires) + "\n"
    return Project("generated").with_file("main.yaml", text)


def _running(chance: random.Random) -> Project:
    """A block of any type with any numbers, its inputs wired: many of these load and run."""
    from spart_blocks.diagram.build.registry import find_type

    kind, parameters = chance.choice([b for b in _blocks() if "robot" not in b[1]])
    found = find_type(kind)
    assert found is not None
    values = [*NUMBERS, "0", "1", "-2", "0.5", "[1, 2]", "[[1, 2], [3, 4]]", "[]", "[[0]]", "true"]
    rows, wires = ["  x: {type: INTEGRATOR, x0: 1}"], ["  - x -> x"]
    for k in range(len(found.inputs)):
        rows.append(f"  c{k}: {{type: CONSTANT, value: {chance.choice(values)}}}")
        wires.append(f"  - c{k} -> b.{k}")
    given = [p for p in parameters if p == "clock" or chance.random() < 0.6]
    texts = [f"{p}: {'fast' if p == 'clock' else chance.choice(values)}" for p in given]
    rows.append(f"  b: {{{', '.join([f'type: {json.dumps(kind)}', *texts])}}}")
    text = "clocks: {fast: {T: 0.004}}\nblocks:\n" + "\n".join(rows)
    text += "\nwires:\n" + "\n".join(wires) + "\n"
    return Project("running").with_file("main.yaml", text)


def _names(chance: random.Random) -> Project:
    """A strange name where a block, parameter, clock, port or slot has its own."""
    old = chance.choice(["qd", "kp", "fast", "servo", "ctrl", "pd", "loop", "int", "main", "r"])
    return Project("names").with_file(
        "main.yaml", re.sub(rf"\b{old}\b", lambda _: f'"{chance.choice(NAMES)}"', MAIN)
    )


def _paths(chance: random.Random) -> Project:
    """A path that leads out of the project, or to nothing that can be used."""
    path = chance.choice(PATHS)
    old = chance.choice(["arm.yaml", "arm.urdf", "controllers/pd.yaml"])
    text = MAIN.replace(f" {old}", f' "{path}"')
    return Project("paths", links={"link.yaml": "../outside.yaml"}).with_file("main.yaml", text)


def _uses(chance: random.Random) -> Project:
    """Files that use one another at random; a few at once, also in circles."""
    count = chance.randint(2, 5)
    project = Project("uses")
    circle = False
    for i in range(count):
        uses = [chance.randrange(count + 1) for _ in range(chance.randint(0, 2))]
        rows = "".join(f"  b{k}: {{use: f{j}.yaml}}\n" for k, j in enumerate(uses))
        text = f"outputs: [y]\nblocks:\n  t: {{type: TIME}}\n{rows}wires: [t -> out.y]\n"
        project = project.with_file(f"f{i}.yaml", text)
        circle = circle or i in uses
    text = "blocks:\n" + "".join(f"  b{i}: {{use: f{i}.yaml}}\n" for i in range(count))
    told = ("uses itself", "take one of these uses out") if circle else None
    return replace(project.with_file("main.yaml", text), told=told)


def _options(chance: random.Random) -> Project:
    """Any texts for --set, --variant and their keywords."""
    paths = ["kp", "params.kp", "int.x0", "run.T", "run.log", "clocks.fast.T", "ctrl.k", "blocks",
             "", ".", "a..b", "params.kp.0", "params.kp.9", "name", "variants.ctrl.default",
             "robots.r.dh", "blocks.qd.type", "wires.0", "run", "kp.x" * 50]  # fmt: skip
    texts = [f"{chance.choice(paths)}={_value(chance)}", chance.choice(paths), "=", "=1"]
    texts += [f"{chance.choice(NAMES)}=1", f"{chance.choice(paths)}={chance.choice(PIECES)}"]
    choices = ["ctrl=gain", "ctrl=pd", "ctrl=", "=pd", "", "ctrl=piddle", "ctlr=pd",
               f"ctrl={chance.choice(NAMES)}", "ctrl=pd=gain"]  # fmt: skip
    options: dict[str, Any] = {"overrides": chance.sample(texts, chance.randint(0, 2))}
    if chance.random() < 0.5:
        options["variants"] = [chance.choice(choices)]
    return Project("options", options=options)


KEYS = {"params": "kp: 1", "robots": "", "clocks": "", "variants": "", "subsystems": "",
        "wires": "", "tunable": "", "description": "text"}  # fmt: skip


def _misspelt(word: str, chance: random.Random) -> str:
    """The word with two letters exchanged, or one left out or doubled."""
    at = chance.randrange(1, len(word) - 1)
    return chance.choice([
        word[:at] + word[at + 1] + word[at] + word[at + 2 :],
        word[:at] + word[at + 1 :],
        word[:at] + word[at] + word[at:],
    ])  # fmt: skip


def _near(chance: random.Random) -> Project:
    """A misspelt section, parameter, type, name of a block, of a parameter or of a port."""
    word = chance.choice(["params", "clocks", "blocks", "wires", "INTEGRATOR", "scope",
                          "signs", "labels", "CONSTANT", "tunable", "subsystems"])  # fmt: skip
    wrong = _misspelt(word, chance)
    while wrong == word:
        wrong = _misspelt(word, chance)
    text = "params: {a: 1}\nclocks: {}\nsubsystems: {}\ntunable: []\nblocks:\n"
    text += "  c: {type: CONSTANT}\n  i: {type: INTEGRATOR}\n  s: {type: SUM, signs: '+'}\n"
    text += "  scope: {type: SCOPE, labels: [x]}\nwires: [c -> i, i -> s, s -> scope]\n"
    if word == "scope":
        text = text.replace("-> scope", f"-> {wrong}")
    else:
        text = text.replace(f"{word}:", f"{wrong}:").replace(f"type: {word}", f"type: {wrong}")
    return Project("near", told=("", f"'{word}'")).with_file("main.yaml", text)


def _structure(chance: random.Random) -> Project:
    """A mistake whose message and fix are known."""
    n = chance.randint(2, 12)
    names = [f"g{i}" for i in range(n)]
    ring = "".join(f"  - {a} -> {b}\n" for a, b in zip(names, names[1:] + names[:1], strict=True))
    gains = "blocks:\n" + "".join(f"  {name}: {{type: GAIN}}\n" for name in names) + "wires:\n"
    deep = chance.randint(70, 3000)
    bomb = "".join(f"a{i + 1}: &a{i + 1} [{', '.join([f'*a{i}'] * 9)}]\n" for i in range(9))
    circle = {f"p{i}": f"$p{(i + 1) % n}" for i in range(n)}
    inside = "".join(f"  s{i}: {{blocks: {{b: {{type: s{(i + 1) % n}}}}}}}\n" for i in range(n))
    texts = {
        "nowhere": (gains + ring + "  - g0 -> nothing\n", "there is no block 'nothing'", "it has"),
        "twice": (gains + ring + "  - g0 -> g1\n", "has a wire already, in line", "SUM"),
        "open": (gains + ring.split("\n")[0] + "\n", "has no wire", "add a wire to"),
        "deep": (f"a: {'[' * deep}1{']' * deep}\n", "nested deeper than 64", "fewer levels"),
        "bomb": (f"a0: &a0 [1]\n{bomb}", "aliases counted in full", "smaller"),
        "parameters": (f"params: {json.dumps(circle)}\n{gains}", "in a circle", "value of its own"),
        "subsystems": (f"subsystems:\n{inside}{gains}", "contains itself", "take one of these"),
        "self": ("a: &x [*x]\n", "contains itself", "without"),
        "tag": (f"a: {chance.choice(TAGS)}\n", "is refused", "plain values"),
        "documents": (f"{gains}---\na: 1\n", "a second document begins", "a file for each"),
        "escape": (
            f"robots: {{r: {{dh: {'../' * chance.randint(1, 5)}outside.yaml}}}}\n{gains}",
            "leaves the project",
            "--root",
        ),
        "default": (
            MAIN.replace("default: pd", "default: dp"),
            "has no choice 'dp'",
            "did you mean 'pd'?",
        ),
        "interface": (
            MAIN.replace("gain: {type: GAIN, K: 2}", "gain: {type: MUX, nin: 2}"),
            "has other ports than pd",
            "gain: 0, 1",
        ),
    }
    kind = chance.choice(list(texts))
    text, message, hint = texts[kind]
    return Project(f"structure:{kind}", told=(message, hint)).with_file("main.yaml", text)


KINDS: tuple[Callable[[random.Random], Project], ...] = (
    *(_mutation, _mutation, _truncation, _bytes, _types, _generated, _generated, _names, _paths),
    *(_running, _running, _running),
    *(_uses, _options, _near, _structure, _structure),
)


def projects() -> st.SearchStrategy[Project]:
    """Projects of every kind, each drawn by a seed so that it can be shown in a line."""
    kinds = st.sampled_from(range(len(KINDS)))
    return st.builds(drawn, kinds, st.integers(0, 2**32 - 1))


def drawn(kind: int, seed: int) -> Project:
    """The project of this kind and seed."""
    return KINDS[kind](random.Random(seed))


# --- what must hold ----------------------------------------------------------------------

# Faults of a whole file, or of all files together: they have no line.
NO_LINE = re.compile(
    "there is no such file|is not a file|cannot be read|is larger than|nested too deep"
    "|and [0-9]+ more mistakes|^the file is empty$|not YAML: "
)
# Where a robot is read as XML or JSON: lxml tells no column.
NO_COLUMN = re.compile(r"(?<!\.yaml)$")
MOST_TEXT = 400_000
KNOWN = {"spart_blocks", "bdsim", "casadi", "numpy", "scipy", "matplotlib", "spatialmath", "lxml"}


@dataclass
class Tally:
    """What was examined."""

    kinds: Counter[str] = field(default_factory=Counter)
    answers: Counter[str] = field(default_factory=Counter)

    def __str__(self) -> str:
        rows = [f"{name:24} {count}" for name, count in sorted(self.kinds.items())]
        return "\n".join([*rows, "", *(f"{n:24} {c}" for n, c in sorted(self.answers.items()))])


def examine(project: Project, folder: Path, tally: Tally, *, run: str | None = None) -> None:
    """Load a project in an empty folder and check all that must hold. run: the engine on
    which a diagram that loads is run as well."""
    file = put(project, folder)
    before = _state(folder)
    with watch(folder) as seen, only_our_warnings(), redirect_stdout(StringIO()):
        answer = _answer(lambda: load(file, **project.options))
        ran = None
        if isinstance(answer, Diagram) and run:
            ran = _answer(lambda: sb.simulate(answer, T=0.01, engine=run))
    assert not seen, seen
    assert _state(folder) == before
    tally.kinds[project.kind.split(":")[0]] += 1
    tally.answers["loaded" if isinstance(answer, Diagram) else "refused"] += 1
    if ran is not None:
        tally.answers["run refused" if isinstance(ran, SpartError) else "ran"] += 1
    for error in (answer, ran):
        if isinstance(error, SpartError):
            check_text(str(error))
    if isinstance(answer, InputError):
        for fault in answer.faults:
            check_fault(fault, project, folder)
    if project.told is not None:
        assert isinstance(answer, InputError), project
        message, hint = project.told
        assert any(message in f.message and hint in (f.hint or "") for f in answer.faults), answer


def _answer(what: Callable[[], Any]) -> Any:
    """What comes of it, or our error; any other exception is let through."""
    try:
        return what()
    except SpartError as error:
        return error


def check_text(text: str) -> None:
    """An error's text can be shown, and is no flood."""
    assert text
    assert len(text) < MOST_TEXT
    odd = [c for c in text if (c != "\n" and ord(c) < 32) or 0x7F <= ord(c) < 0xA0]
    assert not odd, odd
    text.encode("utf-8")


def check_fault(fault: Fault, project: Project, folder: Path) -> None:
    """A fault names a file of the project, and the line and column where it is in a text."""
    if fault.place is None:
        assert NO_LINE.search(fault.message), fault
        return
    name = fault.place.file
    if name.startswith(("override ", "variant ")):
        return
    path = Path(name) if Path(name).is_absolute() else folder / name
    assert path.resolve().is_relative_to(folder.resolve()) or path.is_symlink(), fault
    if fault.place.line is None:
        assert NO_LINE.search(fault.message) or NO_COLUMN.search(name), fault
        return
    raw = path.read_bytes()
    lines = re.split("\r\n|\r|\n|\x85|\u2028|\u2029", raw.decode("utf-8", "replace"))
    assert 1 <= fault.place.line <= len(lines) + 1, fault
    if not NO_COLUMN.search(name) and "XML" not in fault.message:
        assert fault.place.column is not None, fault
        assert 1 <= fault.place.column <= max(map(len, lines)) + 2, fault


def _state(folder: Path) -> dict[str, tuple[int, int]]:
    """Every file in a folder, its size and when it was written."""
    return {
        str(path): (path.lstat().st_size, path.lstat().st_mtime_ns) for path in folder.rglob("*")
    }


# --- what is watched ---------------------------------------------------------------------

_ACTS = ("os.system", "subprocess.Popen", "os.exec", "os.posix_spawn", "os.spawn", "os.fork",
         "os.remove", "os.rename", "os.mkdir", "os.rmdir", "os.symlink", "os.chmod", "os.truncate",
         "shutil.rmtree", "socket.connect", "pickle.find_class", "ctypes.dlopen")  # fmt: skip
_watched: list[tuple[str, Path]] = []
_seen: list[str] = []
_OWN = tuple({str(Path(p).resolve()) for p in (*sysconfig.get_paths().values(), sys.base_prefix,
              Path(sb.__file__).parent, Path(__file__).parent, "/usr/lib", "/usr/share",
              "/etc/ld.so.cache")})  # fmt: skip


def _hook(event: str, arguments: tuple[Any, ...]) -> None:
    if not _watched:
        return
    if event in _ACTS and not _from_an_import():
        _seen.append(f"{event} {arguments!r:.200}")
    elif event == "open" and isinstance(arguments[0], str | bytes):
        path = arguments[0] if isinstance(arguments[0], str) else arguments[0].decode()
        flags = arguments[2] if isinstance(arguments[2], int) else 0
        full = str(Path(path).absolute()) if "\0" not in path else path
        inside = full.startswith(str(_watched[-1][1]))
        if flags & 3 and not full.startswith("/dev/"):
            _seen.append(f"opened for writing: {path}")
        elif not inside and not full.startswith((*_OWN, "/proc/", "/sys/", "/dev/")):
            _seen.append(f"opened outside the project: {path}")


def _from_an_import() -> bool:
    """Whether a library is being imported, which may load what it is made of."""
    frame = sys._getframe()
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False


_installed: list[bool] = []


@contextmanager
def watch(folder: Path) -> Iterator[list[str]]:
    """What is executed, written, or read outside the folder within: a list that is empty
    where all is well. Python's own files and the packages in use may be read."""
    if not _installed:
        _blocks()  # what is loaded once, whatever the file: bdsim, and with it matplotlib
        importlib.import_module("matplotlib.font_manager")
        sys.addaudithook(_hook)
        _installed.append(True)
    before = set(sys.modules)
    _seen.clear()
    _watched.append(("", folder.resolve()))
    seen: list[str] = []
    try:
        yield seen
    finally:
        _watched.clear()
        seen += _seen
        new = {name.partition(".")[0] for name in set(sys.modules) - before}
        seen += [f"imported {n}" for n in new - KNOWN - set(sys.stdlib_module_names)
                 if _is_of(sys.modules.get(n), folder)]  # fmt: skip


def _is_of(module: Any, folder: Path) -> bool:
    """Whether a module is none of the installed packages."""
    file = getattr(module, "__file__", None) or ""
    return file.startswith(str(folder)) or not (file.startswith(_OWN) or file == "")


@contextmanager
def only_our_warnings() -> Iterator[None]:
    """Python's own warnings, such as NumPy's of an overflow, are errors within."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", SpartWarning)
        for kind in (DeprecationWarning, PendingDeprecationWarning, FutureWarning):
            warnings.simplefilter("ignore", kind)
        yield

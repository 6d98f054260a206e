"""Whatever a file holds, the loader answers with a diagram or with an error of ours."""

from __future__ import annotations

import random
import re
import shutil
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spart_blocks.diagram import Diagram, load
from spart_blocks.errors import SpartError

BASE = """\
name: everything
params: {kp: [1, 2], g: $kp, n: 2}
robots: {r: {dh: arm.yaml}}
clocks: {fast: {rate: 100}, slow: {T: 0.1, offset: 0.02}}
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
  - int -> loop.y, scope
  - loop -> int
  - int[0] -> mux, pid.0, pid.1
  - pid -> n
  - int[0:2] -> mux
run: {T: 3, log: [loop/g, int], rtol: 1e-7}
"""

PIECES = [
    *"{}[]:,-&*!|>'\"%@`#?$ \n\t.\\\0é\u2028",
    *("\n  ", "->", "[0:2]", "[1", "$kp", "$x", "&a", "*a", "<<: ", "!!str ", "--- ", "1e999"),
    *("null", "true", "on", ".nan", ".inf", "-1", "99999999999", "0x", "type: ", "in", "out"),
    *("SCOPE", "MUX", "CONSTANT", "LTI_SS", "PIECEWISE", "POSEINTEGRATOR", "INDEX", "servo"),
    *("{type: GAIN}", "wires:", "blocks:", "run: ", "x0: ", "nin: -3", "vector: [0, a]"),
]


ARM = Path(__file__).parents[2] / "models" / "spacecraft_dh_5dof.yaml"


def put(folder: Path, text: str) -> Path:
    """The text as a file in a folder that holds the robot it names."""
    shutil.copy(ARM, folder / "arm.yaml")
    file = folder / "diagram.yaml"
    file.write_bytes(text.encode("utf-8"))
    return file


def test_the_text_that_is_mutated_is_right(tmp_path):
    assert isinstance(load(put(tmp_path, BASE)), Diagram)


WORDS = [*re.findall(r"[\w.$]+", BASE), *PIECES, "[1, 2, 3]", "{a: 1}", "[a, [1]]", "1e300"]


def mutated(seed: int) -> str:
    """The base text with a few words exchanged, or pieces cut, doubled or put in."""
    chance = random.Random(seed)
    text = BASE
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


def answer(file: Path, **options: Any) -> Diagram | str:
    """The diagram, or the text of our error; any other exception is let through."""
    try:
        return load(file, **options)
    except SpartError as error:
        return str(error)


@settings(
    max_examples=300,
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(seed=st.integers(0, 2**32 - 1))
def test_mutated_files_give_a_diagram_or_an_error_of_ours(tmp_path, seed):
    file = put(tmp_path, mutated(seed))
    assert answer(file)


@settings(max_examples=100, derandomize=True, deadline=None)
@given(path=st.text(max_size=20), value=st.text(max_size=20))
def test_any_override_gives_a_diagram_or_an_error_of_ours(tmp_path_factory, path, value):
    file = tmp_path_factory.getbasetemp() / "override.yaml"
    file.write_text("params: {k: 1}\nblocks: {c: {type: CONSTANT, value: $k}}\n")
    for override in (f"{path}={value}", f"k={value}", f"c.{path}={value}", f"run.{path}={value}"):
        assert answer(file, overrides=[override])

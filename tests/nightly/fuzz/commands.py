"""The command line in this process: --set, --variant, --case, --t, --Q and their like, with
values that are others. Exit code 2 and no other is the answer to wrong input."""

from __future__ import annotations

import contextlib
import io
import json
import os
import random
import re
import signal
from pathlib import Path

from fuzz.cases import Case, Format
from fuzz.damage import odd_value, spoilt
from fuzz.npz import LOOP

PATIENCE = 3.0
_FILES = ("fuzzed.yaml", "fuzzed.yaml", *(f"diagrams/{name}.yaml" for name in (
    "spacecraft_pd", "spacecraft_controllers", "spacecraft_sampled", "motion/joint_references",
)))  # fmt: skip
_SETTINGS = ("kp", "kd", "params.kp", "run.T", "run.rtol", "run.log", "run.solver", "run.every",
             "run.max_step", "run.first_tick", "ctrl.kp", "qd.on", "qd.T", "plant.initial",
             "plant.initial.qm", "blocks.plant.robot", "robots.sc.base", "robots.sc.urdf", "name",
             "int.x0", "clocks.fast.T", "clocks.fast.offset", "z.x0", "g.K", "scope.labels",
             "wires", "wires.0", "expect", "", ".", "a..b", "kp.0", "kp.9", "blocks.g.type",
             "export.rate", "realtime.policy", "tunable")  # fmt: skip
_WORDS = ("[1, 2]", "[1, {a: 1}, 2]", "[[1], 2]", "{", "]", "*a", "&a 1", "!!str x", "'", '"',
          "1e999", ".nan", ".inf", "-1", "0", "1", "$kp", "true", "null", "~", "[", "%", "\t",
          "1e-300", "1e300", "99999999999999999999", "RK4", "CVODES", "auto", "{a: [1, {b: 2}]}",
          "é", "- 1", "? 1", "|", ">", "# x", "[1, 2, 3]", "[null, 1, 2]", "0.001")  # fmt: skip


def _text(chance: random.Random) -> str:
    if chance.random() < 0.5:
        return chance.choice(_WORDS)
    value = odd_value(chance)
    try:
        text = json.dumps(value)
    except (TypeError, ValueError):
        text = str(value)
    if chance.random() < 0.2:
        text = spoilt(text.encode(), chance, 2).decode("utf-8", "replace")
    return text


def draw(chance: random.Random) -> Case:
    file = chance.choice(_FILES)
    command = chance.choice(("run", "run", "run", "run", "compare", "lqr", "linearize", "check",
                             "robot", "export", "blocks", "test"))  # fmt: skip
    some = []
    for _ in range(chance.choice((0, 1, 1, 2))):
        equals = chance.choice(("=", "=", "=", "=", "", "=="))
        some += ["--set", f"{chance.choice(_SETTINGS)}{equals}{_text(chance)}"]
    arguments = {
        "run": ["run", file, "--headless", "--quiet", "--engine", "interpreter", *some],
        "check": ["check", file, *some],
        "compare": ["compare", file, "--headless", "--quiet", "--jobs", "1",
                    "--case", f"a:{chance.choice(_SETTINGS)}={_text(chance)}", *some],
        "lqr": ["lqr", file, "--plant", chance.choice(("plant", "int", "x", "")),
                "--Q", _text(chance), "--R", _text(chance), "--at", _text(chance), *some],
        "linearize": ["linearize", file,
                      "--input", chance.choice(("g", "plant.taum", _text(chance))),
                      "--output", chance.choice(("int", "plant.qm[0]", _text(chance))), *some],
        "robot": ["robot", chance.choice((file, "models/four_bar.yaml", "models/arm3.urdf", "x"))],
        "export": ["export", "c", file, "-o", "out", "--rate", _text(chance), *some],
        "blocks": ["blocks", _text(chance)],
        "test": ["test", file, *some],
    }[command]  # fmt: skip
    if command in ("run", "check", "compare"):
        arguments += ["--t", chance.choice(("1e-4", "1e-4", "1e-4", _text(chance)))]
    if chance.random() < 0.2:
        arguments += ["--variant", f"{chance.choice(('controller', 'x', ''))}={_text(chance)}"]
    if command in ("check", "compare", "test", "lqr", "linearize") and chance.random() < 0.8:
        arguments = ["blocks", "GAIN", f"--{_text(chance)}"]  # the others cost much
    return Case({"fuzzed.yaml": LOOP.encode()}, {"arguments": arguments})


def attempt(case: Case, ground: Path) -> str:
    from spart_blocks.cli import main

    arguments = [a.replace("\0", "") for a in case.options["arguments"]]
    said = io.StringIO()
    here = os.getcwd()
    os.chdir(ground)
    # A long run may be what was asked for; then Ctrl-C ends it.
    signal.signal(signal.SIGVTALRM, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_VIRTUAL, PATIENCE)
    try:
        with contextlib.redirect_stderr(said), contextlib.redirect_stdout(said):
            code = main(arguments)
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        os.chdir(here)
    text = said.getvalue()
    assert "this should not have happened" not in text, text
    assert "Traceback" not in text, text
    assert code in (0, 1, 2), (code, text)
    if code == 1 and not re.search("block |the run |circle|at t = |claim|differ|interrupted", text):
        return "code 1"  # told in the tally, so that one sees what it was
    return f"code {code}"


FORMAT = Format("commands", 1.5, draw, attempt)

"""MCAP files and bags of ROS: bytes that are others, also within chunks, and definitions."""

from __future__ import annotations

import random
import tempfile
import warnings
from contextlib import suppress
from functools import cache
from pathlib import Path

import numpy as np
from bag_writing import write_bag, write_plain
from mcap.writer import CompressionType
from mcap_writing import write_json, write_run

from fuzz.cases import Case, Format
from fuzz.damage import spoilt
from spart_blocks.base.errors import InputError, SpartWarning

T = np.arange(4) / 8
BAGS = {"mcap1": "log.mcap", "mcap2": "log.mcap", "bag": "log.bag", "bag-bz2": "log.bag",
        "db3": "log.db3"}  # fmt: skip
OF_BAGS = ("/joint_states.position[elbow]", "/joint_states.position", "/imu.orientation",
           "/push.force", "/level.data", "/imu.header.stamp.sec", "/none.x")  # fmt: skip
OF_RUNS = ("b.q", "b.q[right]", "b.k", "b.on", "states.b", "states.b.y", "/b/q.value[0]")
OF_JSON = ("/a.x[1]", "/a.x", "/a.s.sec", "/a")
TIMES = ("t", "t", "t", "header.stamp", "absolute t", "absolute header.stamp", "s", "x[0]", ".")
_WORDS = ("float64", "string", "string<=4", "int8", "time", "Header", "B", "my/B", "A", "x", "from",
          "[]", "[3]", "[<=3]", "[4000000000]", " ", "\n", "=", "1e999", '"""', "'", "#", "@",
          "=" * 80 + "\nMSG: my/B\n", "MSG:", "bool", "wstring", "\\", "[[", "-1",
          "__class__")  # fmt: skip


@cache
def sound() -> dict[str, bytes]:
    """The bytes of a small file of each kind; without checksums, that what is within is reached."""
    from spart_blocks.results import Event, FinalState, Results

    run = Results(
        t=T,
        signals={"b.q": np.column_stack([T, T * T]), "b.k": np.arange(4), "b.on": T > 0.1},
        states={"b": np.ones((4, 3))},
        final_state=FinalState(0.5, {"b": np.ones(3)}, {}, {"c": 3}),
        events=(Event(0.1, "b", "x"),),
        diagram_name="run",
        state_names={"b": ("x", "y", "z")},
        entries={"b.q": ("left", "right")},
    )
    plain = {"compression": CompressionType.NONE, "enable_crcs": False}
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for kind in BAGS:
            place = Path(folder, kind)
            place.mkdir()
            found[kind] = write_bag(place, T, kind).read_bytes()
        for name, options in (("run", plain), ("run-zstd", {})):
            found[name] = write_run(run, Path(folder, f"{name}.mcap"), **options).read_bytes()
        messages = [{"x": [1, t], "s": {"sec": 3, "nsec": 5}} for t in T]
        json = write_json(Path(folder, "j.mcap"), _a=(T, messages), **plain)
        found["json"] = json.read_bytes()
    return found


def draw(chance: random.Random) -> Case:
    options = {"time": chance.choice(TIMES)}
    if chance.random() < 0.2:
        text = "".join(chance.choice(_WORDS) for _ in range(chance.randint(1, 25)))
        text = chance.choice(("", "float64[2] x\n", "float64 x\nstring[3] name\n")) + text
        options |= {"names": ["/a.x"], "definition": text, "data": chance.randbytes(24).hex()}
        return Case({"fuzzed.mcap": b""}, options)
    kind = chance.choice([*sound()])
    raw = spoilt(sound()[kind], chance) if chance.random() < 0.97 else sound()[kind]
    names = OF_JSON if kind == "json" else OF_RUNS if kind.startswith("run") else OF_BAGS
    options["names"] = chance.sample(names, chance.choice((1, 1, 2)))
    return Case({f"fuzzed{Path(BAGS.get(kind, 'a.mcap')).suffix}": raw}, options)


def attempt(case: Case, ground: Path) -> str:
    from spart_blocks.results import Results
    from spart_blocks.results.recordings import read_recording

    path = ground / next(iter(case.files))
    if "definition" in case.options:
        data = b"\0\1\0\0" + bytes.fromhex(case.options["data"])
        write_plain(path, "/a", case.options["definition"], data)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SpartWarning)
        with suppress(InputError):
            Results.load(path).summary()
        found = read_recording(path, case.options["names"], case.options["time"])
    assert all(len(times) == len(values) for times, values in found.values())
    return "read"


FORMAT = Format("logs", 10, draw, attempt)

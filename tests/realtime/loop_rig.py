"""The loop in C with a clock, links and a model that a test directs."""

from __future__ import annotations

import ctypes
from importlib import resources
from pathlib import Path

import numpy as np

from spart_blocks.realtime.library import OWN_HEADERS, address_of
from spart_blocks.realtime.structs import (
    CAUSES,
    POLICIES,
    Durations,
    Ended,
    HeartbeatStruct,
    LoopStruct,
)

MOST = 4096
MS = 1_000_000  # ns
STRICT = ("-std=c99", "-O1", "-Wall", "-Wextra", "-Wpedantic", "-Werror")
_WHOLE = ctypes.c_longlong


def _many(*names):
    return ((name, _WHOLE * MOST) for name in names)


class RigStruct(ctypes.Structure):
    """The struct sb_rig of rig.c."""

    _fields_ = (
        *(
            (name, _WHOLE)
            for name in ("now", "cpu", "sleeps", "outputs", "updates", "torn", "changes")
        ),
        *_many("late", "work", "away", "status", "heard", "sending", "between"),
        *((name, _WHOLE) for name in ("looks", "sent", "sent_safe", "stale_from", "stale_until")),
        ("stop_at", _WHOLE),
        *_many("done"),
        ("seen_u", ctypes.c_double * MOST),
        ("seen_p", ctypes.c_double * MOST),
        ("last_p", ctypes.c_double),
        ("loop", ctypes.c_void_p),
        ("tune", ctypes.c_void_p),
        ("tune_at", _WHOLE),
    )


def rig_source():
    """sb_loop with the rig in the place of the clocks and the links."""
    folder = resources.files("spart_blocks.export").joinpath("c")
    header, loop, link = (
        folder.joinpath(name).read_text("utf-8") for name in ("sb_loop.h", "sb_loop.c", "sb_link.h")
    )
    rig = Path(__file__).with_name("rig.c").read_text("utf-8")
    texts = ("#define _POSIX_C_SOURCE 200809L\n#define SB_OWN_CLOCKS", link, header, rig, loop)
    return OWN_HEADERS.sub("", "\n".join(texts))


class Rig:
    """One run of the loop: period 1 ms, one input, one output, parameters."""

    def __init__(self, library, ticks=10, policy="skip", links=0, rows=0, wait=0, parameters=1):
        self.library, self.loop, self.heartbeat = library, LoopStruct(), HeartbeatStruct()
        library.sb_rig_of.restype = ctypes.POINTER(RigStruct)
        library.sb_rig_size.restype = _WHOLE
        assert library.sb_rig_size() == ctypes.sizeof(RigStruct)
        self.rig = library.sb_rig_of().contents
        ctypes.memset(ctypes.addressof(self.rig), 0, ctypes.sizeof(RigStruct))
        self.rig.now = 5 * MS
        self.rig.loop = ctypes.addressof(self.loop)
        self.kept = []
        loop, model = self.loop, self.loop.model
        model.nu, model.ny, model.np = 1, 1, parameters
        model.period_s = 1e-3
        model.output, model.update = map(address_of, (library.sb_rig_output, library.sb_rig_update))
        loop.u, loop.y, loop.heard = (self.array(np.zeros(1)) for _ in range(3))
        loop.tuned = (ctypes.c_void_p * 3)(
            *(self.array(np.zeros(parameters + 1)) for _ in range(3))
        )
        loop.front, loop.middle, loop.back = range(3)
        loop.nfree, loop.free_inputs = int(not links), self.array(np.zeros(1, np.int64))
        loop.ticks, loop.policy, loop.wait = ticks, POLICIES.index(policy), wait
        loop.watched.rows = rows
        loop.watched.data = self.array(np.zeros((max(rows, 1), 5)))
        loop.heartbeat = ctypes.addressof(self.heartbeat)
        if links:
            self.link(loop)

    def link(self, loop):
        """One link in and one out, the second with safe values."""
        struct = np.zeros(512)  # larger than an sb_link
        place = safe_place(self.library)
        struct.view(np.uintp)[place // 8] = struct.ctypes.data
        pointer = self.array(np.array([self.array(struct)], np.uintp))
        loop.nin = loop.nout = 1
        loop.in_ = loop.out = pointer

    def array(self, array):
        self.kept.append(array)
        return array.ctypes.data

    def set(self, name, **by_number):
        """set("late", _3=5 * MS): of the third sleep, counted from 0."""
        for number, value in by_number.items():
            getattr(self.rig, name)[int(number[1:])] = value

    def run(self):
        self.library.sb_loop_run(ctypes.byref(self.loop))
        return self

    def tune(self, *values):
        vector = np.array(values, dtype=float)
        self.library.sb_loop_tune(ctypes.byref(self.loop), vector.ctypes.data)

    def drained(self, most=MOST):
        rows = np.zeros((most, 5))
        loop, ring = ctypes.byref(self.loop), ctypes.byref(self.loop.watched)
        count = self.library.sb_loop_drain(loop, ring, rows.ctypes.data, most)
        return rows[:count]

    @property
    def ended(self):
        return Ended(self.loop.ended)

    @property
    def missed(self):
        return dict(zip(CAUSES, self.loop.missed, strict=True))

    def durations(self, name):
        return Durations.of(getattr(self.loop, name))


def safe_place(library):
    """Where in an sb_link its safe values are named [bytes]."""
    library.sb_rig_safe_place.restype = _WHOLE
    return library.sb_rig_safe_place()

"""Random small diagrams as C, whole and in random parts: compared with their programs step by
step, and with a simulation by the same method.

One command: .venv/bin/python -m pytest tests/nightly/test_random_exports.py
"""

import random

import numpy as np
import pytest
import yaml

import spart_blocks as sb
from spart_blocks.base.tableaus import FIXED_STEP
from spart_blocks.export import recorded_inputs, step_code, verify
from spart_blocks.export.loaded import LoadedStep
from spart_blocks.program.subdiagram import subdiagram_of

RUNS = 60
STEPS = 60
NO_INPUTS = np.zeros((STEPS, 0))
NAMES = ["gain", "double", "NAN", "a-b", "a_b", "3d", "w0", "x", "xd", "out", "t", "h", "p", "u"]
CLOCKS = ["fast", "slow", "late"]
FUNCTIONS = ("GAIN", "SUM", "PROD", "CLIP", "MUX", "SLICE1")
CONTINUOUS = ("INTEGRATOR", "LTI_SISO")
SAMPLED = ("ZOH", "INTEGRATOR_S", "DERIV_S")


class Drawn:
    """A diagram drawn at random, all of whose switching times and ticks lie on steps of h."""

    def __init__(self, seed):
        self.draw = random.Random(seed)
        self.rate = self.draw.choice([50, 100, 250])
        self.blocks, self.wires, self.sizes = {}, [], {}
        self.names = [*NAMES, *(f"b{k}" for k in range(20))]
        self.draw.shuffle(self.names)
        self.limited = self.square = False
        for _ in range(self.draw.randint(1, 3)):
            self.add_source()
        for _ in range(self.draw.randint(2, 9)):
            self.add_block()

    def text(self):
        clocks = {name: {"T": self.time(1, 5)} for name in CLOCKS}
        clocks["late"]["offset"] = self.time(1, 4)
        run = {"first_tick": self.draw.choice(["standard", "bdsim"])}
        content = {"clocks": clocks, "blocks": self.blocks, "wires": self.wires, "run": run}
        return yaml.safe_dump(content, sort_keys=False)

    def time(self, least, most):
        return self.draw.randint(least, most) / self.rate

    def has(self, names, types):
        return any(self.blocks[name]["type"] in types for name in names)

    def number(self):
        return round(self.draw.uniform(-2, 2), 3)

    def numbers(self, size):
        return self.number() if size == 0 else [self.number() for _ in range(size)]

    def add(self, type, size, inputs=(), **parameters):
        name = self.names.pop()
        self.blocks[name] = {"type": type, **parameters}
        self.wires += [f"{source} -> {name}.{k}" for k, source in enumerate(inputs)]
        self.sizes[name] = size

    def pick(self, size=None):
        """A signal, of this size if there is one of it."""
        fitting = [name for name, n in self.sizes.items() if size is None or n == size]
        return self.draw.choice(fitting or list(self.sizes))

    def add_source(self):
        kind = self.draw.choice(["CONSTANT", "STEP", "WAVEFORM", "TIME", "RAMP"])
        if kind == "CONSTANT":
            size = self.draw.choice([0, 2, 3])
            self.add(kind, size, value=self.numbers(size))
        elif kind == "STEP":
            self.add(kind, 0, T=self.time(0, STEPS), on=self.number(), off=self.number())
        elif kind == "RAMP":
            self.add(kind, 0, T=self.time(0, STEPS), slope=self.number())
        elif kind == "WAVEFORM":
            wave = self.draw.choice(["sine", "square", "triangle"])
            self.square |= wave == "square"
            period = 4 * self.draw.randint(2, 6) / self.rate
            self.add(kind, 0, wave=wave, freq=1 / period, amplitude=self.number())
        else:
            self.add(kind, 0)

    def add_block(self):
        source = self.pick()
        size = self.sizes[source]
        clock = {"clock": self.draw.choice(CLOCKS)}
        start = {"x0": self.numbers(size)}
        limits = {"min": -0.8, "max": 0.7, "x0": [0.1] * size or 0.1}
        kind = self.draw.choice([*FUNCTIONS, *CONTINUOUS, *SAMPLED, "LIMITED", "LIMITED_S"])
        if kind == "GAIN":
            self.add(kind, size, [source], K=self.number())
        elif kind in ("SUM", "PROD"):
            signs = self.draw.choice(["+-", "++", "--"]) if kind == "SUM" else "**"
            other = self.pick(size)
            key = "signs" if kind == "SUM" else "ops"
            self.add(kind, max(size, self.sizes[other]), [source, other], **{key: signs})
        elif kind == "CLIP":
            self.add(kind, size, [source], min=-0.7, max=0.9)
        elif kind == "MUX":
            other = self.pick()
            self.add(kind, max(size, 1) + max(self.sizes[other], 1), [source, other], nin=2)
        elif kind == "SLICE1" and size > 1:
            self.add(kind, size - 1, [source], index=f"1:{size}")
        elif kind == "INTEGRATOR":
            self.add(kind, size, [source], gain=self.number(), **start)
        elif kind == "LIMITED":
            self.limited = True
            self.add("INTEGRATOR", size, [source], gain=30.0, **limits)
        elif kind == "LTI_SISO" and size == 0:
            self.add(kind, size, [source], N=[1.0, 2.0], D=[1.0, 3.0, 9.0])
        elif kind in ("ZOH", "INTEGRATOR_S"):
            self.add(kind, size, [source], **clock, **start)
        elif kind == "LIMITED_S":
            self.add("INTEGRATOR_S", size, [source], **clock, gain=20.0, **limits)
        elif kind == "DERIV_S" and size == 0:
            self.add(kind, size, [source], **clock)


@pytest.fixture(params=range(RUNS))
def drawn(request):
    return Drawn(request.param)


@pytest.fixture
def diagram(drawn, tmp_path):
    (tmp_path / "diagram.yaml").write_text(drawn.text())
    return sb.load(tmp_path / "diagram.yaml")


def test_the_c_of_a_diagram_does_what_its_program_and_its_simulation_do(drawn, diagram):
    method = drawn.draw.choice(FIXED_STEP)
    code = step_code(subdiagram_of(diagram), rate=drawn.rate, method=method)
    found = verify(code, NO_INPUTS)
    assert found.passed, found.errors
    if not drawn.limited:  # a simulation ends a step where a state reaches its limit
        agree_with_simulation(
            diagram, step_code(subdiagram_of(diagram), rate=drawn.rate), NO_INPUTS
        )


def test_the_c_of_a_part_does_what_its_program_and_its_diagram_do(drawn, diagram):
    inside = drawn.draw.sample(list(drawn.blocks), drawn.draw.randint(1, len(drawn.blocks)))
    outside = set(drawn.blocks) - set(inside)
    # In float a square wave that switches on a step may do so on the next.
    real = "double" if drawn.square else drawn.draw.choice(["double", "float"])
    code = step_code(subdiagram_of(diagram, inside), rate=drawn.rate, real=real)
    inputs = recorded_inputs(diagram, code, STEPS / drawn.rate)
    found = verify(code, inputs)
    assert found.passed, (inside, real, found.errors)
    # Inputs are held over a step. What ticks inside reads what ticks outside after its tick.
    both_tick = drawn.has(inside, SAMPLED) and drawn.has(outside, SAMPLED)
    if real == "double" and not drawn.has(inside, CONTINUOUS) and not both_tick:
        agree_with_simulation(diagram, code, inputs)


def agree_with_simulation(diagram, code, inputs):
    h = float(code.schedule.step)
    names = tuple(member.name for member in code.interface.outputs)
    run = sb.simulate(diagram, T=STEPS * h, every=h, solver="RK4", max_step=h, log=names)
    # It ends steps where a signal that it records is clipped: the error is that of other steps.
    within = 1e-9 if run.info["steps"] <= STEPS else 1e-6
    rows = outputs_of(code, inputs)
    for member in code.interface.outputs:
        expected = run[member.name][:STEPS].reshape(STEPS, -1)
        found = rows[:, member.place : member.place + member.size]
        error = np.abs(found - expected).max()
        assert error < within * max(np.abs(expected).max(), 1e-3), member.name


def outputs_of(code, inputs):
    step, p, rows = LoadedStep(code), code.part.program.p.copy(), []
    for row in inputs:
        p[[i for slot in code.part.inputs for i in range(slot.part.start, slot.part.stop)]] = row
        step.set_inputs(p)
        rows.append(step.output()[1])
        step.update()
    return np.array(rows)

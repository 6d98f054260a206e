"""FMUs that we did not write: PythonFMU's, and FMPy's containers of FMI 2.0 and 3.0.

PythonFMU's library runs a class in Python; a container's library steps the FMUs inside.
"""

from __future__ import annotations

import textwrap
from pathlib import Path

import numpy as np
import pytest
from fmpy import read_model_description
from fmpy.container_fmu.cli import create_container_fmu
from fmpy.container_fmu.config import Component, Configuration
from fmpy.model_description import CoSimulation, ModelDescription, ModelVariable, Unknown
from pythonfmu.builder import FmuBuilder

import spart_blocks as sb
from spart_blocks.base.errors import RunError

pytestmark = pytest.mark.filterwarnings("ignore:running on the interpreter")

PYTHON = '''
from math import exp

from pythonfmu import Boolean, Fmi2Causality, Fmi2Slave, Fmi2Variability, Integer, Real


class Lag(Fmi2Slave):
    """x' = (u - x) / tau, stepped exactly."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.u, self.y, self.tau, self.count, self.broken = 0.0, 1.0, 0.3, 0, False
        self.register_variable(Real("u", causality=Fmi2Causality.input))
        switch = {"causality": Fmi2Causality.input, "variability": Fmi2Variability.discrete}
        self.register_variable(Boolean("broken", **switch))
        self.register_variable(Real("y", causality=Fmi2Causality.output))
        counter = {"causality": Fmi2Causality.output, "variability": Fmi2Variability.discrete}
        self.register_variable(Integer("count", **counter))
        tunable = {"causality": Fmi2Causality.parameter, "variability": Fmi2Variability.tunable}
        self.register_variable(Real("tau", **tunable))

    def do_step(self, current_time, step_size):
        if self.broken:
            raise ValueError("the lag is broken")
        self.y = self.u + (self.y - self.u) * exp(-step_size / self.tau)
        self.count += 1
        return True
'''
DIAGRAM = """
clocks: {c: {T: 0.1}}
blocks:
  u: {type: STEP, T: 0.5, on: 2.0}
  lag: {type: FMU, file: FILE, clock: c, input_ports: [u]}
wires:
  - u -> lag.u
run: {T: 2, every: 0.1}
"""
DECAY = np.exp(-0.1 / 0.3)
K = np.arange(21)
EXACT = np.where(K <= 5, DECAY**K, 2 + (DECAY**5 - 2) * DECAY ** (K - 5.0))


@pytest.fixture(scope="module")
def python_fmu(tmp_path_factory):
    """The lag, made by PythonFMU."""
    folder = tmp_path_factory.mktemp("pythonfmu")
    (folder / "lag.py").write_text(textwrap.dedent(PYTHON), encoding="utf-8")
    return Path(FmuBuilder.build_FMU(folder / "lag.py", dest=folder))


@pytest.fixture(params=["2.0", "3.0"])
def container_fmu(request, python_fmu, tmp_path):
    """PythonFMU's lag in a container of FMPy's, of two versions of FMI."""
    real = "Real" if request.param == "2.0" else "Float64"
    inner = {v.name: v for v in read_model_description(python_fmu).modelVariables}
    time = ModelVariable(name="time", type=real, causality="independent", variability="continuous")
    u = ModelVariable(name="u", type=real, causality="input", variability="continuous", start="0")
    y = ModelVariable(name="y", type=real, causality="output", variability="continuous")
    u.initial, y.initial = None, "calculated"
    description = ModelDescription(
        fmiVersion=request.param,
        modelName="Container",
        instantiationToken="{container}",
        coSimulation=CoSimulation(fixedInternalStepSize=0.1),
        modelVariables=[time, u, y],
        outputs=[Unknown(variable=y)],
        initialUnknowns=[Unknown(variable=y)],
    )
    lag = Component("lag", python_fmu, read_model_description(python_fmu))
    mappings = {v: [(lag, inner[v.name])] for v in (u, y)}
    unpacked = tmp_path / "container"
    unpacked.mkdir()
    file = tmp_path / "container.fmu"
    create_container_fmu(Configuration(False, description, [lag], [], mappings), unpacked, file)
    return file


def load(fmu, folder, text=DIAGRAM):
    (folder / "lag.fmu").write_bytes(fmu.read_bytes())
    file = folder / "diagram.yaml"
    file.write_text(text.replace("FILE", "lag.fmu"), encoding="utf-8")
    return sb.load(file, blocks=[folder / "lag.fmu"])


def test_python_fmu_s_lag_is_the_closed_form(python_fmu, tmp_path, close):
    results = sb.simulate(load(python_fmu, tmp_path))
    close(results["lag.y"], EXACT, rel=1e-12)
    assert results["lag.count"].tolist() == K.tolist()


def test_a_container_gives_what_is_inside(container_fmu, tmp_path, close):
    close(sb.simulate(load(container_fmu, tmp_path))["lag.y"], EXACT, rel=1e-12)


def test_runs_are_repeated_split_and_gone_on_from(python_fmu, container_fmu, tmp_path):
    for fmu in (python_fmu, container_fmu):
        diagram = load(fmu, tmp_path)
        whole, half = sb.simulate(diagram), sb.simulate(diagram, T=0.7)
        for _ in range(2):
            assert sb.simulate(diagram, initial=half)["lag.y"][-1] == whole["lag.y"][-1]
        assert (sb.simulate(diagram)["lag.y"] == whole["lag.y"]).all()


def test_two_blocks_of_one_file_have_a_state_each(python_fmu, tmp_path, close):
    text = DIAGRAM.replace("wires:", "wires:\n  - u -> fast.u").replace(
        "blocks:",
        "blocks:\n  fast: {type: FMU, file: FILE, clock: c, input_ports: [u], start: {tau: 0.1}}",
    )
    results = sb.simulate(load(python_fmu, tmp_path, text))
    close(results["lag.y"], EXACT, rel=1e-12)
    close(results["fast.y"][:6], np.exp(-K[:6]), rel=1e-12)


def test_what_python_raises_in_a_step_is_told(python_fmu, tmp_path):
    text = DIAGRAM.replace("[u]", "[broken]").replace("lag.u", "lag.broken")
    with pytest.raises(RunError, match=r"failed in its step from t = 0\.5 s (.|\n)*broken"):
        sb.simulate(load(python_fmu, tmp_path, text))

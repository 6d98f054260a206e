"""FMUs in co-simulation, stepped by a test through FMPy."""

import shutil
from contextlib import contextmanager
from dataclasses import dataclass

import fmpy
import numpy as np

from spart_blocks.export.fmu.variables import variables_of
from spart_blocks.export.fmu.verify import FLOOR
from spart_blocks.export.reference import Stepper
from spart_blocks.program.subdiagram import entries_of


@dataclass
class Slave:
    """An FMU of either version."""

    slave: object
    version: int

    def set(self, part, row):
        """Set all inputs, in the order of the subdiagram's inputs."""
        names = {v.title: v for v in variables_of(part) if v.causality == "input"}
        references = self._references([names[slot.name] for slot in part.inputs])
        setter = self.slave.setFloat64 if self.version == 3 else self.slave.setReal
        setter(references, row.tolist())

    def outputs(self, part):
        outputs = [v for v in variables_of(part) if v.causality == "output"]
        references = self._references(outputs)
        if self.version == 3:
            size = sum(v.size for v in outputs)
            return np.array(self.slave.getFloat64(references, nValues=size))
        return np.array(self.slave.getReal(references))

    def _references(self, variables):
        if self.version == 3:
            return [v.reference for v in variables]
        return [entry.reference for v in variables for entry in v.scalars()]


@contextmanager
def fmu_slave(path):
    """An FMU from t = 0. Its extracted files are removed at exit."""
    folder = fmpy.extract(str(path))
    try:
        description = fmpy.read_model_description(folder)
        version = int(description.fmiVersion[0])
        slave = fmpy.instantiate_fmu(folder, description, fmi_type="CoSimulation")
        if version == 2:
            slave.setupExperiment(startTime=0.0)
        slave.enterInitializationMode()
        slave.exitInitializationMode()
        yield Slave(slave, version)
        slave.terminate()
        slave.freeInstance()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def stepped_error(path, part, schedule, inputs):
    """The largest relative difference between the outputs of co-simulation and those of the
    program, stepped as in exported C, with these inputs (steps, nu) at each step."""
    reference = Stepper(part, schedule)
    entries = entries_of(part.inputs)
    step = float(schedule.step)
    wanted, found = [], []
    with fmu_slave(path) as fmu:
        for row in inputs:
            reference.p[entries] = row
            fmu.set(part, row)
            wanted.append(reference.output()[0])
            found.append(fmu.outputs(part))
            fmu.slave.doStep(reference.t, step)
            reference.update()
    return np.abs(np.array(found) - wanted).max() / max(np.abs(wanted).max(), FLOOR)

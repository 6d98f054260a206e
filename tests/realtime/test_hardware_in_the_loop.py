"""Hardware in the loop without hardware: plant and controller in two processes, over UDP."""

import importlib.util
from pathlib import Path

import pytest

from spart_blocks.realtime.structs import Ended

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "hardware_in_the_loop.py"
# Between both clocks lie the first packet and the delay of the network: 2e-3 rad when the
# machine is quiet. The joints move at up to 0.94 rad/s, so that this is a pause of 50 ms.
BOUND = 0.05  # rad


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("hardware_in_the_loop", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(("kind", "network"), [("python", False), ("c", False), ("c", True)])
def test_the_loop_through_two_processes_moves_as_the_simulation(script, kind, network):
    error, report = script.rehearse(kind, 2.0, network)
    assert report.ended is Ended.DONE
    assert len(error) == 2000
    assert error.max() < BOUND

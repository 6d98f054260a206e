"""Diagrams made in Python, wired by text, and both engines to run them on."""

from __future__ import annotations

import re

import pytest
import robots

import spart_blocks as sb
from spart_blocks.block_support.ports import input_ports, output_ports

ENGINES = ("interpreter", "native")


def _end(bd, text, ports):
    """(block, port number) of 'block', 'block.port' or 'block.0'."""
    name, _, port = text.strip().partition(".")
    block = next(b for b in bd.blocklist if b.name == name)
    if not port:
        return block, 0
    if port.isdigit():
        return block, int(port)
    return block, [p.name for p in ports(block)].index(port)


@pytest.fixture(scope="session")
def wire():
    """wire(bd, 'plant.qm -> ctrl.qm', ...): connect blocks by name and port."""
    from bdsim.connect import Plug

    def wire(bd, *texts):
        for text in texts:
            start, *ends = re.split("->|,", text)
            source = Plug(*_end(bd, start, output_ports))
            for end in ends:
                bd.connect(source, Plug(*_end(bd, end, input_ports)))

    return wire


@pytest.fixture
def diagram(bdsim_runtime):
    """diagram(): an empty bdsim diagram that knows our blocks."""
    return lambda name="test": bdsim_runtime.blockdiagram(name=name)


@pytest.fixture(params=["compiled", "virtual machine", "interpreter"])
def engine(request, monkeypatch):
    """The engine's name, with or without the compiled loop behind 'native'."""
    if request.param == "virtual machine":
        monkeypatch.setattr("spart_blocks.run.engines.compiled.library_of", lambda *a, **k: None)
    return "interpreter" if request.param == "interpreter" else "native"


@pytest.fixture
def runtime():
    """A BDSim of this test."""
    import bdsim

    return bdsim.BDSim(sysargs=False, graphics=False, toolboxes=False, quiet=True)


@pytest.fixture(scope="module")
def spacecraft():
    """A spacecraft with an arm of three joints."""
    return robots.golden_robot("spart_sc_3dof")


@pytest.fixture(params=ENGINES)
def simulate(request):
    """simulate(bd, ...) on either engine."""
    return lambda bd, **options: sb.simulate(bd, engine=request.param, **options)


@pytest.fixture
def interpret():
    """simulate(bd, ...) on the interpreter, for blocks that hold Python functions."""
    return lambda bd, **options: sb.simulate(bd, engine="interpreter", **options)

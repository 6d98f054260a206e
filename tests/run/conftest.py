"""Diagrams made in Python, wired by text, and both engines to run them on."""

from __future__ import annotations

import re

import pytest

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


@pytest.fixture
def load(tmp_path):
    """load(text): the diagram of a YAML text."""

    def make(text):
        path = tmp_path / "diagram.yaml"
        path.write_text(text)
        return sb.load(path)

    return make


@pytest.fixture(params=ENGINES)
def simulate(request):
    """simulate(bd, ...) on either engine."""
    return lambda bd, **options: sb.simulate(bd, engine=request.param, **options)


@pytest.fixture
def interpret():
    """simulate(bd, ...) on the interpreter, for blocks that hold Python functions."""
    return lambda bd, **options: sb.simulate(bd, engine="interpreter", **options)

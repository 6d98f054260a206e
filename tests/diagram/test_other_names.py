"""The names that blocks have elsewhere lead to types that exist."""

from __future__ import annotations

import pytest

import spart_blocks as sb
from spart_blocks.diagram.build.registry import find_type, type_names
from spart_blocks.diagram.check.other_names import OTHER_NAMES, other_names_like, type_hint

# What a Simulink user looks for in the first hour.
WANTED = """
Transport Delay, Discrete-Time Integrator, Saturation, Mux, Demux, From Workspace, To Workspace,
Lookup Table, 1-D Lookup Table, 2-D Lookup Table, Zero-Order Hold, Rate Limiter, Switch,
Manual Switch, Unit Delay, Transfer Fcn, State-Space, PID Controller, Sine Wave, Step, Scope,
XY Graph, Goto, Subsystem, Bus Creator, Selector, MATLAB Function, S-Function, Relay, Dead Zone,
Quantizer, Random Number, Clock, Derivative, Product, Sum, Gain, Logical Operator, Stop Simulation,
Relational Operator, Terminator, Model Reference, Variant Subsystem, Pulse Generator
"""


@pytest.mark.parametrize("other", OTHER_NAMES, ids=str)
def test_a_name_leads_to_types_that_files_can_name(other):
    for name in other.types:
        kind = find_type(name)
        assert kind is not None, name
        assert kind.refusal is None, name
    assert other.types or other.remark


def test_a_name_stands_once_for_each_tool():
    told = [(other.name, other.tool) for other in OTHER_NAMES]
    assert len(told) == len(set(told))


@pytest.mark.parametrize("name", " ".join(WANTED.split()).split(", "))
def test_what_users_of_simulink_look_for_is_known(name):
    assert name in [other.name for other in other_names_like(name)]


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("Saturation", "did you mean 'SATURATION'?"),
        ("rate limiter", "did you mean 'RATE_LIMITER'?"),
        ("Transfer Fcn", "what Simulink calls Transfer Fcn is here TRANSFER_FUNCTION"),
        ("transferfcn", "what Simulink calls Transfer Fcn is here TRANSFER_FUNCTION"),
        ("SineWave", "what Simulink calls Sine Wave is here WAVEFORM"),
        ("Demultiplexer", "what Drake calls Demultiplexer is here DEMUX"),
        ("To Workspace", "`run: {log: [plant.qm]}`"),
        ("Trasport Delay", "did you mean 'TRANSPORT_DELAY'"),
        ("Transferr Fcnn", "did you mean 'TRANSFER_FUNCTION'"),
    ],
)
def test_an_unknown_type_is_hinted_by_its_name_elsewhere(written, told):
    assert told in type_hint(written, type_names())


def test_what_is_like_nothing_has_no_hint():
    assert type_hint("qwertyuiop", type_names()) is None
    assert type_hint("", type_names()) is None


def test_a_file_with_a_name_of_simulink_is_told_ours(tmp_path):
    file = tmp_path / "plant.yaml"
    file.write_text("blocks:\n  plant: {type: Transfer Fcn}\n")
    with pytest.raises(sb.DiagramError, match="Transfer Fcn is here TRANSFER_FUNCTION"):
        sb.load(file)

"""The signals that a comparison measures: as listed in the diagram's `compare:`, or found from its
wires.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from spart_blocks.diagram import Diagram
from spart_blocks.diagram.network.display import signal_names
from spart_blocks.diagram.network.flatten import FlatDiagram, Source, flatten
from spart_blocks.diagram.sections.comparison import base_signals
from spart_blocks.dynamics.applied_forces import port_widths
from spart_blocks.run.measure.gauges import Gauge

PLANTS = ("multibody", "closed_chain")
NO_TRACK = (
    "nothing says what should follow what: no block has the inputs qd and qm; "
    "write compare: track: {signal: reference} in the file"
)


@dataclass(frozen=True)
class Measures:
    """The measured signals of a run. track: pairs of a signal and its reference. effort: control
    signals. base: plants whose base is measured.
    """

    track: tuple[tuple[str, str], ...]
    effort: tuple[str, ...]
    base: tuple[str, ...]

    @property
    def signals(self) -> tuple[str, ...]:
        """All signals that must be recorded, without duplicates."""
        followed = [name for pair in self.track for name in pair]
        bases = [name for plant in self.base for name in base_signals(plant)]
        return tuple(dict.fromkeys([*followed, *self.effort, *bases]))

    @property
    def gauges(self) -> tuple[Gauge, ...]:
        """The gauges that measure them during a run."""
        gauges: list[Gauge] = []
        for pair in self.track:
            gauges += [Gauge("square", *pair), Gauge("extremes", *pair), Gauge("step", *pair)]
        for signal in self.effort:
            gauges += [Gauge("square", signal), Gauge("extremes", signal)]
        for plant in self.base:
            attitude, position = base_signals(plant)
            gauges += [Gauge("rotation", attitude), Gauge("displacement", position)]
        return tuple(gauges)

    @property
    def notes(self) -> tuple[str, ...]:
        """Remarks for the reader of the table."""
        return () if self.track else (NO_TRACK,)


def measures_of(diagram: Diagram) -> Measures:
    """The signals named in the diagram's section `compare`; by default the inputs qm of
    controllers with their references qd, the inputs of the plants, and floating bases.
    """
    wired = _Wires(flatten(diagram.bd, diagram.places, diagram.run))
    asked = diagram.compare
    track = asked.track if asked.track is not None else dict(wired.tracked())
    effort = asked.effort if asked.effort is not None else tuple(wired.drives())
    return Measures(
        track=tuple(track.items()),
        effort=tuple(dict.fromkeys(effort)),
        base=asked.base if asked.base is not None else tuple(wired.floating()),
    )


class _Wires:
    """A flat diagram, and the names that users have for its signals."""

    def __init__(self, wiring: FlatDiagram) -> None:
        self.wiring = wiring
        self.sources = {**signal_names(wiring), **wiring.outlets}
        self.names: dict[Source, str] = {}
        # The outermost name, and 'controller.tau' before 'controller'.
        ordered = sorted(self.sources, key=lambda name: (name.count("/"), -name.count(".")))
        for name in ordered:
            self.names.setdefault(self.sources[name], name)

    def tracked(self) -> Iterator[tuple[str, str]]:
        """Pairs of the signals wired to inputs qm and qd of a block or subsystem; only of the
        outermost one.
        """
        found: list[str] = []
        takers = [*self.wiring.inlets.items(), *self._leaves()]
        for name, inputs in sorted(takers, key=lambda item: item[0].count("/")):
            inside = any(name.startswith(f"{outer}/") for outer in found)
            if not inside and {"qd", "qm"} <= inputs.keys():
                found.append(name)
                yield self.names[inputs["qm"]], self.names[inputs["qd"]]

    def _leaves(self) -> Iterator[tuple[str, Mapping[str, Source]]]:
        for node in self.wiring.nodes:
            ports = [port.name for port in node.in_ports]
            yield node.name, dict(zip(ports, node.sources, strict=True))

    def drives(self) -> Iterator[str]:
        """The signals wired to the input taum of each plant, and to those for the forces on its
        robot.
        """
        for node in self.wiring.nodes:
            if node.block.type in PLANTS:
                driven = {"taum", *port_widths(node.block.robot)}
                for port, source in zip(node.in_ports, node.sources, strict=True):
                    if port.name in driven and not self.names[source].endswith("=0"):
                        yield self.names[source]

    def floating(self) -> Iterator[str]:
        """The plants with a floating base."""
        for node in self.wiring.nodes:
            if node.block.type in PLANTS and node.block.robot.base == "floating":
                yield node.name

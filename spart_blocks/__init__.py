"""Block-diagram simulation of robots and spacecraft. `import spart_blocks as sb` loads no large
packages; each public name is imported from its module when first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from spart_blocks.base import html

if TYPE_CHECKING:
    from spart_blocks.analysis.compare import compare
    from spart_blocks.analysis.comparison import Comparison
    from spart_blocks.analysis.linearize import linearize
    from spart_blocks.analysis.lqr import lqr
    from spart_blocks.analysis.margins import Margins, margins
    from spart_blocks.analysis.starting_controller import starting_controller
    from spart_blocks.analysis.trim import trim
    from spart_blocks.animation.animate import View, animate, view
    from spart_blocks.base.errors import DiagramError, InputError, RobotError, RunError, SpartError
    from spart_blocks.diagram import Diagram, load, new_diagram
    from spart_blocks.diagram.written.conditions import conditional, trigger_clock
    from spart_blocks.dynamics.assembly import Assembly, assemble
    from spart_blocks.dynamics.inverse_kinematics import IKResult, ik
    from spart_blocks.dynamics.mobility import Mobility, mobility
    from spart_blocks.fits.estimate import Fit
    from spart_blocks.fits.fit import fit
    from spart_blocks.gradients.gradient import Gradient, gradient
    from spart_blocks.gradients.instants import NoGradientError
    from spart_blocks.optimal.optimize import optimize
    from spart_blocks.optimal.optimum import Optimum
    from spart_blocks.program import Program, TraceError, compiled
    from spart_blocks.program.from_diagram import trace
    from spart_blocks.recordings.record import record
    from spart_blocks.results import Results
    from spart_blocks.robot import Robot
    from spart_blocks.robot.link import Link
    from spart_blocks.run.simulate import simulate
    from spart_blocks.sweeps.results import SweepResults
    from spart_blocks.sweeps.sweep import sweep
    from spart_blocks.tunes.tune import tune
    from spart_blocks.tunes.tuned import Tuned
    from spart_blocks.versions.differences import Difference, diff
    from spart_blocks.web.page import live

__version__ = "0.1.0"

html.MOTION = "spart_blocks.animation.animate"

_MODULES = ("spart", "dynamics", "spatial")
_HOMES = {
    "Robot": "spart_blocks.robot",
    "Link": "spart_blocks.robot.link",
    "Diagram": "spart_blocks.diagram",
    "load": "spart_blocks.diagram",
    "new_diagram": "spart_blocks.diagram",
    "conditional": "spart_blocks.diagram.written.conditions",
    "trigger_clock": "spart_blocks.diagram.written.conditions",
    "diff": "spart_blocks.versions.differences",
    "Difference": "spart_blocks.versions.differences",
    "simulate": "spart_blocks.run",
    "sweep": "spart_blocks.sweeps.sweep",
    "SweepResults": "spart_blocks.sweeps.results",
    "fit": "spart_blocks.fits.fit",
    "Fit": "spart_blocks.fits.estimate",
    "tune": "spart_blocks.tunes.tune",
    "Tuned": "spart_blocks.tunes.tuned",
    "optimize": "spart_blocks.optimal.optimize",
    "Optimum": "spart_blocks.optimal.optimum",
    "gradient": "spart_blocks.gradients.gradient",
    "Gradient": "spart_blocks.gradients.gradient",
    "NoGradientError": "spart_blocks.gradients.instants",
    "trace": "spart_blocks.program",
    "compiled": "spart_blocks.program",
    "Program": "spart_blocks.program",
    "TraceError": "spart_blocks.program",
    "compare": "spart_blocks.analysis",
    "Comparison": "spart_blocks.analysis",
    "linearize": "spart_blocks.analysis",
    "lqr": "spart_blocks.analysis",
    "margins": "spart_blocks.analysis.margins",
    "Margins": "spart_blocks.analysis.margins",
    "starting_controller": "spart_blocks.analysis.starting_controller",
    "trim": "spart_blocks.analysis",
    "ik": "spart_blocks.dynamics.inverse_kinematics",
    "IKResult": "spart_blocks.dynamics.inverse_kinematics",
    "assemble": "spart_blocks.dynamics.assembly",
    "Assembly": "spart_blocks.dynamics.assembly",
    "mobility": "spart_blocks.dynamics.mobility",
    "Mobility": "spart_blocks.dynamics.mobility",
    "Results": "spart_blocks.results",
    "animate": "spart_blocks.animation.animate",
    "live": "spart_blocks.web.page",
    "record": "spart_blocks.recordings.record",
    "view": "spart_blocks.animation.animate",
    "View": "spart_blocks.animation.animate",
    "SpartError": "spart_blocks.base.errors",
    "InputError": "spart_blocks.base.errors",
    "RobotError": "spart_blocks.base.errors",
    "DiagramError": "spart_blocks.base.errors",
    "RunError": "spart_blocks.base.errors",
    "spart": "spart_blocks.spart",
    "dynamics": "spart_blocks.dynamics",
    "spatial": "spart_blocks.base.spatial",
}

__all__ = [
    "Assembly",
    "Comparison",
    "Diagram",
    "DiagramError",
    "Difference",
    "Fit",
    "Gradient",
    "IKResult",
    "InputError",
    "Link",
    "Margins",
    "Mobility",
    "NoGradientError",
    "Optimum",
    "Program",
    "Results",
    "Robot",
    "RobotError",
    "RunError",
    "SpartError",
    "SweepResults",
    "TraceError",
    "Tuned",
    "View",
    "animate",
    "assemble",
    "compare",
    "compiled",
    "conditional",
    "diff",
    "fit",
    "gradient",
    "ik",
    "linearize",
    "live",
    "load",
    "lqr",
    "margins",
    "mobility",
    "new_diagram",
    "optimize",
    "record",
    "simulate",
    "starting_controller",
    "sweep",
    "trace",
    "trigger_clock",
    "trim",
    "tune",
    "view",
]


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'spart_blocks' has no attribute {name!r}")
    module = import_module(home)
    return module if name in _MODULES else getattr(module, name)


def __dir__() -> list[str]:
    """Completions of `sb.`: public names only, loaded or not."""
    return sorted([*_HOMES, "__version__"])

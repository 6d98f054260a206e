"""Writes docs/from_simulink.md: every block of Simulink's libraries, and what does the same here.

python docs/make_simulink_page.py
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from spart_blocks.diagram.build.registry import block_types
from spart_blocks.diagram.check.other_names import OTHER_NAMES, OtherName
from spart_blocks.diagram.converted.simulink.rules import read_as
from spart_blocks.diagram.standard import PACKAGE

PAGE = Path(__file__).with_name("from_simulink.md")

HEAD = """\
# From Simulink

<!-- Written by docs/make_simulink_page.py from the table of other names. Do not edit. -->

Every block of Simulink's libraries, and what does the same here. Those without a link are
bdsim's: `spart blocks NAME` shows them. `spart blocks pulse generator` finds a block by its name
there too. The conventions may differ: read the block's page.

Ways of working have other names as well: a model is a YAML file ([diagrams.md](diagrams.md)), the
Simulink Test of a model its `expect:` ([testing.md](testing.md)), Simulink Coder `spart export c`
([export.md](export.md)), multiple simulations `spart sweep` ([sweeps.md](sweeps.md)), External
Mode `spart live` and `spart scope` ([live.md](live.md)), the Linear Analysis Tool
`spart linearize` ([analysis.md](analysis.md)), the Parameter Estimator `spart fit`
([fit.md](fit.md)), the Response Optimizer `spart tune` ([tune.md](tune.md)), and a From Multibody
import is a URDF file.

## Models

    spart new loop.yaml --from loop.slx --values gains.mat --values more.m

reads a model, `.slx` or `.mdl`, and writes a diagram file. It carries over blocks and lines,
subsystems with their masks' values, conditions (Enable, Trigger, Reset, Action), buses, Goto and
From, sample times as clocks (inherited ones from the blocks before), the stop time, the solver,
and the places of blocks for the studio. An input without a line is zero, as in Simulink. A block
without a clock that has a sample time of its own gets a ZOH behind it; an Inport of the model
becomes a CONSTANT, an Outport a RECORD.

`--values` names files with the workspace: `.mat` (not version 7.3), or `.m` with plain assignments
of numbers, matrices and arithmetic. Nothing in them is run; each statement that is left out is
told. A parameter that is one variable becomes a `$name` of `params:`; other expressions become
numbers.

The command prints how many blocks were carried over, which of them do not do exactly the same
(`changed`), and which were not converted. A block of the latter stands in the file as a subsystem
with its ports and nothing in it, marked `NOT CONVERTED`, and loading tells where these are. In
the tables below, `--from` tells which blocks are read and which are marked; the mark tells why, and
what does the same here.

| of a model | here |
| --- | --- |
| a block that has no equal | several blocks, the first with its name: a Difference is an FCN \
and a UNIT_DELAY |
| an Integrator with an external reset | RESET_INTEGRATOR; `level` holds it from the edge to \
zero until the edge back; its state port is its output, which blocks that are reset at one time \
read from before it |
| an external initial value that is no Constant | its value at the first tick, added to the \
integral from there |
| outputs of conditional subsystems | held, or reset to their initial output, as their Outports \
say |
| blocks in a triggered subsystem | the edges are their ticks |
| a mask | its variables are `params:` of the subsystem; those that its code computes become \
numbers |
| PreLoadFcn, PostLoadFcn, InitFcn | plain assignments are variables; the rest is told at the \
head of the file |
| a library link | read in LIBRARY.slx or LIBRARY.mdl beside the model; what Simulink comes \
with, by the tables |
| a For Each Subsystem | `for_each:`, for partitions of one entry along the first dimension |
| a variant | its active choice: the label, or the condition that holds |
| a data store | a UNIT_DELAY at the clock of its one writer, and tags |
| Commented out, commented through | left out, a wire |

Referenced models, charts, code and physical networks are marked. Widths are known only from
constants and what follows from them: where a state or a delay begins with one number for a vector,
the loader says what to write.

The reader is tested with models written by hand in four forms of files: sections of text, the zip
file of XML with a part for each system or with one for all, and the text with that XML. Of what
Simulink wrote, the blocks and lines of eight models in public repositories were tried as text:
those of five .mdl files (R2013a to R2019a, with If, Switch Case, enable, trigger and reset ports)
and of three .slx files (two of them newer than R2021a, with PID Controllers of both libraries); all
of their blocks were carried over. They showed that lines name the reset port with a capital. No
whole .slx file of Simulink was at hand, so a file may hold what the reader does not know yet.
"""

# The blocks of each library, as the documentation of R2024b lists them.
LIBRARIES = {
    "Continuous": "Derivative, Descriptor State-Space, Entity Transport Delay, First Order Hold, "
    "Integrator, Integrator Limited, PID Controller, PID Controller (2DOF), Second-Order "
    "Integrator, Second-Order Integrator Limited, State-Space, Transfer Fcn, Transport Delay, "
    "Variable Time Delay, Variable Transport Delay, Zero-Pole",
    "Discontinuities": "Backlash, Coulomb & Viscous Friction, Dead Zone, Dead Zone Dynamic, Hit "
    "Crossing, Quantizer, Rate Limiter, Rate Limiter Dynamic, Relay, Saturation, Saturation "
    "Dynamic, Wrap To Zero",
    "Discrete": "Delay, Difference, Discrete Derivative, Discrete Filter, Discrete FIR Filter, "
    "Discrete PID Controller, Discrete PID Controller (2DOF), Discrete State-Space, Discrete-Time "
    "Integrator, Discrete Transfer Fcn, Discrete Zero-Pole, Enabled Delay, Memory, Resettable "
    "Delay, Tapped Delay, Transfer Fcn First Order, Transfer Fcn Lead or Lag, Transfer Fcn Real "
    "Zero, Unit Delay, Variable Integer Delay, Zero-Order Hold",
    "Logic and Bit Operations": "Bit Clear, Bit Set, Bit to Integer Converter, Bitwise Operator, "
    "Combinatorial Logic, Compare To Constant, Compare To Zero, Detect Change, Detect Decrease, "
    "Detect Fall Negative, Detect Fall Nonpositive, Detect Increase, Detect Rise Nonnegative, "
    "Detect Rise Positive, Extract Bits, Integer to Bit Converter, Interval Test, Interval Test "
    "Dynamic, Logical Operator, Relational Operator, Shift Arithmetic",
    "Lookup Tables": "1-D Lookup Table, 2-D Lookup Table, n-D Lookup Table, Cosine, Sine, Direct "
    "Lookup Table (n-D), Interpolation Using Prelookup, Lookup Table Dynamic, Prelookup",
    "Math Operations": "Abs, Add, Algebraic Constraint, Assignment, Bias, Complex to "
    "Magnitude-Angle, Complex to Real-Imag, Divide, Dot Product, Find Nonzero Elements, Gain, "
    "Magnitude-Angle to Complex, Math Function, Matrix Concatenate, Matrix Multiply, MinMax, "
    "MinMax Running Resettable, Permute Dimensions, Polynomial, Product, Product of Elements, "
    "Real-Imag to Complex, Reciprocal Sqrt, Reshape, Rounding Function, Sign, Signed Sqrt, Sine "
    "Wave Function, Slider Gain, Sqrt, Squeeze, Subtract, Sum, Sum of Elements, Trigonometric "
    "Function, Unary Minus, Vector Concatenate, Weighted Sample Time Math",
    "Matrix Operations": "Cross Product, Determinant of 3x3 Matrix, Diagonal Matrix, Identity "
    "Matrix, Matrix Inverse, Matrix Transpose, Pseudoinverse, Submatrix",
    "Model Verification": "Assertion, Check Discrete Gradient, Check Dynamic Gap, Check Dynamic "
    "Lower Bound, Check Dynamic Range, Check Dynamic Upper Bound, Check Input Resolution, Check "
    "Static Gap, Check Static Lower Bound, Check Static Range, Check Static Upper Bound",
    "Ports & Subsystems": "Atomic Subsystem, Enable, Enabled Subsystem, Enabled and Triggered "
    "Subsystem, For Each Subsystem, For Iterator Subsystem, Function-Call Subsystem, If, If Action "
    "Subsystem, Inport, Model, Outport, Resettable Subsystem, Subsystem, Switch Case, Switch Case "
    "Action Subsystem, Trigger, Triggered Subsystem, Unit System Configuration, Variant Model, "
    "Variant Subsystem, While Iterator Subsystem",
    "Signal Attributes": "Bus to Vector, Data Type Conversion, IC, Probe, Rate Transition, Signal "
    "Conversion, Signal Specification, Unit Conversion, Weighted Sample Time, Width",
    "Signal Routing": "Bus Assignment, Bus Creator, Bus Selector, Data Store Memory, Data Store "
    "Read, Data Store Write, Demux, From, Goto, Goto Tag Visibility, Index Vector, Manual Switch, "
    "Manual Variant Source, Merge, Multiport Switch, Mux, Parameter Writer, Selector, State "
    "Reader, State Writer, Switch, Variant Sink, Variant Source",
    "Sinks": "Display, Floating Scope, Outport, Record, Scope, Stop Simulation, Terminator, To "
    "File, To Workspace, XY Graph",
    "Sources": "Band-Limited White Noise, Chirp Signal, Clock, Constant, Counter Free-Running, "
    "Counter Limited, Digital Clock, Enumerated Constant, From File, From Spreadsheet, From "
    "Workspace, Ground, Inport, Playback, Pulse Generator, Ramp, Random Number, Repeating "
    "Sequence, Repeating Sequence Interpolated, Repeating Sequence Stair, Signal Editor, Signal "
    "Generator, Sine Wave, Step, Uniform Random Number, Waveform Generator",
    "Stateflow": "Chart, State Transition Table, Truth Table",
    "User-Defined Functions": "C Caller, C Function, Fcn, Function Caller, Initialize Function, "
    "Interpreted MATLAB Function, MATLAB Function, MATLAB System, Python Importer, Reset Function, "
    "S-Function, Simulink Function, Terminate Function",
}


def answers() -> dict[str, OtherName]:
    """What does the same here, by the name of a block of Simulink; the first that is told."""
    found: dict[str, OtherName] = {}
    for other in OTHER_NAMES:
        if other.tool == "Simulink":
            found.setdefault(other.name, other)
    return found


def blank() -> list[str]:
    """The blocks without an answer."""
    known = answers()
    return [n for names in LIBRARIES.values() for n in names.split(", ") if n not in known]


def page() -> str:
    """The text of the page."""
    known = answers()
    parts = [HEAD]
    for library, names in LIBRARIES.items():
        rows = [f"| {name} | {_here(known[name])} | {_read(name)} |" for name in names.split(", ")]
        head = ["| Simulink | here | `--from` |", "| --- | --- | --- |"]
        parts.append("\n".join([f"## {library}", "", *head, *rows]))
    return "\n".join(f"{part}\n" for part in parts)


def _read(name: str) -> str:
    return "marked" if read_as(name) == "marked" else "yes"


@cache
def _ours() -> frozenset[str]:
    return frozenset(kind.name for kind in block_types() if kind.package == PACKAGE)


def _here(other: OtherName) -> str:
    ours = _ours()
    types = (f"[{t}](blocks.md#{t.lower()})" if t in ours else t for t in other.types)
    remark = re.sub(r"docs/(\w+\.md)", r"[\1](\1)", other.remark.replace("*", "\\*"))
    return "; ".join(filter(None, [" or ".join(types), remark]))


if __name__ == "__main__":
    missing = blank()
    if missing:
        raise SystemExit(f"without an answer: {', '.join(missing)}")
    PAGE.write_text(page(), encoding="utf-8")

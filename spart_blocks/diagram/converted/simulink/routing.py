"""Rules of tables, of the routing of signals, and of their attributes."""

from __future__ import annotations

from typing import Any

import numpy as np

from spart_blocks.diagram.converted.draft import plain_name
from spart_blocks.diagram.converted.simulink.given import (
    Carried,
    Given,
    NotCarriedError,
    Rule,
    block,
    count,
    entries,
    formula,
    made,
    off,
    only,
    together,
    wire,
)

# --- tables ---------------------------------------------------------------------------------------


def lookup_1d(x: str, y: str, method: str) -> Rule:
    def rule(g: Given) -> Carried:
        return made("LOOKUP", **_table_1d(g, g.value(x, "[-5:5]"), g.value(y, "tanh([-5:5])"),
                                          method))  # fmt: skip

    return rule


def _table_1d(g: Given, x: Any, y: Any, method: str) -> dict[str, Any]:
    kind = g.text(method).casefold()
    outside = g.text("ExtrapMethod", "Linear") if method == "InterpMethod" else kind
    if "akima" in kind or "input above" in kind:
        raise NotCarriedError(f"{method} is {g.text(method)!r}")
    how = next((here for there, here in (
        ("flat", "previous"), ("below", "previous"), ("nearest", "nearest"), ("spline", "cubic"),
    ) if there in kind), "linear")  # fmt: skip
    beyond = "extrap" in outside.casefold() or outside in ("Linear", "Cubic spline")
    outside = "extrapolate" if beyond and how in ("linear", "cubic") else "clip"
    return {"x": x, "y": y, "interpolation": how, "outside": outside}


def _points(g: Given, k: int, n: int) -> Any:
    """The breakpoints of dimension k, which has n."""
    if g.text("BreakpointsSpecification", "Explicit values") == "Even spacing":
        first = g.value(f"BreakpointsForDimension{k}FirstPoint", "1")
        return first + g.value(f"BreakpointsForDimension{k}Spacing", "1") * np.arange(n)
    return g.value(f"BreakpointsForDimension{k}", f"[1:{n}]")


def lookup_nd(g: Given) -> Carried:
    only(g, "DataSpecification", "Table and breakpoints", "Table and breakpoints")
    dims = int(g.value("NumberOfTableDimensions", "1"))
    table = np.asarray(
        g.value("Table", "tanh([-5:5])" if dims == 1 else "[4 5 6;16 19 20;10 18 23]")
    )
    default = {1: "[-5:5]"}.get(dims, "[1:3]")
    if dims == 1:
        key = "BreakpointsForDimension1"
        x = g.value(key, default) if g.text(key) else _points(g, 1, len(table))
        if not g.text(key) and g.text("BreakpointsSpecification") != "Even spacing":
            x = g.value(key, default)
        return made("LOOKUP", **_table_1d(g, x, table, "InterpMethod"))
    off(g, "UseOneInputPortForAllInputData")
    if "linear" not in g.text("InterpMethod", "Linear").casefold() or dims > 5:
        raise NotCarriedError(f"it has {dims} dimensions, or is not linear")
    axes = [_points(g, k + 1, table.shape[k] if k < table.ndim else 0) for k in range(dims)]
    if table.shape != tuple(map(len, axes)):
        raise NotCarriedError(f"its table is {table.shape}")
    beyond = "extrapolate" if g.text("ExtrapMethod", "Linear") == "Linear" else "clip"
    if dims == 2:
        return made("LOOKUP_2D", x=axes[0], y=axes[1], z=table, outside=beyond)
    return made("LOOKUP_ND", axes=[axis.tolist() for axis in axes], values=table, outside=beyond)


def lookup_2d(g: Given) -> Carried:
    beyond = "extrap" in g.text("LookUpMeth").casefold()
    return made("LOOKUP_2D", x=g.value("RowIndex"), y=g.value("ColumnIndex"), z=g.value("Table"),
                outside="extrapolate" if beyond else "clip")  # fmt: skip


def lookup_dynamic(g: Given) -> Carried:
    """Its inputs: x, and the table's x and y, which are read where they are constant."""
    x, y = g.constant(2), g.constant(3)
    if x is None or y is None or any(isinstance(one, str) for one in (x, y)):
        raise NotCarriedError("its table is a signal")
    how = "previous" if "Below" in g.text("LookUpMeth") else "linear"
    beyond = "Extrapolation" in g.text("LookUpMeth") and how == "linear"
    it = block("LOOKUP", x=x, y=y, interpolation=how, outside="extrapolate" if beyond else "clip")
    return together("in.1 -> it; it -> out.1", it)


def direct_lookup(g: Given) -> Carried:
    """An element of a table by its indices, which count from 0."""
    only(g, "InputsSelectThisObjectFromTable", "Element", "Element")
    off(g, "TableIsInput")
    table = np.asarray(g.value("Table", g.text("mxTable", "[4 5 6;16 19 20;10 18 23]")), float)
    if g.text("NumberOfTableDimensions", "2") == "1":
        table = table.ravel()
    if min(table.shape) < 2:
        raise NotCarriedError(f"its table is {table.shape}")
    axes = [list(map(float, range(n))) for n in table.shape]
    return made("LOOKUP_ND", axes=axes, values=table)


def prelookup(g: Given) -> Carried:
    """The index of an interval, from 0, and the fraction of it that is passed."""
    only(g, "OutputSelection", "Index and fraction", "Index and fraction", "Index only")
    if g.text("BreakpointsSpecification", "Explicit values") == "Even spacing":
        n = count(g, "BreakpointsNumPoints", "11")
        x = g.value("BreakpointsFirstPoint", "10") + g.value(
            "BreakpointsSpacing", "10"
        ) * np.arange(n)
    else:
        x = g.value("BreakpointsData", g.text("BreakpointData", "[10:10:110]"))
    beyond = g.text("ExtrapMethod", "Clip") == "Linear"
    last = float(len(x) - 2)
    it = formula("max(min(floor(u), last), 0)", last=last)
    part = formula("u - max(min(floor(u), last), 0)", last=last)
    place = block("LOOKUP", x=x, y=np.arange(float(len(x))),
                  outside="extrapolate" if beyond else "clip")  # fmt: skip
    return together("in.1 -> place; place -> it, part; it -> out.1; part -> out.2", it,
                    place=place, part=part)  # fmt: skip


def interpolation(g: Given) -> Carried:
    """Of the indices and fractions of Prelookup blocks: two inputs for each dimension."""
    dims = count(g, "NumberOfTableDimensions", "2")
    only(g, "TableSource", "Dialog", "Dialog")
    only(g, "TableSpecification", "Explicit values", "Explicit values")
    if "linear" not in g.text("InterpMethod", "Linear").casefold() or dims > 5:
        raise NotCarriedError("it is not linear, or has more than 5 dimensions")
    table = np.asarray(g.value("Table", "sqrt([1:11]' * [1:11])"), float)
    table = table.ravel() if dims == 1 else table
    beyond = "extrapolate" if g.text("ExtrapMethod", "Clip") == "Linear" else "clip"
    parts = {f"at_{k}": formula("k + f", "k", "f") for k in range(dims)}
    wires = []
    for k in range(dims):
        wires += [f"in.{2 * k + 1} -> at_{k}.k", f"in.{2 * k + 2} -> at_{k}.f",
                  f"at_{k} -> it.{k}" if dims > 1 else "at_0 -> it"]  # fmt: skip
    axes = [list(map(float, range(n))) for n in table.shape]
    it = block("LOOKUP_ND", axes=axes, values=table, outside=beyond)
    return Carried(it, "", parts, (*wires, "it -> out.1"))


# --- vectors --------------------------------------------------------------------------------------


def mux(g: Given) -> Carried:
    return made("MUX", nin=max(g.inputs, 1))


def demux(g: Given) -> Carried:
    outputs = np.atleast_1d(g.value("Outputs", "2"))
    if np.any(outputs < 1):
        raise NotCarriedError("the widths of its outputs are not given")
    if np.ndim(g.value("Outputs", "2")) == 0:
        number, width = int(outputs[0]), g.width(1)
        if width is None or width == number:
            return made("DEMUX", nout=number)
        share, more = divmod(width, number)  # Simulink's rule: the first ones get one more
        outputs = np.array([share + (k < more) for k in range(number)])
    if np.all(outputs == 1):
        return made("DEMUX", nout=len(outputs))
    ends = np.cumsum(outputs).astype(int)
    parts = {
        f"part_{k}": block("SELECTOR", indices=_indices(range(end - int(size), end)))
        for k, (end, size) in enumerate(zip(ends, outputs, strict=True))
    }
    it = parts.pop("part_0")
    names = ["it", *parts]
    outs = "; ".join(f"{name} -> out.{k + 1}" for k, name in enumerate(names))
    return together(f"in.1 -> {', '.join(names)}; {outs}", it, **parts)


def _indices(found: Any) -> Any:
    listed = [int(k) for k in found]
    return listed[0] if len(listed) == 1 else listed


def selector(g: Given) -> Carried:
    dims = int(g.value("NumberOfDimensions", "1"))
    options = [one.strip() for one in g.text("IndexOptions", "Index vector (dialog)").split(",")]
    key = next((k for k in ("Indices", "IndexParamArray", "Elements") if g.text(k)), "Indices")
    chosen, sizes = entries(g.text(key, "1")), entries(g.text("OutputSizes", "1"))
    if dims > 2 or len(options) != dims or len(chosen) < dims:
        raise NotCarriedError(f"its indices are {g.text('IndexOptions')}")
    first = 0 if g.text("IndexMode", "One-based") == "Zero-based" else 1
    picked: list[Any] = []
    for k, option in enumerate(options):
        if option == "Select all":
            picked.append(None)
            continue
        found = np.atleast_1d(np.asarray(g.computed(chosen[k]), int)) - first
        if option == "Starting index (dialog)" and k < len(sizes):
            found = found[0] + np.arange(int(g.computed(sizes[k])))
        elif option != "Index vector (dialog)":
            raise NotCarriedError(f"its indices are {option}")
        picked.append(found.tolist())
    if dims == 1:
        one = picked[0]
        return wire() if one is None else made("SELECTOR", indices=_indices(one))
    if None in picked:
        axis = picked.index(None) ^ 1
        other = picked[axis]
        return wire() if other is None else made("SELECTOR", indices=other, axis=axis)
    it = block("SELECTOR", indices=picked[1], axis=1)
    return together("in.1 -> rows; rows -> it; it -> out.1", it,
                    rows=block("SELECTOR", indices=picked[0], axis=0))  # fmt: skip


def assignment(g: Given) -> Carried:
    """A vector with entries from another: both joined, and entries selected."""
    dims, options = (
        g.text("NumberOfDimensions", "1"),
        g.text("IndexOptions", "Index vector (dialog)"),
    )
    if dims != "1" or options not in ("Index vector (dialog)", "Assign all"):
        raise NotCarriedError(f"its indices are {options}")
    if options == "Assign all":
        return wire(number=2)
    first = 0 if g.text("IndexMode", "One-based") == "Zero-based" else 1
    found = np.atleast_1d(np.asarray(g.value("Indices", "1"), int)) - first
    size = g.width(1)
    if size is None:
        raise NotCarriedError("the width of its first input is not known here")
    if np.any(found < 0) or np.any(found >= size):
        raise NotCarriedError(f"an index is beyond its {size} entries")
    several = g.width(2) not in (None, 1) or len(found) == 1
    order = list(range(size))
    for k, index in enumerate(found.tolist()):
        order[index] = size + (k if several else 0)
    return together("in.1 -> both.0; in.2 -> both.1; both -> it; it -> out.1",
                    block("SELECTOR", indices=order), both=block("MUX", nin=2))  # fmt: skip


def reshape(g: Given) -> Carried:
    kind = g.text("OutputDimensionality", "1-D array")
    if kind == "1-D array":
        return made("FLATTEN", order="F")
    if kind == "Customize":
        shape = [int(n) for n in np.ravel(g.value("OutputDimensions", "[1,1]"))]
        return made("RESHAPE", shape=shape, order="columns")
    size = g.width(1)
    if size is None:
        raise NotCarriedError("the width of its input is not known here")
    return made("RESHAPE", shape=[size, 1] if kind.startswith("Column") else [1, size])


def concatenate(g: Given) -> Carried:
    nin = count(g, "NumInputs", "2")
    if g.text("Mode", "Vector") == "Vector":
        return made("CONCATENATE", nin=nin)
    axis = int(g.value("ConcatenateDimension", g.text("CatDim", "2"))) - 1
    if axis not in (0, 1):
        raise NotCarriedError(f"ConcatenateDimension is {axis + 1}")
    return made("CONCATENATE", nin=nin, axis=axis)


def permute(g: Given) -> Carried:
    order = [int(n) for n in np.ravel(g.value("Order", "[2 1]"))]
    if order == [1, 2]:
        return wire()
    if order != [2, 1]:
        raise NotCarriedError(f"Order is {g.text('Order')}")
    return made("TRANSPOSE")


def width(g: Given) -> Carried:
    size = g.width(1)
    if size is None:
        raise NotCarriedError("the width of its input is not known here")
    return together("it -> out.1", block("CONSTANT", value=float(size)))


# --- switches -------------------------------------------------------------------------------------


def switch(g: Given) -> Carried:
    criteria = g.text("Criteria", "u2 >= Threshold").replace("!=", "~=")
    found = [sign for sign in (">=", ">", "~=") if criteria.startswith(f"u2 {sign} ")]
    if not found:
        raise NotCarriedError(f"Criteria is {criteria!r}")
    threshold = 0.0 if criteria.endswith(" 0") else g.param("Threshold", "0")
    return made("SWITCH", criterion=found[0].replace("~=", "!="), threshold=threshold)


def multiport(g: Given) -> Carried:
    """Its first input tells the index: from 1, from 0, or by a list of indices for each port."""
    order = g.text("DataPortOrder", "One-based contiguous")
    if g.on("zeroIdx"):
        order = "Zero-based contiguous"
    number = count(g, "Inputs", "3")
    if order == "Specify indices":
        lists = [[float(v) for v in np.ravel(g.computed(text))]
                 for text in entries(g.text("DataPortIndices", "{1,2,3}"))]  # fmt: skip
        terms = [f"{k + 1}*({' or '.join(f'u == {v!r}' for v in some)})"
                 for k, some in enumerate(lists)]  # fmt: skip
        last = len(lists)
        if g.text("DataPortForDefault", "Last data port").startswith("Additional"):
            last += 1
        known = " or ".join(f"u == {v!r}" for some in lists for v in some)
        port = formula(f"({' + '.join(terms)}) if {known} else {last}")
        return _selecting(last, port)
    shift = 1 if order.startswith("Zero") else 0
    whole = formula(f"max(floor(u) + {shift}, 1)" if shift else "max(floor(u), 1)")
    if number == 1:
        size = g.width(2)
        if size is None:
            raise NotCarriedError("the width of its input is not known here")
        ins = "; ".join(f"apart.{k} -> it.{k + 1}" for k in range(size))
        return together(f"in.1 -> port; port -> it.0; in.2 -> apart; {ins}; it -> out.1",
                        block("MULTIPORT_SWITCH", nin=size), port=whole,
                        apart=block("DEMUX", nout=size))  # fmt: skip
    return _selecting(number, whole)


def _selecting(number: int, port: dict[str, Any]) -> Carried:
    ins = "; ".join(f"in.{k + 1} -> it.{k}" for k in range(1, number + 1))
    return together(f"in.1 -> port; port -> it.0; {ins}; it -> out.1",
                    block("MULTIPORT_SWITCH", nin=number), port=port)  # fmt: skip


def manual_switch(g: Given) -> Carried:
    return made("MANUAL_SWITCH", choice=2 - (g.text("sw", "1") == "1"))


def variant_source(g: Given) -> Carried:
    """The input whose label is the active one, or whose condition holds."""
    texts = [text.strip("' ") for text in entries(g.text("VariantControls"))]
    active = g.text("LabelModeActiveChoice").strip("' ")
    for k, text in enumerate(texts):
        if text and text in (active, "(default)"):
            return wire(f"the choice {text}; the others are left out", number=k + 1)
        try:
            if not active and text and g.computed(text):
                return wire(f"the choice {text}; the others are left out", number=k + 1)
        except NotCarriedError:
            continue
    raise NotCarriedError("its active choice is not known")


# --- buses, tags and stores -----------------------------------------------------------------------


def bus_creator(g: Given) -> Carried:
    given = [_signal(one.strip().strip("'\"")) for one in entries(g.text("Inputs"))]
    listed = given if len(given) == g.inputs and not given[0].startswith("b_") else []
    names = listed or [_signal(name) or f"signal{k + 1}" for k, name in enumerate(g.line_names())]
    if len(set(names)) < len(names):
        raise NotCarriedError("two of its signals have one name")
    return made("BUS_CREATOR", signals=names)


def _signal(name: str) -> str:
    """The name of a signal of a bus, with a dot before that of a bus within it."""
    return ".".join(plain_name(part) for part in name.split(".") if part.strip())


def bus_selector(g: Given) -> Carried:
    names = [_signal(name) for name in g.text("OutputSignals", "").split(",") if name.strip()]
    if g.on("OutputAsBus") or not names:
        raise NotCarriedError("its output is a bus")
    return made("BUS_SELECTOR", signals=names)


def bus_assignment(g: Given) -> Carried:
    names = [_signal(name) for name in g.text("AssignedSignals", "").split(",") if name.strip()]
    if not names:
        raise NotCarriedError("it names no signals")
    ins = "; ".join(f"in.{k + 2} -> it.{name}" for k, name in enumerate(names))
    return together(f"in.1 -> it.bus; {ins}; it -> out.1", block("BUS_ASSIGNMENT", signals=names))


def goto(g: Given) -> Carried:
    scope = {"scope": "global"} if g.text("TagVisibility", "local") != "local" else {}
    return made("GOTO", tag=g.text("GotoTag", "A"), **scope)


def store_read(g: Given) -> Carried:
    """What was written at the tick before; a store that nothing writes keeps its start."""
    name = g.text("DataStoreName", "A")
    start, writers = g.store(name)
    if not writers:
        return together("it -> out.1", block("CONSTANT", value=start))
    return made("FROM", "what was written at the tick before", tag=_tag(name))


def store_write(g: Given) -> Carried:
    name = g.text("DataStoreName", "A")
    start, writers = g.store(name)
    if writers > 1:
        raise NotCarriedError(f"{writers} blocks write the store {name}; a state has one writer")
    it = block("UNIT_DELAY", clock=g.clock(), initial=start)
    return together("in.1 -> it; it -> tag", it,
                    tag=block("GOTO", tag=_tag(name), scope="global"))  # fmt: skip


def _tag(name: str) -> str:
    return f"store_{plain_name(name)}"


def merge(g: Given) -> Carried:
    start = g.text("InitialOutput", "[]")
    initial = {} if start in ("[]", "") else {"initial": g.param("InitialOutput")}
    return made("MERGE", nin=count(g, "Inputs", "2"), **initial)


def unit_conversion(g: Given) -> Carried:
    """The conversions of the Aerospace Blockset, which name both units."""
    units = [g.text(key).strip() for key in ("IU", "OU")]
    if not all(units):
        raise NotCarriedError("its units are those of its ports, which are not read")
    return made("UNIT_CONVERSION", from_unit=units[0], to_unit=units[1])

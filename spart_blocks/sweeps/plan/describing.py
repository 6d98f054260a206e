"""The description of a sweep that is stored in its folder, and how a sweep is restored from it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spart_blocks.base.errors import Fault, InputError
from spart_blocks.diagram.sections.sweep_section import SweepSection
from spart_blocks.measures.work import Work
from spart_blocks.run.engines.from_file import DiagramFile
from spart_blocks.sweeps.plan.memory_source import FileSource, source_of
from spart_blocks.sweeps.plan.sweep_job import Planned, expectations
from spart_blocks.sweeps.storage.histories import form_for
from spart_blocks.sweeps.storage.store import Description
from spart_blocks.sweeps.verdicts import left_out_of

if TYPE_CHECKING:
    from spart_blocks.diagram.sections.sweep_section import Varied
    from spart_blocks.sweeps.plan.plan import Plan

_VERSIONS = ("spart_blocks", "numpy", "scipy", "casadi", "bdsim")


def description_of(
    planned: Planned, device: str | None = None, precision: str = "double"
) -> Description:
    """The description of a sweep. device: where it runs, if not on the CPU. precision: of its
    floating-point numbers.
    """
    how = {"device": device} if device else {}
    how |= {"precision": precision} if precision != "double" else {}
    work = planned.first
    title = str(planned.source.title)
    return Description(
        name=work.program.name if isinstance(work, Work) else Path(title).stem,
        identity=_identity(planned) | how,
        files={title: planned.plan.model},
        runs=planned.total,
        schema=planned.schema,
        facts=_facts(planned) | {"device": device, "precision": precision},
        histories=form_for(_bytes_of_histories(planned)),
    )


def planned_of(description: Description, file: Path | None = None) -> Planned:
    """The planned sweep that a folder describes.

    file: the diagram, if it was moved. Raises InputError, also if the diagram has changed.
    """
    facts = description.facts
    if facts.get("functions"):
        named = ", ".join(facts["functions"])
        raise InputError(f"the metrics {named} were Python functions, which no folder keeps")
    given = facts.get("diagram")
    if given is None:
        raise InputError(f"the diagram {description.name} was in memory, and no file has it")
    root = None if given["root"] is None or file else Path(given["root"])
    options = (tuple(given[name]) for name in ("variants", "blocks"))
    read = DiagramFile(file or Path(given["path"]), tuple(given["overrides"]), root, *options)
    if not Path(read.path).exists():
        hint = "if it has moved, name it: spart run FILE --from-sweep DIR --run N"
        raise InputError(Fault(f"{read.path}, of which the sweep is, is not there", hint=hint))
    section = SweepSection.model_validate(facts["section"])
    source = source_of(read)
    planned = Planned(source, section, {}, dict(facts["options"]), expectations(source))
    if planned.plan.model not in description.files.values():
        hint = "its results cannot be made again; the diagram must be as it was"
        raise InputError(Fault(f"{read.path} has changed since the sweep", hint=hint))
    return planned


def _identity(planned: Planned) -> dict[str, Any]:
    """The entries that determine the results of a sweep. Two sweeps with different entries are not
    the same sweep.
    """
    section, source = planned.section, planned.source
    identity = planned.plan.identity()
    del identity["model"]  # which `files` has
    functions = dict.fromkeys(planned.functions, "in Python")
    identity |= {
        "metrics": dict(section.metrics) | functions,
        "keep": section.keep,
        "every": section.every,
        "options": dict(planned.options),
        "set": list(source.given.overrides) if isinstance(source, FileSource) else [],
        "claims": _claims(planned),
    }
    if section.gradients:
        identity["gradients"] = section.gradients
    plain: dict[str, Any] = json.loads(json.dumps(identity, default=str))
    return plain


def _claims(planned: Planned) -> Any:
    if planned.expected is None:
        return None
    return json.loads(planned.expected.section.model_dump_json(exclude_defaults=True))


def _bytes_of_histories(planned: Planned) -> float:
    keep = planned.section.keep
    runs = 0 if keep == "none" else keep if isinstance(keep, int) else planned.total
    return float(min(runs, planned.total)) * planned.bytes_of_run


def _facts(planned: Planned) -> dict[str, Any]:
    """Further facts: for reports, and for `planned_of`."""
    plan, work = planned.plan, planned.first
    columns = {column.name for column in planned.schema}
    return {
        "diagram": None if plan.file is None else _file_as_plain(plan.file),
        "section": planned.section.model_dump(mode="json", exclude_defaults=True, by_alias=True),
        "options": dict(planned.options),
        "functions": list(planned.functions),
        "seed": plan.seed,
        "design": plan.design,
        "grid": [path for axis in plan.axes for path in axis.paths if path in columns],
        "left_out": list(left_out_of(planned.expected.section if planned.expected else None)),
        "factors": [factor.path for factor in plan.factors],
        "gradients": planned.derivative_facts,
        "units": dict(work.program.display.units) if isinstance(work, Work) else {},
        "told": list(_report_lines(planned)),
        "versions": dict(_versions()),
    }


def _file_as_plain(file: DiagramFile) -> dict[str, Any]:
    return {
        "path": str(file.path.absolute()),
        "overrides": list(file.overrides),
        "root": None if file.root is None else str(file.root.absolute()),
        "variants": list(file.variants),
        "blocks": list(file.blocks),
    }


def _report_lines(planned: Planned) -> Iterator[tuple[str, str]]:
    """The plan as pairs (subject, text) for reports."""
    yield "diagram", str(planned.source.title)
    yield "runs", f"{planned.total:,}"
    yield from plan_in_words(planned.plan)
    for name, formula in planned.section.metrics.items():
        yield f"metric {name}", formula
    for metric, names in planned.derivative_facts.items():
        yield f"derivatives of {metric}", f"by {', '.join(names)}"
    for option, value in planned.options.items():
        yield option, str(value)


def _versions() -> Iterator[tuple[str, str]]:
    for package in _VERSIONS:
        try:
            yield package, version(package)
        except PackageNotFoundError:
            continue


# --- the plan as text -----------------------------------------------------------------------------


_FEW = 8
"""Count of values that are listed one by one."""


def plan_in_words(plan: Plan) -> Iterator[tuple[str, str]]:
    """Pairs (subject, text) that tell what differs between the runs of a plan."""
    points, variants, faults = plan.counts
    if plan.draws > 1:
        yield "draws", f"{plan.draws:,} (seed {plan.seed}, design {plan.design})"
    if points > 1:
        yield "grid points", f"{points:,}"
    if variants > 1:
        yield "variants", ", ".join(plan.variant_names)
    for fault in plan.faults if faults > 1 else ():
        values = ", ".join(f"{path} = {_text(value)}" for path, value in fault.set.items())
        when = f"from {fault.at:g} s on {values}" if fault.at else f"{values}, from the start"
        yield f"fault {fault.name}", when if fault.set else "no fault"
    for axis in plan.axes:
        for path, listed in zip(axis.paths, axis.lists, strict=True):
            yield path, _listed(listed)
    for factor in plan.factors:
        yield factor.path, drawn_in_words(factor.varied)


def drawn_in_words(varied: Varied) -> str:
    """A distribution as text: its name and its parameters."""
    given = varied.model_dump(mode="json", exclude_defaults=True)
    more = []
    if given.pop("relative", False):
        more.append("times the value of the diagram")
    if given.pop("each", False):
        more.append("a number for each element")
    [(kind, parameters)] = given.items()
    named = [f"{name} {_text(value)}" for name, value in (parameters or {}).items()]
    return ", ".join([kind.replace("_", " "), *named, *more])


def _listed(values: Iterable[Any]) -> str:
    texts = [_text(value) for value in values]
    return ", ".join(texts if len(texts) <= _FEW else [*texts[:4], "...", texts[-1]])


def _text(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float | list | tuple):
        return str(value)
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_text, value))}]"
    return f"{value:g}"

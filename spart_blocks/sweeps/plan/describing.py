"""The description of a sweep that is stored in its folder, and how a sweep is restored from it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from spart_blocks.base.errors import Fault, InputError
from spart_blocks.diagram.sections.sweep_section import SweepSection
from spart_blocks.run.engines.from_file import DiagramFile
from spart_blocks.sweeps.measures.verdicts import left_out_of
from spart_blocks.sweeps.plan.labels import plan_in_words
from spart_blocks.sweeps.plan.sources import FileSource, source_of
from spart_blocks.sweeps.plan.sweep_job import Planned, expectations
from spart_blocks.sweeps.storage.history_files import form_for
from spart_blocks.sweeps.storage.store import Description
from spart_blocks.sweeps.work import Work

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
        "diagram": plan.as_plain()["file"],
        "section": planned.section.model_dump(mode="json", exclude_defaults=True, by_alias=True),
        "options": dict(planned.options),
        "functions": list(planned.functions),
        "seed": plan.seed,
        "design": plan.design,
        "grid": [path for axis in plan.axes for path in axis.paths if path in columns],
        "left_out": list(left_out_of(planned.expected.section if planned.expected else None)),
        "factors": [factor.path for factor in plan.factors],
        "units": dict(work.program.display.units) if isinstance(work, Work) else {},
        "told": list(_report_lines(planned)),
        "versions": dict(_versions()),
    }


def _report_lines(planned: Planned) -> Iterator[tuple[str, str]]:
    """The plan as pairs (subject, text) for reports."""
    yield "diagram", str(planned.source.title)
    yield "runs", f"{planned.total:,}"
    yield from plan_in_words(planned.plan)
    for name, formula in planned.section.metrics.items():
        yield f"metric {name}", formula
    for option, value in planned.options.items():
        yield option, str(value)


def _versions() -> Iterator[tuple[str, str]]:
    for package in _VERSIONS:
        try:
            yield package, version(package)
        except PackageNotFoundError:
            continue

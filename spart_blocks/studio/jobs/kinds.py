"""The commands of `spart` that the page can give, each with the options that it may set.

Options of files, folders and addresses are not among them: the studio itself sets those that it
needs, within the folder of the job.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from spart_blocks.base.errors import InputError

MOST_OPTIONS = 200
LONGEST_OPTION = 20_000
"""Largest number of options of a job, and the number of characters of one."""
_SINGLE = ("--set", "--t")


@dataclass(frozen=True)
class JobKind:
    """A command. words: "export c". title: its name in the page. options: those that the page may
    set, by their long names. formats: file types to choose from. own: the options that the studio
    sets, from the name of the diagram and the format. variants: whether it is for the choices that
    are shown in the page. other: whether it can take a second diagram."""

    words: str
    title: str
    options: tuple[str, ...]
    own: Callable[[str, str], Sequence[str]]
    formats: tuple[str, ...] = ()
    variants: bool = True
    other: bool = False

    def arguments(self, given: Mapping[str, Any]) -> list[str]:
        """The options of a request as words of the command line. given: texts, lists of texts, or
        true, by name without "--". Raises InputError for an option that the page may not set."""
        words: list[str] = []
        for name, value in given.items():
            if f"--{name}" not in self.options:
                raise InputError(f"spart {self.words} has no option --{str(name)[:40]} in the page")
            if value is True:
                words.append(f"--{name}")
            else:
                words += [f"--{name}={_text(name, one)}" for one in _listed(value)]
        if len(words) > MOST_OPTIONS:
            raise InputError(f"more than {MOST_OPTIONS} options")
        return words

    def format(self, given: Any) -> str:
        """The file type of a request, by default the first."""
        if not self.formats:
            return ""
        if given is not None and given not in self.formats:
            raise InputError(f"{self.title} is written as {', '.join(self.formats)}")
        return str(given or self.formats[0])


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _text(name: str, value: Any) -> str:
    if not isinstance(value, str) or len(value) > LONGEST_OPTION or "\0" in value:
        raise InputError(f"--{name} takes a text of at most {LONGEST_OPTION} characters")
    return value


KINDS: Mapping[str, JobKind] = {
    "sweep": JobKind(
        "sweep",
        "Sweep",
        ("--over", "--runs", "--metric", "--gradient", "--variant", "--seed", "--until", "--keep",
         "--every", "--workers", "--device", "--precision", *_SINGLE),
        lambda name, _: ("--out=sweep", "--report=report.html"),
        variants=False,
    ),
    "fit": JobKind(
        "fit",
        "Fit",
        ("--parameter", "--loss", "--starts", "--seed", "--iterations", "--set"),
        lambda name, _: ("--out=fit.json", "--report=report.html"),
    ),
    "tune": JobKind(
        "tune",
        "Design",
        ("--parameter", "--minimize", "--maximize", "--constraint", "--claim", "--aggregate",
         "--derivative-free", "--samples", "--searches", "--seed", "--iterations", "--set"),
        lambda name, _: ("--out=tune.json", "--report=report.html"),
    ),
    "optimize": JobKind(
        "optimize",
        "Optimum",
        ("--control", "--parameter", "--minimize", "--maximize", "--t", "--end", "--limit",
         "--intervals", "--degree", "--tolerance", "--iterations", "--set"),
        lambda name, _: ("--out=optimum.json", "--report=report.html"),
    ),
    "compare": JobKind(
        "compare",
        "Comparison",
        ("--variant", "--case", "--jobs", *_SINGLE),
        lambda name, _: ("--headless", "--out=comparison.csv", "--plots=plots"),
        variants=False,
        other=True,
    ),
    "c": JobKind(
        "export c",
        "C code",
        ("--part", "--rate", "--method", "--precision", "--name", "--verify", *_SINGLE),
        lambda name, _: (f"--out={name}",),
    ),
    "fmu": JobKind(
        "export fmu",
        "FMU",
        ("--part", "--version", "--rate", "--method", "--inputs", "--verify", *_SINGLE),
        lambda name, _: (f"--out={name}.fmu",),
    ),
    "ros2_control": JobKind(
        "export ros2_control",
        "Controller of ros2_control",
        ("--part", "--rate", "--method", "--precision", "--name", "--verify", *_SINGLE),
        lambda name, _: (f"--out={name}",),
    ),
    "picture": JobKind(
        "show",
        "Picture of the diagram",
        ("--block", "--set"),
        lambda name, form: ("--headless", f"--out={name}.{form}"),
        ("svg", "png", "pdf"),
    ),
    "motion": JobKind(
        "animate",
        "Page of the motion",
        ("--engine", "--triangles", *_SINGLE),
        lambda name, _: (f"--out={name}.html",),
    ),
    "robots": JobKind(
        "show",
        "Page of the robots at rest",
        ("--set",),
        lambda name, _: ("--3d", "--headless", f"--out={name}-robots.html"),
    ),
    "results": JobKind(
        "run",
        "Results of a run",
        ("--engine", *_SINGLE),
        lambda name, form: ("--headless", f"--out={name}.{form}", "--plots=plots"),
        ("npz", "csv", "mat"),
    ),
    "linear": JobKind(
        "linearize",
        "Linear system",
        ("--input", "--output", "--open", *_SINGLE),
        lambda name, form: (f"--out={name}.{form}", "--plots=plots"),
        ("npz", "json"),
    ),
    "lqr": JobKind(
        "lqr",
        "Gain of a regulator",
        ("--plant", "--Q", "--R", "--input", "--T", "--set"),
        lambda name, form: (f"--out={name}-gain.{form}",),
        ("json", "csv", "yaml"),
    ),
}  # fmt: skip
"""The kinds of jobs by the name that a request gives."""
EXPORTS = ("c", "fmu", "ros2_control", "picture", "motion", "robots", "results", "linear", "lqr")
"""Those that the dialog of exports offers."""

"""The folder list is the data flow: imports point upstream only, and start light."""

from __future__ import annotations

import ast
import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "spart_blocks"
# Upstream first: each may import those before it. `spart` is a face of dynamics.
STATIONS = (
    "base",  # errors, caches, documents, rotations: what every part may use
    "ros",  # messages of ROS 2: their definitions, hashes and bytes
    "workers",  # processes that serve a module, and the messages with them
    "results",  # data and pictures that know nothing of what made them
    "drawing",  # pictures of boxes and wires: where they go, and how they are painted
    "robot",
    "dynamics",
    "spart",
    "environment",  # a spacecraft's surroundings
    "transports",  # frames of numbers, and where they go: what blocks, export and realtime share
    "formulas",  # texts that become functions
    "state_machines",  # charts, read and stepped
    "block_support",  # ports, checks, states and laws that blocks share
    "fmu",  # FMUs of others, as blocks run them
    "blocks",
    "diagram",
    "descriptions",  # of block types, for people
    "versions",  # edits of diagram files, and differences of two
    "program",
    "run",
    "analysis",
    "measures",  # works of many runs, and metrics of what is measured in them
    "gradients",  # derivatives of whole runs
    "sweeps",
    "fits",  # estimates of parameters from measurements
    "tunes",  # parameters of designs
    "optimal",  # optimal control
    "claims",  # `expect:` of a diagram, judged
    "export",
    "animation",  # pages that show motion
    "recordings",  # runs as files for the viewers of robotics
    "realtime",
    "web",  # pages that run a diagram
    "studio",  # the page that runs and edits diagrams, and its server
    "cli",
)
BEFORE_THE_PROGRAM = set(STATIONS[: STATIONS.index("program")])
HEAVY = {"numpy", "scipy", "matplotlib", "bdsim", "casadi", "sympy", "pydantic", "lxml", "yaml"}
STARTS = ("spart_blocks.cli", "spart_blocks.robot.robot", "spart_blocks.results.results")
"""All commands are imported to call one, and `sb.Robot` and `sb.Results` for one of their methods:
each of their functions loads what it needs.
"""
MANY = 10
DRAWING = ("results", "drawing", "analysis", "sweeps", "fits", "tunes", "optimal", "cli")


def files_of(station):
    folder = PACKAGE / station
    files = sorted(folder.rglob("*.py")) if folder.is_dir() else [PACKAGE / f"{station}.py"]
    return [path for path in files if path.exists()]


def imported(path):
    """Every module that a file imports anywhere, also inside functions."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are written in full"
            yield node.module
            if node.module == "spart_blocks":
                yield from (f"spart_blocks.{name.name}" for name in node.names)


def stations_imported(path):
    names = (name.split(".") for name in imported(path))
    inner = {parts[1] for parts in names if parts[0] == "spart_blocks" and len(parts) > 1}
    return inner - {"__version__"}


@pytest.mark.parametrize("station", STATIONS)
def test_imports_point_upstream_only(station):
    place = STATIONS.index(station)
    allowed = set(STATIONS[: place + 1])
    for path in files_of(station):
        wrong = stations_imported(path) - allowed
        assert not wrong, f"{path.relative_to(PACKAGE)} imports {sorted(wrong)}"


def test_tests_stand_in_the_rooms_that_they_test():
    """Others are of the whole: pages, shipped files, random diagrams, and runs by night."""
    whole = {"compositions", "docs", "examples", "nightly", "shipped"}
    folders = {path.parent.name for path in Path(__file__).parent.glob("*/test_*.py")}
    assert folders <= {*STATIONS, *whole}, sorted(folders - {*STATIONS, *whole})


def test_what_a_folder_keeps_to_itself_no_other_imports():
    """A module whose name begins with _ is its folder's own."""
    found = {
        name
        for path in PACKAGE.rglob("*.py")
        for name in imported(path)
        if (own := folder_of_private(name)) and not path.is_relative_to(own)
    }
    assert not found, sorted(found)


def test_no_modules_import_each_other_in_a_circle():
    """Imports within functions and those for the type checker count as well."""
    ours = modules()
    edges = {module: needed(path) & ours.keys() - {module} for module, path in ours.items()}
    circles = {frozenset(circle) for circle in circles_of(edges)}
    assert not circles, [sorted(circle) for circle in circles]


def modules():
    return {module_of(path): path for path in PACKAGE.rglob("*.py")}


def module_of(path):
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def needed(path):
    """The modules that a file imports; of a package's names, their modules."""
    return {name for _, names in imports_of(ast.parse(path.read_text(encoding="utf-8")))
            for name in names}  # fmt: skip


def imports_of(node, where="top"):
    """Each import statement below a node: where it is ("top", "typed" for the type checker, or
    "function"), and the modules that it may load.
    """
    for inner in ast.iter_child_nodes(node):
        if isinstance(inner, ast.ImportFrom):
            yield where, {inner.module, *(f"{inner.module}.{name.name}" for name in inner.names)}
        elif isinstance(inner, ast.Import):
            yield where, {name.name for name in inner.names}
        elif isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from imports_of(inner, "function")
        elif isinstance(inner, ast.If) and ast.unparse(inner.test) == "TYPE_CHECKING":
            yield from imports_of(inner, "typed")
        else:
            yield from imports_of(inner, where)


def test_only_what_would_slow_the_start_is_imported_in_functions():
    """Modules of ours are imported at the top. One is imported in a function only if at the top it
    would load a large package, or MANY modules of ours (in STARTS, any), for all who import its
    importer, which not all of them need: a command loads its room when it is called,
    `spart_blocks.run` the builder of diagrams when a run is not in the cache.
    """
    found = {module: list(imports_of(ast.parse(path.read_text(encoding="utf-8"))))
             for module, path in modules().items()}  # fmt: skip
    edges = {module: set().union(*(loaded for where, loaded in imports if where == "top"))
             for module, imports in found.items()}  # fmt: skip
    faces = {
        f"{module}.{name.rpartition('.')[2]}": loaded
        for module, path in modules().items()
        if path.name == "__init__.py"
        for where, loaded in found[module]
        if where != "function"
        for name in loaded
        if name.rpartition(".")[0] in loaded
    }
    needless = []
    for module, imports in found.items():
        here = loaded_with({module}, edges, faces)
        most = 1 if module.startswith(STARTS) else MANY
        for where, loaded in imports:
            if where == "function" and loaded & edges.keys():
                more = loaded_with(loaded, edges, faces) - here
                large = (HEAVY | {"typer"}) & {name.split(".")[0] for name in more}
                if not large and len(more & edges.keys()) < most:
                    needless.append((module, sorted(loaded)))
    assert not needless, needless


def loaded_with(names, edges, faces):
    """All that is loaded with modules: what they import at the top, and the packages around them.
    faces: the modules of the names that packages show.
    """
    seen, waiting = set(), set(names)
    while waiting:
        name = waiting.pop()
        seen.add(name)
        around = {name.rpartition(".")[0]} - {""}
        waiting |= (edges.get(name, set()) | faces.get(name, set()) | around) - seen
    return seen


def test_what_a_module_loads_is_found():
    """Imports of imports, the packages around them, and the homes of the names of packages."""
    edges, faces = {"a": {"b.c"}, "b.c": {"d.Name"}}, {"d.Name": {"e"}}
    assert loaded_with({"a"}, edges, faces) == {"a", "b", "b.c", "d", "d.Name", "e"}


def circles_of(edges):
    """The sets of two or more nodes of which each reaches each."""

    def reached(start):
        seen, waiting = set(), [start]
        while waiting:
            for after in edges[waiting.pop()] - seen:
                seen.add(after)
                waiting.append(after)
        return seen

    reach = {node: reached(node) for node in edges}
    for node in edges:
        if node in reach[node]:
            yield {other for other in reach[node] if node in reach[other]}


def test_circles_are_found():
    assert list(circles_of({"a": {"b"}, "b": {"c"}, "c": set()})) == []
    assert {"a", "b"} in list(circles_of({"a": {"b"}, "b": {"a"}, "c": {"a"}}))


def folder_of_private(name):
    """The folder of the first module of a dotted name that begins with _."""
    parts = name.split(".")
    if parts[0] != PACKAGE.name:
        return None
    private = [k for k, part in enumerate(parts) if part.startswith("_") and part[1:2] != "_"]
    return PACKAGE.joinpath(*parts[1 : private[0]]) if private else None


@pytest.mark.parametrize("station", ["base", "robot", "dynamics", "spart", "environment"])
def test_robots_and_their_dynamics_know_nothing_of_diagrams(station):
    for path in files_of(station):
        roots = {name.split(".")[0] for name in imported(path)}
        assert not roots & {"bdsim", "matplotlib", "typer", "rich"}, path


def test_only_a_program_knows_casadi_and_only_spatial_knows_sympy():
    free = {"casadi": BEFORE_THE_PROGRAM, "sympy": set(STATIONS)}
    for module, stations in free.items():
        for path in (path for station in stations for path in files_of(station)):
            roots = {name.split(".")[0] for name in imported(path)}
            assert module not in roots or path == PACKAGE / "base" / "spatial.py", path


def test_only_results_drawings_and_the_command_draw():
    for path in PACKAGE.rglob("*.py"):
        if any(name.split(".")[0] == "matplotlib" for name in imported(path)):
            parts = path.relative_to(PACKAGE).with_suffix("").parts
            assert parts[0] in DRAWING or parts[-1].endswith("_drawing"), path


@pytest.mark.parametrize("station", [s for s in STATIONS if s not in ("cli", "results")])
def test_the_core_is_deaf_and_mute(station):
    for path in files_of(station):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                assert node.func.id not in ("print", "input", "exit", "eval", "exec"), path


def loaded_by(statement):
    """The top-level modules in memory after a statement in a fresh Python."""
    code = f"import sys; {statement}; print(*{{name.split('.')[0] for name in sys.modules}})"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(run.stdout.split())


def test_tracing_designs_no_gains():
    """They are found before, by a pass of their own."""
    tracing = "import spart_blocks.program.tracing.trace"
    for module, found in (("gains", False), ("riccati", False), ("rules", True)):
        check = f"assert ('spart_blocks.program.tracing.{module}' in sys.modules) is {found}"
        assert "spart_blocks" in loaded_by(f"{tracing}; {check}")


def test_importing_the_package_loads_nothing_heavy():
    assert not loaded_by("import spart_blocks") & HEAVY


def test_dynamics_needs_numpy_alone():
    statement = "import spart_blocks as sb; sb.Robot; from spart_blocks import spart"
    assert not loaded_by(statement) & (HEAVY - {"numpy"})


def test_every_public_name_is_where_the_package_says():
    statement = (
        "import spart_blocks as sb; assert not [n for n in sb.__all__ if not hasattr(sb, n)]"
    )
    assert "spart_blocks" in loaded_by(statement)


def test_the_package_completes_to_its_public_names_alone():
    """`sb.<tab>`, before and after anything was loaded."""
    homes = "[n for n in sb._HOMES if not hasattr(sb, n)]"
    for before in ("pass", "sb.Robot, sb.simulate, sb.linearize; import spart_blocks.export"):
        statement = (
            f"import spart_blocks as sb; {before}; names = dir(sb); "
            "assert set(sb.__all__) | {'spart', 'spatial', 'dynamics'} <= set(names); "
            "assert set(names) == {*sb._HOMES, '__version__'}, names; "
            f"assert not {homes}"
        )
        assert "spart_blocks" in loaded_by(statement)


@pytest.mark.parametrize("folder", ["benchmarks", "examples"])
def test_scripts_import_what_there_is(folder):
    """No other test runs the benchmarks."""
    for path in sorted((PACKAGE.parent / folder).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("spart_blocks"):
                module = importlib.import_module(node.module)
                for alias in node.names:
                    assert hasattr(module, alias.name) or importlib.util.find_spec(
                        f"{node.module}.{alias.name}"
                    ), f"{path}: {node.module} has no {alias.name}"

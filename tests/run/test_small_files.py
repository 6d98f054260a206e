"""A small file cannot make a run large: signals, samples and formats have limits."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import spart_blocks as sb
from spart_blocks.base.errors import DiagramError, InputError, SpartWarning


@pytest.fixture
def run(tmp_path):
    """run(text, **options): the results of a file with this text."""

    def run(text, **options):
        file = tmp_path / "small.yaml"
        file.write_text(text)
        return sb.simulate(sb.load(file), T=0.01, **options)

    return run


def tower(levels):
    """Each MUX takes the one before a hundred times."""
    rows = [f"  m{k}: {{type: MUX}}" for k in range(levels)]
    names = ["c", *(f"m{k}" for k in range(levels))]
    wires = [f"  - {a} -> {', '.join([b] * 100)}" for a, b in pairwise(names)]
    blocks = "\n".join(["  c: {type: CONSTANT, value: [1, 2]}", *rows])
    return f"blocks:\n{blocks}\nwires:\n" + "\n".join(wires) + "\n"


@pytest.mark.parametrize("engine", ["native", "interpreter"])
def test_signals_that_grow_without_bound_are_refused_before_they_are_made(run, engine):
    assert run(tower(1), engine=engine)["m0"].shape[1:] == (200,)
    with pytest.raises(DiagramError, match=r"small.yaml:5:3: with m2 \(MUX\) the signals have"):
        run(tower(4), engine=engine)


COLUMN = "c: {type: CONSTANT, value: [" + ", ".join(["[1]"] * 3000) + "]}"
ROW = "r: {type: CONSTANT, value: [[" + ", ".join(["1"] * 3000) + "]]}"


@pytest.mark.parametrize("block", ["SUM, signs: '++'", "PROD, ops: '**', matrix: true"])
def test_a_column_and_a_row_do_not_make_a_matrix_of_any_size(run, block):
    text = f"blocks:\n  {COLUMN}\n  {ROW}\n  s: {{type: {block}}}\nwires: [c -> s.0, r -> s.1]\n"
    with pytest.raises(DiagramError, match=r"small.yaml:4:3: with s .* 9,000,000 entries"):
        run(text)


@pytest.mark.parametrize("engine", ["native", "interpreter"])
def test_samples_of_long_vectors_count_by_their_length(run, engine):
    zeros = [0] * 500
    text = (
        f"blocks: {{c: {{type: CONSTANT, value: {zeros}}}, i: {{type: INTEGRATOR, x0: {zeros}}}}}"
    )
    with pytest.raises(InputError, match="1e\\+06 samples of 500 numbers"):
        run(text + "\nwires: [c -> i]\nrun: {every: 1e-8}\n", engine=engine)


def test_a_high_power_of_a_matrix_is_traced_by_squares(run):
    angle = 1e-3
    turn = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
    value = [[float(x) for x in row] for row in turn]
    text = f"blocks:\n  c: {{type: CONSTANT, value: {value}}}\n"
    text += "  p: {type: POW, p: 1000000, matrix: true}\nwires: [c -> p]\nrun: {log: [p]}\n"
    got = run(text, engine="native")["p"][-1]
    want = np.cos(1000.0)
    assert abs(got[0, 0] - want) < 1e-8


@pytest.mark.parametrize(
    "fmt",
    [
        "{:2000000000f}",
        "{:.99999999f}",
        "{0.__class__}",
        "{0[0]}",
        "{!r}",
        "{:d}",
        "{} {}",
        "{",
        "",
    ],
)
def test_a_format_that_is_none_of_a_number_is_refused(run, fmt):
    text = f"blocks: {{t: {{type: TIME}}, p: {{type: PRINT, fmt: '{fmt}'}}}}\nwires: [t -> p]\n"
    with pytest.raises(DiagramError, match=r"small.yaml:1:.* formats no number"):
        run(text)


@pytest.mark.parametrize("fmt", ["{:.3f}", "{:+10.4e} N", "{0}", "{}", "value {:>12g}"])
def test_formats_of_a_number_print_it(run, fmt, capsys):
    text = f"blocks: {{t: {{type: TIME}}, p: {{type: PRINT, fmt: '{fmt}'}}}}\nwires: [t -> p]\n"
    run(text)
    assert fmt.format(0.01) in capsys.readouterr().out


def _full(n):
    return [[1.0 if i == j else 1e-3 for j in range(n)] for i in range(n)]


@pytest.mark.parametrize(
    ("size", "block", "wires"),
    [(150, "PROD, ops: '**', matrix: true", "[c -> b.0, c -> b.1]"), (12, "DET", "[c -> b]")],
)
def test_what_is_too_large_to_be_traced_runs_on_the_interpreter(run, size, block, wires):
    text = f"blocks:\n  c: {{type: CONSTANT, value: {_full(size)}}}\n  b: {{type: {block}}}\n"
    text += f"wires: {wires}\nrun: {{log: [b]}}\n"
    with pytest.warns(SpartWarning, match="too large to be traced"):
        results = run(text)
    matrix = np.array(_full(size))
    want = matrix @ matrix if size == 150 else np.linalg.det(matrix)
    assert np.abs(results["b"][-1] - want).max() < 1e-12

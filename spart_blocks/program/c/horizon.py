"""Writes the steps of model predictive control as C: a loop over tables, in any dialect."""

from __future__ import annotations

import re
from collections import Counter

from spart_blocks.block_support.condensed import RELAXATION
from spart_blocks.program.c.dialects import Dialect
from spart_blocks.program.c.functions import defined, result, vector
from spart_blocks.program.c.text import table
from spart_blocks.program.tracing.horizons import CalledHorizon


def horizon_text(called: CalledHorizon, dialect: Dialect) -> str:
    """The C of a called function, with its tables. See `block_support.condensed.optimised`."""
    given = vector("in", called.inputs, dialect), result(range(called.outputs), dialect)
    declared = [text for argument in given for text in argument.declared]
    return "\n\n".join(
        [
            *_tables(called, dialect),
            _added(called.name, dialect),
            defined(dialect.static, called.name, declared, _body(called, dialect)),
        ]
    )


def _tables(called: CalledHorizon, dialect: Dialect) -> list[str]:
    """The matrices by columns, so that a product is a sum of columns, which compilers vectorise."""
    kind, number = dialect.scalar, dialect.scalar_constant
    texts = [
        table(kind, f"{called.name}_{name}", map(number, called.matrices[name].T.ravel().tolist()),
              head=dialect.tables)
        for name in ("W", "W0", "dual", "alone", "back", "free", "give")
    ]  # fmt: skip
    entries = called.matrices["entry"].astype(int).ravel().tolist()
    return [*texts, table("int", f"{called.name}_entry", entries, head=dialect.tables)]


def _added(name: str, dialect: Dialect) -> str:
    """The function that adds a product of a table (rows, columns) and x (columns,) to y (rows,)."""
    real, pointer = dialect.real, dialect.pointer
    declared = [
        f"const {dialect.scalar} *M", "int rows", "int columns",
        f"const {real} {pointer}x", f"{real} {pointer}y",
    ]  # fmt: skip
    lines = [
        "for (int j = 0; j < columns; j++) {",
        f"  const {real} xj = x[j];",
        f"  const {dialect.scalar} *column = M + (long)j * rows;",
        f"  for (int i = 0; i < rows; i++) y[i] += {_everywhere(dialect, 'column[i]')} * xj;",
        "}",
    ]
    return defined(dialect.static, f"{name}_add", declared, lines)


def _everywhere(dialect: Dialect, scalar: str) -> str:
    return dialect.everywhere.format(scalar)


def _body(called: CalledHorizon, dialect: Dialect) -> list[str]:
    name, real = called.name, dialect.real
    m, r = called.matrices["back"].shape
    d, q = called.matrices["free"].shape[1], (called.inputs - r - called.matrices["free"].shape[1])
    q //= 2
    zero = _everywhere(dialect, dialect.constant(0.0))
    rows = f"for (int i = 0; i < {r}; i++)"
    relaxed, kept = (
        _everywhere(dialect, dialect.constant(value)) for value in (RELAXATION, 1 - RELAXATION)
    )
    size = dialect.chosen.format("off < 0", "-off", "off")
    return [
        f"{real} z[{r}], v[{r}], w[{r}], d[{r}], offset[{r}], low[{r}], high[{r}];",
        f"{real} worst = {zero};",
        f"{rows} {{",
        f"  low[i] = in[{d + r} + {name}_entry[i]];",
        f"  high[i] = in[{d + r + q} + {name}_entry[i]];",
        f"  v[i] = in[{d} + i];",
        "  w[i] = v[i];",
        f"  offset[i] = {zero};",
        "}",
        f"{name}_add({name}_alone, {r}, {d}, in, w);",
        f"{name}_add({name}_dual, {r}, {r}, v, w);",
        f"{name}_add({name}_W0, {r}, {d}, in, offset);",
        f"{rows} {{",
        *_nearest(name, "w[i]", dialect),
        "  z[i] = after;",
        "}",
        f"for (int k = 0; k < {int(called.matrices['count'].item())}; k++) {{",
        f"  {rows} {{",
        "    d[i] = z[i] - v[i];",
        "    w[i] = offset[i];",
        "  }",
        f"  {name}_add({name}_W, {r}, {r}, d, w);",
        f"  {rows} {{",
        f"    const {real} moved = {relaxed} * w[i] + {kept} * z[i] + v[i];",
        *(f"  {line}" for line in _nearest(name, "moved", dialect)),
        "    z[i] = after;",
        "    v[i] = moved - after;",
        "  }",
        "}",
        f"{rows} {{",
        "  d[i] = z[i] - v[i];",
        "  w[i] = offset[i];",
        "}",
        f"{name}_add({name}_W, {r}, {r}, d, w);",
        f"{rows} {{",
        f"  const {real} off = w[i] - z[i];",
        f"  const {real} distance = {size};",
        f"  worst = {dialect.chosen.format('distance > worst', 'distance', 'worst')};",
        "}",
        f"for (int i = 0; i < {m}; i++) out[i] = {zero};",
        f"{name}_add({name}_back, {m}, {r}, d, out);",
        f"{name}_add({name}_free, {m}, {d}, in, out);",
        f"out[{m}] = worst;",
        f"{rows} out[{m + 1} + i] = v[i];",
    ]


def _nearest(name: str, w: str, dialect: Dialect) -> list[str]:
    """`after`, the nearest to w within the bounds of row i."""
    real, chosen = dialect.real, dialect.chosen
    below = chosen.format(f"{w} > high[i]", "high[i]", w)
    give = _everywhere(dialect, f"{name}_give[i]")
    return [
        f"  const {real} inside = {chosen.format(f'{w} < low[i]', 'low[i]', below)};",
        f"  const {real} after = inside + {give} * ({w} - inside);",
    ]


def replaced(source: str, called: CalledHorizon) -> str:
    """CasADi's C with the body of a called function replaced by a call of that of
    `horizon_text`, whose products are faster by an order of magnitude.
    """
    begin = source.find(f"/* {called.name}:")
    if begin < 0:
        return source
    brace = source.index("{\n", begin) + 2
    end = source.index("\n}\n", brace)
    return f"{source[:brace]}  {called.name}(arg[0], res[0]);\n  return 0;{source[end:]}"


_DEFINITION = re.compile(
    r"(?:/\* \w+:[^\n]*\*/\n)?static (?:int (casadi_f\d+)\([^)]*\) \{\n.*?\n\}"
    r"|const casadi_real (casadi_c\d+)\[[^;]*;)\n",
    re.DOTALL,
)


def without_unused(source: str) -> str:
    """CasADi's C without the functions and constants that nothing in it uses."""
    count = Counter(re.findall(r"(?<!#define )casadi_[fc]\d+", source))
    kept = _DEFINITION.sub(lambda m: m[0] if count[m[1] or m[2]] > 1 else "", source)
    return source if kept == source else without_unused(kept)

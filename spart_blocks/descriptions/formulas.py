"""LaTeX formulas in docstrings of bdsim's blocks as lines of text."""

from __future__ import annotations

import re

_TABLE = """
alpha=α beta=β gamma=γ delta=δ epsilon=ε zeta=ζ eta=η theta=θ lambda=λ mu=μ xi=ξ pi=π rho=ρ
sigma=σ tau=τ phi=φ psi=ψ omega=ω Omega=Ω cdot=· times=× pm=± le=≤ ge=≥ leq=≤ geq=≥ int=∫
sum=∑ prod=∏ ldots=… dots=… cdots=… ominus=⊖ oplus=⊕ bullet=• top=T infty=∞ in=∈ left= right=
quad=
"""
_SIGNS = dict(pair.split("=") for pair in _TABLE.split())
_WORDS = ("mathbf", "mathrm", "mbox", "text", "mathit", "boldsymbol", "bf", "rm")
_AROUND = {"dot": "{}'", "ddot": "{}''", "sqrt": "sqrt({})", "hat": "{}^", "bar": "{}_mean"}
_ENVIRONMENT = re.compile(r"\\(begin|end)\{[a-z]+\*?\}(\{[lcr]+\})?")
_COMMAND = re.compile(r"\\([A-Za-z]+)\s*")
_ONE = re.compile(r"\w(_\w+|_\{[^}]*\})?'*|\d+|\w+\([^()]*\)|\([^()]*\)")
"""What needs no brackets in a fraction: a letter, a number, a function of something."""


def formula_lines(latex: str) -> list[str]:
    """A displayed formula, a line for each of its rows."""
    rows = re.split(r"\\\\(?![A-Za-z])", _ENVIRONMENT.sub("", latex))
    lines = (formula(row.replace("&", " ")) for row in rows)
    return [line for line in lines if line]


def formula(latex: str) -> str:
    """A formula in one line; unknown commands are unchanged."""
    text = re.sub(r"\\\\(?=[A-Za-z])", r"\\", latex)  # of a raw docstring with doubled signs
    text = re.sub(r"\\[,;:! ]", " ", text)
    return " ".join(_read(text)[0].split())


def _read(text: str, at: int = 0, inside: bool = False) -> tuple[str, int]:
    """The text from a position on, up to the closing brace if inside braces; and the position."""
    out = ""
    while at < len(text):
        sign = text[at]
        command = _COMMAND.match(text, at)
        if sign == "}" and inside:
            return out, at + 1
        if command:
            piece, at = _command(text, command)
            out += piece
        elif sign == "\\" and at + 1 < len(text):
            out += {"|": "‖"}.get(text[at + 1], text[at + 1])
            at += 2
        elif sign in "_^" and text[at + 1 : at + 2] == "{":
            piece, at = _read(text, at + 2, inside=True)
            plain = re.fullmatch(r"-?\w+|T", piece)
            out += sign + (piece if plain else f"{{{piece}}}")
        elif sign == "{":
            piece, at = _read(text, at + 1, inside=True)
            out += piece
        else:
            out += sign
            at += 1
    return out, at


def _command(text: str, command: re.Match[str]) -> tuple[str, int]:
    """The text of a command with its arguments, and the position of its end."""
    name, at = command[1], command.end()
    if name in ("frac", "dfrac", "tfrac"):
        above, at = _argument(text, at)
        below, at = _argument(text, at)
        apart = " " if re.search(r"[\w)]$", text[: command.start()]) else ""
        return f"{apart}{_factor(above)}/{_factor(below)}", at
    if name in _WORDS or name in _AROUND:
        inner, at = _argument(text, at)
        return _AROUND.get(name, "{}").format(inner), at
    space = " " if text[command.end() - 1].isspace() and _SIGNS.get(name, name) else ""
    return _SIGNS.get(name, name) + space, at


def _argument(text: str, at: int) -> tuple[str, int]:
    if text[at : at + 1] == "{":
        return _read(text, at + 1, inside=True)
    return text[at : at + 1], at + 1


def _factor(text: str) -> str:
    """In brackets, unless it is one thing."""
    text = text.strip()
    return text if _ONE.fullmatch(text) else f"({text})"

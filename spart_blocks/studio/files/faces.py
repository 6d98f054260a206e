"""Faces: what a block shows of its function in its box, as Simulink's blocks do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from spart_blocks.base.errors import InputError
from spart_blocks.versions.edits.values import flow_text


@dataclass(frozen=True)
class Face:
    """glyph: the name of a drawing of the page, or empty. over: a text beside it; under: the
    denominator, if over is the numerator of a fraction."""

    glyph: str = ""
    over: str = ""
    under: str = ""

    @property
    def is_telling(self) -> bool:
        """Whether it says what kind of block this is, without the name of its type."""
        return bool(self.glyph or self.under)

    @property
    def data(self) -> dict[str, str]:
        """The face as data for the page."""
        return {"glyph": self.glyph, "over": self.over, "under": self.under}


_GLYPHS = {
    "RAMP": "ramp",
    "CHIRP": "chirp",
    "MULTISINE": "sine",
    "PULSE": "square",
    "PULSE_WIDTH": "square",
    "PWPF": "square",
    "PIECEWISE": "stairs",
    "REPEATING": "sawtooth",
    "NOISE": "noise",
    "BAND_LIMITED_NOISE": "noise",
    "RANDOM_WALK": "noise",
    "PRBS": "bits",
    "PRBS_S": "bits",
    "TIME": "clock",
    "SCOPE": "scope",
    "SCOPEXY": "scopexy",
    "SCOPEXY1": "scopexy",
    "ABS": "abs",
    "SIGN": "sign",
    "SATURATION": "saturation",
    "CLIP": "saturation",
    "EFFORT_LIMIT": "saturation",
    "DEADZONE": "deadzone",
    "QUANTIZER": "quantizer",
    "ADC": "quantizer",
    "DAC": "stairs",
    "ZOH": "stairs",
    "SAMPLE_HOLD": "stairs",
    "FIRST_ORDER_HOLD": "hold",
    "RELAY": "relay",
    "BACKLASH": "backlash",
    "BACKLASH_S": "backlash",
    "RATE_LIMITER": "limiter",
    "RATE_LIMITER_S": "limiter",
    "LOOKUP": "lookup",
    "INTERPOLATE": "lookup",
    "LOOKUP_2D": "surface",
    "LOOKUP_ND": "surface",
    "TRANSPORT_DELAY": "delay",
    "VARIABLE_DELAY": "delay",
    "EDGE": "edge",
    "HIT_CROSSING": "hit",
    "SWITCH": "switch",
    "MANUAL_SWITCH": "switch",
    "MULTIPORT_SWITCH": "switch",
    "MERGE": "merge",
    "MUX": "bar",
    "DEMUX": "bar",
    "BUS_CREATOR": "bar",
    "BUS_SELECTOR": "bar",
    "STATE_MACHINE": "machine",
    "STATE_MACHINE_S": "machine",
    "MULTIBODY": "arm",
    "CLOSED_CHAIN": "chain",
    "GRAVITY": "weight",
    "REACTION_WHEELS": "wheel",
    "SPECTRUM": "spectrum",
    "LOW_PASS": "lowpass",
    "LOW_PASS_S": "lowpass",
    "NOTCH": "notch",
    "NOTCH_S": "notch",
}
_FRACTIONS = {
    "INTEGRATOR": ("1", "s"),
    "RESET_INTEGRATOR": ("1", "s"),
    "SECOND_ORDER_INTEGRATOR": ("1", "s²"),
    "INTEGRATOR_S": ("T", "z − 1"),
    "DERIV": ("du", "dt"),
    "DERIV2": ("du", "dt"),
    "DERIV_S": ("z − 1", "T z"),
    "ZERO_POLE": ("∏ (s − zᵢ)", "∏ (s − pᵢ)"),
    "ZERO_POLE_S": ("∏ (z − zᵢ)", "∏ (z − pᵢ)"),
}
_POLYNOMIALS = {
    "TRANSFER_FUNCTION": ("num", "den", "s"),
    "TRANSFER_FUNCTION_S": ("num", "den", "z"),
    "LTI_SISO": ("N", "D", "s"),
    "LTI_SISO_S": ("N", "D", "z"),
}
_TEXTS = {
    "DOT": "a · b",
    "CROSS": "a × b",
    "NORM": "‖u‖",
    "DET": "det u",
    "TRANSPOSE": "uᵀ",
    "INVERSE": "u⁻¹",
    "ELEMENT_SUM": "Σ uᵢ",
    "ELEMENT_PRODUCT": "∏ uᵢ",
    "STATE_SPACE": "ẋ = A x + B u",
    "STATE_SPACE_S": "x⁺ = A x + B u",
    "LTI_SS": "ẋ = A x + B u",
    "LTI_SS_S": "x⁺ = A x + B u",
    "SKEW_MATRIX": "u×",
}
_WORDS = {
    "CONSTANT": ("value", "0"),
    "TRIG": ("function", "sin"),
    "MATH": ("function", "exp"),
    "MINMAX": ("function", "min"),
    "ROUND": ("function", "round"),
    "COMPARE": ("operator", ""),
    "FCN": ("expression", ""),
    "GOTO": ("tag", ""),
    "FROM": ("tag", ""),
}
"""The parameter whose value alone is shown, and its default."""
_SETTINGS = {"STEP": ("T", "on"), "POW": ("p",), "WAVEFORM": ("freq",)}
"""Parameters that are shown with their names."""
_BY_PARAMETER = {
    "STEP": ("", "", {"": "step"}),
    "GAIN": ("", "", {"": "gain"}),
    "WAVEFORM": ("wave", "square", {"sine": "sine", "square": "square", "triangle": "sawtooth"}),
    "LOGIC": (
        "operator",
        "and",
        {name: name for name in ("and", "or", "not", "nand", "nor", "xor")},
    ),
}
"""The parameter that chooses the glyph, its default, and the glyph for each of its values."""
_SIGNS = {"<=": "≤", ">=": "≥", "!=": "≠", "==": "="}
_LONGEST, _LONGEST_GAIN = 28, 10
_POWERS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def face_of(kind: str, section: Mapping[str, Any]) -> Face:
    """The face of a block by its type and its section of the file."""
    if kind in _POLYNOMIALS:
        above, below, variable = _POLYNOMIALS[kind]
        return Face(
            "", *(_polynomial(section.get(key, 1), variable, key) for key in (above, below))
        )
    if kind in _FRACTIONS:
        return Face("", *_FRACTIONS[kind])
    if kind == "UNIT_DELAY":
        return Face("", "1", _power("z", section.get("N", 1)))
    glyph = _GLYPHS.get(kind, "")
    if kind in _BY_PARAMETER:
        key, default, glyphs = _BY_PARAMETER[kind]
        glyph = glyphs.get(str(section.get(key, default)) if key else "", "")
    return Face(glyph, _text(kind, section))


def _text(kind: str, section: Mapping[str, Any]) -> str:
    if kind == "GAIN":
        gain = _written(section.get("K", 1))
        return gain if len(gain) <= _LONGEST_GAIN else "K"
    if kind in _WORDS:
        key, default = _WORDS[kind]
        text = _written(section[key]) if key in section else default
        return shortened(f"[{text}]" if key == "tag" else _SIGNS.get(text, text))
    told = (
        f"{key} = {_written(section[key])}" for key in _SETTINGS.get(kind, ()) if key in section
    )
    return shortened(", ".join(told)) or _TEXTS.get(kind, "")


def _written(value: Any) -> str:
    """A value as in the file, without the quotes of a text."""
    if isinstance(value, str):
        return value
    try:
        return " ".join(flow_text(value).split())
    except InputError:
        return "…"


def shortened(text: str) -> str:
    """A text, cut where it is too long for a box."""
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _power(variable: str, power: Any) -> str:
    return variable if power == 1 else f"{variable}{str(power).translate(_POWERS)}"


def _polynomial(value: Any, variable: str, name: str) -> str:
    """A polynomial by its coefficients, the highest power first, as "s² + 2 s + 1"; its name where
    these are not numbers, or too many."""
    numbers = value if isinstance(value, list) else [value]
    if not numbers or not all(type(one) in (int, float) for one in numbers):
        return f"{name}({variable})"
    text = ""
    for power, number in zip(range(len(numbers) - 1, -1, -1), numbers, strict=True):
        if number == 0:
            continue
        size = flow_text(abs(number))
        factor = _power(variable, power) if power else ""
        term = factor if factor and abs(number) == 1 else " ".join(filter(None, (size, factor)))
        sign = "−" if number < 0 else "+"
        text += f" {sign} {term}" if text else f"{sign if number < 0 else ''}{term}"
    return text if 0 < len(text) <= _LONGEST else "0" if not text else f"{name}({variable})"

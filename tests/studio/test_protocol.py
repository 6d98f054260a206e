"""The types of the page are those of the server; `protocol_types` holds its answers to them."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
from protocol_types import check, check_told

from spart_blocks.studio.protocol.messages import ANSWERS
from spart_blocks.studio.requests import all_handlers

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("make_protocol", ROOT / "docs/make_protocol.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_types_of_the_page_are_written_from_those_of_the_server(script):
    assert script.WRITTEN.read_text("utf-8") == script.written(), "run python docs/make_protocol.py"


def test_every_request_has_a_type_of_its_answer():
    assert set(ANSWERS) == set(all_handlers())


def test_a_type_is_translated(script):
    text = '''"""Types."""

Point = tuple[float, float]


# Of a block.
class Made(TypedDict):
    """What is made."""

    # By whom.
    by: NotRequired[str | None]
    kinds: dict[str, list[Literal["a", "b"]]]


TABLE: Mapping[str, Any] = {"make": list[Made], "end": None}
'''
    assert script.typescript(text) == (
        "// Types.\n\n"
        "export type Point = [number, number];\n\n"
        "// Of a block.\n/** What is made. */\nexport interface Made {\n"
        "  /** By whom. */\n  by?: string | null;\n"
        '  kinds: Record<string, ("a" | "b")[]>;\n}\n\n'
        'export interface Table {\n  "make": Made[];\n  "end": null;\n}\n'
    )
    with pytest.raises(TypeError, match=r"set\[str\] has no translation"):
        script.typescript("Names = set[str]")


@pytest.mark.parametrize(
    "message",
    [
        {"tell": "run-dropped", "path": "a.yaml", "run": "1"},
        {"tell": "run-dropped", "path": "a.yaml"},
        {"tell": "run-dropped", "path": "a.yaml", "run": 1, "why": ""},
        {"tell": "other"},
    ],
)
def test_what_is_not_of_the_protocol_is_noticed(message):
    with pytest.raises(AssertionError):
        check_told(message)
    with pytest.raises(AssertionError):
        check([True], list[int], "a list")

"""Handlers of the requests about the claims of a file and its test."""

from __future__ import annotations

from typing import Any

from spart_blocks.studio.claims.listing import claims_of
from spart_blocks.studio.claims.testing import tests_of
from spart_blocks.studio.client import Client, Handler
from spart_blocks.studio.files.session import opened_files, with_file

Given = dict[str, Any]


async def claims(client: Client, given: Given) -> Given:
    """The claims of a file, and its last test."""
    file = opened_files(client.session).of(given)
    found = await with_file(file, lambda: claims_of(file.reading))
    test = tests_of(client.session).tests.get(file.name)
    return {**found, "test": None if test is None else test.facts}


async def test(client: Client, given: Given) -> Given:
    """Start a test of a file as it is on disk."""
    file, update = opened_files(client.session).of(given), given.get("update") is True
    return await tests_of(client.session).begin(file.name, file.path, update)


async def stop_test(client: Client, given: Given) -> None:
    """Stop the test of a file."""
    await tests_of(client.session).stop(opened_files(client.session).of(given).name)


async def record(client: Client, given: Given) -> Given:
    """Write the baselines that the last test of a file proposes to change."""
    return await tests_of(client.session).record(opened_files(client.session).of(given).name)


HANDLERS: dict[str, Handler] = {
    "claims": claims,
    "test": test,
    "stop-test": stop_test,
    "record": record,
}

"""Links over local sockets, closed at the end of a test."""

from __future__ import annotations

import socket

import pytest
from link_pair import Pair
from link_transports import TRANSPORTS, load, ports


@pytest.fixture
def pair():
    """pair(description, kind=..., timeout=..., safe=...): a Pair, closed at the end."""
    made = []

    def make(*given, **options):
        made.append(Pair(*given, **options))
        return made[-1]

    yield make
    for each in made:
        each.close()


@pytest.fixture
def udp_pair(pair):
    """As pair, over UDP on loopback, with room for many packets."""

    def make(*given, **options):
        link = pair(*given, **options)
        link.close()
        link.near = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        link.near.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2**22)
        link.near.bind(("127.0.0.1", 0))
        link.far = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        link.far.connect(link.near.getsockname())
        link.link.fd = link.near.fileno()
        return link

    return make


@pytest.fixture(params=TRANSPORTS)
def diagram(request, tmp_path):
    """A plant and a controller, connected over each of the transports."""
    kind, line = TRANSPORTS[request.param]
    with line(tmp_path) as places:
        yield load(tmp_path, kind, *places)


@pytest.fixture
def udp(tmp_path):
    with ports("", "") as places:
        yield load(tmp_path, "UDP", *places)


@pytest.fixture
def tcp(tmp_path):
    with ports("", "") as places:
        yield load(tmp_path, "TCP", *places)

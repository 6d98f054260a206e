"""Access control of the studio: only browsers opened by the printed link have access.

A page of another site must not reach the studio, even where its name resolves to this machine (DNS
rebinding), where it opens a WebSocket to it, or where it links to it. So every request must name an
allowed host, and have the cookie that the link with the one-time token set; a WebSocket must come
from a page of the studio's own origin; and the page loads nothing from elsewhere.
"""

from __future__ import annotations

import hmac
import ipaddress
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field

MOST_REQUESTS = 200.0
"""Sustained number of requests per second that a page may send; a burst may be twice as many."""
MOST_BYTES = 2**20
"""Largest size of a request [bytes]."""
MOST_PAGES = 16
"""Largest number of pages that are open at once."""


@dataclass
class AccessGate:
    """The addresses at which the studio is reached, its one-time token, and its cookie.

    host: the address or name that it listens on. port: 0 until it is known.
    """

    host: str = "127.0.0.1"
    port: int = 0
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    cookie: str = field(default_factory=lambda: secrets.token_urlsafe(32))

    @property
    def cookie_name(self) -> str:
        """The name of the cookie. It includes the port, since all ports of a host share cookies."""
        return f"spart_studio_{self.port}"

    @property
    def link(self) -> str:
        """The link that opens the studio, valid once."""
        return f"{self.origin}/?token={self.token}"

    @property
    def origin(self) -> str:
        """The origin of the page."""
        return f"http://{_bracketed(self.host)}:{self.port}"

    @property
    def hosts(self) -> frozenset[str]:
        """The allowed values of the header Host."""
        names = {self.host}
        if is_loopback(self.host):
            names |= {"127.0.0.1", "localhost", "::1"}
        return frozenset(f"{_bracketed(name)}:{self.port}" for name in names)

    def knows_host(self, headers: Mapping[str, str]) -> bool:
        """Whether the header Host of a request is allowed."""
        return headers.get("host", "").lower() in self.hosts

    def is_own_page(self, headers: Mapping[str, str]) -> bool:
        """Whether the header Origin is that of this studio."""
        origin = headers.get("origin", "")
        return origin.startswith("http://") and origin.removeprefix("http://") in self.hosts

    def admits(self, cookies: Mapping[str, str]) -> bool:
        """Whether a request has the studio's cookie."""
        return _equal(cookies.get(self.cookie_name, ""), self.cookie)

    def exchanges(self, token: str) -> bool:
        """Whether a token is the valid one. A valid token is replaced by a new one."""
        right = _equal(token, self.token)
        if right:
            self.token = secrets.token_urlsafe(32)
        return right

    def headers(self) -> dict[str, str]:
        """The security headers of each response."""
        # 'self' means WebSockets too, but not in every browser; a policy knows no IPv6 addresses.
        sockets = " ".join(f"ws://{host}" for host in sorted(self.hosts) if host[0] != "[")
        policy = (
            "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; "
            f"img-src 'self' blob: data:; connect-src 'self' {sockets}; worker-src 'self'; "
            "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        )
        return {
            "Content-Security-Policy": policy,
            "Cross-Origin-Opener-Policy": "same-origin",
            "Cross-Origin-Resource-Policy": "same-origin",
            "Referrer-Policy": "no-referrer",
            "X-Content-Type-Options": "nosniff",
            "X-Frame-Options": "DENY",
        }


def is_loopback(host: str) -> bool:
    """Whether a host is a loopback address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _equal(given: str, right: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "replace"), right.encode())


@dataclass
class RequestPace:
    """Rate limit of a page's requests: a token bucket. left: requests that may still be sent; at
    [s]: when it was updated."""

    left: float = 2 * MOST_REQUESTS
    at: float = 0.0

    def takes(self, now: float) -> bool:
        """Whether another request is allowed at time `now` [s]."""
        self.left = min(2 * MOST_REQUESTS, self.left + MOST_REQUESTS * (now - self.at))
        self.at = now
        if self.left < 1:
            return False
        self.left -= 1
        return True

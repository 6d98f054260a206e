"""Who may speak with the studio: this machine's own browser, opened by the link that was printed.

A page of another site must not reach the studio, even where its name resolves to this machine
(DNS rebinding), where it opens a WebSocket to it, or where it links to it. So every request must
name a host that is allowed, and bring the cookie that the link with the one-time token gave; a
WebSocket must come from a page of the studio's own origin; and the page loads nothing from
elsewhere.
"""

from __future__ import annotations

import hmac
import ipaddress
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field

MOST_REQUESTS = 200.0
"""Requests a second that a page may send for long, and twice as many at once."""
MOST_BYTES = 2**20
"""Of a request."""
MOST_PAGES = 16
"""Open at once."""


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
        """Cookies of one host are shared by all its ports."""
        return f"spart_studio_{self.port}"

    @property
    def link(self) -> str:
        """The address that opens the studio once."""
        return f"{self.origin}/?token={self.token}"

    @property
    def origin(self) -> str:
        """Of the page."""
        return f"http://{_bracketed(self.host)}:{self.port}"

    @property
    def hosts(self) -> frozenset[str]:
        """What the header Host may say."""
        names = {self.host}
        if is_loopback(self.host):
            names |= {"127.0.0.1", "localhost", "::1"}
        return frozenset(f"{_bracketed(name)}:{self.port}" for name in names)

    def knows_host(self, headers: Mapping[str, str]) -> bool:
        """Whether a request names this studio."""
        return headers.get("host", "").lower() in self.hosts

    def is_own_page(self, headers: Mapping[str, str]) -> bool:
        """Whether a request comes from a page of this studio."""
        origin = headers.get("origin", "")
        return origin.startswith("http://") and origin.removeprefix("http://") in self.hosts

    def admits(self, cookies: Mapping[str, str]) -> bool:
        """Whether a request has the studio's cookie."""
        return _equal(cookies.get(self.cookie_name, ""), self.cookie)

    def exchanges(self, token: str) -> bool:
        """Whether a token is the one that was given out; it counts once, and another takes its
        place."""
        right = _equal(token, self.token)
        if right:
            self.token = secrets.token_urlsafe(32)
        return right

    def headers(self) -> dict[str, str]:
        """The headers of each answer."""
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
    """Whether a host is this machine alone."""
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
    """How many requests a page may still send: each takes one, and time brings them back."""

    left: float = 2 * MOST_REQUESTS
    at: float = 0.0

    def takes(self, now: float) -> bool:
        """Whether one more is allowed at a time [s]."""
        self.left = min(2 * MOST_REQUESTS, self.left + MOST_REQUESTS * (now - self.at))
        self.at = now
        if self.left < 1:
            return False
        self.left -= 1
        return True

"""Attacks on the studio, one test for each, and what lets the right page in."""

from __future__ import annotations

import json

import pytest
from studio_pages import served
from websockets.exceptions import ConnectionClosed, InvalidStatus

from spart_blocks.studio.gate import (
    MOST_BYTES,
    MOST_PAGES,
    MOST_REQUESTS,
    AccessGate,
    RequestPace,
    is_loopback,
)


def test_the_link_is_exchanged_for_a_strict_cookie_that_scripts_cannot_read(studio):
    status, headers, _ = studio.get(f"/?token={studio.gate.token}", cookie=False)
    assert (status, headers["location"]) == (303, "/")
    cookie, *flags = headers["set-cookie"].split("; ")
    assert {flag.lower() for flag in flags} == {"httponly", "path=/", "samesite=strict"}
    assert studio.get("/", cookie=cookie)[0] == 200


def test_a_link_works_once(studio):
    token = studio.gate.token
    assert studio.get(f"/?token={token}", cookie=False)[0] == 303
    status, headers, _ = studio.get(f"/?token={token}", cookie=False)
    assert status == 403
    assert "set-cookie" not in headers
    assert studio.get(f"/?token={token}")[0] == 303  # the browser that has used it


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/page/index.html",
        "/thumbnail?path=diagrams/loop.yaml",
        "/download?path=x&run=1&kind=npz",
        "/?token=guessed",
    ],
)
@pytest.mark.parametrize("cookie", [False, "spart_studio=1", "other=2"])
def test_without_the_cookie_nothing_is_served(studio, path, cookie):
    status, _, body = studio.get(path, cookie=cookie)
    assert status == 403
    assert b"locked" in body


def test_another_browser_gets_a_new_link_from_the_terminal_alone(studio):
    _, _, body = studio.get("/", cookie=False)
    assert studio.gate.token.encode() not in body
    assert [studio.gate.link in line for line in studio.said] == [True]
    studio.get("/", cookie=False)
    assert len(studio.said) == 1  # not again and again


def test_the_page_comes_compressed_to_browsers_that_take_it(studio, tmp_path):
    (tmp_path / "page" / "a.js").write_text("let a = 1;")
    (tmp_path / "page" / "a.js.br").write_bytes(b"compressed")
    for takes in ("gzip, deflate, br", "br;q=1.0"):
        _, headers, body = studio.get("/page/a.js", **{"Accept-Encoding": takes})
        assert body == b"compressed"
        assert headers["content-type"].startswith("text/javascript")
        assert (headers["content-encoding"], headers["vary"]) == ("br", "Accept-Encoding")
    for takes in ("gzip", "", "brown"):
        _, headers, body = studio.get("/page/a.js", **{"Accept-Encoding": takes})
        assert body == b"let a = 1;"
        assert "content-encoding" not in headers


@pytest.mark.parametrize("host", ["evil.example", "evil.example:{port}", "127.0.0.1",
                                  "127.0.0.1:1", "localhost.evil.example:{port}"])  # fmt: skip
def test_a_name_that_resolves_to_this_machine_is_not_served(studio, host):
    port = studio.gate.port
    assert studio.get("/", host=host.format(port=port))[0] == 421
    link = f"/?token={studio.gate.token}"
    assert studio.get(link, cookie=False, host=host.format(port=port))[0] == 421


def test_the_machine_s_own_names_are_served(studio):
    for name in ("localhost", "127.0.0.1", "[::1]"):
        assert studio.get("/", host=f"{name}:{studio.gate.port}")[0] == 200


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "https://127.0.0.1:{port}",
                                    "http://127.0.0.1:{port}.evil.example",
                                    "http://127.0.0.1:1"])  # fmt: skip
def test_pages_of_other_sites_cannot_open_a_socket(studio, origin):
    with (
        pytest.raises(InvalidStatus) as refused,
        studio.page(origin=origin.format(port=studio.gate.port)),
    ):
        pass
    assert refused.value.response.status_code == 403


def test_a_socket_needs_the_cookie_and_the_host(studio):
    for given in ({"cookie": False}, {"cookie": "spart_studio=1"}):
        with pytest.raises(InvalidStatus), studio.page(**given):
            pass
    with studio.page() as page:
        assert page.ok("project")["name"] == "project"


def test_every_answer_has_the_policy_of_its_own_page(studio):
    for path in ("/", "/page/index.html", "/nothing"):
        headers = studio.get(path)[1]
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "script-src 'self';" in policy
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["cross-origin-resource-policy"] == "same-origin"
        assert "access-control-allow-origin" not in headers


@pytest.mark.parametrize("path", ["/page/../../secret.yaml", "/page/..%2f..%2fsecret.yaml",
                                  "/page/%2e%2e/project/spart.toml", "//etc/passwd",
                                  "/page//etc/passwd"])  # fmt: skip
def test_no_path_leaves_the_page(studio, path):
    assert studio.get(path)[0] in (400, 404)


@pytest.mark.parametrize("path", ["../secret.yaml", "diagrams/../../secret.yaml", "/etc/passwd",
                                  "diagrams/link.yaml", "", ".", "\0", "diagrams"])  # fmt: skip
@pytest.mark.parametrize("what", ["open", "sheet", "edit", "form", "run", "motion"])
def test_no_request_leaves_the_project(studio, project, path, what):
    (project / "diagrams" / "link.yaml").symlink_to(project.parent / "secret.yaml")
    with studio.page() as page:
        found = page.ask(what, path=path, at="", block="", run=None, operations=[], revision="")
        assert "problem" in found
        assert "secret" not in json.dumps(found["problem"]).replace("secret.yaml", "")


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH"])
def test_nothing_is_changed_by_plain_requests(studio, method):
    assert studio.get("/", method=method)[0] in (404, 405)


def test_a_huge_message_closes_the_page_that_sent_it(studio):
    with studio.page() as page, studio.page() as other:
        page.socket.send("x" * (MOST_BYTES + 1))
        with pytest.raises(ConnectionClosed):
            page.socket.recv(timeout=20)
        assert other.ok("project")


def flood(socket):
    for _ in range(20 * int(MOST_REQUESTS)):
        socket.send("{}")
    while True:
        socket.recv(timeout=20)


def test_a_flood_of_requests_closes_the_page_that_sent_it(studio):
    with studio.page() as page, pytest.raises(ConnectionClosed):
        flood(page.socket)
    with studio.page() as page:
        assert page.ok("project")


def test_a_page_may_send_as_many_as_it_needs():
    pace = RequestPace()
    assert all(pace.takes(k / MOST_REQUESTS) for k in range(5000))
    assert not all(pace.takes(30.0) for _ in range(500))


def test_pages_beyond_the_most_are_refused(studio):
    pages = [studio.page() for _ in range(MOST_PAGES)]
    try:
        for page in pages:
            page.__enter__()
        with pytest.raises(InvalidStatus), studio.page():
            pass
    finally:
        for page in pages:
            page.__exit__(None, None, None)


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '"x"', '{"n": 1}', '{"do": "open"}',
                                  '{"n": "x", "do": "open"}', "[" * 5000])  # fmt: skip
def test_what_is_no_request_is_told_so(studio, text):
    with studio.page() as page:
        page.socket.send(text)
        assert "no request" in json.loads(page.socket.recv(timeout=20))["problem"]["message"]
        assert page.ask("fly") == {"n": 1, "problem": {"message": "there is no request 'fly'"}}


def test_binary_messages_close_the_page(studio):
    with studio.page() as page:
        page.socket.send(b"\0\1")
        with pytest.raises(ConnectionClosed):
            page.socket.recv(timeout=20)


def test_other_machines_are_named_as_such():
    assert is_loopback("127.0.0.1")
    assert is_loopback("::1")
    assert is_loopback("localhost")
    assert not is_loopback("0.0.0.0")
    assert not is_loopback("example.org")
    gate = AccessGate("192.0.2.7", 80)
    assert gate.hosts == {"192.0.2.7:80"}
    assert AccessGate("::1", 80).origin == "http://[::1]:80"


def test_two_studios_do_not_share_their_cookies(project, tmp_path):
    with served(project, tmp_path / "one") as one, served(project, tmp_path / "two") as two:
        assert one.gate.cookie_name != two.gate.cookie_name
        assert two.get("/", cookie=one.cookie)[0] == 403

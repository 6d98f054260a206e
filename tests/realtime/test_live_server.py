"""A loop is tuned and watched from outside, and goes on whatever is sent to it."""

from __future__ import annotations

import contextlib
import gc
import json
import socket
import threading

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from live_loop import WAIT, DirectedLoop, until

from spart_blocks.base.errors import InputError, RunError
from spart_blocks.realtime import live_connection
from spart_blocks.realtime.live import MOST_CLIENTS, LiveServer
from spart_blocks.realtime.live_client import LiveClient, SignalRecording
from spart_blocks.realtime.structs import Ended

pytestmark = pytest.mark.usefixtures("loop_folder")


@pytest.fixture
def client(server):
    with LiveClient(server.place, patience=WAIT) as connected:
        yield connected


class Raw:
    """A client that sends what it likes."""

    def __init__(self, place, token=True):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.settimeout(WAIT)
        self.socket.connect(str(place.socket))
        self.file = self.socket.makefile("rb")
        if token:
            self.send(json.dumps({"token": place.token}).encode() + b"\n")
            assert "hello" in self.read()

    def send(self, data):
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self.socket.sendall(data)

    def read(self):
        return json.loads(self.file.readline())

    def rest(self):
        """All that it is told until the loop hangs up."""
        told = []
        with contextlib.suppress(ConnectionResetError):
            while line := self.file.readline():
                told.append(json.loads(line))
        return told

    def close(self):
        self.file.close()
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def watched_rows(client, count):
    """The next rows that a client gets, as many as are said."""
    got = []
    until(lambda: (got.append(client.rows(0.1)), sum(map(len, got)) >= count)[1])
    return np.concatenate(got)


# --- parameters --------------------------------------------------------------------------


def test_parameters_and_free_inputs_are_listed(client):
    rows = {row["name"]: row for row in client.describe()["parameters"]}
    assert rows["ctrl.kp"] == {
        "name": "ctrl.kp", "kind": "parameter", "shape": [3], "value": [40.0, 40.0, 10.0],
        "unit": "", "bounds": [0.0, 500.0], "changed": False,
    }  # fmt: skip
    assert rows["ctrl.kd"]["bounds"] == [0.0, None]  # what the block takes
    assert rows["qd"]["kind"] == "input"
    assert rows["qd"]["value"] == [0.5, -0.3, 0.2]
    assert rows["sum.x0"]["fixed"] == "is used at the start only"
    assert rows["qm"]["fixed"] == "is received over a link"


def test_a_loop_says_who_and_how_it_is(client, loop):
    loop.time, loop.overruns = 2.5, 3
    assert (client.hello["name"], client.hello["rate"]) == ("servo", 1000.0)
    assert client.status() == {"time": 2.5, "phase": "running", "rate": 1000.0, "overruns": 3}


def test_what_is_set_together_reaches_the_loop_together(client, loop):
    answer = client.set({"ctrl.kp": [60, 61, 62], "qd": 0.3})
    assert answer == {"ctrl.kp": [60.0, 61.0, 62.0], "qd": [0.3] * 3}
    assert len(loop.library.tuned) == 1
    np.testing.assert_array_equal(loop.parameters.values["ctrl.kp"], [60, 61, 62])
    np.testing.assert_array_equal(loop.parameters.values["qd"], [0.3] * 3)
    changed = {row["name"] for row in client.describe()["parameters"] if row.get("changed")}
    assert changed == {"ctrl.kp", "qd"}


def test_elements_are_set_and_the_others_stay(client, loop):
    client.set({"ctrl.kp[0]": 60, "ctrl.kp[2]": 20, "ctrl.kd[0:2]": [1, 2], "qd[-1]": 9})
    values = loop.parameters.values
    np.testing.assert_array_equal(values["ctrl.kp"], [60, 40, 20])
    np.testing.assert_array_equal(values["ctrl.kd"], [1, 2, 5])
    np.testing.assert_array_equal(values["qd"], [0.5, -0.3, 9])


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"ctrl.kq": 1}, "no parameter or free input 'ctrl.kq'\n  did you mean 'ctrl.kp'"),
        ({"ctrl.kp": [1, 2]}, r"ctrl.kp has shape \(3,\), not \(2,\)"),
        ({"ctrl.kp": [[1, 2, 3]]}, r"shape \(3,\), not \(1, 3\)"),
        ({"ctrl.kp": [1, [2], 3]}, "ctrl.kp takes numbers"),
        ({"ctrl.kp": [1, 2, 501]}, "ctrl.kp must lie between 0 and 500"),
        ({"ctrl.kp[1]": -1}, "ctrl.kp must lie between 0 and 500"),
        ({"ctrl.kp": float("nan")}, "ctrl.kp takes finite numbers"),
        ({"ctrl.kd": [1, 2, float("inf")]}, "ctrl.kd takes finite numbers"),
        ({"ctrl.kd": 10**400}, "ctrl.kd takes finite numbers"),
        ({"ctrl.kp": "3"}, "ctrl.kp takes numbers, not '3'"),
        ({"ctrl.kp": True}, "ctrl.kp takes numbers, not True"),
        ({"ctrl.kp": None}, "ctrl.kp takes numbers, not None"),
        ({"ctrl.kp": {"a": 1}}, "ctrl.kp takes numbers, not {'a': 1}"),
        ({"ctrl.kp[3]": 1}, "index 3 is out of range, the size is 3"),
        ({"ctrl.kp[a]": 1}, "'a' is not an index"),
        ({"ctrl.kp[0:2]": [1, 2, 3]}, r"ctrl.kp\[0:2\] does not accept a value of this shape"),
        ({"ctrl.kp": 1, "ctrl.kp[0]": 2}, "ctrl.kp is given twice"),
        ({"ctrl.kp[0]": 2, "ctrl.kp": 1}, "ctrl.kp is given twice"),
        ({"sum.x0": 1}, "sum.x0 cannot be set while the loop runs: it is used at the start only"),
        ({"qm": 1}, "qm cannot be set while the loop runs: it is received over a link"),
        ({"qm[0]": 1}, "qm cannot be set while the loop runs"),
        ({"\ud800": 1}, r"no parameter or free input '\\ud800'"),
        ({}, "no values are given to set"),
    ],
    ids=str,
)  # fmt: skip
def test_a_bad_value_is_refused_with_all_others_and_the_loop_goes_on(client, loop, values, told):
    with pytest.raises(InputError, match=told):
        client.set({"ctrl.kd": 3, **values} if values and "ctrl.kd" not in values else values)
    assert loop.library.tuned == []
    assert client.set({"ctrl.kd": 7}) == {"ctrl.kd": [7.0] * 3}


def test_all_mistakes_are_told_at_once(client):
    with pytest.raises(InputError) as caught:
        client.set({"ctrl.kq": 1, "qm": 2, "ctrl.kp[9]": 3})
    assert len(caught.value.faults) == 3


@pytest.mark.parametrize("values", [None, [], "x", 3])
def test_values_that_are_no_mapping_are_refused(server, values):
    with Raw(server.place) as raw:
        raw.send(json.dumps({"do": "set", "values": values}).encode() + b"\n")
        assert raw.read() == {"faults": [["no values are given to set", None]]}


def test_a_request_of_another_version_is_answered(server):
    with Raw(server.place) as raw:
        raw.send(b'{"do": "dance"}\n{}\n')
        for _ in range(2):
            assert "its version may differ" in raw.read()["faults"][0][0]


# --- who may ask -------------------------------------------------------------------------


@pytest.mark.parametrize("token", ["", "wrong", None, 3, "\ud800", ["a"]])
def test_without_the_token_a_client_is_told_so_and_closed(server, loop, token):
    with Raw(server.place, token=False) as raw:
        asked = {"do": "set", "values": {"ctrl.kp": 1}}
        raw.send(b"".join(json.dumps(m).encode() + b"\n" for m in ({"token": token}, asked)))
        assert raw.rest() == [{"refused": "the token is not that of this loop"}]
    assert loop.library.tuned == []


def test_the_token_comes_before_anything_else(server, loop):
    with Raw(server.place, token=False) as raw:
        raw.send(b'{"do": "describe"}\n')
        assert raw.rest() == [{"refused": "the token is not that of this loop"}]


def test_a_wrong_token_file_is_an_error_of_the_input(server):
    server.place.token_file.chmod(0o600)
    server.place.token_file.write_text("stale")
    with pytest.raises(InputError, match="servo refused: the token is not that of this loop"):
        LiveClient(server.place)


def test_who_never_shows_a_token_is_sent_away(loop):
    with (
        LiveServer(loop, "servo", patience=0.05) as server,
        Raw(server.place, token=False) as raw,
    ):
        assert raw.rest() == [{"refused": "it sent no token"}]


def test_who_shows_the_token_may_stay_silent(loop):
    with (
        LiveServer(loop, "servo", patience=WAIT) as server,
        LiveClient(server.place, patience=WAIT) as quiet,
        Raw(server.place, token=False) as raw,
    ):
        server.patience = 0.05  # only now: whoever comes may be slow to show it
        raw.rest()  # which takes longer than the patience
        assert quiet.status()["phase"] == "running"


def test_no_more_clients_than_it_can_serve(server):
    with contextlib.ExitStack() as kept:
        for _ in range(MOST_CLIENTS):
            last = kept.enter_context(LiveClient(server.place, patience=WAIT))
        with pytest.raises(InputError, match=f"{MOST_CLIENTS} clients are connected already"):
            LiveClient(server.place, patience=WAIT)
        last.close()
        until(lambda: len(server._clients) < MOST_CLIENTS)
        kept.enter_context(LiveClient(server.place, patience=WAIT)).set({"ctrl.kp": 2})


# --- hostile clients ---------------------------------------------------------------------

_WORDS = [b'{"do":', b'"set"', b"{", b"}", b"[", b"\n", b'"values":', b'"watch"', b"\xff", b"NaN"]
_JUNK = st.lists(st.binary(max_size=30) | st.sampled_from(_WORDS), max_size=20).map(b"".join)
_SAME_SERVER = settings(
    max_examples=60,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@_SAME_SERVER
@given(junk=_JUNK, token=st.booleans())
def test_whatever_bytes_come_the_loop_goes_on_and_others_are_answered(
    server, loop, client, junk, token
):
    with Raw(server.place, token) as raw:
        raw.send(junk + b"\n")
        raw.socket.shutdown(socket.SHUT_WR)
        for message in raw.rest():
            assert set(message) & {"refused", "faults", "answer", "rows"}
    assert loop.library.tuned == []
    assert client.status()["phase"] == "running"


_PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda some: (
        st.lists(some, max_size=4) | st.dictionaries(st.text(max_size=3), some, max_size=3)
    ),
    max_leaves=8,
)
_NAMES = st.sampled_from(["ctrl.kp", "ctrl.kp[0]", "qd", "qd[0:9]", "sum.x0", ""]) | st.text()


@_SAME_SERVER
@given(
    request=st.fixed_dictionaries(
        {"do": st.sampled_from(["set", "watch", "describe"]) | _PLAIN},
        optional={
            "values": st.dictionaries(_NAMES, _PLAIN, max_size=3) | _PLAIN,
            "signals": st.lists(_NAMES, max_size=3) | _PLAIN,
            "rate": _PLAIN,
        },
    )
)
def test_every_request_is_answered_or_its_faults_are_told(server, loop, client, request):
    with Raw(server.place) as raw:
        raw.send(json.dumps(request).encode() + b"\n")
        raw.socket.shutdown(socket.SHUT_WR)
        [answer] = raw.rest()
        assert set(answer) in ({"answer"}, {"faults"}) or answer == {
            "refused": "a message is not a line of JSON"  # NaN
        }
    for value in loop.parameters.values.values():
        assert np.isfinite(value).all()
    assert client.status()["phase"] == "running"


def test_a_message_without_an_end_is_refused(server, client):
    with Raw(server.place) as raw:
        raw.send(b"x" * (3 * 2**20))
        assert raw.rest() == [{"refused": "a message is longer than 1048576 bytes"}]
    assert client.status()["phase"] == "running"


def test_who_asks_without_end_does_not_keep_others_from_their_turn(server, client):
    with Raw(server.place) as raw:
        flood = threading.Thread(target=raw.send, args=(b'{"do": "describe"}\n' * 100_000,))
        flood.start()
        for k in range(20):
            assert client.set({"ctrl.kd": k}) == {"ctrl.kd": [float(k)] * 3}
            # What cannot be answered yet stays in the sockets.
            assert max(len(one._lines._bytes) for one in server._clients) < 2 * 2**16
        raw.socket.shutdown(socket.SHUT_RDWR)
        flood.join()


def test_who_asks_but_takes_no_answers_is_sent_away(loop, monkeypatch):
    monkeypatch.setattr(live_connection, "MOST_WAITING", 100_000)
    with LiveServer(loop, "servo") as server, Raw(server.place) as raw:
        raw.send(b'{"do": "describe"}\n' * 5_000)
        until(lambda: server._clients[0].leaving)
        assert raw.rest()[-1] == {"refused": "it does not read what it is sent"}


# --- signals -----------------------------------------------------------------------------


def test_signals_are_listed_with_their_shapes_and_units(client):
    rows = {row["name"]: row for row in client.describe()["signals"]}
    assert rows["ctrl.tau"]["shape"] == [3]
    assert rows["ctrl.tau"]["kind"] == "output"
    assert "N m" in rows["ctrl.tau"]["unit"]
    assert rows["qd"]["kind"] == "input"


def test_rows_come_as_the_loop_wrote_them(client, loop):
    watched = client.watch(["qd", "ctrl.tau"])
    sent = np.concatenate([loop.signals.write(100, 50), loop.signals.write(150, 50)])
    parted, want = watched.parted(watched_rows(client, 100)), loop.signals.parted(sent)
    for name in ("qd", "ctrl.tau"):
        np.testing.assert_array_equal(parted[name], want[name])
    assert client.lost == 0


def test_by_default_the_outputs_are_watched(client, loop):
    outputs = [member.name for member in loop.code.interface.outputs]
    assert list(client.watch().names) == outputs


def test_elements_of_signals_are_watched(client, loop):
    watched = client.watch(["ctrl.tau[1]", "qd[0:2]"])
    assert watched.labels == ("ctrl.tau[1]", "qd[0]", "qd[1]")
    sent = loop.signals.parted(loop.signals.write(0, 5))
    parted = watched.parted(watched_rows(client, 5))
    np.testing.assert_array_equal(parted["ctrl.tau[1]"], sent["ctrl.tau"][:, 1])
    np.testing.assert_array_equal(parted["qd[0:2]"], sent["qd"][:, :2])


def test_what_is_not_finite_is_shown_as_it_is(client, loop):
    client.watch(["ctrl.tau"])
    row = loop.signals.write(0, 1)
    row[0, 1:] = np.nan
    np.testing.assert_array_equal(watched_rows(client, 1)[0, 1:], [np.nan] * 3)


@pytest.mark.parametrize(
    ("rate", "every"), [(None, 1), (5000, 1), (1000, 1), (400, 3), (100, 10), (0.5, 2000)]
)
def test_of_a_fast_loop_every_nth_step_is_enough(client, loop, rate, every):
    watched = client.watch(["ctrl.tau"], rate)
    assert (watched.every, watched.rate) == (every, 1000 / every)
    for first, count in ((0, 7), (7, 8), (15, 8)):  # which are drained one by one
        loop.signals.write(first, count)
        until(lambda: not loop.signals.rows)
    loop.signals.write(2000, 1)
    times = watched_rows(client, len(range(0, 23, every)))[:, 0]
    np.testing.assert_array_equal(np.rint(times * 1000).astype(int) % every, 0)


def test_no_client_is_told_more_than_its_socket_bears(client, loop, monkeypatch):
    from spart_blocks.realtime import live_answers

    monkeypatch.setattr(live_answers, "MOST_PER_SECOND", 1000)
    watched = client.watch(["ctrl.tau"])
    assert watched.rate * watched.width <= 1000


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"signals": ["ctrl.tua"]}, "no signal 'ctrl.tua'\n  did you mean 'ctrl.tau'"),
        ({"signals": ["ctrl.tau[3]"]}, "index 3 is out of range"),
        ({"signals": [""]}, "no signal ''"),
        ({"rate": 0}, "a rate is a positive number, not 0"),
        ({"rate": -1.0}, "a rate is a positive number"),
        ({"rate": "fast"}, "a rate is a positive number, not 'fast'"),
    ],
    ids=str,
)
def test_what_cannot_be_watched_is_told(client, asked, told):
    with pytest.raises(InputError, match=told):
        client.watch(**asked)


def test_nothing_is_written_while_nobody_watches(server, loop):
    with LiveClient(server.place, patience=WAIT) as client:
        assert not loop.signals.streaming
        client.watch()
        assert loop.signals.streaming
    until(lambda: not loop.signals.streaming)


def test_everyone_gets_every_row_that_it_watches(server, loop):
    with contextlib.ExitStack() as kept:
        clients = [kept.enter_context(LiveClient(server.place, patience=WAIT)) for _ in range(8)]
        for client in clients:
            client.watch(["ctrl.tau"])
        sent = [loop.signals.write(100 * k, 100) for k in range(20)]
        got = [watched_rows(client, 2000) for client in clients]
        for rows in got:
            np.testing.assert_array_equal(rows[:, 0], np.concatenate(sent)[:, 0])


def test_what_is_watched_can_be_changed(client, loop):
    client.watch(["ctrl.tau"])
    loop.signals.write(0, 5)
    watched = client.watch(["qd[0]"])
    loop.signals.write(5, 3)
    rows = watched_rows(client, 3)
    assert rows.shape == (3, watched.width)
    np.testing.assert_array_equal(rows[:, 0], [0.005, 0.006, 0.007])


def test_rows_that_the_ring_had_no_room_for_are_counted(client, loop):
    loop.signals.missing = 7  # before anyone watched
    client.watch(["ctrl.tau"])
    loop.signals.missing = 12
    loop.signals.write(0, 1)
    watched_rows(client, 1)
    assert client.lost == 5


def test_rows_from_before_are_not_shown(client, loop):
    loop.signals.write(0, 5)  # left by who watched last
    client.watch(["ctrl.tau"])
    loop.signals.write(900, 1)
    np.testing.assert_array_equal(watched_rows(client, 1)[:, 0], [0.9])


def test_a_slow_client_loses_rows_which_are_counted_and_others_lose_none(
    server, loop, client, monkeypatch
):
    monkeypatch.setattr(live_connection, "MOST_WAITING", 100_000)
    client.watch(["ctrl.tau"])
    with LiveClient(server.place, patience=WAIT) as slow:
        slow.watch()
        total, got = 0, 0
        while server._clients[-1].lost == 0:  # two sockets full, and what may wait
            loop.signals.write(total, 500)
            total += 500
            got += len(watched_rows(client, 500))
        loop.end()
        rows = []
        until(lambda: (rows.append(slow.rows(0.1)), slow.ended)[1])
    assert client.lost == 0
    assert got == total
    assert 0 < sum(map(len, rows)) < total


def test_a_client_that_takes_nothing_is_told_so_and_closed(loop, monkeypatch):
    monkeypatch.setattr(live_connection, "MOST_WAITING", 2_000_000)
    with LiveServer(loop, "servo", patience=WAIT) as server, Raw(server.place) as raw:
        raw.send(b'{"do": "watch"}\n')
        raw.read()
        server.patience = 0.2
        while not server._clients[0].leaving:
            loop.signals.write(0, 2000)
            until(lambda: not loop.signals.rows)
        told = raw.rest()  # it wakes up
        assert told[-1] == {"refused": "it does not read what it is sent"}


def test_answering_leaves_nothing_for_a_garbage_collector_that_is_off(client, loop):
    def ask(count):
        for k in range(count):
            client.set({"qd": k})
            client.describe()
            for wrong in ({"ctrl.kp": [1, 2]}, {"ctrl.kq": 1}, {"ctrl.kp": -1}, {"qm": 1}):
                with pytest.raises(InputError):
                    client.set(wrong)
            loop.signals.write(10 * k, 10)
            watched_rows(client, 10)

    client.watch(["ctrl.tau"])
    ask(1)
    gc.collect()
    gc.disable()
    try:
        ask(50)
        found = gc.collect()
    finally:
        gc.enable()
    assert found < 50  # less than one for each round


# --- the end -----------------------------------------------------------------------------


def test_the_end_of_the_loop_is_told_after_its_last_rows(client, server, loop):
    client.watch(["ctrl.tau"])
    loop.signals.write(0, 30)
    loop.end(Ended.NOT_FINITE)
    assert len(watched_rows(client, 30)) == 30
    until(lambda: (client.rows(0.1), client.ended)[1])
    assert client.ended == "a result was not a number"
    until(lambda: not server.place.socket.exists())
    with pytest.raises(RunError, match="servo has ended: a result was not a number"):
        client.status()


def test_a_loop_that_has_ended_is_no_longer_found(server, loop):
    loop.end()
    until(lambda: not server.place.socket.exists())
    with pytest.raises((InputError, RunError)):
        LiveClient(server.place)


@pytest.mark.parametrize("why", list(Ended))
def test_for_every_end_there_is_a_word(client, loop, why):
    client.watch()
    loop.end(why)
    until(lambda: (client.rows(0.1), client.ended)[1])
    assert client.ended


def test_when_it_no_longer_listens_nothing_is_left(loop, loop_folder):
    before = threading.active_count()
    with LiveServer(loop, "servo") as server:
        client = LiveClient(server.place, patience=WAIT)
        client.watch()
    client.rows(WAIT)
    assert client.ended == "it can no longer be reached"
    client.close()
    assert list(loop_folder.iterdir()) == []
    assert threading.active_count() == before
    assert not loop.signals.streaming


def test_a_client_that_goes_is_forgotten(server, loop):
    with LiveClient(server.place, patience=WAIT) as client:
        client.watch()
        loop.signals.write(0, 1000)
    until(lambda: not server._clients)


def test_a_process_that_dies_is_noticed(loop_folder):
    place_socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    loop = DirectedLoop()
    with LiveServer(loop, "servo") as server:
        client = LiveClient(server.place, patience=WAIT)
        client.watch()
        server._clients[0].socket.shutdown(socket.SHUT_RDWR)
        client.rows(WAIT)
        assert client.ended == "its process has ended"
        client.close()
    place_socket.close()


def test_a_socket_where_nobody_listens_is_an_error_of_the_run(loop_folder, server, loop):
    place = server.place
    place.token_file.with_suffix(".keep").write_text(place.token)
    loop.end()
    until(lambda: not place.socket.exists())
    place.token_file.with_suffix(".keep").rename(place.token_file)
    with pytest.raises(RunError, match="does not answer: No such file"):
        LiveClient(place)


# --- recordings --------------------------------------------------------------------------


def test_a_recording_is_a_run_like_any_other(client, loop, tmp_path):
    watched = client.watch(["ctrl.tau", "qd[0]"])
    kept = SignalRecording(watched)
    sent = loop.signals.parted(loop.signals.write(0, 100))
    kept.add(watched_rows(client, 100))
    results = kept.results(lost=3)
    np.testing.assert_array_equal(results["ctrl.tau"], sent["ctrl.tau"])
    np.testing.assert_array_equal(results["qd[0]"], sent["qd"][:, 0])
    assert results.info["steps lost"] == 3
    assert "N m" in results.unit("ctrl.tau")
    again = type(results).load(results.save(tmp_path / "run.npz"))
    np.testing.assert_array_equal(again["ctrl.tau"], results["ctrl.tau"])
    assert len(results.plot()) == 1

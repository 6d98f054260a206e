"""Where loops are found, and by whom."""

from __future__ import annotations

import os
import stat
import subprocess
import sys

import pytest

from spart_blocks.base.errors import InputError
from spart_blocks.realtime import live_places
from spart_blocks.realtime.live_places import LoopPlace, chosen, listen, running, same_token


@pytest.fixture
def listening():
    """listening("pd"): a loop's place; its socket is closed after the test, or by
    listening.die(), as when its process is killed: its files stay."""
    made = []

    def start(name):
        place, token, listener = listen(name)
        made.append(listener)
        return place, token

    start.die = lambda: made[-1].close()
    yield start
    for listener in made:
        listener.close()


def mode(path):
    return stat.S_IMODE(path.lstat().st_mode)


def test_only_the_user_can_reach_a_loop(loop_folder, listening):
    place, token = listening("pd")
    assert mode(loop_folder) == 0o700
    assert mode(place.socket) == mode(place.token_file) == 0o600
    assert place.socket.is_socket()
    assert place.token == token
    assert len(token) >= 32


def test_every_loop_has_a_token_of_its_own(loop_folder, listening):
    assert len({listening("pd")[1] for _ in range(5)}) == 5


def test_loops_are_found_by_name_and_by_process(loop_folder, listening):
    place, _ = listening("pd")
    assert running() == [place]
    assert (place.name, place.pid) == ("pd", os.getpid())
    assert chosen(None) == chosen("pd") == chosen(str(os.getpid())) == place


def test_the_beginning_of_a_name_is_enough_where_it_is_no_name(loop_folder, listening):
    listening("arm-ctrl"), listening("arm"), listening("lqr")
    assert chosen("arm-").name == "arm-ctrl"
    assert chosen("arm").name == "arm"
    with pytest.raises(InputError, match="no loop '' is running"):
        chosen("")


def test_loops_of_one_name_and_process_are_told_apart(loop_folder, listening):
    names = [listening("pd")[0].name for _ in range(3)]
    assert names == ["pd", "pd-2", "pd-3"]
    assert chosen("pd-2").name == "pd-2"


@pytest.mark.parametrize(
    "name", ["../../x", "a/b", "", ".", "é\u202eß", "x" * 500, "a.1.sock", "\0"]
)
def test_whatever_a_diagram_is_called_its_files_stay_in_the_folder(loop_folder, listening, name):
    place, _ = listening(name)
    assert place.socket.parent == loop_folder
    assert running() == [place]


def test_without_a_loop_it_says_how_to_start_one(loop_folder):
    with pytest.raises(InputError, match="no loop is running\n  start one: spart realtime FILE"):
        chosen(None)


def test_of_several_loops_one_must_be_named(loop_folder, listening):
    listening("pd"), listening("lqr")
    with pytest.raises(InputError, match=r"2 loops are running\n  give the name.*lqr \(\d+\), pd"):
        chosen(None)


def test_a_wrong_name_is_answered_with_the_near_ones(loop_folder, listening):
    listening("spacecraft")
    with pytest.raises(InputError, match=r"no loop 'spacecarft' is running\n.*'spacecraft'"):
        chosen("spacecarft")


def dead_process():
    """The number of a process that has ended."""
    return int(subprocess.check_output([sys.executable, "-c", "import os; print(os.getpid())"]))


def test_what_a_dead_process_left_is_not_listed_and_then_removed(loop_folder, listening):
    place, _ = listening("pd")
    listening.die()
    stale = LoopPlace("old", dead_process(), loop_folder / "old.sock")
    stale = LoopPlace("old", stale.pid, loop_folder / f"old.{stale.pid}.sock")
    place.socket.rename(stale.socket)
    place.token_file.rename(stale.token_file)
    assert running() == []
    listening("pd")
    assert not stale.socket.exists()
    assert not stale.token_file.exists()


def test_a_number_that_another_process_has_by_now_makes_no_loop(loop_folder, listening):
    """As in a container, where every process has the number that the one before it had."""
    place, _ = listening("pd")
    listening.die()
    os.utime(place.socket, (0, 0))
    assert place.pid == os.getpid()
    assert running() == []
    assert listening("pd")[0].name == "pd"


def test_a_socket_that_does_not_listen_yet_is_left_alone(loop_folder, listening):
    place, _ = listening("pd")
    listening.die()
    assert running() == [place]  # it was made a moment ago, by a process that lives


@pytest.mark.parametrize("how", ["open", "link", "file"])
def test_a_folder_that_others_may_see_is_not_used(loop_folder, listening, how, tmp_path):
    if how == "open":
        loop_folder.mkdir(mode=0o755)
        loop_folder.chmod(0o755)
    elif how == "link":
        loop_folder.symlink_to(tmp_path)
    else:
        loop_folder.write_text("")
    place, _ = listening("pd")
    assert place.socket.parent == loop_folder.with_name(f"spart-{os.getuid()}")
    assert running() == [place]


def test_without_a_private_folder_it_says_what_to_do(loop_folder, monkeypatch):
    loop_folder.write_text("")
    loop_folder.with_name(f"spart-{os.getuid()}").write_text("")
    with pytest.raises(InputError, match=r"a loop cannot listen in .*\n  XDG_RUNTIME_DIR"):
        listen("pd")


def test_a_path_that_no_socket_can_have_is_passed_over(loop_folder, listening, monkeypatch):
    deep = loop_folder.parent / ("x" * 100)
    deep.mkdir(mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(deep))
    place, _ = listening("pd")
    assert place.socket.parent.parent == loop_folder.parent


def test_a_token_is_the_same_or_not():
    assert same_token("abc", "abc")
    for wrong in ("", "ab", "abcd", "\ud800", "ä", None, 3, ["abc"], b"abc"):
        assert not same_token(wrong, "abc")


def test_a_place_that_was_removed_is_gone(loop_folder, listening):
    place, _ = listening("pd")
    place.remove()
    place.remove()
    assert list(loop_folder.iterdir()) == []
    with pytest.raises(InputError, match="cannot read"):
        _ = place.token


def test_the_folder_of_the_system_comes_first(loop_folder):
    assert live_places.folders()[0] == loop_folder

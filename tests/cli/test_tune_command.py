"""`spart tune`: what it prints, writes and refuses, and its words of before."""

import pytest


@pytest.mark.parametrize("words", [[], ["servo"], ["ctrl.kp=1"], ["--loop", "servo"]])
def test_where_a_loop_is_meant_it_is_as_spart_live_with_a_hint(spart, words):
    today, before = spart("live", *words), spart("tune", *words)
    assert (before.code, before.out) == (today.code, today.out)
    note = "note: spart live sets parameters of a running loop; spart tune FILE searches a design\n"
    assert before.err == note + today.err

"""What is wrong with a problem is said, with where and how to mend it."""

import json
import signal

import pytest

import spart_blocks as sb

WRONG = {
    "nothing": ({"minimize": None, "controls": {"u": None}}, "nothing to minimize or maximize"),
    "no controls": ({"controls": {}, "parameters": {}}, "no controls and no parameters"),
    "unknown control": ({"controls": {"nope": None}}, "there is nothing named 'nope'"),
    "unknown signal": ({"end": {"q": 1}}, "there is no signal 'q'"),
    "unknown metric": ({"minimize": "final(q)"}, "there is no signal 'q'"),
    "crossed bounds": ({"controls": {"u": [1, -1]}}, "min, 1.0, is not below max, -1.0"),
    "crossed limits": ({"end": {"p": {"min": 2, "max": 1}}}, "min, 2.0, is above max, 1.0"),
    "no limit": ({"end": {"p": {}}}, "has no min, max or equal"),
    "wide limit": ({"end": {"p": [1, 2]}}, "p has 1 values, and its limit has 2"),
    "an extreme": ({"minimize": "most(v)"}, "no smooth value of the most of v"),
    "a window": ({"minimize": "integral(v, until=1)"}, "no window"),
    "both": ({"maximize": "duration"}, "has minimize and maximize"),
    "phases and T": ({"phases": {"a": {"T": 1}}}, "has phases, which have their own T"),
    "T": ({"T": [0, 1]}, "takes numbers above zero"),
    "state of guess": ({"guess": {"states": {"w": 1}}}, "there is no state w"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_problem_is_refused(cart, name):
    changes, text = WRONG[name]
    if changes.get("minimize", "") is None:
        cart.write_text(cart.read_text().replace("  minimize: duration\n", ""), encoding="utf-8")
        changes = {k: v for k, v in changes.items() if v is not None}
    if changes.get("controls") == {}:
        cart.write_text(cart.read_text().replace("  controls: {u: [-1, 1]}\n", ""))
        changes = {}
    with pytest.raises(sb.InputError) as refused:
        sb.optimize(cart, **changes)
    assert text in str(refused.value)


def test_a_mistake_in_the_file_is_told_with_its_place(cart):
    cart.write_text(cart.read_text().replace("end: {p: 1", "end: {q: 1"), encoding="utf-8")
    with pytest.raises(sb.InputError, match=r"cart.yaml:15:12: .*there is no signal 'q'"):
        sb.optimize(cart)


@pytest.mark.parametrize(
    ("more", "text"),
    [
        ("  h: {type: ZOH, clock: c}\n", "h ticks"),
        ("  b: {type: HYBRID_SYSTEM, states: [y], f: '1', jumps: [{when: y > 1, set: {y: '0'}}]}\n",
         "b jumps or switches"),
    ],
)  # fmt: skip
def test_what_jumps_or_ticks_is_refused_by_name(cart, more, text):
    changed = cart.read_text().replace("wires:\n", more + "wires:\n")
    if "ZOH" in more:
        changed = changed.replace("wires:\n", "wires:\n  - u -> h\n")
        changed = changed.replace("blocks:\n", "clocks: {c: {T: 0.1}}\nblocks:\n")
    cart.write_text(changed, encoding="utf-8")
    with pytest.raises(sb.InputError, match=text):
        sb.optimize(cart)


def test_of_an_infeasible_problem_it_is_told_which_limit_lacks_how_much(cart):
    """In 1 s the cart comes 0.25 m far."""
    found = sb.optimize(cart, T=1.0)
    assert not found.ended
    assert "no motion meets all conditions" in found.why
    assert found.notes() == ["not met: p at 1 s by 0.75"]


def test_an_interrupt_keeps_what_there_is(cart):
    steps = []

    def progress(step, value, off):
        steps.append(step)
        if step == 5:
            signal.raise_signal(signal.SIGINT)

    found = sb.optimize(cart, progress=progress)
    assert not found.ended
    assert found.why == "interrupted"
    assert len(steps) <= 7
    assert found.t[0] == 0


def test_a_search_goes_on_from_its_file(cart, tmp_path):
    first = sb.optimize(cart)
    path = first.save(tmp_path / "optimum.json")
    again = sb.optimize(cart, start=path)
    assert pytest.approx(2, rel=1e-6) == again.T
    assert again.search.solved.steps <= first.search.solved.steps + 5
    content = json.loads(path.read_text())
    for key, value in (("format", "else"), ("phases", [{}]), ("q", ["x"])):
        path.write_text(json.dumps({**content, key: value}), encoding="utf-8")
        with pytest.raises(sb.InputError, match="is not the file of an optimum"):
            sb.optimize(cart, start=path)
    path.write_text(json.dumps({**content, "q": [1.0]}), encoding="utf-8")
    with pytest.raises(sb.InputError, match="other phases, states, controls or parameters"):
        sb.optimize(cart, start=path)


def test_an_optimum_is_written_into_its_diagram_and_goes_on_from_there(cart):
    before = cart.read_text()
    found = sb.optimize(cart)
    data = found.write(cart)
    assert data.name == "cart_optimum.csv"
    text = cart.read_text()
    assert "u: {type: DATA, file: cart_optimum.csv, signals: {y: u}} # N" in text
    assert text.splitlines()[-5:] == before.splitlines()[-5:]
    run = sb.simulate(cart)
    assert run.final_state.continuous["p"] == pytest.approx([1], abs=1e-6)
    again = sb.optimize(cart)
    assert pytest.approx(2, rel=1e-6) == again.T
    again.write(cart)
    assert sb.simulate(cart).final_state.continuous["v"] == pytest.approx([0], abs=1e-6)


def test_a_control_of_params_is_run_again_and_not_written(cart):
    text = cart.read_text().replace("value: 0.0}", "value: $force}").replace("u: [-1", "force: [-1")
    cart.write_text("params: {force: 0.0}\n" + text, encoding="utf-8")
    found = sb.optimize(cart)
    assert found.rerun.worst < 1e-4
    with pytest.raises(sb.InputError, match="name the block as control: u"):
        found.write(cart)


def test_a_gain_can_be_a_control_and_is_not_run_again(cart):
    text = cart.read_text().replace("  - u -> v", "  - u -> g\n  - g -> v")
    text = text.replace("value: 0.0}", "value: 1.0}\n  g: {type: GAIN, K: 0.5}")
    cart.write_text(text.replace("u: [-1", "g.K: [-1"), encoding="utf-8")
    found = sb.optimize(cart)
    assert found.objective == pytest.approx(2, rel=1e-6)
    with pytest.raises(sb.InputError, match=r"g\.K is not the value of a block"):
        _ = found.rerun


def test_what_has_no_value_at_the_start_is_told(cart):
    with pytest.raises(sb.RunError, match=r"1/final\(v\) has no finite value where the search st"):
        sb.optimize(cart, minimize="1/final(v)")


def test_too_few_intervals_at_the_start_are_more(cart):
    """One parabola cannot be full thrust and then full brake."""
    mesh = {"intervals": 1, "degree": 2, "tolerance": 1e-4}
    asked = {"minimize": "integral(u**2)", "T": 2.02}
    found = sb.optimize(cart, mesh=mesh, **asked)
    assert found.ended
    assert found.search.intervals[0] == 2
    stopped = sb.optimize(cart, mesh={**mesh, "refinements": 0}, **asked)
    assert not stopped.ended
    assert "no motion meets all conditions" in stopped.why


def test_a_mesh_that_is_given_is_that_of_the_file_with_some_entries_changed(cart):
    text = cart.read_text() + "  mesh: {intervals: 5, degree: 4}\n"
    cart.write_text(text, encoding="utf-8")
    found = sb.optimize(cart, mesh={"intervals": 6})
    assert found.search.intervals[0] == 6
    assert found.motion.phases[0].mesh.degree == 4

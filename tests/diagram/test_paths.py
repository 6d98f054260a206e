"""What a path means: the same to `--set`, edits and sweeps of a file, and to its program."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest

import spart_blocks as sb
from spart_blocks.analysis.place_names import Spots
from spart_blocks.base.document import Document, read_document
from spart_blocks.base.errors import InputError
from spart_blocks.base.paths import element_names, index_of, keys_of, split_index
from spart_blocks.diagram.written.paths import editable_path_in, path_in
from spart_blocks.program import storage
from spart_blocks.program.added_signals import entries
from spart_blocks.program.parameter_paths import target_at
from spart_blocks.program.tracing.gains import wired
from spart_blocks.run import DiagramFile
from spart_blocks.sweeps.plan.memory_source import source_of

ROBOT = Path(__file__).parents[2] / "models" / "spacecraft_3dof.urdf"
TEXT = """\
params: {kp: [20, 30], gain: 3, same: $gain, pair: [$gain, 2], begin: 0.5, q: 0.1, period: 0.1,
         unused: 1, law: {a: 1, b: $begin}, low: 0}
clocks: {c: {T: $period}}
robots: {sc: {urdf: ROBOT, base: fixed}}
tunable: [sc.mass]
subsystems:
  filter:
    params: {k: 1, o: 2}
    inputs: [u]
    outputs: [y]
    blocks:
      g: {type: GAIN, K: $k}
      extra: {type: GAIN, K: $gain}
    wires: [in -> g, g -> extra, extra -> out]
blocks:
  ref: {type: STEP, T: $begin, on: [1, 1], off: $low}
  s: {type: CONSTANT, value: 1}
  f: {type: filter, k: 0.2}
  two: {type: GAIN, K: $kp}
  one: {type: GAIN, K: $gain}
  v: {type: CONSTANT, value: $pair}
  w: {type: GAIN, K: $same}
  x: {type: INTEGRATOR, x0: [0, 0]}
  z: {type: ZOH, clock: c, x0: 0}
  pid: {type: PID, P: 2, I: 1, D: 0.5, D_pole: 10}
  fcn: {type: FCN, expression: "a*u + b", params: $law}
  plant: {type: MULTIBODY, robot: sc, initial: {qm: [$q, 0, 0]}}
  tau: {type: CONSTANT, value: [0, 0, 0]}
  n: {type: "NULL", nin: 4}
wires: [ref -> two, two -> x, x -> n.0, v -> n.1, f -> one, one -> w, w -> z, s -> f, z -> fcn,
        fcn -> n.2, fcn -> pid.0, one -> pid.1, pid -> n.3, tau -> plant.taum]
run: {T: 1, log: [w]}
expect: {final: [{signal: w, value: 1, within: 0.1}]}
"""
NO_PARAMETER = "no parameter"
STRUCTURAL = "structural"

MEANINGS = [  # of a path: in the file, and in the program of the file or of the diagram in memory
    ("kp", "params.kp", "two.K#0 two.K#1", ""),
    ("params.kp", "params.kp", "two.K#0 two.K#1", ""),
    ("kp[1]", "params.kp.1", "two.K#1", ""),
    ("kp.1", "params.kp.1", "two.K#1", ""),
    ("two.K", "blocks.two.K", "two.K#0 two.K#1", ""),
    ("blocks.two.K", "blocks.two.K", "two.K#0 two.K#1", ""),
    ("two.K[0]", "blocks.two.K.0", "two.K#0", ""),
    ("gain", "params.gain", "gain v.value#0", ""),
    ("same", "params.same", STRUCTURAL, NO_PARAMETER),
    ("one.K", "blocks.one.K", STRUCTURAL, NO_PARAMETER),
    ("pair", "params.pair", "v.value#0 v.value#1", ""),
    ("pair[1]", "params.pair.1", "v.value#1", ""),
    ("v.value", "blocks.v.value", "v.value#0 v.value#1", ""),
    ("begin", "params.begin", "begin", ""),
    ("law.a", "params.law.a", "fcn.a", ""),
    ("law", "params.law", STRUCTURAL, NO_PARAMETER),
    ("low", "params.low", "ref.off#0 ref.off#1", ""),
    ("unused", "params.unused", "nowhere", NO_PARAMETER),
    ("period", "params.period", STRUCTURAL, NO_PARAMETER),
    ("f.k", "blocks.f.k", "f/g.K", ""),
    ("pid.P", "blocks.pid.P", "pid.P", ""),
    ("pid.D", "blocks.pid.D", "pid.D", ""),
    ("x.x0[1]", "blocks.x.x0.1", "x.x0#1", ""),
    ("q", "params.q", "plant qm.0", ""),
    ("plant.initial.qm", "blocks.plant.initial.qm", "plant qm", ""),
    ("plant.initial.qm[0]", "blocks.plant.initial.qm.0", "plant qm.0", ""),
    ("sc.mass[1]", "robots.sc.mass.1", "sc.mass#1", ""),
    ("run.T", "run.T", "option T", ""),
    ("c.T", "clocks.c.T", STRUCTURAL, NO_PARAMETER),
    ("subsystems.filter.params.k", "subsystems.filter.params.k", STRUCTURAL, NO_PARAMETER),
]
SIGNALS = [  # a signal as it is written, and by its full name
    ("w", "w"), ("s.0", "s"), ("x[1]", "x[1]"), ("plant.qm", "plant.qm"),
    ("plant.qm[0:2]", "plant.qm[0:2]"), ("plant.um[-1]", "plant.um[2]"),
]  # fmt: skip
WRONG = [
    ("kpp", "there is nothing named 'kpp'", "did you mean 'kp'"),
    ("premul", "there is nothing named 'premul'", "write two.premul or one.premul or w.premul"),
    ("two", "'two' is a whole block", "two.NAME"),
    ("blocks.two", "blocks.two holds several values", "name one of them"),
    ("nothing.K", "there is nothing named 'nothing'", ""),
    ("params", "'params' is a whole section", "params.NAME"),
    ("K", "'K' is ambiguous", "write blocks.two.K or blocks.one.K or blocks.w.K"),
    ("pid/P.K", "there is nothing named 'pid/P'", "write pid.P"),
    ("f/P.K", "there is nothing named 'f/P'", "it has T"),
    ("two..K", "the path 'two..K' has an empty name", ""),
    ("kp.", "the path 'kp.' has an empty name", ""),
    ("kp[0:1]", "'kp[0:1]': [0:1] is no entry of a list", "as [0]"),
    ("kp[-1]", "'kp[-1]': [-1] is no entry of a list", "as [0]"),
    ("kp]0[", "cannot read the path 'kp]0['", "write [0]"),
]


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("paths") / "some.yaml"
    path.write_text(TEXT.replace("ROBOT", str(ROBOT)), encoding="utf-8")
    return DiagramFile(path, root=Path("/"))


@pytest.fixture(scope="module")
def sources(file):
    """The sweeps of the file and of the diagram in memory, with their engines."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = [source_of(file), source_of(file.load())]
        return [(source, source.engine({}, {})) for source in found]


def meaning(source, engine, path):
    option = source.run_option(path)
    if option is not None:
        return f"option {option}"
    found = source.find(path, engine, {}, {})
    if found is None:
        return STRUCTURAL
    labels = {
        k: f"{slot.name}#{k - slot.start}" if slot.shape else slot.name
        for slot in engine.program.parameters
        for k in range(slot.part.start, slot.part.stop)
    }
    target = found.places
    places = [] if target is None else np.concatenate([np.ravel(one) for one in target.places])
    words = [labels[int(k)] for k in places]
    words += [f"{one.block} {'.'.join(map(str, one.entry))}" for one in found.starts]
    return " ".join(words) or "nowhere"


@pytest.mark.parametrize(("path", "written", "vary", "told"), MEANINGS)
def test_a_path_means_the_same_to_all(file, sources, path, written, vary, told):
    document = read_document(file.path)
    assert ".".join(map(str, path_in(path, document, Path("/")))) == written
    of_file, of_memory = sources
    assert meaning(*of_file, path) == vary
    if told:
        with pytest.raises(InputError, match=told):
            meaning(*of_memory, path)
    else:
        assert meaning(*of_memory, path) == vary


def test_a_program_from_the_cache_knows_the_origins_too(sources):
    program = sources[0][1].program
    again = storage.from_text(storage.to_text(program))
    assert again.origins == program.origins
    assert again.given["kp"] == program.given["kp"] == ("two.K",)


@pytest.mark.parametrize(("path", "vary"), [(row[0], row[2]) for row in MEANINGS])
def test_trim_and_tuning_know_the_parameters_of_the_file(sources, path, vary):
    program = sources[0][1].program
    base, index = split_index(path)
    target = target_at(program, base)
    if vary in (STRUCTURAL, "nowhere", "option T") or vary.startswith("plant "):
        assert target is None
        return
    labels = [name for one in program.parameters for name in element_names(one.name, one.shape)]
    found = [labels[k] for at in target.elements(path, index).places for k in np.ravel(at)]
    assert " ".join(found).replace("[", "#").replace("]", "") == vary


@pytest.fixture(scope="module")
def run(file):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return sb.simulate(file.load(), T=0.1, log=[path for path, _ in SIGNALS])


@pytest.mark.parametrize(("path", "full"), SIGNALS)
def test_a_signal_means_the_same_to_log_compare_linearize_and_sweeps(sources, run, path, full):
    engine = sources[1][1]
    name, _, index = full.partition("[")
    shape, index = engine.slot[name].shape, index.rstrip("]") or None
    assert engine.display.kept([path], engine.signals())[-1] == name  # log
    np.testing.assert_array_equal(run[path], run[full])
    assert len(run.labels(path)) == run[full][0].size  # compare
    spot, picked = Spots(wired(sources[1][0].given)).find(path)  # linearize
    assert element_names(spot.signal, shape, picked) == element_names(name, shape, index)
    slot = engine.slot[name]
    np.testing.assert_array_equal(entries(engine.program, path), slot.places(index))  # sweep


@pytest.mark.parametrize(("path", "hint"), [
    ("plant.qn", "did you mean 'plant.qm'"),
    ("plant", "plant.qm"),
])  # fmt: skip
def test_a_wrong_signal_is_told_with_those_that_are_near(sources, run, path, hint):
    engine = sources[1][1]
    for told in (
        lambda: engine.display.kept([path], engine.signals()),
        lambda: run[path],
        lambda: Spots(wired(sources[1][0].given)).find(path),
        lambda: entries(engine.program, path),
    ):
        with pytest.raises(InputError) as caught:
            told()
        assert hint in (caught.value.faults[0].hint or "")


@pytest.mark.parametrize(("path", "message", "hint"), WRONG)
def test_a_wrong_path_is_told_alike(file, path, message, hint):
    document = read_document(file.path)
    edit = [lambda: editable_path_in(path, document.data)]
    for told in (
        lambda: path_in(path, document, Path("/")),
        *(edit if path != "blocks.two" else ()),  # an edit replaces a whole block
    ):
        with pytest.raises(InputError) as caught:
            told()
        assert message in str(caught.value)
        assert hint in (caught.value.faults[0].hint or "")


@pytest.mark.parametrize(("path", "keys"), [
    ("expect.final[0].within", ("expect", "final", 0, "within")),
    ("blocks.two.new", ("blocks", "two", "new")),
    ("params.new", ("params", "new")),
    ("kp.1", ("params", "kp", 1)),
])  # fmt: skip
def test_an_edit_may_name_a_new_entry_of_any_section(file, path, keys):
    assert editable_path_in(path, read_document(file.path).data) == keys


def test_an_edit_refuses_an_index_of_what_is_no_list(file):
    with pytest.raises(InputError, match=r"two\.K is no list that has an item \[0\]") as caught:
        editable_path_in("two.K[0]", read_document(file.path).data)
    assert "append two.K=VALUE" in caught.value.faults[0].hint


def test_a_value_in_brackets_is_set(file):
    diagram = sb.load(file.path, root="/", overrides=["kp[1]=7", "x.x0[0]=4"])
    assert list(diagram.bd.blocknames["two"].K) == [20.0, 7.0]
    assert list(diagram.bd.blocknames["x"]._x0) == [4.0, 0.0]


def test_a_program_takes_elements_of_its_parameters(sources):
    program = sources[0][1].program
    assert program.parameter("kp[1]") == 30.0
    changed = program.with_parameters({"kp[1]": 5, "v.value[0:1]": [8]})
    np.testing.assert_array_equal(changed.parameter("two.K"), [20.0, 5.0])
    np.testing.assert_array_equal(changed.parameter("v.value"), [8.0, 2.0])
    with pytest.raises(InputError, match="index 2 is out of range"):
        program.with_parameters({"kp[2]": 1})
    with pytest.raises(InputError, match="there is no parameter 'kpp'"):
        program.parameter("kpp[0]")


@pytest.mark.parametrize(("text", "index"), [
    ("2", 2), (" -1 ", -1), ("+3", 3), (":", slice(None)), ("0:2", slice(0, 2)),
    ("::2", slice(None, None, 2)), ("", None), ("-", None), ("1.5", None), ("a", None),
])  # fmt: skip
def test_an_index_is_read_as_numpy_has_it(text, index):
    assert index_of(text) == index


def test_keys_have_numbers_where_they_are_in_brackets():
    assert keys_of("a.b[1,2].c[3][4].5") == ("a", "b", 1, 2, "c", 3, 4, "5")


def test_a_long_chain_of_parameters_is_recorded_up_to_a_limit(tmp_path):
    chain = "".join(f"  p{k}: $p{k - 1}\n" for k in range(1, 200))
    path = tmp_path / "chain.yaml"
    path.write_text(
        f"params:\n  p0: 1\n{chain}blocks:\n  a: {{type: CONSTANT, value: $p199}}\n"
        '  n: {type: "NULL"}\nwires: [a -> n]\n'
    )
    origins = sb.load(path).origins
    assert origins["params", "p0"].uses[0].name == "a.value"
    assert origins["params", "p0"].alone
    assert not origins["params", "p199"].alone
    assert isinstance(read_document(path), Document)

"""Fixtures shared by all tests: references, random robots, and how close is close."""

from __future__ import annotations

import signal
import sys
import tempfile

import numpy as np
import pytest
import robots
from browsers import SOFTWARE_GL, asked, chromium
from firefoxes import firefox
from hypothesis import HealthCheck, configuration, settings

import spart_blocks as sb
from spart_blocks.diagram.build import own_blocks
from spart_blocks.diagram.standard import STANDARD

pytest_plugins = ["pytester", "sets", "live_loop"]

# Random tests are the same on every machine and leave no folder in the project: pytest's
# hypothesis plugin warns of one, and here warnings are errors.
configuration.set_hypothesis_home_dir(tempfile.gettempdir() + "/spart_blocks-hypothesis")
# By night there are more of them: pytest --hypothesis-profile=night.
settings.register_profile(
    "same",
    database=None,
    derandomize=True,
    max_examples=40,
    deadline=None,  # a busy machine is no defect
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("night", settings.get_profile("same"), max_examples=200)
settings.load_profile("same")


# A shell without a terminal starts what runs beside it deaf to Ctrl-C, and so would be the
# processes of tests that send one.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
# So does nohup with the end of the terminal; these tests go on, what they start need not.
if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, lambda *_: None)


@pytest.fixture(autouse=True)
def _own_blocks_are_forgotten():
    """bdsim's library is of the whole process; blocks that a test adds are gone after it."""
    before = set(_library())
    yield
    own_blocks._ALLOWED.clear()  # the FMUs that a test has allowed
    for name in [name for name in _library() if name not in before]:
        if _library()[name]["package"] not in STANDARD:
            del _library()[name]


def _library():
    bdsim = sys.modules.get("bdsim")
    return (bdsim and bdsim.BDSim._blocklibrary) or {}


@pytest.fixture
def stub_viewer(tmp_path_factory, monkeypatch):
    """A viewer that shows nothing, for pages that no browser opens: Node.js builds the other."""
    script = tmp_path_factory.mktemp("viewer") / "stub.js"
    script.write_text("void 0;", encoding="utf-8")
    for module in ("animation.page", "cli.outputs"):
        monkeypatch.setattr(f"spart_blocks.{module}.built", lambda page, say=None: script)
    return script


@pytest.fixture
def load(tmp_path):
    """load(text): the diagram of a YAML text."""

    def make(text):
        path = tmp_path / "diagram.yaml"
        path.write_text(text)
        return sb.load(path)

    return make


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    """Chromium, also for 3-D. Tests that use it are marked with `needs_chromium`. With
    SPART_BROWSER=firefox it is Firefox."""
    if asked() == "firefox":
        with firefox(tmp_path_factory.mktemp("driver")) as browser:
            yield browser
        return
    with chromium(tmp_path_factory.mktemp("profile"), *SOFTWARE_GL) as browser:
        yield browser


def largest_error(got, want) -> float:
    """max |got - want| over the largest magnitude of want."""
    scale = np.abs(want).max(initial=0.0)
    return float(np.abs(got - want).max(initial=0.0) / scale) if scale else 0.0


def assert_close(got, want, what="", *, rel=1e-12, floor=1e-14):
    """max |got - want| <= rel * max |want| (floor where want is nearly zero), one array."""
    want, got = np.asarray(want, dtype=float), np.asarray(got, dtype=float)
    if want.size == 0 and got.size == 0:
        return
    assert got.shape == want.shape, f"{what}: shape {got.shape}, reference {want.shape}"
    error = np.abs(got - want).max()
    allowed = max(rel * np.abs(want).max(), floor)
    assert error <= allowed, f"{what}: differs by {error:.3g}, allowed {allowed:.3g}"


@pytest.fixture(scope="session")
def close():
    """close(got, want, what, rel=1e-12): per array, relative to its largest magnitude."""
    return assert_close


@pytest.fixture(scope="session")
def assert_close_to_golden():
    """assert_close_to_golden(outputs, reference): every reference array, at 1e-12."""

    def check(got, reference, *, rel=1e-12):
        missing = set(reference) - set(got)
        assert not missing, f"not computed: {sorted(missing)}"
        for name, want in reference.items():
            # JSON cannot tell (n,0) from (0,), nor (1,) from ().
            want = np.asarray(want, dtype=float)
            made = np.asarray(got[name], dtype=float)
            assert_close(made.reshape(want.shape) if made.size == want.size else made,
                         want, name, rel=rel)  # fmt: skip

    return check


@pytest.fixture(scope="session")
def golden():
    """golden(name): a reference file of tests/golden."""
    return robots.golden


@pytest.fixture(scope="session")
def golden_robot():
    return robots.golden_robot


@pytest.fixture(params=robots.golden_cases(), ids=lambda case: f"{case[0]}-{case[1]}")
def golden_case(request):
    """(robot, state, case) of every case of every SPART reference file."""
    name, number = request.param
    case = robots.golden(name)["cases"][number]
    return robots.golden_robot(name), robots.golden_state(case), case


@pytest.fixture(scope="session")
def block_library():
    """bdsim's library with our blocks in it, read afresh."""
    import bdsim

    from spart_blocks.diagram.build.library import runtime

    runtime()  # of diagrams in files: made now, it does not lose its library after a test
    before, bdsim.BDSim._blocklibrary = bdsim.BDSim._blocklibrary, None
    quiet = dict.fromkeys(("sysargs", "graphics", "toolboxes", "banner", "progress"), False)
    made = bdsim.BDSim(packages="spart_blocks", **quiet)
    library, bdsim.BDSim._blocklibrary = bdsim.BDSim._blocklibrary, before
    return made, library


@pytest.fixture
def bdsim_runtime(block_library, monkeypatch):
    """A BDSim that knows our blocks; the library it keeps on the class is put back after."""
    import bdsim

    runtime, library = block_library
    monkeypatch.setattr(bdsim.BDSim, "_blocklibrary", library)
    return runtime

"""What bdsim imports and few diagrams use is in memory only where it is used."""

from __future__ import annotations

import subprocess
import sys

import pytest

LOADED = """
import sys
import spart_blocks as sb
bd = sb.new_diagram("d")
print("scipy.signal" in sys.modules, "scipy.integrate" in sys.modules)
{use}
print("scipy.signal" in sys.modules, "scipy.integrate" in sys.modules)
import scipy.integrate, scipy.signal
print(scipy.integrate.quad(abs, 0, 2)[0], len(scipy.signal.windows.hann(3)))
"""
USES = {
    "nothing": ("", "False False"),
    "a block": ("import bdsim.blocks.continuous as c; c.scipy.signal.tf2ss([1], [2, 1])", "True"),
    "bdsim's own run": ("import bdsim.run_sim; bdsim.run_sim.integrate.RK45", "True"),
}


@pytest.mark.parametrize(("use", "after"), USES.values(), ids=USES)
def test_modules_are_loaded_when_they_are_used(use, after):
    command = [sys.executable, "-c", LOADED.format(use=use)]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    first, second, third = run.stdout.splitlines()[-3:]
    assert first == "False False"
    assert after in second
    assert third == "2.0 3"


def test_a_module_in_memory_stays_as_it_is():
    import scipy.signal

    from spart_blocks.diagram.build.lazy_modules import imported_later

    with imported_later("scipy.signal"):
        assert sys.modules["scipy.signal"] is scipy.signal
    assert sys.modules["scipy.signal"] is scipy.signal

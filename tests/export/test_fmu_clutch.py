"""A clutch that locks, in an FMU: a transition on the surface of a jump comes before it."""

import importers
import numpy as np
import pytest
from clutches import CLUTCH, speeds
from fmus import instance, references

from spart_blocks.export import export_fmu
from spart_blocks.program.subdiagram import subdiagram_of

RUN = "run: {T: 5, rtol: 1.0e-9, atol: 1.0e-11, sliding: %s, log: [we, wv, lock.l]}\n"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder, done = tmp_path_factory.mktemp("clutch"), {}

    def make(sliding, version=3, **options):
        key = f"{sliding}{version}{''.join(map(str, options.values()))}"
        if key not in done:
            path = folder / f"{key}.yaml"
            path.write_text(CLUTCH + RUN % sliding)
            part = subdiagram_of(path)
            done[key] = part, export_fmu(part, folder / f"{key}.fmu", version, **options)
        return done[key]

    return make


@pytest.mark.parametrize("options", [{}, {"rate": 100.0}], ids=["controlled", "equal steps"])
@pytest.mark.parametrize("sliding", ["error", "filippov"])
def test_a_clutch_locks_in_co_simulation(sliding, options, made):
    part, path = made(sliding, **options)
    at, times, rows = references(part), np.linspace(0, 5, 51), []
    with instance(path) as fmu:
        for k, t in enumerate(times):
            if k:
                fmu.doStep(times[k - 1], t - times[k - 1])
            rows.append([fmu.getFloat64([at[f"the state of {n}"]])[0] for n in ("we", "wv")])
    assert np.abs(np.array(rows) - speeds(times)).max() < 1e-8


@pytest.mark.parametrize("version", [3, 2])
@pytest.mark.parametrize("way", importers.WAYS, ids=lambda way: way.__name__)
@pytest.mark.parametrize("sliding", ["error", "filippov"])
def test_a_clutch_locks_in_model_exchange(sliding, way, version, made):
    _, path = made(sliding, version)
    times = np.linspace(0, 5, 51)
    found = importers.run(way, path, times, ["we", "wv"])
    assert np.abs(found[:, :2] - speeds(times)).max() < 1e-6

"""The notebook in examples/ runs from its first cell to its last, and shows what it should."""

from __future__ import annotations

import os
import subprocess
import sys
from ast import literal_eval
from pathlib import Path

import numpy as np
import pytest

import spart_blocks as sb

nbformat = pytest.importorskip("nbformat")
pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")

ROOT = Path(__file__).parents[2]
NOTEBOOK = ROOT / "examples/notebook.ipynb"
SPACECRAFT = ROOT / "diagrams/spacecraft_pd.yaml"
SECONDS = 300  # for a cell; a busy machine is no defect


RUN = """
import sys
import nbclient, nbformat
notebook = nbformat.read(sys.argv[1], as_version=4)
where = {"metadata": {"path": sys.argv[2]}}
nbclient.NotebookClient(notebook, kernel_name="python3", timeout=%d, resources=where).execute()
nbformat.write(notebook, sys.argv[3])
"""


def executed(folder, notebook=NOTEBOOK):
    """The outputs of each cell by its id. A process of its own runs it: nbclient closes its
    sockets when Python ends, and here warnings are errors."""
    names = ("IPYTHONDIR", "JUPYTER_RUNTIME_DIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR")
    own = {**dict.fromkeys(names, str(folder)), "PYTHONPATH": str(ROOT)}
    made = folder / "executed.ipynb"
    command = [sys.executable, "-c", RUN % SECONDS, notebook, NOTEBOOK.parent, made]
    around = {name: value for name, value in os.environ.items() if name != "MPLBACKEND"}
    ran = subprocess.run(command, env={**around, **own}, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    notebook = nbformat.read(made, as_version=4)
    return {cell["id"]: cell.get("outputs", []) for cell in notebook.cells}


def text_of(outputs):
    """What a cell prints."""
    return "".join(out["text"] for out in outputs if out["output_type"] == "stream")


def shown(outputs):
    """What a cell shows, by MIME type."""
    (one,) = [out["data"] for out in outputs if "data" in out]
    return one


def numbers(text):
    return np.array([float(word) for word in text.strip("[]() \n").replace("array([", "").split()])


def test_it_has_ten_cells_and_no_outputs_of_its_own():
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    assert len(notebook.cells) == 10
    assert not any(cell.get("outputs") for cell in notebook.cells)


def test_its_cells_show_what_they_should(tmp_path):
    cells = executed(tmp_path)
    for name, outputs in cells.items():
        assert not [out for out in outputs if out.get("name") == "stderr"], name
    _check_views(cells)
    _check_numbers(cells, sb.simulate(SPACECRAFT, T=5))


def _check_views(cells):
    assert shown(cells["diagram"])["image/svg+xml"].startswith("<?xml")
    assert "Joint_2" in shown(cells["robot"])["text/html"]
    page = shown(cells["run"])["text/html"]
    assert "plant.qm" in page
    assert "data:image/svg+xml" in page
    assert "pole" in shown(cells["linear"])["text/html"]
    assert "image/svg+xml" in shown(cells["show"])
    assert "ctrl.tau[2]" in shown(cells["pandas"])["text/html"]
    assert "plant.qm" in shown(cells["xarray"])["text/plain"]


def _check_numbers(cells, results):
    final = shown(cells["signal"])["text/plain"].replace(",", " ").replace("])", "")
    np.testing.assert_allclose(numbers(final), results["plant.qm"][-1], atol=1e-7)
    final = text_of(cells["show"])  # as many digits as NumPy prints
    np.testing.assert_allclose(numbers(final), results["plant.um"][-1], atol=1e-7)
    units = literal_eval(text_of(cells["pandas"]))
    assert units["t"] == "s"
    assert units["plant.qm[0]"] == "rad"


# Cells that draw, each with the number of its pictures.
DRAWING = {
    "results = sb.simulate('../diagrams/spacecraft_pd.yaml', T=1, log='plant.um')": 0,
    "results.plot()": 3,  # one for each scope
    "figures = results.plot('plant.qm')\nfigures[0].axes[0].set_title('mine')\nprint('after')": 1,
    "results.plot('plant.qm', show=True);": 1,
    "quiet = results.plot(show=False)": 0,
    "figures[0]": 1,  # again, as any figure
    "for name in ['plant.qm', 'plant.um'] * 11: results.plot(name)": 22,
    "diagram = sb.load('../diagrams/spacecraft_pd.yaml')": 0,
    "system = sb.linearize(diagram, inputs='plant.taum', outputs='plant.qm', at='rest.npz')": 0,
    "system.plot()": 2,
    "found = sb.compare(diagram.source, cases={'a': {'run.T': 0.1}, 'b': {'run.T': 1}}, jobs=1)": 0,
    "found.plot();": 3,
    "results.save_plots('plots');": 0,
}


def test_figures_are_shown_in_their_cell_once_each(tmp_path):
    rest = tmp_path / "rest.npz"
    sb.simulate(SPACECRAFT, T=60).save(rest)
    sources = ["import spart_blocks as sb", *DRAWING]
    sources = [
        s.replace("rest.npz", str(rest)).replace("'plots'", repr(str(tmp_path))) for s in sources
    ]
    cells = [nbformat.v4.new_code_cell(source, id=f"c{k}") for k, source in enumerate(sources)]
    path = tmp_path / "drawing.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=cells), path)
    shown = list(executed(tmp_path, path).values())[1:]
    pictures = [
        [out["data"]["image/png"] for out in outputs if "image/png" in out.get("data", {})]
        for outputs in shown
    ]
    assert [len(found) for found in pictures] == list(DRAWING.values())
    assert all(len(set(found)) >= min(len(found), 2) for found in pictures)
    assert not [out for outputs in shown for out in outputs if out.get("name") == "stderr"]

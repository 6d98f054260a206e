"""The report of a sweep: complete, self-contained, escaped, and the same for the same runs."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import numpy as np
import pytest
from scipy.stats import binomtest
from sweep_tables import sweep_of

from spart_blocks.base.errors import InputError
from spart_blocks.sweeps.report.report import _unlike, report, write_study
from spart_blocks.sweeps.storage.histories import Histories

VOID = ("meta", "img", "link", "br")


class Reader(HTMLParser):
    """The texts, tables and attributes of a page; fails where tags do not close."""

    def __init__(self):
        super().__init__()
        self.open, self.sources, self.cells, self.rows = [], [], None, []
        self.text = ""

    def handle_starttag(self, tag, attrs):
        if tag not in VOID:
            self.open.append(tag)
        self.sources += [value for key, value in attrs if key in ("src", "href")]
        assert tag not in ("script", "iframe", "object", "b", "x")
        if tag == "tr":
            self.cells = []

    def handle_endtag(self, tag):
        assert self.open.pop() == tag
        if tag == "tr":
            self.rows.append(self.cells)

    def handle_data(self, data):
        self.text += data
        if self.open and ("td" in self.open or "th" in self.open):
            self.cells.append(data)


def read(page):
    reader = Reader()
    reader.feed(page)
    assert not reader.open
    return reader


def study(draws=40, change=lambda columns: {}, **fields):
    """Two controllers without and with a fault; PD misses with it in half of the
    draws, and one run fails. change: other columns, of these."""
    rng = np.random.default_rng(3)
    n = 4 * draws
    run = np.arange(n)
    variant = np.array(["pd", "lqr"], dtype=object)[run // 2 % 2]
    fault = np.array(["none", "stuck"], dtype=object)[run % 2]
    mass = np.repeat(rng.normal(10.0, 1.0, draws), 4)
    miss = np.abs(rng.normal(size=n)) + (fault == "stuck")
    passed = np.full(n, True, dtype=object)
    passed[(variant == "pd") & (fault == "stuck") & (run // 4 % 2 == 0)] = False
    status = np.full(n, "complete", dtype=object)
    message = np.full(n, "", dtype=object)
    if n > 5:
        status[5], message[5], passed[5], miss[5] = "failed", "<b>x</b> & became NaN", None, np.nan
    columns = {
        "run": run,
        "draw": run // 4,
        "grid": 0 * run,
        "variant": variant,
        "fault": fault,
        "mass": mass,
    }
    columns |= {"status": status, "message": message, "passed": passed, "miss": miss}
    columns |= {"t_end": np.full(n, 20.0)}
    t = np.linspace(0, 20, 30)
    values = np.exp(-t) * mass[:, None]
    given = {
        "varied": ("mass",),
        "metrics": ("miss",),
        "units": {"miss": "m", "mass": "kg", "q": "rad"},
        "told": (("mass", "normal <x>, mean 10"), ("seed", "7")),
        "histories": Histories(run, t, {"q": values}, {"q": "rad"}),
        "versions": {"spart_blocks": "0.1"},
        "folder": "out/a sweep",
    }
    columns |= change(columns)
    return sweep_of("spacecraft <b>", columns, **(given | fields))


@pytest.fixture(scope="module")
def page():
    return report(study())


def test_the_report_says_what_was_run_and_what_came_of_it(page):
    reader = read(page)
    for text in (
        "Sweep of spacecraft <b>",
        "160 runs: 159 complete, 1 failed",
        "normal <x>, mean 10",
        "<b>x</b> & became NaN",
        "spart run --from-sweep 'out/a sweep' --run 5",
        "spart_blocks",
    ):
        assert text in reader.text
    headings = re.findall(r"<h2[^>]*>([^<]*)", page)
    assert headings == [
        "What was run", "Success", "Metrics", "Variants compared", "Signals",
        "Varied values and metrics",
        "Failed runs", "Runs that do not meet the claims", "Versions",
    ]  # fmt: skip


def test_nothing_in_the_report_is_fetched_or_runs(page):
    assert all(
        source.startswith(("data:image/svg+xml;base64,", "#")) for source in read(page).sources
    )
    assert "default-src 'none'" in page
    assert "http" not in re.sub(r'(src="data:[^"]*"|http-equiv)', "", page)


def test_the_same_runs_give_the_same_report(page):
    assert report(study()) == page


def test_success_has_the_intervals_of_scipy(page):
    """With one run of each draw in a group, these are those of independent runs."""
    [row] = [row for row in read(page).rows if row[:3] == ["pd", "stuck", "40"]][:1]
    low, high = binomtest(19, 40).proportion_ci(0.95, "exact")
    assert row[3:7] == ["39", "1", "19", "0.475"]
    assert row[7] == f"({low:.4g} to {high:.4g})"
    low, high = binomtest(19, 40).proportion_ci(0.95, "wilson")
    assert row[8] == f"{low:.4g} to {high:.4g}"


def test_a_failed_run_is_no_success_and_has_no_metric(page):
    assert not study().success()[5]
    rows = [row for row in read(page).rows if row[:2] == ["pd", "stuck"]]
    assert rows[1][2] == "39"


def test_the_report_begins_with_a_line_for_each_variant_and_fault(page):
    top = page[: page.index("<nav>")]
    lines = [re.sub("<[^>]*>", "", line) for line in re.findall("<p><span.*?</p>", top)]
    assert [line.split(": ")[0] for line in lines] == [
        "all passed variant lqr, fault none",
        "all passed variant lqr, fault stuck",
        "all passed variant pd, fault none",
        "21 not passed variant pd, fault stuck",
    ]
    low, high = (f"{100 * end:.4g} %" for end in binomtest(19, 40).proportion_ci(0.95, "exact"))
    assert f"47.5 % of the runs meet all claims; the probability lies between {low}" in lines[3]
    assert f"and {high} (95 % confidence)" in lines[3]


def test_variants_are_compared_draw_by_draw(page):
    rows = [row for row in read(page).rows if row[:3] == ["success", "lqr - pd", "stuck"]]
    assert len(rows) == 1
    assert rows[0][3] == "0.525"


@pytest.mark.parametrize("draws", [0, 1, 2])
def test_a_sweep_of_few_runs_has_a_report(draws):
    reader = read(report(study(draws, planned=160)))
    assert f"{160 - 4 * draws} runs of the plan are missing" in reader.text


def test_a_sweep_without_claims_says_so():
    page = report(study(change=lambda columns: {"passed": np.full(160, None, dtype=object)}))
    assert "no claims were made" in page
    assert "was not ended by an error" in page


def test_a_metric_without_values_has_an_empty_row():
    page = report(study(change=lambda columns: {"miss": np.full(160, np.nan)}))
    assert any(row[:3] == ["pd", "none", "0"] for row in read(page).rows)
    assert "Distribution of miss" not in page


def test_a_grid_has_maps_and_a_saltelli_design_its_indices():
    def change(columns):
        run = columns["run"]
        return {"a": 1.0 + run % 2, "b": 1.0 + run // 2 % 2}

    varied, saltelli = ("mass", "a", "b"), {"design": "saltelli", "factors": ("mass", "b")}
    page = report(study(change=change, varied=varied, grid=("a", "b"), histories=None, **saltelli))
    assert [name for name in ("Grid", "Sensitivity") if f">{name}</h2>" in page]
    assert 'alt="passed over a, b"' in page
    assert 'alt="Sobol indices of miss"' in page


def test_of_values_in_proportion_one_is_shown():
    def change(columns):
        mass, kind = columns["mass"], np.array(["a", "b"], dtype=object)[np.arange(160) % 2]
        return {"inertia": 3 * mass, "still": 0 * mass, "kind": kind}

    given = study(change=change, varied=("mass", "inertia", "kind", "still"), histories=None)
    shown = _unlike([given.quantity(name) for name in given.varied_columns])
    assert [one.name for one in shown] == ["mass", "kind"]


def test_long_lists_of_failures_are_cut_with_a_word():
    failed = {"status": np.full(160, "failed", dtype=object)}
    page = report(study(change=lambda columns: failed, histories=None))
    assert page.count("--from-sweep") == 50
    assert "and 110 more" in page


def test_the_report_is_written_whole_to_a_file_that_ends_in_html(tmp_path, page):
    path = write_study(study(), tmp_path / "new" / "report.html")
    assert path.read_text(encoding="utf-8") == page
    with pytest.raises(InputError, match=r"cannot write a report to .*\n.*\.html"):
        write_study(study(), tmp_path / "report.pdf")

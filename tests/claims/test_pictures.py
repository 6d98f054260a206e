"""The picture of a failure shows what was got and expected, the band, and the worst time."""

from __future__ import annotations

import numpy as np
import pytest

from spart_blocks.analysis.claims import band_of, farthest
from spart_blocks.base.errors import InputError
from spart_blocks.claims.claim_drawing import Worst, draw, picture
from spart_blocks.diagram.sections.expectations import CLAIMS

T = np.linspace(0, 10, 101)


@pytest.fixture
def drawn(results_of):
    """drawn("final", value=...): the figure of a claim about 2 exp(-t) in its element 1."""
    decay = np.exp(-T)
    results = results_of(x=np.stack([decay, 2 * decay], axis=1))

    def made(kind, **fields):
        band = band_of(kind, CLAIMS[kind].model_validate({"signal": "x", **fields}), results)
        return picture(f"{kind} x[1]", results, "x", band, Worst.of(band, farthest(band)))

    return made


def curve(axis, label):
    [line] = [line for line in axis.lines if line.get_label() == label]
    return np.array(line.get_xdata()), np.array(line.get_ydata())


def test_both_curves_and_their_difference_are_shown(drawn):
    above, below = drawn("settles", to=0, within=0.05, by=3).axes
    t, got = curve(above, "got")
    np.testing.assert_array_equal(t, T)
    np.testing.assert_allclose(got, 2 * np.exp(-T))
    t, expected = curve(above, "expected")
    assert (t[0], t[-1]) == (3.0, 10.0)
    assert not expected.any()
    assert curve(above, "worst, at 3 s")[1] == pytest.approx(2 * np.exp(-3))
    assert below.get_title(loc="left") == "got - expected"
    np.testing.assert_allclose(below.lines[0].get_ydata(), 2 * np.exp(-T[30:]))
    names = [text.get_text() for text in above.get_legend().get_texts()]
    assert names == ["got", "expected", "allowed", "worst, at 3 s"]


def test_a_band_that_is_open_ends_with_the_picture(drawn):
    [axis] = drawn("stays_within", high=1.5).axes
    bottom, top = axis.get_ylim()
    [band] = axis.collections
    low, high = band.get_paths()[0].vertices[:, 1].min(), band.get_paths()[0].vertices[:, 1].max()
    assert (low, high) == (pytest.approx(bottom), 1.5)
    assert bottom < 0 < 2 < top


def test_a_band_at_one_time_is_seen(drawn):
    [axis] = drawn("final", value=1, within=0.25).axes
    [bar] = axis.collections
    np.testing.assert_allclose(bar.get_segments()[0], [[10, 0.75], [10, 1.25]])


def test_values_that_are_no_numbers_are_drawn_around(drawn, results_of, tmp_path):
    x = np.sin(T)
    x[50], x[60] = np.nan, np.inf
    results = results_of(x=x)
    band = band_of("conserved", CLAIMS["conserved"](signal="x", within=1), results)
    with np.errstate(invalid="ignore"):
        draw(tmp_path / "new" / "x.png", "x", results, "x", band, Worst.of(band, farthest(band)))
    assert (tmp_path / "new" / "x.png").read_bytes().startswith(b"\x89PNG\r\n\x1a\n")


def test_a_folder_that_cannot_be_made_is_told(drawn, results_of, tmp_path):
    (tmp_path / "file").touch()
    results = results_of(x=T)
    band = band_of("never_exceeds", CLAIMS["never_exceeds"](signal="x", limit=1), results)
    with pytest.raises(InputError, match="cannot make the folder"):
        draw(tmp_path / "file" / "x.png", "x", results, "x", band, Worst.of(band, farthest(band)))

"""Small diagrams whose runs are known in closed form."""

import numpy as np
import pytest

import spart_blocks as sb


@pytest.fixture
def written(tmp_path):
    """written(text): the path of a diagram with this text."""

    def write(text):
        path = tmp_path / "diagram.yaml"
        path.write_text(f"name: small\n{text}", encoding="utf-8")
        return path

    return write


@pytest.fixture
def agrees(written):
    """agrees(text, metric, function, at): the gradient of a metric by the parameters in `at` is
    that of a function of them, by complex steps.
    """

    def check(text, metric, function, at, within=1e-9, **options):
        path = written(text)
        options = {"rtol": 1e-11, "atol": 1e-13, **options}
        found = sb.gradient(path, of=metric, by=list(at), **options)
        value = function(**at)
        assert found.values["metric"] == pytest.approx(value, rel=within, abs=within)
        for name, number in at.items():
            moved = function(**{**at, name: number + 1e-30j})
            assert found[name].item() == pytest.approx(np.imag(moved) / 1e-30, rel=within,
                                                       abs=within), name  # fmt: skip

    return check

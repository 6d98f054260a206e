"""Ways of wires between blocks that people have put somewhere."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from spart_blocks.drawing.router import Router


def across(way):
    """The heights at which a way runs across, with from where to where."""
    return [(y0, *sorted((x0, x1))) for (x0, y0), (x1, y1) in pairwise(way) if y0 == y1]


@pytest.mark.parametrize("lower", [410, 411, 413])
def test_wires_back_to_one_block_run_apart(lower):
    boxes = np.array([[400.0, 320, 515, 410], [560, 288, 700, lower]])
    router = Router(boxes)
    one = router.route(("plant", "qm"), (700.0, 340.0), (400.0, 376.0))
    two = router.route(("plant", "um"), (700.0, 375.0), (400.0, 393.0))
    for y0, left, right in across(one):
        for y1, start, end in across(two):
            assert abs(y0 - y1) >= 5 or right <= start or end <= left


def test_wires_of_one_output_may_run_together():
    router = Router(np.zeros((0, 4)))
    one = router.route(("plant", "qm"), (0.0, 0.0), (200.0, 50.0))
    two = router.route(("plant", "qm"), (0.0, 0.0), (200.0, 100.0))
    assert one[1] == two[1]

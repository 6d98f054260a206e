"""The file of a diagram whose optimal control is known."""

import pytest
from carts import CART


@pytest.fixture
def cart(tmp_path):
    """The path of a diagram of a cart, which is to stand 1 m away as soon as it can."""
    path = tmp_path / "cart.yaml"
    path.write_text(CART, encoding="utf-8")
    return path

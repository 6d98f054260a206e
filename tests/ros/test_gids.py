"""Names of publishers, which are hashes of their tokens."""

from __future__ import annotations

from spart_blocks.ros.graph import gid_of


def test_the_name_of_a_publisher_is_the_xxh3_hash_of_its_token():
    """The published hash of the empty text; rmw_zenoh writes the low half first."""
    high, low = 0x99AA06D3014798D8, 0x6001C324468D497F
    assert gid_of("") == low.to_bytes(8, "little") + high.to_bytes(8, "little")


def test_publishers_with_other_tokens_have_other_names():
    assert len({gid_of(f"@ros2_lv/0/{k}/0/1/MP") for k in range(100)}) == 100

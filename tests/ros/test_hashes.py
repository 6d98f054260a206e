"""Hashes of types are those of ROS 2: published ones, and those of rosbags."""

from __future__ import annotations

import pytest
from random_messages import store

from spart_blocks.ros.definitions import read_service
from spart_blocks.ros.hashes import type_hash
from spart_blocks.ros.library import bundled

# rmw_zenoh, docs/design.md, and logs of nodes of ROS 2 Jazzy.
PUBLISHED = {
    "std_msgs/msg/String": "df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18",
    "rcl_interfaces/msg/Log": "e28ce254ca8abc06abf92773b74602cdbf116ed34fbaf294fb9f81da9f318eac",
    "rcl_interfaces/msg/ParameterEvent":
        "043e627780fcad87a22d225bc2a037361dba713fca6a6b9f4b869a5aa0393204",
    "std_srvs/srv/Trigger": "eeff2cd6fa5ad9d27cdf4dec64818317839b62f212a91e6b5304b634b2062c5f",
    "rcl_interfaces/srv/GetParameters":
        "bf9803d5c74cf989a5de3e0c2e99444599a627c7ff75f97b8c05b01003675cbc",
    "rcl_interfaces/srv/GetParameterTypes":
        "da199c878688b3e530bdfe3ca8f74cb9fa0c303101e980a9e8f260e25e1c80ca",
    "rcl_interfaces/srv/SetParameters":
        "56eed9a67e169f9cb6c1f987bc88f868c14a8fc9f743a263bc734c154015d7e0",
    "rcl_interfaces/srv/SetParametersAtomically":
        "0e192ef259c07fc3c07a13191d27002222e65e00ccec653ca05e856f79285fcd",
    "rcl_interfaces/srv/ListParameters":
        "3e6062bfbb27bfb8730d4cef2558221f51a11646d78e7bb30a1e83afac3aad9d",
    "rcl_interfaces/srv/DescribeParameters":
        "845b484d71eb0673dae682f2e3ba3c4851a65a3dcfb97bddd82c5b57e91e4cff",
}  # fmt: skip


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_hash_is_the_published_one(name):
    library = bundled()
    of = library.service(name) if "/srv/" in name else library.message(name)
    assert type_hash(of) == f"RIHS01_{PUBLISHED[name]}"


def test_the_hash_of_the_service_of_the_tutorials():
    text = "int64 a\nint64 b\n---\nint64 sum\n"
    add = read_service(text, "example_interfaces/srv/AddTwoInts", bundled().message, "")
    known = "RIHS01_e118de6bf5eeb66a2491b5bda11202e7b68f198d6f67922cf30364858239c81a"
    assert type_hash(add) == known


def test_all_bundled_messages_have_the_hashes_of_rosbags():
    """But those with a char: to rosidl's generator of hashes it is a uint8, to rosbags a char."""
    library, theirs = bundled(), store()
    names = [name for name in library.names() if name in theirs.fielddefs]
    with_char = {"std_msgs/msg/Char", "service_msgs/msg/ServiceEventInfo",
                 "rmw_dds_common/msg/Gid", "rmw_dds_common/msg/NodeEntitiesInfo",
                 "rmw_dds_common/msg/ParticipantEntitiesInfo"}  # fmt: skip
    differ = {name for name in names
              if type_hash(library.message(name)) != theirs.hash_rihs01(name)}  # fmt: skip
    assert differ == with_char
    assert len(names) > 140

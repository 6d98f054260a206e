"""A running loop as a node of ROS: a peer that is not ours starts, stops, resets and tunes it."""

from __future__ import annotations

import time

import numpy as np
import pytest
from ros_peer import Peer, store

import spart_blocks as sb
from spart_blocks.realtime import Session, prepare

DIAGRAM = """
name: arm
blocks:
  one: {type: CONSTANT, value: [1, 1]}
  ctrl: {type: JOINT_PD, kp: [3, 4], kd: 0}
  zero: {type: CONSTANT, value: [0, 0]}
  sum: {type: INTEGRATOR, x0: [0, 0]}
  out:
    type: ROS_OUT
    topic: sums
    message: sensor_msgs/JointState
    joints: [a, b]
    fields: {s: position}
    safe: -1
wires: [one -> ctrl.qd, zero -> ctrl.qm, zero -> ctrl.um, ctrl -> sum, sum -> out.s]
export: {part: [one, zero, ctrl, sum], rate: 200, bounds: {ctrl.kp: [0, 500]}}
"""
# Of ROS 2 Jazzy.
HASHES = {
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
JOINTS = "sensor_msgs/msg/JointState"


class Running:
    """A loop that runs, and a peer that talks to it."""

    def __init__(self, peer, session):
        self.peer, self.session, self.loop = peer, session, session.loop
        self.heard = peer.hear("sums", JOINTS)

    def call(self, name, of, **fields):
        return self.peer.call(f"arm/{name}", of, HASHES[of], **fields)[0]

    def trigger(self, name):
        return self.call(name, "std_srvs/srv/Trigger", structure_needs_at_least_one_member=0)

    def next(self, good=lambda sums: True):
        """The sums of the first message from now on that are good."""
        end, seen = time.monotonic() + 60, len(self.heard.samples)
        while time.monotonic() < end:
            for sample in self.heard.samples[seen:]:
                message = store().deserialize_cdr(sample.payload.to_bytes(), JOINTS)
                if good(message.position):
                    return message.position
            seen = len(self.heard.samples)
            time.sleep(0.002)
        raise AssertionError("it never came")


@pytest.fixture
def running(tmp_path):
    """running(ros, **options of the session): the loop of the diagram."""
    kept = []

    def make(ros="", **options):
        peer = Peer()
        kept.append(peer.session.close)
        path = tmp_path / "arm.yaml"
        more = f"realtime: {{ros: {{connect: [{peer.address}], listen: []{ros}}}}}\n"
        path.write_text(DIAGRAM + more)
        session = Session(prepare(sb.load(path)), **options)
        session.__enter__()
        kept.append(lambda: session.__exit__(None, None, None))
        peer.token("SS", "%arm%set_parameters_atomically")  # the last of them
        return Running(peer, session)

    yield make
    for end in reversed(kept):
        end()


def parameter(name, kind, **values):
    """A message of rcl_interfaces with a value of this type."""
    types = store().types
    given = {"bool_value": False, "integer_value": 0, "double_value": 0.0, "string_value": "",
             "byte_array_value": np.zeros(0, np.int8), "bool_array_value": np.zeros(0, bool),
             "integer_array_value": np.zeros(0, np.int64), "double_array_value": np.zeros(0),
             "string_array_value": [], **values}  # fmt: skip
    value = types["rcl_interfaces/msg/ParameterValue"](type=kind, **given)
    return types["rcl_interfaces/msg/Parameter"](name=name, value=value)


def test_a_peer_stops_and_starts_the_loop(running):
    """While it is stopped, the safe values are sent and the state stands still."""
    arm = running()
    arm.next(lambda sums: sums[0] > 0)
    answer = arm.trigger("stop")
    assert (answer.success, answer.message) == (True, "it sends its safe outputs")
    assert arm.next(lambda sums: sums[0] == -1).tolist() == [-1, -1]
    steps = arm.loop.struct.steps
    for _ in range(3):
        arm.next(lambda sums: sums[0] == -1)
    assert arm.loop.struct.steps == steps
    assert arm.trigger("start").success
    arm.next(lambda sums: sums[0] > 0)
    assert arm.loop.struct.steps > steps


def test_a_peer_resets_the_loop(running):
    arm = running()
    before = arm.next(lambda sums: sums[0] > 0.3)
    assert arm.trigger("reset").success
    assert arm.next(lambda sums: sums[0] < before[0])[0] < 0.3


def test_a_loop_whose_steps_are_recorded_is_not_reset(running):
    arm = running(record=True)
    answer = arm.trigger("reset")
    assert not answer.success
    assert "a replay could not follow" in answer.message


def test_a_peer_lists_and_gets_parameters(running):
    arm = running()
    listed = arm.call("list_parameters", "rcl_interfaces/srv/ListParameters", prefixes=[],
                      depth=0).result  # fmt: skip
    assert {"ctrl.kp", "ctrl.kd", "use_sim_time"} <= set(listed.names)
    assert "ctrl" in listed.prefixes
    below = arm.call("list_parameters", "rcl_interfaces/srv/ListParameters", prefixes=["ctrl"],
                     depth=1).result  # fmt: skip
    assert set(below.names) == {"ctrl.kp", "ctrl.kd"}
    names = ["ctrl.kp", "use_sim_time", "no.such"]
    kp, sim, none = arm.call("get_parameters", "rcl_interfaces/srv/GetParameters",
                             names=names).values  # fmt: skip
    assert (kp.type, kp.double_array_value.tolist()) == (8, [3, 4])
    assert (sim.type, sim.bool_value) == (1, False)
    assert none.type == 0
    types = arm.call("get_parameter_types", "rcl_interfaces/srv/GetParameterTypes", names=names)
    assert types.types.tolist() == [8, 1, 0]


def test_a_peer_reads_the_bounds_of_a_parameter(running):
    arm = running()
    kp, sim = arm.call("describe_parameters", "rcl_interfaces/srv/DescribeParameters",
                       names=["ctrl.kp", "use_sim_time"]).descriptors  # fmt: skip
    (bounds,) = kp.floating_point_range
    assert (bounds.from_value, bounds.to_value) == (0, 500)
    assert not kp.read_only
    assert sim.read_only


def test_a_peer_tunes_a_gain(running):
    arm = running()
    (result,) = arm.call("set_parameters", "rcl_interfaces/srv/SetParameters",
                         parameters=[parameter("ctrl.kp", 8, double_array_value=np.array(
                             [-0.0, 7.0]))]).results  # fmt: skip
    assert result.successful
    assert arm.loop.parameters.values["ctrl.kp"].tolist() == [0, 7]
    still = arm.next()[0]
    assert arm.next(lambda sums: sums[1] > 5)[0] == pytest.approx(still, abs=0.1)


@pytest.mark.parametrize(
    ("name", "kind", "values", "reason"),
    [
        (
            "ctrl.kp",
            8,
            {"double_array_value": np.array([1.0, 501.0])},
            "between 0 and 500",
        ),
        ("ctrl.kp", 8, {"double_array_value": np.array([1.0])}, "ctrl.kp takes 2 numbers, not 1"),
        ("ctrl.kp", 8, {"double_array_value": np.array([1.0, np.nan])}, "finite"),
        ("ctrl.kp", 4, {"string_value": "x"}, "ctrl.kp takes numbers"),
        ("ctrl.kq", 3, {"double_value": 1.0}, "there is no parameter or free input 'ctrl.kq'"),
        ("sum.x0", 8, {"double_array_value": np.zeros(2)}, "is used at the start only"),
        ("use_sim_time", 1, {"bool_value": True}, "follows from realtime"),
    ],
)
def test_what_a_parameter_cannot_be_is_refused_and_changes_nothing(
    running, name, kind, values, reason
):
    arm = running()
    good = parameter("ctrl.kd", 3, double_value=1.0)
    bad = parameter(name, kind, **values)
    result = arm.call("set_parameters_atomically", "rcl_interfaces/srv/SetParametersAtomically",
                      parameters=[good, bad]).result  # fmt: skip
    assert not result.successful
    assert reason in result.reason
    assert arm.loop.parameters.values["ctrl.kp"].tolist() == [3, 4]
    assert arm.loop.parameters.values["ctrl.kd"] == 0


def test_one_number_of_a_parameter_may_be_an_integer(running):
    arm = running()
    (result,) = arm.call("set_parameters", "rcl_interfaces/srv/SetParameters",
                         parameters=[parameter("ctrl.kp[1]", 2, integer_value=9)]
                         ).results  # fmt: skip
    assert result.successful
    assert arm.loop.parameters.values["ctrl.kp"].tolist() == [3, 9]


@pytest.mark.parametrize("data", [b"", b"\0\1\0\0\xff\xff\xff\xff", bytes(2**20 + 1)])
def test_a_request_that_is_none_gets_no_answer_and_harms_nothing(running, data):
    arm = running()
    of = "rcl_interfaces/srv/SetParameters"
    with pytest.raises(ValueError, match="not enough values"):
        arm.peer.call_bytes("arm/set_parameters", of, HASHES[of], data)
    assert arm.trigger("start").success


def test_a_flood_of_requests_and_messages_does_not_harm_the_loop(running):
    """Those that are none are dropped, and the loop steps on."""
    arm = running()
    of, before = "std_srvs/srv/Trigger", arm.loop.struct.steps
    key = f"0/arm/start/std_srvs::srv::dds_::Trigger_/RIHS01_{HASHES[of]}"
    for k in range(60):
        arm.peer.session.get(key, payload=bytes(k), timeout=0.01)
        arm.peer.session.put("0/sums/x/y", bytes(10_000))
    assert arm.trigger("start").success
    moved = arm.next(lambda sums: sums[0] > 0)
    arm.next(lambda sums: sums[0] > moved[0])
    assert arm.loop.struct.steps > before
    assert arm.loop.phase.name == "RUNNING"


def test_an_answer_has_the_number_and_name_of_its_request(running):
    arm = running()
    sent = arm.peer.attachment(41)
    reply = arm.peer.call_bytes("arm/start", "std_srvs/srv/Trigger", HASHES["std_srvs/srv/Trigger"],
                                b"\0\1\0\0\0", sent)  # fmt: skip
    found, asked = reply.ok.attachment.to_bytes(), sent.to_bytes()
    assert (found[:8], found[16:]) == (asked[:8], asked[16:])


def test_the_clock_of_the_run_is_published_and_in_the_stamps(running):
    arm = running(", clock: run")
    clock = arm.peer.hear("clock", "rosgraph_msgs/msg/Clock")
    assert arm.peer.token("MP", "%clock").qos == "2::,1:,:,:,,"
    times = [message.clock.sec + 1e-9 * message.clock.nanosec for message, _ in clock.wait(3)]
    assert times == sorted(times)
    assert 0 <= times[0] < 60
    (sim,) = arm.call("get_parameters", "rcl_interfaces/srv/GetParameters",
                      names=["use_sim_time"]).values  # fmt: skip
    assert sim.bool_value
    stamps = [message.header.stamp for message, _ in arm.heard.wait(5)]
    nanoseconds = np.array([stamp.sec * 10**9 + stamp.nanosec for stamp in stamps])
    assert (nanoseconds % 5_000_000 == 0).all()  # of each step, at 200 Hz
    assert (np.diff(nanoseconds) > 0).all()
    assert nanoseconds[-1] < 60 * 10**9

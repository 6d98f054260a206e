"""Frames of numbers over networks, serial lines, shared memory and topics of ROS: two blocks for
each one."""

from __future__ import annotations

from bdsim.components import FunctionBlock

from spart_blocks.block_support.links import FRAME, Connected, Incoming, Outgoing
from spart_blocks.block_support.parameters import fixed
from spart_blocks.transports.endpoints import LOOPBACK
from spart_blocks.transports.mqtt import read_mqtt
from spart_blocks.transports.ros import read_ros
from spart_blocks.transports.serial import read_serial
from spart_blocks.transports.shared_memory import read_memory
from spart_blocks.transports.tcp import read_tcp
from spart_blocks.transports.udp import read_udp
from spart_blocks.transports.zmq import read_zmq


class _UDP(Connected):
    """A named wire: in a simulation the outputs equal the inputs, without rounding. In `spart
    realtime` the subdiagram that reads the outputs receives packets at this address, and the
    subdiagram that feeds the inputs sends them there. See docs/links.md.

    Packets that do not match the frame are counted and dropped. The newest frame is used.

    :arg port: port of the receiver
    :arg address: of the receiver, 0.0.0.0 for all addresses of this machine
    """

    nin = 1
    nout = 1

    port = fixed("int")
    frame = FRAME
    address = fixed("str", "", LOOPBACK)
    connect = staticmethod(read_udp)


class UDP_In(Incoming, _UDP, FunctionBlock):
    """Numbers received over UDP."""


class UDP_Out(Outgoing, _UDP, FunctionBlock):
    """Numbers sent over UDP."""


class _TCP(Connected):
    """In a simulation the outputs equal the inputs. In `spart realtime` the subdiagram that reads
    the outputs receives at this address, and the subdiagram that feeds the inputs connects to it
    and sends. See docs/links.md.

    The frame needs a header, by which frames are found in the stream. A lost connection is
    re-established.

    :arg port: port of the server
    :arg address: of the receiver
    :arg server: who listens at the address: receiver or sender; the other one connects to it
    """

    nin = 1
    nout = 1

    port = fixed("int")
    frame = FRAME
    address = fixed("str", "", LOOPBACK)
    server = fixed("str", "", "receiver")
    connect = staticmethod(read_tcp)


class TCP_In(Incoming, _TCP, FunctionBlock):
    """Numbers received over TCP."""


class TCP_Out(Outgoing, _TCP, FunctionBlock):
    """Numbers sent over TCP."""


class _MQTT(Connected):
    """In a simulation the outputs equal the inputs. In `spart realtime` the subdiagram that reads
    the outputs subscribes to the topic, and the subdiagram that feeds the inputs publishes under
    it. See docs/links.md.

    A message is a frame, with quality of service 0. A Python thread exchanges them through a
    broker, so their delay is longer and less even than over UDP. Needs paho-mqtt: pip install
    'spart_blocks[mqtt]'.

    :arg topic: topic of the frames
    :arg address: of the broker
    :arg port: of the broker
    """

    nin = 1
    nout = 1

    topic = fixed("str")
    frame = FRAME
    address = fixed("str", "", LOOPBACK)
    port = fixed("int", "", 1883)
    connect = staticmethod(read_mqtt)


class MQTT_In(Incoming, _MQTT, FunctionBlock):
    """Numbers received over MQTT."""


class MQTT_Out(Outgoing, _MQTT, FunctionBlock):
    """Numbers sent over MQTT."""


class _ZMQ(Connected):
    """In a simulation the outputs equal the inputs. In `spart realtime` the subdiagram that reads
    the outputs subscribes to all messages, and the subdiagram that feeds the inputs publishes. See
    docs/links.md.

    A message is a frame. A Python thread exchanges them, so their delay is longer and less even
    than over UDP. Needs pyzmq: pip install 'spart_blocks[zmq]'.

    :arg port: port of the side that binds
    :arg address: address of the side that binds
    :arg server: the side that binds the address: sender or receiver; the other side connects
    """

    nin = 1
    nout = 1

    port = fixed("int")
    frame = FRAME
    address = fixed("str", "", LOOPBACK)
    server = fixed("str", "", "sender")
    connect = staticmethod(read_zmq)


class ZMQ_In(Incoming, _ZMQ, FunctionBlock):
    """Numbers received over ZeroMQ."""


class ZMQ_Out(Outgoing, _ZMQ, FunctionBlock):
    """Numbers sent over ZeroMQ."""


class _SERIAL(Connected):
    """In a simulation the outputs equal the inputs. In `spart realtime` the subdiagram that reads
    the outputs reads from the device, and the subdiagram that feeds the inputs writes to its peer.
    See docs/links.md.

    The frame needs a header, by which frames are found in the stream, and should have a checksum.
    Blocks with the same device share it: 8 data bits, no parity, one stop bit. Needs pyserial: pip
    install 'spart_blocks[serial]'.

    :arg device: the device on this side, such as /dev/ttyUSB0
    :arg peer: the device at the other end, for the other subdiagram
    :arg baud: bits per second
    """

    nin = 1
    nout = 1

    device = fixed("str")
    frame = FRAME
    peer = fixed("str", "", None)
    baud = fixed("int", "", 115200)
    connect = staticmethod(read_serial)


class SERIAL_In(Incoming, _SERIAL, FunctionBlock):
    """Numbers received over a serial line."""


class SERIAL_Out(Outgoing, _SERIAL, FunctionBlock):
    """Numbers sent over a serial line."""


class _SHM(Connected):
    """In a simulation the outputs equal the inputs. In `spart realtime` the subdiagram that reads
    the outputs reads from the memory, and the subdiagram that feeds the inputs writes to it. See
    docs/links.md.

    Only the newest frame is kept. Both sides run on the same machine, as the same user.

    :arg memory: the NAME in /dev/shm/spart-NAME
    """

    nin = 1
    nout = 1

    memory = fixed("str")
    frame = FRAME
    connect = staticmethod(read_memory)


class SHM_In(Incoming, _SHM, FunctionBlock):
    """Numbers received through shared memory."""


class SHM_Out(Outgoing, _SHM, FunctionBlock):
    """Numbers sent through shared memory."""


class _ROS(Connected):
    """In a simulation the outputs equal the inputs. In `spart realtime` the subdiagram that reads
    the outputs subscribes to the topic of ROS 2, and the subdiagram that feeds the inputs publishes
    it. See docs/ros.md.

    Each field is a port. Texts and lengths of the message are constant. No ROS is needed; messages
    go over Zenoh, as with rmw_zenoh, by a Python thread, or over DDS. Needs eclipse-zenoh: pip
    install 'spart_blocks[ros]', or cyclonedds: 'spart_blocks[dds]'.

    :arg topic: name of the topic, in the namespace of the node if it does not begin with /
    :arg message: type of its messages, such as sensor_msgs/JointState
    :arg fields: path of the numbers of each port, such as {q: position, u: "data[6]"}; by default
        all numbers but stamps and covariances
    :arg values: constants of other fields, such as {header: {frame_id: base}}
    :arg joints: names of the joints, for messages that list them
    :arg qos: quality of service, such as {reliability: best_effort, durability: volatile, depth: 1}
    :arg definitions: the .msg file of the type, if it does not come with the package
    """

    nin = 1
    nout = 1

    topic = fixed("str")
    message = fixed("str")
    fields = fixed("mapping", "", None)
    values = fixed("mapping", "", None)
    joints = fixed("list of str", "", None)
    qos = fixed("mapping", "", None)
    definitions = fixed("path", "", None)
    connect = staticmethod(read_ros)


class ROS_In(Incoming, _ROS, FunctionBlock):
    """Numbers of the messages of a topic of ROS 2."""


class ROS_Out(Outgoing, _ROS, FunctionBlock):
    """Numbers published as messages of a topic of ROS 2."""

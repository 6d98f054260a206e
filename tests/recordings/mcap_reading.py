"""Files as the reference reader of MCAP and the decoder of its protobuf support read them."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from mcap.reader import make_reader


@dataclass
class ReadFile:
    """topics: messages by topic, each with its log time [ns]; texts: CDR bytes by topic."""

    topics: dict = field(default_factory=lambda: defaultdict(list))
    channels: dict = field(default_factory=dict)
    schemas: dict = field(default_factory=dict)
    attachments: dict = field(default_factory=dict)
    metadata: dict = field(default_factory=dict)
    statistics: object = None

    def values(self, topic):
        return [message for _, message in self.topics[topic]]


def read_mcap(path):
    """All of a file, with its checksums checked."""
    found, classes = ReadFile(), {}
    with open(path, "rb") as stream:
        reader = make_reader(stream, validate_crcs=True)
        summary = reader.get_summary()
        found.statistics = summary.statistics
        found.channels = {channel.topic: channel for channel in summary.channels.values()}
        found.schemas = {
            channel.topic: summary.schemas[channel.schema_id]
            for channel in summary.channels.values()
        }
        for schema, channel, message in reader.iter_messages():
            if channel.message_encoding == "protobuf":
                if schema.id not in classes:
                    classes[schema.id] = class_of(schema)
                decoded = classes[schema.id].FromString(message.data)
            else:
                decoded = message.data
            found.topics[channel.topic].append((message.log_time, decoded))
        found.attachments = {one.name: one.data for one in reader.iter_attachments()}
        found.metadata = {one.name: one.metadata for one in reader.iter_metadata()}
    return found


def class_of(schema):
    pool = descriptor_pool.DescriptorPool()
    for file in descriptor_pb2.FileDescriptorSet.FromString(schema.data).file:
        pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(schema.name))

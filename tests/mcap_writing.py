"""MCAP files that the package mcap writes, for tests of what reads them."""

from __future__ import annotations

import json

import numpy as np
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from mcap.writer import CompressionType, Writer

from spart_blocks.results.packed import pack_beside

FIELDS = descriptor_pb2.FieldDescriptorProto


def message_class(name, **fields):
    """A protobuf class with fields of doubles: one each, or many for True."""
    file = descriptor_pb2.FileDescriptorProto(name=f"{name}.proto", package="p", syntax="proto3")
    kind = file.message_type.add(name=name)
    for number, (field, many) in enumerate(fields.items(), start=1):
        label = FIELDS.LABEL_REPEATED if many else FIELDS.LABEL_OPTIONAL
        kind.field.add(name=field, number=number, type=FIELDS.TYPE_DOUBLE, label=label)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    made = message_factory.GetMessageClass(pool.FindMessageTypeByName(f"p.{name}"))
    return made, descriptor_pb2.FileDescriptorSet(file=[file]).SerializeToString()


def write_run(results, path, epoch=0, finish=True, compression=CompressionType.ZSTD, **options):
    """A run as a file, laid out as recordings of runs are."""
    file = path.open("wb")
    writer = Writer(file, compression=compression, **options)
    writer.start()
    arrays = {("signal", name): array for name, array in results.signals.items()}
    arrays |= {("state", name): array for name, array in results.states.items()}
    channels = []
    for (key, name), array in arrays.items():
        shape = array.shape[1:]
        kind, text = message_class(f"S{len(channels)}", t=False, value=bool(shape))
        schema = writer.register_schema(f"p.S{len(channels)}", "protobuf", text)
        topic = "/" + (name if key == "signal" else f"states.{name}").replace(".", "/")
        labels = results.entries.get(name) or results.state_names.get(name) or ()
        about = {key: name, "unit": results.units.get(name, ""), "dtype": str(array.dtype),
                 "labels": json.dumps(labels), "shape": json.dumps(shape)}  # fmt: skip
        channels.append((writer.register_channel(topic, "protobuf", schema, about), kind, array))
    for k, t in enumerate(results.t):
        time = epoch + round(float(t) * 1e9)
        for channel, kind, array in channels:
            value = array[k].ravel().tolist() if array.ndim > 1 else float(array[k])
            data = kind(t=float(t), value=value).SerializeToString()
            writer.add_message(channel, time, data, time)
    if finish:
        text, archive = pack_beside(results)
        writer.add_metadata("spart_blocks", {"format": "spart_blocks recording 1", "meta": text})
        writer.add_attachment(0, 0, "final_state.npz", "application/octet-stream", archive)
        writer.finish()
    file.close()
    return path


def write_json(path, compression=CompressionType.ZSTD, enable_crcs=True, **topics):
    """Messages as JSON: topic to (times [s], list of messages); `_` in front stands for `/`."""
    with path.open("wb") as file:
        writer = Writer(file, compression=compression, enable_crcs=enable_crcs)
        writer.start()
        for topic, (times, messages) in topics.items():
            channel = writer.register_channel(topic.replace("_", "/", 1), "json", 0)
            for t, message in zip(times, messages, strict=True):
                time = int(np.rint(t * 1e9))
                writer.add_message(channel, time, json.dumps(message).encode(), time)
        writer.finish()
    return path

# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
What is used of rosbag2_py, for machines without ROS from apt: MCAP only, by the mcap library.

As rosbag2 0.26.1 was seen to do, a file that is cut off ends early and a full disk is not noticed,
both without an error, and every close of a writer, the last one by its deletion, writes
metadata.yaml. `BLOCKED`, a variable of the environment, is the folder that hides mcap.
"""

from contextlib import suppress
import os
from pathlib import Path
import sys
from types import SimpleNamespace

path, sys.path = sys.path, [entry for entry in sys.path if entry != os.environ['BLOCKED']]
from mcap import exceptions, stream_reader, writer  # noqa: E402
from mcap.records import Channel, Message, Metadata, Schema  # noqa: E402
import yaml  # noqa: E402

sys.path = path
for loaded in [name for name in sys.modules if name.partition('.')[0] == 'mcap']:
    del sys.modules[loaded]

ReadOrderSortBy = SimpleNamespace(File='file')
TopicMetadata = SimpleNamespace


class StorageOptions(SimpleNamespace):
    def __init__(self, uri, storage_id='', storage_preset_profile='', custom_data=None):
        super().__init__(
            uri=uri, storage_id=storage_id, profile=storage_preset_profile,
            custom_data=custom_data or {},
        )


def ConverterOptions(given, wanted):
    assert given == wanted == ''


def ReadOrder(sort_by, reverse):
    assert (sort_by, reverse) == (ReadOrderSortBy.File, False)


def StorageFilter(topics):
    return topics


class SequentialReader:
    def read(self, options, converter):
        self._rows, schemas, channels, notes = [], {}, {}, {}
        data = Path(options.uri).open('rb')
        try:
            for record in stream_reader.StreamReader(data).records:
                if isinstance(record, Schema):
                    schemas[record.id] = record.name
                elif isinstance(record, Channel):
                    channels[record.id] = record
                elif isinstance(record, Metadata):
                    notes = yaml.load(record.metadata['serialized_metadata'], yaml.BaseLoader)
                elif isinstance(record, Message):
                    self._rows.append(
                        (channels[record.channel_id].topic, record.data, record.log_time)
                    )
        except exceptions.McapError as error:
            if not channels and not self._rows:
                raise RuntimeError('No storage could be initialized from the inputs.') from error
        finally:
            data.close()
        times = [row[2] for row in self._rows] or [0]
        self._metadata = SimpleNamespace(
            custom_data=notes.get('custom_data') or {}, message_count=len(self._rows),
            starting_time=SimpleNamespace(nanoseconds=min(times)),
            duration=SimpleNamespace(nanoseconds=max(times) - min(times)),
            topics_with_message_count=[
                SimpleNamespace(
                    topic_metadata=TopicMetadata(
                        name=channel.topic, type=schemas[channel.schema_id],
                        serialization_format=channel.message_encoding,
                    ),
                    message_count=sum(row[0] == channel.topic for row in self._rows),
                ) for channel in channels.values()
            ],
        )

    def get_metadata(self):
        return self._metadata

    def set_read_order(self, order):
        return True

    def set_filter(self, topics):
        self._rows = [row for row in self._rows if row[0] in topics][::-1]

    def has_next(self):
        return bool(self._rows)

    def read_next(self):
        return self._rows.pop()


class _Sink:
    def __init__(self, file):
        self._stream, self._position = file.open('xb', buffering=0), 0

    def write(self, data):
        with suppress(OSError):
            self._stream.write(data)
        self._position += len(data)
        return len(data)

    def tell(self):
        return self._position

    def flush(self):
        pass


class SequentialWriter:
    def begin(self, options, converter):
        folder = Path(options.uri)
        if folder.exists():
            raise RuntimeError(f"Bag directory already exists ({folder}), can't overwrite")
        folder.mkdir(parents=True)
        assert options.profile == 'fastwrite'
        self._folder, self._channels, self._closed = folder, {}, False
        self._writer = writer.Writer(_Sink(folder / f'{folder.name}_0.mcap'), use_chunking=False)
        self._writer.start(profile='ros2')
        self._writer.add_metadata('rosbag2', {
            'serialized_metadata': yaml.safe_dump({'custom_data': dict(options.custom_data)}),
        })

    def create_topic(self, topic):
        schema = self._writer.register_schema(topic.type, 'ros2msg', b'')
        self._channels[topic.name] = self._writer.register_channel(topic.name, 'cdr', schema)

    def write(self, topic, data, log_time):
        self._writer.add_message(self._channels[topic], log_time, data, log_time)

    def close(self):
        if not self._closed:
            self._writer.finish()
        self._closed = True
        with suppress(OSError):
            (self._folder / 'metadata.yaml').write_text('rosbag2 wrote this')

    def __del__(self):
        self.close()


# Defined in the classes, they would hide a built-in name.
SequentialReader.open = SequentialReader.read
SequentialWriter.open = SequentialWriter.begin

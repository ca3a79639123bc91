# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""What the tests of bags share: messages in CDR by rosbags, files in MCAP by the mcap library."""

from pathlib import Path

from builders import JOINT_STATE, joint_states
import numpy as np
import pytest
from robot_identification.recording.joint_states import DYNAMIC_JOINT_STATE

NAMES = ('alpha', 'beta', 'gamma')
COUNT = 400
# What the standard types of rosbags lack, as its packages define it.
MORE_TYPES = {
    'control_msgs/msg/InterfaceValue': 'string[] interface_names\nfloat64[] values\n',
    'control_msgs/msg/DynamicJointState':
        'std_msgs/Header header\nstring[] joint_names\n'
        'control_msgs/InterfaceValue[] interface_values\n',
    'ur_dashboard_msgs/msg/RobotMode': 'int8 RUNNING=7\nint8 mode\n',
    'ur_dashboard_msgs/msg/SafetyMode': 'uint8 NORMAL=1\nuint8 mode\n',
    'example_interfaces/msg/Float64': 'float64 data\n',
    'example_interfaces/msg/MultiArrayDimension': 'string label\nuint32 size\nuint32 stride\n',
    'example_interfaces/msg/MultiArrayLayout':
        'example_interfaces/MultiArrayDimension[] dim\nuint32 data_offset\n',
    'example_interfaces/msg/Float64MultiArray':
        'example_interfaces/MultiArrayLayout layout\nfloat64[] data\n',
}


@pytest.fixture(scope='session')
def types():
    """Return rosbags' types of ROS 2 Jazzy, and those of a robot machine."""
    pytest.importorskip('rosbags', reason='rosbags, which serializes, is not installed')
    from rosbags.typesys import get_types_from_msg, get_typestore, Stores

    store = get_typestore(Stores.ROS2_JAZZY)
    for name, text in MORE_TYPES.items():
        store.register({
            kind: fields for kind, fields in get_types_from_msg(text, name).items()
            if kind not in store.fielddefs
        })
    return store


@pytest.fixture(scope='session')
def serialize(types):
    """Return a function that makes the bytes of a message: a type and its fields."""
    def make(kind, *fields, little_endian=True):
        message = types.types[kind](*fields)
        return bytes(types.serialize_cdr(message, kind, little_endian=little_endian))

    return make


@pytest.fixture(scope='session')
def header(types):
    """Return a function that makes a header of a stamp [ns]."""
    def make(stamp, frame='base_link'):
        time = types.types['builtin_interfaces/msg/Time'](*divmod(int(stamp), 10**9))
        return types.types['std_msgs/msg/Header'](time, frame)

    return make


@pytest.fixture(scope='session')
def to_cdr(serialize, header):
    """Return a function that makes (log time, bytes) of a builders.Message."""
    def make(message, frame='base_link', little_endian=True):
        return message.log_time, serialize(
            JOINT_STATE, header(message.stamp, frame), list(message.name), message.position,
            message.velocity, message.effort, little_endian=little_endian,
        )

    return make


@pytest.fixture(scope='session')
def dynamic(serialize, header, types):
    """Return a function that makes a DynamicJointState: a stamp and interfaces by joint."""
    def make(stamp, joints, little_endian=True):
        values = [
            types.types['control_msgs/msg/InterfaceValue'](
                list(found), np.array([*found.values()], dtype=float)
            )
            for found in joints.values()
        ]
        return serialize(
            DYNAMIC_JOINT_STATE, header(stamp), list(joints), values, little_endian=little_endian
        )

    return make


@pytest.fixture(scope='session')
def write_mcap():
    """Return a function that writes messages by topic and type; chunks are small: several."""
    writer_module = pytest.importorskip('mcap.writer', reason='mcap is not installed')

    def write(path: Path, contents, metadata='', **options):
        options = {
            'chunk_size': 8_000, 'compression': writer_module.CompressionType.NONE, **options,
        }
        with path.open('wb') as stream:
            writer = writer_module.Writer(stream, **options)
            writer.start(profile='ros2')
            if metadata:
                writer.add_metadata('rosbag2', {'serialized_metadata': metadata})
            channels, messages = {}, []
            for (topic, kind), found in contents.items():
                schema = writer.register_schema(kind, 'ros2msg', b'')
                channels[topic] = writer.register_channel(topic, 'cdr', schema)
                messages += [(log_time, topic, data) for log_time, data in found]
            for log_time, topic, data in sorted(messages, key=lambda message: message[0]):
                writer.add_message(channels[topic], log_time, data, log_time)
            writer.finish()
        return path

    return write


@pytest.fixture(scope='session')
def good():
    """Return the joint states of four seconds at 100 Hz, three joints."""
    rng = np.random.default_rng(5)
    stamps = 3.0 + 0.01 * np.arange(COUNT)
    return joint_states(NAMES, stamps, *(rng.normal(size=(COUNT, 3)) for _ in range(3)),
                        log_delay=0.002)

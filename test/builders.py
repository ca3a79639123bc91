# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""What several tests build: small URDFs, bags message by message, and a real test arm."""

from collections.abc import Mapping, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from copy import deepcopy
from dataclasses import dataclass
import gc
import io
import json
import os
from pathlib import Path
import resource
import sysconfig
from typing import NamedTuple

import numpy as np
import pytest

JOINT_STATE = 'sensor_msgs/msg/JointState'
UR_JOINTS = (
    'shoulder_pan_joint', 'shoulder_lift_joint', 'elbow_joint',
    'wrist_1_joint', 'wrist_2_joint', 'wrist_3_joint',
)
FIRST_STAMP = 5.0
# As a value in `changed`: the key is left out.
DELETE = object()
FINGERS = ('panda_finger_joint1', 'panda_finger_joint2')


def link(name, mass=1.5, centre=(0.02, -0.03, 0.1), principal=(0.02, 0.03, 0.025), rpy=(0, 0, 0)):
    """Return a URDF link with an inertial: centre [m], tensor about it [kg m^2]."""
    ixx, iyy, izz = principal
    return (
        f'<link name="{name}"><inertial>'
        f'<origin xyz="{_numbers(centre)}" rpy="{_numbers(rpy)}"/><mass value="{mass}"/>'
        f'<inertia ixx="{ixx}" iyy="{iyy}" izz="{izz}" ixy="0" ixz="0" iyz="0"/>'
        '</inertial></link>'
    )


def joint(
    name, parent, child, kind='revolute', axis=(0, 0, 1), xyz=(0, 0, 0.3), rpy=(0, 0, 0),
    limit='<limit lower="-2" upper="2" velocity="3" effort="60"/>', more='',
):
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="{_numbers(xyz)}" rpy="{_numbers(rpy)}"/>'
        f'<axis xyz="{_numbers(axis)}"/>{limit}{more}</joint>'
    )


def robot_urdf(*elements, name='made_up'):
    return f'<robot name="{name}">{"".join(elements)}</robot>'


def turn_and_slide_urdf():
    """Return an arm of a joint that turns and one that slides."""
    return robot_urdf(
        link('ground'), link('upper', 2.0), link('slider', 1.0),
        joint('turn', 'ground', 'upper'),
        joint('slide', 'upper', 'slider', 'prismatic', (1, 0, 0), xyz=(0.3, 0, 0.1)),
    )


def mixed_urdf():
    """Return an arm with a continuous, a prismatic and a revolute joint, all frames skew."""
    return robot_urdf(
        link('ground'),
        link('tower', 4.0, (0.03, 0.01, 0.2), (0.05, 0.06, 0.03), (0.1, 0.2, 0.3)),
        link('slider', 2.5, (-0.05, 0.04, 0.06), (0.02, 0.03, 0.015), (0.3, -0.2, 0.1)),
        link('hand', 1.2, (0.08, -0.02, 0.05), (0.006, 0.009, 0.008), (-0.2, 0.4, 0.0)),
        joint('turn', 'ground', 'tower', 'continuous', rpy=(0.2, 0, 0),
              limit='<limit velocity="4" effort="80"/>'),
        joint('slide', 'tower', 'slider', 'prismatic', (1, 0, 0), (0.1, 0, 0.25), (0, 0.4, 0.1),
              '<limit lower="-0.3" upper="0.4" velocity="1" effort="120"/>'),
        joint('tip', 'slider', 'hand', 'revolute', (0, 0.6, 0.8), (0.2, 0.05, 0), (0.1, 0, 0.5)),
    )


def two_link_urdf(**changes):
    """Return an arm of two revolute joints; `changes` replace the arguments of the first."""
    return robot_urdf(
        link('ground'), link('upper'), link('lower'),
        joint(**{'name': 'one', 'parent': 'ground', 'child': 'upper', **changes}),
        joint('two', 'upper', 'lower', axis=(0, 1, 0), xyz=(0.3, 0, 0.1), rpy=(0.2, 0, 0)),
    )


def _numbers(vector):
    return ' '.join(str(value) for value in vector)


def panda_urdf_path():
    """Return the Panda's URDF of the PyPI package example-robot-data, or None without it."""
    path = Path(
        sysconfig.get_path('purelib'), 'cmeel.prefix', 'share', 'example-robot-data', 'robots',
        'panda_description', 'urdf', 'panda.urdf',
    )
    return path if path.is_file() else None


@dataclass(frozen=True)
class Message:
    """One joint state as a driver sends it: times [ns], any array may be empty."""

    log_time: int
    stamp: int
    name: Sequence[str]
    position: np.ndarray
    velocity: np.ndarray
    effort: np.ndarray


def joint_states(names, times, q, dq, effort, log_delay=0.0):
    """Return messages of samples (N, n) with header stamps `times` [s], logged a bit later."""
    return [
        Message(
            round((time + log_delay) * 1e9), round(time * 1e9), list(names),
            np.array(q[k], dtype=float), np.array(dq[k], dtype=float),
            np.array(effort[k], dtype=float),
        )
        for k, time in enumerate(times)
    ]


def ros_types():
    """Return the types of ROS 2 Jazzy, by rosbags."""
    from rosbags.typesys import get_typestore, Stores

    return get_typestore(Stores.ROS2_JAZZY)


def write_rows(path, kinds, rows, metadata=None, plugin='mcap') -> Path:
    """Write log times [ns], topics and messages, the types by topic, with rosbags alone."""
    # So that what reads them is tested by something else.
    pytest.importorskip('rosbags', reason='rosbags, which bags are written with, is missing')
    from rosbags.rosbag2 import StoragePlugin, Writer

    store = ros_types()
    writer = Writer(path, version=9, storage_plugin=StoragePlugin[plugin.upper()])
    for key, value in (metadata or {}).items():
        writer.set_custom_data(key, value)
    with writer:
        connections = {
            topic: writer.add_connection(topic, kind, typestore=store)
            for topic, kind in kinds.items()
        }
        for log_time, topic, message in rows:
            data = store.serialize_cdr(message, kinds[topic])
            writer.write(connections[topic], log_time, data)
    return path


def rows_of(messages: Sequence[Message], topic='/joint_states'):
    """Return joint states as rows of a bag."""
    types = ros_types().types
    header, time = types['std_msgs/msg/Header'], types['builtin_interfaces/msg/Time']
    return [
        (one.log_time, topic, types[JOINT_STATE](
            header(time(*divmod(one.stamp, 10**9)), ''), list(one.name), one.position,
            one.velocity, one.effort,
        ))
        for one in messages
    ]


def write_bag(
    path: Path,
    messages: Sequence[Message],
    metadata: Mapping[str, str] | None = None,
    topic: str = '/joint_states',
    plugin: str = 'mcap',
) -> Path:
    """Write joint states of one topic, in their order."""
    return write_rows(path, {topic: JOINT_STATE}, rows_of(messages, topic), metadata, plugin)


def topics_of(path):
    """Return type and number of messages by topic of a bag, by rosbags alone."""
    from rosbags.rosbag2 import Reader

    with Reader(path) as reader:
        return {found.topic: (found.msgtype, found.msgcount) for found in reader.connections}


def custom_data_of(path):
    """Return the custom data of a bag, by rosbags alone."""
    from rosbags.rosbag2 import Reader

    with Reader(path) as reader:
        return dict(reader.storage.metadata.custom or {})


def robot_machine(folder, hidden=('rosbags', 'mcap')):
    """Return the environment of a machine on which some modules cannot be imported."""
    for module in hidden:
        (folder / module).mkdir(parents=True)
        (folder / module / '__init__.py').write_text(
            f'raise ModuleNotFoundError(name={module!r})'
        )
    # The real library, where there is one, has to give the same.
    try:
        import rosbag2_py  # noqa: F401
        path = [str(folder)]
    except ImportError:
        path = [str(folder), str(Path(__file__).with_name('rosbag2_stand_in'))]
    path += filter(None, [os.environ.get('PYTHONPATH')])
    return {**os.environ, 'PYTHONPATH': os.pathsep.join(path), 'BLOCKED': str(folder)}


def decode_joint_state(log_time, raw):
    """Return a serialized joint state, by rosbags alone."""
    found = ros_types().deserialize_cdr(raw, JOINT_STATE)
    stamp = found.header.stamp.sec * 1_000_000_000 + found.header.stamp.nanosec
    return Message(log_time, stamp, found.name, found.position, found.velocity, found.effort)


def write_run(path, robot, run, **changes):
    """Write a simulated run as a UR driver would; `changes` replace what is recorded."""
    order = np.argsort(robot.joint_names)
    recorded = {
        'names': [robot.joint_names[i] for i in order],
        'times': FIRST_STAMP + run.stamps,
        'q': run.measured[0][:, order],
        'dq': run.measured[1][:, order],
        'effort': run.measured[2][:, order],
        'metadata': {'robot': robot.name, 'effort_unit': 'A'},
        **changes,
    }
    metadata = recorded.pop('metadata')
    return write_bag(path, joint_states(**recorded), metadata)


def write_text_bag(path: Path, count: int) -> Path:
    """Write a bag of `count` strings and no joint state."""
    kind = 'std_msgs/msg/String'
    text = ros_types().types[kind]
    return write_rows(path, {'/words': kind}, [
        (10**9 + number, '/words', text(f'word {number}')) for number in range(count)
    ])


@contextmanager
def room_for(size):
    """Let no file of this process grow beyond a size [bytes], as a full disk would."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        # What a writer of rosbags leaves open is closed here, not in another test.
        gc.collect()


def changed(content, *changes):
    """Return a mapping with other values: of each change the keys on the way and the value."""
    content = deepcopy(content)
    for *way, last, value in changes:
        part = content
        for key in way:
            part = part[key]
        if value is DELETE:
            del part[last]
        else:
            part[last] = value
    return content


def contents(folder: Path) -> dict[str, bytes]:
    """Return the bytes of every file below a folder, to see that nothing was written."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() if path.is_file() else b'folder'
        for path in sorted(folder.rglob('*'))
    }


class Outcome(NamedTuple):
    """How a command ended, and what it printed."""

    code: int
    out: str
    err: str


def run_command(*arguments) -> Outcome:
    """Run `robot-identification` in this process; argparse's own exits are outcomes too."""
    from robot_identification.cli.main import main

    with redirect_stdout(io.StringIO()) as out, redirect_stderr(io.StringIO()) as err:
        try:
            code = main([str(argument) for argument in arguments])
        except SystemExit as end:
            code = end.code
    return Outcome(int(code or 0), out.getvalue(), err.getvalue())


def succeed(*arguments) -> Outcome:
    """Run a command that has to end well."""
    found = run_command(*arguments)
    assert found.code == 0, found.out + found.err
    return found


def answer(*arguments):
    """Return the object that a command prints with --json."""
    return json.loads(succeed(*arguments, '--json').out)


def refusal(*arguments, code=2) -> str:
    """Return what a command says on stderr that has to end with this exit code."""
    found = run_command(*arguments)
    assert found.code == code, found.out + found.err
    return found.err

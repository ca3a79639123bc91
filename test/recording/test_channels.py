# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""What is recorded beside the joint states comes out by name, in their time base and order."""

from dataclasses import replace

from builders import JOINT_STATE
import numpy as np
import pytest
from robot_identification.model.robot_model import JointEncoders
from robot_identification.recording.bag import read_recording

NAMES = ('alpha', 'beta', 'gamma')
ARRAY = 'example_interfaces/msg/Float64MultiArray'
PERCENT = '/speed_scaling_state_broadcaster/speed_scaling'
# The log clock of the messages is behind the header stamps by this [s], but for the odd one.
OFFSET = 1.5


@pytest.fixture
def joints(good, to_cdr):
    """Return the joint states, logged on another clock than they are stamped by."""
    raw = []
    for k, message in enumerate(good):
        late = 300_000_000 if k % 50 == 25 else 0
        raw.append((message.stamp - round(OFFSET * 1e9) + late, to_cdr(message)[1]))
    return raw


@pytest.fixture
def read(joints, write_mcap, tmp_path):
    def run(topics, joint_topic='/joint_states', names=NAMES, **options):
        path = write_mcap(
            tmp_path / 'a.mcap', {(joint_topic, JOINT_STATE): joints, **topics}
        )
        return read_recording(path, names, topic=joint_topic, **options)

    return run


@pytest.fixture
def array(serialize, types):
    """Return a function that makes a Float64MultiArray of either package."""
    def make(values, kind=ARRAY, label=''):
        package = kind.split('/')[0]
        dimensions = [
            types.types[f'{package}/msg/MultiArrayDimension'](label, len(values), 1)
        ] if label else []
        layout = types.types[f'{package}/msg/MultiArrayLayout'](dimensions, 0)
        return serialize(kind, layout, np.array(values, dtype=float))

    return make


def times(count, start=4.0):
    return [round((start - OFFSET) * 1e9) + 100_000_000 * k for k in range(count)]


@pytest.mark.parametrize('namespace', ['', '/rtde', '/cell_1/rtde'])
@pytest.mark.parametrize('kind', [ARRAY, 'std_msgs/msg/Float64MultiArray'])
def test_vectors_of_the_rtde_publisher(read, array, namespace, kind):
    """One column a joint in kinematic order; currents and torques have the effort's sign."""
    keys = {'temperature': 'joint_temperatures', 'target_current': 'target_current',
            'target_torque': 'target_moment', 'actual_current': 'actual_current'}
    rows = np.arange(30.0).reshape(10, 3)
    topics = {
        (f'{namespace}/{key}', kind): [
            (time, array(100 * number + row, kind, label='x' * (number % 3)))
            for time, row in zip(times(10), rows, strict=True)
        ]
        for number, key in enumerate(keys.values())
    }
    sign = np.array([1.0, -1.0, 1.0])
    recording = read(topics, encoders=JointEncoders(sign, np.zeros(3)))
    assert set(recording.channels) == set(keys)
    for number, name in enumerate(keys):
        channel = recording.channels[name]
        factor = 1.0 if name == 'temperature' else sign
        np.testing.assert_array_equal(channel.values, factor * (100 * number + rows))
        # The first joint state is stamped 3 s; the log clock is moved to the header stamps.
        np.testing.assert_allclose(channel.stamps, 1.0 + 0.1 * np.arange(10), atol=1e-9)
        assert len(channel) == 10
    assert recording.notes == ()


@pytest.mark.parametrize('topic', ['/ur/joint_states', None])
def test_vectors_with_names(joints, write_mcap, tmp_path, to_cdr, good, topic):
    """Joints are found by name and have the time of the header; the topic is no measured state."""
    values = np.arange(30.0).reshape(10, 3)
    topics = {(f'/ur/{name}', JOINT_STATE): [] for name in ('joint_temperatures', 'target_moment')}
    for k, row in enumerate(values):
        message = replace(
            good[k], name=('ur_gamma', 'ur_alpha', 'ur_beta'), position=np.empty(0),
            velocity=np.empty(0), effort=row[[2, 0, 1]],
        )
        for found in topics.values():
            found.append((times(10)[k], to_cdr(message)[1]))
    path = write_mcap(tmp_path / 'a.mcap', {('/ur/joint_states', JOINT_STATE): joints, **topics})
    sign = np.array([1.0, -1.0, 1.0])
    recording = read_recording(
        path, NAMES, topic=topic, encoders=JointEncoders(sign, np.zeros(3))
    )
    assert recording.notes == ()
    np.testing.assert_array_equal(recording.channels['temperature'].values, values)
    np.testing.assert_array_equal(recording.channels['target_torque'].values, sign * values)
    np.testing.assert_allclose(
        recording.channels['temperature'].stamps, recording.stamps[:10], atol=1e-9
    )


def test_states_of_the_ur_driver(read, serialize):
    """Percent becomes a share; modes are numbers; a latched message comes before the motion."""
    mode, safety = 'ur_dashboard_msgs/msg/RobotMode', 'ur_dashboard_msgs/msg/SafetyMode'
    state = '/ur/io_and_status_controller/'
    recording = read({
        (f'/ur{PERCENT}', 'std_msgs/msg/Float64'): [
            (time, serialize('std_msgs/msg/Float64', 25.0 * k)) for k, time in enumerate(times(5))
        ],
        (f'{state}robot_mode', mode): [(times(1, 2.0)[0], serialize(mode, -1))],
        (f'{state}safety_mode', safety): [
            (time, serialize(safety, k)) for k, time in enumerate(times(3))
        ],
        (f'{state}robot_program_running', 'std_msgs/msg/Bool'): [
            (time, serialize('std_msgs/msg/Bool', k != 1)) for k, time in enumerate(times(3))
        ],
    })
    found = recording.channels.items()
    values = {name: channel.values.ravel().tolist() for name, channel in found}
    assert values == {
        'speed_scaling': [0.0, 0.25, 0.5, 0.75, 1.0], 'robot_mode': [-1.0],
        'safety_mode': [0.0, 1.0, 2.0], 'program_running': [1.0, 0.0, 1.0],
    }
    assert recording.channels['robot_mode'].stamps == pytest.approx([-1.0], abs=1e-9)


@pytest.mark.parametrize(('topic', 'kind', 'value'), [
    ('/rtde/speed_scaling', 'example_interfaces/msg/Float64', 0.5),
    ('/io_and_status_controller/safety_mode', 'std_msgs/msg/Int32', 3),
])
def test_states_of_other_types(read, serialize, topic, kind, value):
    """A share stays one; a simulated robot has no ur_dashboard_msgs."""
    recording = read({(topic, kind): [(times(1)[0], serialize(kind, value))]})
    assert recording.channels[topic.rpartition('/')[2]].values.tolist() == [[value]]


def test_other_topics_are_nothing_to_us(read, serialize, array):
    """Another type under the name, a name that only ends alike, and images of no content."""
    recording = read({
        ('/safety_mode', 'std_msgs/msg/String'): [
            (1, serialize('std_msgs/msg/String', 'normal'))
        ],
        ('/not_target_current', ARRAY): [(1, array([1, 2, 3]))],
        ('/camera', 'sensor_msgs/msg/Image'): [(1, b'not an image')],
    })
    assert dict(recording.channels) == {}


def test_of_several_arms_the_nearest_topics_are_taken(read, array):
    """By what their names share with that of the joint states; the others are noted."""
    recording = read({
        (f'/{arm}/rtde/joint_temperatures', ARRAY): [(times(1)[0], array([number] * 3))]
        for number, arm in enumerate(('left', 'right'))
    }, joint_topic='/right/joint_states')
    assert recording.channels['temperature'].values.tolist() == [[1.0] * 3]
    assert recording.notes == (
        'temperature is read from /right/rtde/joint_temperatures, not from '
        '/left/rtde/joint_temperatures',
    )


def test_vectors_of_another_length_are_left_out_and_noted(read, array):
    """Six temperatures of an arm of which the model has three joints: nobody says which."""
    sizes = [3, 6, 6, 3, 0]
    recording = read({('/rtde/joint_temperatures', ARRAY): [
        (time, array(np.full(size, 20.0 + k)))
        for k, (size, time) in enumerate(zip(sizes, times(5), strict=True))
    ]})
    channel = recording.channels['temperature']
    assert channel.values[:, 0].tolist() == [20.0, 23.0]
    np.testing.assert_allclose(channel.stamps, [1.0, 1.3], atol=1e-9)
    assert '3 messages on /rtde/joint_temperatures are left out' in recording.notes[0]


def test_a_damaged_message_ends_a_channel_and_not_the_recording(read, array):
    raw = [(time, array([1, 2, 3])) for time in times(10)]
    raw[4] = raw[4][0], raw[4][1][:-9]
    recording = read({('/rtde/target_current', ARRAY): raw})
    assert len(recording.channels['target_current']) == 4
    assert len(recording) == 400
    assert recording.completeness.state == 'complete'
    note = 'target_current: /rtde/target_current is read no further: a message'
    assert note in recording.notes[0]


def test_without_header_stamps_everything_is_on_the_log_clock(
        good, to_cdr, array, write_mcap, tmp_path):
    from dataclasses import replace

    raw = [to_cdr(replace(message, stamp=0)) for message in good]
    path = write_mcap(tmp_path / 'a.mcap', {
        ('/joint_states', JOINT_STATE): raw,
        ('/rtde/joint_temperatures', ARRAY): [(raw[100][0], array([1, 2, 3]))],
    })
    recording = read_recording(path, NAMES)
    assert recording.stamps_from == 'log'
    assert recording.channels['temperature'].stamps == pytest.approx([1.0], abs=1e-12)

# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""What is recorded beside the joint states comes out by name, in their time base and order."""

from dataclasses import replace
import json

from builders import JOINT_STATE
from hypothesis import given, strategies as st
import numpy as np
import pytest
from robot_identification.model.robot_model import JointEncoders
from robot_identification.recording import (
    DRIVER, driver_remarks, DriverRecord, hardware_record, read_driver_record, with_states,
)
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


PARAMETERS = {
    'ur_type': 'ur5e', 'kinematics/hash': 'calib_123', 'use_currents_as_efforts': 'false',
    'robot_ip': '10.0.0.2',
}
PLUGIN = 'ur_robot_driver/URPositionHardwareInterface'
VERSION = {f'get_version_{part}': value for part, value in (
    ('major', 5.0), ('minor', 23.0), ('build', 1234.0), ('bugfix', 1.0),
)}
PAYLOAD = {'mass': 1.5, 'cog.x': 0.01, 'cog.y': -0.02, 'cog.z': 0.03}
INERTIA = {'inertia.ixx': 1.0, 'inertia.iyy': 2.0, 'inertia.izz': 3.0, 'inertia.ixy': 4.0,
           'inertia.ixz': 5.0, 'inertia.iyz': 6.0}


def description(*blocks):
    text = ''.join(
        f'<ros2_control name="{number}" type="system"><hardware><plugin>{plugin}</plugin>'
        + ''.join(f'<param name="{name}">{value}</param>' for name, value in given.items())
        + '</hardware></ros2_control>' for number, (plugin, given) in enumerate(blocks)
    )
    return f'<robot name="arm"><link name="base"/>{text}</robot>'


def test_a_description_names_hardware_and_its_arguments():
    """Those of the arm, also where a gripper's stand before it."""
    record = hardware_record(description(
        ('robotiq_driver/RobotiqGripperHardwareInterface', {'COM_port': '/dev/null'}),
        (PLUGIN, PARAMETERS),
    ))
    assert record == DriverRecord(
        package='ur_robot_driver', hardware=PLUGIN, robot_type='ur5e',
        use_currents_as_efforts=False, calibration_hash='calib_123',
    )


@pytest.mark.parametrize('prefix', ['', 'left_'])
@pytest.mark.parametrize('little', [True, False])
def test_states_hold_software_version_and_payload(prefix, little, dynamic):
    """Under the names of the driver's interfaces, in any order, with its prefix."""
    parts = {
        f'{prefix}elbow_joint': {'position': 1.0}, f'{prefix}payload': {**INERTIA, **PAYLOAD},
        f'{prefix}get_robot_software_version': VERSION,
    }
    changed = {**parts, f'{prefix}payload': {**INERTIA, **PAYLOAD, 'mass': 2.0}}
    record = with_states(DriverRecord(), dynamic(7, parts, little), dynamic(8, changed, little))
    assert record.polyscope == '5.23.1.1234'
    assert record.payload == (1.5, 0.01, -0.02, 0.03, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0)
    assert record.payload_changed
    assert dict(record.describe())['Payload set on the robot'] == (
        '1.5 kg at (0.01, -0.02, 0.03) m, at the end 2 kg at (0.01, -0.02, 0.03) m'
    )


def test_what_the_robot_has_not_said_yet_is_not_known(dynamic):
    """Zeros and NaN of interfaces that nothing was written to; a driver without inertia."""
    silent = dynamic(7, {
        'get_robot_software_version': dict.fromkeys(VERSION, 0.0),
        'payload': dict.fromkeys(PAYLOAD, float('nan')),
    })
    assert with_states(DriverRecord(), silent, silent) == DriverRecord()
    plain = dynamic(7, {'payload': PAYLOAD})
    record = with_states(DriverRecord(), plain, plain)
    assert record.payload == tuple(PAYLOAD.values())
    assert not record.payload_changed
    # A message that ends too early says nothing, and spoils nothing.
    assert with_states(record, plain[:-20], plain) == record


@given(st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=300),
    lambda inner: st.lists(inner, max_size=20) | st.dictionaries(
        st.sampled_from(list(DriverRecord.__dataclass_fields__)) | st.text(max_size=5), inner,
    ), max_leaves=30,
))
def test_whatever_the_metadata_hold_can_be_described(content):
    """Bags come from elsewhere: what is no record has nothing known."""
    record = read_driver_record({DRIVER: json.dumps(content)})
    assert record is None or all(isinstance(text, str) for _, text in record.describe())
    assert driver_remarks([('bag', {DRIVER: json.dumps(content)})], 'A') is not None


def remarks(*records, unit='A'):
    return driver_remarks(
        [(f'bag_{number}', {DRIVER: one.text()}) for number, one in enumerate(records)], unit
    )


@pytest.mark.parametrize(('currents', 'unit', 'contradicts'), [
    (True, 'A', False), (True, 'Nm', True), (False, 'A', True), (False, 'Nm', False),
    (None, 'A', False), (None, 'Nm', False),
])
def test_a_unit_that_the_driver_was_not_set_to_is_named(currents, unit, contradicts):
    found = remarks(DriverRecord(use_currents_as_efforts=currents), unit=unit)
    assert bool(found) == contradicts
    if contradicts:
        assert 'bag_0' in found[0] and f'read as {unit}' in found[0]


def test_bags_of_other_software_or_another_arm_are_named():
    """What one bag does not know is no difference."""
    one = DriverRecord('ur_robot_driver', '3.8.0', polyscope='5.12.0.1', calibration_hash='a')
    other = DriverRecord('ur_robot_driver', '3.8.0', polyscope='5.23.0.1', calibration_hash='b')
    assert remarks(one, one, DriverRecord()) == []
    found = remarks(one, other, one)
    assert len(found) == 2
    assert '5.12.0.1 (bag_0); 5.23.0.1 (bag_1)' in found[0]
    assert 'Calibration: a (bag_0); b (bag_1)' in found[1]


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

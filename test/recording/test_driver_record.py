# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""What a recorder knew of the driver: from its description and states, there and back."""

import json

from hypothesis import given, strategies as st
import pytest
from robot_identification.recording import (
    DRIVER, driver_remarks, DriverRecord, hardware_record, NOT_KNOWN, read_driver_record,
    with_states,
)

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


@pytest.mark.parametrize('text', [
    '', '<robot', '<robot name="a"/>', '<!DOCTYPE a [<!ENTITY b "c">]><robot name="a"/>',
])
def test_a_description_without_hardware_says_nothing(text):
    assert hardware_record(text) == DriverRecord()


def test_an_older_driver_does_not_say_what_effort_is():
    """Its description has no such argument: that is not known, and not false."""
    record = hardware_record(description((PLUGIN, {'ur_type': 'ur5e'})))
    assert record.use_currents_as_efforts is None
    assert ('use_currents_as_efforts', NOT_KNOWN) in record.describe()


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


def test_a_record_comes_back_from_the_metadata():
    record = DriverRecord(
        'package', '1.2.3', 'package/Class', 'ur5e', '5.12.0.1', True, ('one (a/b)', 'two (c/d)'),
        (0.0, 0.0, 9.81), (1.0, 0.0, 0.0, 0.1), (1.0, 0.0, 0.0, 0.2), 'calib_1',
    )
    assert read_driver_record({DRIVER: record.text(), 'robot': 'ur5e'}) == record
    assert read_driver_record({'robot': 'ur5e'}) is None


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


def test_a_payload_that_was_set_while_recording_is_named():
    found = remarks(DriverRecord(
        payload=(0.0, 0.0, 0.0, 0.0), payload_at_end=(1.0, 0.0, 0.0, 0.05),
    ))
    assert len(found) == 1
    assert '1 kg at (0, 0, 0.05) m' in found[0]

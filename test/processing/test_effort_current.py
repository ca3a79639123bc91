# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Effort beside the robot's own current: scale and correlation of each joint, and mismatches."""

from builders import JOINT_STATE, joint_states, ros_types, rows_of, run_command, write_rows
import numpy as np
import pytest
from robot_identification.estimation.inputs import recorded_remarks
from robot_identification.processing import compare_with_current, current_facts, current_remarks
from robot_identification.recording import Channel, DRIVER, DriverRecord, read_recording, Recording

JOINTS = ('pan', 'lift', 'elbow')
NOISE = 0.1  # [A]


def current(t):
    """Return three currents of different motions [A]."""
    return np.stack([
        np.sin(0.9 * t), 2.0 + np.cos(1.7 * t), 1.5 * np.sin(2.6 * t + 1.0) - 0.5
    ], axis=1)


def made(rng, gain=(1.0, 1.0, 1.0), order=(0, 1, 2), count=6000, late=0.003):
    """Return a recording at 500 Hz with currents at 125 Hz that come late, both with noise."""
    t = 0.002 * np.arange(count)
    slow = t[::4]
    effort = (current(t) * gain)[:, list(order)]
    return Recording(
        'bag', '/joint_states', tuple(JOINTS[joint] for joint in order), t,
        np.zeros((count, 3)), np.zeros((count, 3)),
        effort + NOISE * rng.standard_normal(effort.shape),
        channels={'actual_current': Channel(
            slow + late, current(slow) + NOISE * rng.standard_normal((len(slow), 3))
        )},
    )


def test_the_same_signal_has_scale_and_correlation_one(rng):
    """Noise of a mean of 25 is 0.02 A beside 0.7 A r.m.s., and 3 ms of 2.6 rad/s are 0.8 %."""
    found = compare_with_current(made(rng))
    assert [one.joint for one in found] == list(JOINTS)
    for one in found:
        assert one.scale == pytest.approx(1.0, abs=0.01)
        assert one.correlation > 0.995
    assert current_remarks(found, 'A') == []
    assert f'pan {found[0].scale:.3g} (correlation' in current_facts(found)[0]
    (remark,) = current_remarks(found, 'Nm')
    assert '--effort-unit A' in remark


def test_torque_has_the_drive_gain_as_its_scale(rng):
    """Read as torque that is as it should be; read as current each joint is named."""
    found = compare_with_current(made(rng, gain=(10.0, 12.0, 5.0)))
    np.testing.assert_allclose([one.scale for one in found], (10.0, 12.0, 5.0), rtol=0.01)
    assert current_remarks(found, 'Nm') == []
    (remark,) = current_remarks(found, 'A')
    assert all(joint in remark for joint in JOINTS)


@pytest.mark.parametrize(('gain', 'named'), [
    ((1.0, -1.0, 1.0), 'lift'), ((1.0, 1.0, 0.8), 'elbow'),
])
def test_a_single_joint_that_differs_is_named(rng, gain, named):
    """By a sign or a fifth; the others are not."""
    (remark,) = current_remarks(compare_with_current(made(rng, gain=gain)), 'A')
    assert [joint for joint in JOINTS if f'{joint} ' in remark.split(':')[1]] == [named]


def test_another_order_of_joints_is_found_from_the_signals(rng):
    """As `doctor` needs it, which knows names alone."""
    recording = made(rng, order=(2, 0, 1))
    found = compare_with_current(recording, order_known=False)
    assert [one.joint for one in found] == ['elbow', 'pan', 'lift']
    assert current_remarks(found, 'A') == []
    assert current_remarks(compare_with_current(recording), 'A')


def test_a_long_recording_is_compared_in_parts(rng):
    """The same scale; of 400 000 joint states 100 000 are looked at."""
    found = compare_with_current(made(rng, gain=(2.0, 3.0, 4.0), count=400_000))
    np.testing.assert_allclose([one.scale for one in found], (2.0, 3.0, 4.0), rtol=0.005)


def test_without_a_current_or_with_too_little_nothing_is_said(rng):
    recording = made(rng)
    short = made(rng, count=500)
    assert compare_with_current(short) == ()
    recording.channels.clear()
    assert compare_with_current(recording) == ()
    assert current_facts(()) == current_remarks((), 'A') == current_remarks((), 'Nm') == []


def test_a_joint_without_current_is_left_out(rng):
    recording = made(rng)
    recording.channels['actual_current'].values[:, 1] = 0.0
    assert [one.joint for one in compare_with_current(recording)] == ['pan', 'elbow']


def test_the_doctor_and_identify_say_what_contradicts(rng, tmp_path):
    """A bag with torque, noted as current, of a driver that was told to publish torque."""
    recording = made(rng, gain=(10.0, 12.0, 5.0))
    messages = joint_states(
        JOINTS, 1.0 + recording.stamps, recording.effort, recording.effort, recording.effort
    )
    array = ros_types().types['std_msgs/msg/Float64MultiArray']
    layout = ros_types().types['std_msgs/msg/MultiArrayLayout']
    channel = recording.channels['actual_current']
    rows = rows_of(messages) + [
        (round(1e9 * (1.0 + stamp)), '/rtde/actual_current', array(layout([], 0), values))
        for stamp, values in zip(channel.stamps, channel.values, strict=True)
    ]
    bag = write_rows(
        tmp_path / 'bag',
        {'/joint_states': JOINT_STATE, '/rtde/actual_current': 'std_msgs/msg/Float64MultiArray'},
        sorted(rows, key=lambda row: row[0]),
        {'effort_unit': 'A', DRIVER: DriverRecord(
            'ur_robot_driver', '3.8.0', use_currents_as_efforts=False
        ).text()},
    )
    said = run_command('doctor', bag).out
    assert 'Driver: ur_robot_driver 3.8.0' in said
    assert 'unknown of the driver: ' in said and 'PolyScope' in said
    assert 'effort over actual_current: elbow 5' in said
    assert said.count('warning: effort is read as motor current') == 1
    remarks = recorded_remarks([read_recording(bag, JOINTS)], 'A')
    assert len(remarks) == 2
    assert 'use_currents_as_efforts false' in remarks[0]
    assert 'effort is read as motor current' in remarks[1]
    assert recorded_remarks([read_recording(bag, JOINTS)], 'Nm') == []

# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The doctor: its warnings, its conclusion, and what it shares with `identify`."""

import json
import re

from builders import (
    FIRST_STAMP, joint, joint_states, link, robot_urdf, run_command, succeed, two_link_urdf,
    write_bag, write_run,
)
import numpy as np
import pinocchio as pin
import pytest

UNIT = {'mass': 1.0, 'centre': (0.0, 0.0, 0.1), 'principal': (1.0, 1.0, 1.0)}


def arm(upper, lower, **changes):
    return robot_urdf(
        '<link name="ground"/>', upper, lower,
        joint(**{'name': 'one', 'parent': 'ground', 'child': 'upper', **changes}),
        joint('two', 'upper', 'lower', axis=(0, 1, 0)),
    )


MASSLESS = arm('<link name="upper"/>', '<link name="lower"/>', limit='<limit effort="0"/>')
DESCRIPTIONS = {
    'no masses and no limits': (MASSLESS, [
        'no masses: torque cannot be checked', 'no effort limit of one: torque cannot be checked',
        'no position limit of one:', 'no velocity limit of one:',
    ], 'usable, without a check of torque, position, velocity'),
    'one mass': (arm(link('upper'), '<link name="lower"/>'), [
        'no mass is moved by two: the torque of these joints cannot be checked',
    ], 'usable, without a check of torque'),
    'placeholders': (arm(link('upper', **UNIT), link('lower', **UNIT)), [
        'the masses of the URDF look like placeholders (1 kg with unit inertia at every moved',
    ], 'usable'),
    'too weak': (
        arm(link('upper'), link('lower', 3.0, centre=(0.5, 0, 0)), axis=(0, 1, 0),
            limit='<limit lower="1" upper="2" velocity="3" effort="0.5"/>'),
        ['one needs up to '], 'usable',
    ),
    'a leader within the arm': (robot_urdf(
        *(link(name, 1.0 + 0.1 * number, principal=(0.02, 0.03, 0.02 + 0.001 * number))
          for number, name in enumerate(('ground', 'l1', 'l2', 'l3', 'bar'))),
        joint('one', 'ground', 'l1'), joint('two', 'l1', 'l2'), joint('three', 'l2', 'l3'),
        joint('four', 'l2', 'bar', more='<mimic joint="two"/>'),
    ), ['joint two is held fixed within the arm, since four follows it (mimic)'], 'usable'),
    'complete': (two_link_urdf(), [], 'usable'),
}


@pytest.mark.parametrize(('text', 'warnings', 'conclusion'), DESCRIPTIONS.values(),
                         ids=DESCRIPTIONS)
def test_descriptions(command, tmp_path, text, warnings, conclusion):
    """Warnings stand above facts, in this order and with nothing between; the last line ends."""
    path = tmp_path / 'arm.urdf'
    path.write_text(text)
    found = succeed('doctor', path)
    head, *lines = found.out.splitlines()
    assert head == f'{path}: URDF'
    for line, warning in zip(lines, warnings, strict=False):
        assert line.startswith(f'  warning: {warning}')
    assert not any(line.startswith('  warning') for line in lines[len(warnings):])
    assert lines[-1] == f'  {conclusion}'
    finding, = json.loads(command('doctor', path, '--json').out)['findings']
    _, _, kinds = conclusion.partition(' of ')
    assert finding['unchecked'] == (kinds.split(', ') if kinds else [])
    assert len(finding['warnings']) == len(warnings)


def record(folder, moving, effort, lost=()):
    """Write ten seconds of two joints but for some samples; return the bag."""
    times = np.delete(np.arange(0.0, 10.0, 0.01), lost)
    q = moving * np.column_stack([np.sin(times), np.cos(2.0 * times)])
    dq = moving * np.column_stack([np.cos(times), -2.0 * np.sin(2.0 * times)])
    return write_bag(folder / 'bag', joint_states(
        ('one', 'two'), FIRST_STAMP + times, q, dq, effort * (q + 0.1)
    ))


@pytest.mark.parametrize(('moving', 'effort', 'refusal'), [
    (1.0, 1.0, None),
    (0.001, 1.0, 'no joint moved'),
    (1.0, 0.0, 'effort'),
    (1.0, np.nan, 'effort'),
])
def test_what_identify_refuses_is_not_called_usable(command, tmp_path, moving, effort, refusal):
    """The first line below the name is the refusal, the facts are still there, exit code 4."""
    bag = record(tmp_path, moving, effort)
    found = command('doctor', bag)
    lines = found.out.splitlines()
    assert any('1000 joint states' in line for line in lines)
    if refusal is None:
        assert (found.code, lines[-1]) == (0, '  usable')
        return
    assert found.code == 4
    assert lines[1].startswith('  error: `identify` refuses it: ') and refusal in lines[1]
    assert lines[-1] == '  not usable'
    # The same bag, the same refusal.
    (tmp_path / 'arm.urdf').write_text(two_link_urdf())
    refused = command('identify', bag, '--urdf', tmp_path / 'arm.urdf', '--effort-unit', 'Nm',
                      '-o', tmp_path / 'result')
    assert refused.code in (3, 4)


def test_single_missing_joint_states_are_counted(command, tmp_path):
    """As a recorder loses them that cannot compress as fast as they come; pauses count, too."""
    lines = command('doctor', record(tmp_path, 1.0, 1.0, [3, 200, 201, 500])).out.splitlines()
    assert any(line.endswith(', 100.0 Hz by the median period, 4 missing') for line in lines)


def test_the_doctor_says_what_the_effort_is(command, scene, tmp_path):
    """By the arm that the bag names, or that is named; what contradicts it is warned of."""
    made = scene('ur5')
    said = write_run(tmp_path / 'said', made.robot, made.runs[0])
    found = command('doctor', said)
    assert 'effort is motor current (effort per torque of the URDF: ' in found.out
    assert 'warning: it says' not in found.out
    wrong = write_run(tmp_path / 'wrong', made.robot, made.runs[0], metadata={'effort_unit': 'Nm'})
    assert 'the kind of its effort was not checked' in command('doctor', wrong).out
    found = command('doctor', wrong, '--robot', 'ur5').out.splitlines()
    assert found[1] == (
        '  warning: it states its effort in Nm, but the effort is motor current: give '
        '--effort-unit A'
    )
    # A description among the paths will do as well.
    urdf = tmp_path / 'arm.urdf'
    urdf.write_text(made.robot.urdf.text)
    assert found[1] in command('doctor', wrong, urdf).out
    # So it does after the option of every other command, and is examined itself.
    named = command('doctor', wrong, '--urdf', urdf).out
    assert found[1] in named
    assert f'{urdf}: URDF' in named
    # Columns that are numbered are those of an arm with as many joints.
    time, (q, dq, effort) = made.runs[0].stamps, made.runs[0].measured
    log = tmp_path / 'log.csv'
    np.savetxt(
        log, np.column_stack([time, q, dq, effort]), delimiter=',', comments='', header=','.join(
            ['time', *(f'{kind}{k}' for kind in ('q', 'dq', 'current') for k in range(1, 7))]
        ),
    )
    assert 'effort is motor current (effort per' in command('doctor', log, '--robot', 'ur5').out
    assert 'give its arm with --robot' in command('doctor', log).out
    # Joints of another arm are refused as by `identify`.
    found = command('doctor', log, '--robot', 'youbot')
    assert found.code == 4 and 'more columns of q than the model has joints' in found.out


def ur5_motion(robot):
    """Return times, motion and torque with friction of 20 s, by Pinocchio and an own sum."""
    rng, t = np.random.default_rng(0), np.arange(0.0, 20.0, 0.02)
    waves = 2.0 * np.pi * 0.1 * np.arange(1, 6)
    a, b = rng.normal(size=(2, 5, robot.n)) / np.arange(1, 6)[:, None]
    sine, cosine = np.sin(np.outer(t, waves)), np.cos(np.outer(t, waves))
    q = sine @ a + cosine @ b
    scale = 1.2 / np.abs(q).max(axis=0)
    dq = (cosine * waves) @ a - (sine * waves) @ b
    ddq = -(sine * waves**2) @ a - (cosine * waves**2) @ b
    q, dq, ddq = q * scale, dq * scale, ddq * scale
    model = robot.pinocchio
    torque = np.array([
        pin.rnea(model, model.createData(), *row) for row in zip(q, dq, ddq, strict=True)
    ])
    friction = 3.0 * np.tanh(dq / 0.02) + 2.0 * dq
    return t, q, dq, torque + friction + 0.1 * rng.normal(size=q.shape)


def write_columns(path, t, q, dq, effort, kind='tau'):
    head = ['time', *(f'{one}{k}' for one in ('q', 'dq', kind) for k in range(q.shape[1]))]
    np.savetxt(path, np.column_stack([t, q, dq, effort]), delimiter=',', comments='', fmt='%.6f',
               header=','.join(head))
    return path


@pytest.fixture(name='judged')
def make_judged(command, robots, tmp_path):
    """Return what doctor and `identify` say of a log; a refusal of one is that of the other."""
    (tmp_path / 'arm.urdf').write_text(robots['ur5'].urdf.text)
    urdf = ['--urdf', tmp_path / 'arm.urdf']

    def judge(path, unit='Nm'):
        found = command('doctor', path, *urdf)
        made = command('identify', path, *urdf, '--effort-unit', unit, '--cutoff', '9', '--force',
                       '--friction', 'coulomb,viscous,offset', '-o', tmp_path / 'made')
        errors = re.findall('error: (.*)', made.err)
        assert found.code == made.code == (4 if errors else 0)
        assert re.findall('error: (?:`identify` refuses it: )?(.*)', found.out) == errors
        return found.out, made

    return judge


@pytest.mark.parametrize(('place', 'velocity', 'effort', 'stamp'), [
    (0.0, False, False, 0.002), (1.0, True, False, -0.5), (0.0, True, True, 0.002),
])
def test_joint_states_of_a_second_publisher_are_left_out(
    judged, robots, tmp_path, place, velocity, effort, stamp
):
    """They have the same names and positions of their own, and lack lists or are zero."""
    t, q, dq, torque = ur5_motion(robots['ur5'])
    messages = joint_states(robots['ur5'].joint_names, FIRST_STAMP + t, q, dq, torque)
    empty = np.empty((len(t), 0))
    others = joint_states(
        robots['ur5'].joint_names, FIRST_STAMP + t + stamp, np.full(q.shape, place),
        0.0 * dq if velocity else empty, 0.0 * torque if effort else empty,
    )
    mixed = [one for k, own in enumerate(messages) for one in (own, *others[k:k + (k % 5 == 2)])]
    bag = write_bag(tmp_path / 'bag', mixed)
    found, made = judged(bag)
    assert '200 of 1200 joint states' in found and 'are left out' in found
    mean, = re.findall(r'mean NRMSE (\S+)', made.out)
    assert float(mean) < 0.05


@pytest.mark.parametrize(('bits', 'step'), [(8, 2.0), (12, 0.1), (16, 0.01), (32, 1.0e-4)])
def test_unsigned_counts_are_named(judged, robots, tmp_path, bits, step):
    """Signed integers that were read as unsigned ones jump by a power of two."""
    t, q, dq, effort = ur5_motion(robots['ur5'])
    path = write_columns(tmp_path / 'log.csv', t, q, dq, np.round(effort / step) % 2**bits)
    assert f' = 2^{bits}' in judged(path)[0]
    write_columns(path, t, q, dq, np.round(effort / step))
    assert 'jumps' not in run_command('doctor', path).out

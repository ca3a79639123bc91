# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""`simulate`: arms with the effects of a lab's, once or repeatedly."""

from builders import answer, succeed, topics_of
import numpy as np
import pytest
from robot_identification.excitation.parametrizations.fourier import FourierParametrization
from robot_identification.excitation.trajectory import dump_trajectory, Trajectory
from robot_identification.recording.bag import read_recording

pytest.importorskip('mujoco', reason='MuJoCo, the simulated truth, is not installed')


@pytest.fixture(scope='module')
def trajectory(ur5, tmp_path_factory):
    form = FourierParametrization(harmonics=4, base_period=2.0)
    coefficients = np.random.default_rng(2).normal(0.0, 0.02, (6, form.n_coefficients))
    path = tmp_path_factory.mktemp('trajectory') / 'trajectory.yaml'
    path.write_text(dump_trajectory(
        Trajectory('ur5', ur5.joint_names, form, coefficients, 1, {})
    ))
    return path


@pytest.fixture
def simulate(trajectory):
    return 'simulate', '--robot', 'ur5', '--trajectory', trajectory


def test_all_options_in_one_bag_each(ur5, simulate, tmp_path):
    """The temperature goes on from bag to bag, and so do the stamps."""
    content = answer(
        *simulate, '--static-friction', '--stiffness', '1e4', '--warm-up', '300', '--repeat', '2',
        '--separate-bags', '-o', tmp_path / 'bag',
    )
    assert content['bags'] == [str(tmp_path / 'bag_1'), str(tmp_path / 'bag_2')]
    assert (content['repeats'], content['samples']) == (2, 500)
    recordings = [
        read_recording(tmp_path / name, ur5.joint_names) for name in ('bag_1', 'bag_2')
    ]
    first, second = (recording.channels['temperature'].values for recording in recordings)
    assert np.all(first[0] < first[-1])
    # At rest a joint cools, 300 times faster than in reality, by a few hundredths in 8 ms.
    np.testing.assert_allclose(second[0], first[-1], atol=0.1)
    np.testing.assert_allclose(second[-1], content['temperatures'], atol=1e-9)
    assert recordings[1].start - recordings[0].start == 2_000_000_000
    for bag in content['bags']:
        assert set(topics_of(tmp_path / bag)) == {
            '/joint_states', '/rotor_states', '/joint_temperatures',
        }


def test_effects_of_the_drives_stand_alone_or_with_their_size(simulate, ur5, tmp_path):
    """Velocity that a loop has seen in place of the sensor's; efforts scaled, and rippled."""
    def record(name, *options):
        succeed(*simulate, *options, '-o', tmp_path / name)
        recording = read_recording(tmp_path / name, ur5.joint_names)
        return recording.dq, recording.effort

    speed, effort = record('plain')
    for name, options in {
        'usual': ('--velocity-loop',), 'large': ('--velocity-loop', '0.1'),
    }.items():
        noise = record(name, *options)[0] - speed
        # 60 independent draws of the noise in 2 s: known to 9 %; and the arm itself trembles.
        np.testing.assert_allclose(
            noise.std(axis=0), {'usual': 0.01, 'large': 0.1}[name], rtol=0.35
        )
    for option in '--torque-ripple', '--position-torque', '--gain-error':
        changed = record(option.strip('-'), option)[1]
        assert np.all(np.abs(changed - effort).max(axis=0) > 1e-3), option


def test_a_plain_arm_is_what_it_was(simulate, ur5, tmp_path):
    """The same again by the same seeds, to the message; other noise by another seed."""
    content = answer(*simulate, '-o', tmp_path / 'bag')
    assert content['bag'] == str(tmp_path / 'bag')
    assert (content['samples'], content['duration']) == (250, 2.0)
    assert 'temperatures' not in content
    assert list(topics_of(tmp_path / 'bag')) == ['/joint_states']
    for name, options in {
        'again': (), 'other': ('--seed', 1), 'arm': ('--truth-seed', 5),
        'perfect': ('--noise-free',),
    }.items():
        succeed(*simulate, '-o', tmp_path / name, *options)
    effort, again, *others = (
        read_recording(tmp_path / name, ur5.joint_names).effort
        for name in ('bag', 'again', 'other', 'arm', 'perfect')
    )
    np.testing.assert_array_equal(effort, again)
    assert all(np.abs(other - effort).max() > 0.0 for other in others)

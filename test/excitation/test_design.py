# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""A designed motion keeps its limits, shows the parameters, and is the same again."""

from dataclasses import replace

from known_models import base_of, pinocchio_torque
from long_tests import some_by_day
import numpy as np
import pytest
from robot_identification.errors import UsageError
from robot_identification.excitation import (
    Budget, CRITERIA, design_excitation, find_experiment, load_experiment, motion_limits,
)
from robot_identification.model import Motion, observation_matrix

# Some looks, and the descent that passes this number.
ONE_DESCENT = Budget(20)


@pytest.fixture(scope='module')
def experiment():
    return load_experiment(find_experiment('demo'))


@pytest.fixture(scope='module')
def alone(experiment):
    """Return the shipped experiment where nothing is within reach, which takes less time."""
    return replace(experiment, collision=False)


@pytest.fixture(scope='module')
def designed(ur5, experiment):
    return design_excitation(ur5, experiment, seed=1, budget=ONE_DESCENT)


@pytest.mark.parametrize('name', some_by_day(['ur5e', 'ur5', 'ur10'], 1))
def test_limits_are_kept_between_the_samples_too(robots, alone, name):
    """Ten times denser than the certificate's grid, with torques by Pinocchio."""
    robot, experiment = robots[name], alone
    trajectory = design_excitation(robot, experiment, seed=3, budget=ONE_DESCENT)
    motion = trajectory.sample(np.linspace(0.0, 10.0, 100_001)[::3])
    # Between samples 1e-4 s apart nothing exceeds the grid's maximum by more than 1e-6 of it.
    slack = 1.0 + 1e-6
    limits, margins = robot.limits, experiment.margins
    for index, joint in enumerate(robot.joint_names):
        low, high = experiment.window[joint]
        assert motion.q[:, index].min() >= low - 1e-6
        assert motion.q[:, index].max() <= high + 1e-6
    assert np.all(np.abs(motion.dq) <= slack * margins.velocity * limits.velocity)
    assert np.all(np.abs(motion.ddq) <= slack * margins.acceleration * limits.acceleration)
    tau = pinocchio_torque(
        robot.pinocchio, Motion(motion.q[::20], motion.dq[::20], motion.ddq[::20])
    )
    assert np.all(np.abs(tau) <= slack * margins.torque * limits.effort)
    moving = np.ptp(motion.q, axis=0)
    assert np.all(moving > 0.1), 'and every joint moves'


def test_certificate_is_what_was_measured(ur5, experiment, designed):
    """Criteria at 125 Hz and the worst use of each limit, computed again from the file."""
    certificate = designed.certificate
    reduction = base_of(ur5, experiment.friction, rotors=True)
    # The motion of ten seconds, and its rests and slow reversals.
    assert designed.duration == pytest.approx(15.6)
    t = np.arange(0.0, designed.duration + 1e-9, 0.008)
    W = observation_matrix(ur5, reduction.parameters, designed.sample(t))
    for name, value in certificate['criteria_dense'].items():
        # Printed with six digits; one sample more or less is another 1e-4.
        assert CRITERIA[name](W[:, reduction.independent]) == pytest.approx(value, rel=1e-3)
    assert certificate['base_parameters'] == reduction.rank == 58
    assert certificate['urdf_sha256'] == ur5.urdf_sha256
    assert certificate['search']['seed'] == 1
    motion = designed.sample(np.linspace(0.0, designed.duration, 156_001))
    found = certificate['limits']['velocity']
    index = ur5.joint_names.index(found['joint'])
    # Printed to 1e-6. Extrema are searched for: samples 1 ms apart would miss one by up to 5e-6.
    assert np.abs(motion.dq[:, index]).max() == pytest.approx(abs(found['value']), abs=1e-6)
    assert found['limit'] == pytest.approx(0.6 * ur5.limits.velocity[index], abs=1e-6)
    assert 0.5 < max(use['share'] for use in certificate['limits'].values()) <= 1.0


def test_windows_and_margins_leave_what_they_say(robots, ur5, experiment):
    limits = motion_limits(ur5, experiment)
    np.testing.assert_allclose(limits.lower, [-1.5, -2.3, 0.4, -3.0, -3.0, -2.0])
    np.testing.assert_allclose(limits.torque, 0.7 * ur5.limits.effort)
    whole = motion_limits(ur5, replace(experiment, window={}))
    np.testing.assert_allclose(whole.upper, ur5.limits.upper - 0.1)
    # A joint without limits moves within a turn to each side.
    endless = motion_limits(robots['mixed'], replace(experiment, window={}))
    assert (endless.lower[0], endless.upper[0]) == (-2.0 * np.pi, 2.0 * np.pi)
    with pytest.raises(UsageError, match='elbow; ur5 has the joints shoulder_pan_joint'):
        motion_limits(ur5, replace(experiment, window={'elbow': (0.0, 1.0)}))
    with pytest.raises(UsageError, match='no position is left for elbow_joint'):
        motion_limits(ur5, replace(experiment, window={'elbow_joint': (3.1, 9.0)}))

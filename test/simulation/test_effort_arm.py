# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The simulated arm that takes torques: one joint is tested, drives hold the others."""


import numpy as np
import pytest
from robot_identification.model import load_robot, Motion, rigid_torque
from robot_identification.simulation import EffortArm, NOISE_FREE, Sensors
from robot_identification.simulation.effort_arm import youbot_truth
from robot_identification.studies.break_away.estimate import BreakAwayRun, estimate_break_away
from robot_identification.studies.break_away.options import BreakAwaySettings
from robot_identification.studies.break_away.procedure import BreakAwayTest, Phase

pytest.importorskip('mujoco', reason='MuJoCo, which moves the arm, is not installed')
# Gravity has a moment of -0.3 N m on joint 2 there, and friction holds it without torque.
POSE = np.array([0.0, 0.15, -0.4, 0.3, 0.0])
SECOND, PERIOD = 1, 0.004


@pytest.fixture(scope='module')
def youbot():
    return load_robot('youbot', gravity=(0.0, 0.0, -9.81))


def standing(robot, joint=SECOND, sensors=NOISE_FREE, pose=POSE):
    """Return the arm at rest, with one joint that takes torques."""
    return EffortArm(robot, youbot_truth(robot), sensors, pose, [robot.joint_names[joint]], 1)


def gravity_of(robot, joint, pose=POSE):
    """Return gravity's torque over the position of a joint, by Pinocchio."""
    rest = np.zeros((1, robot.n))

    def torque(q):
        at = pose.copy()
        at[joint] = q
        return float(rigid_torque(robot, Motion(at[None], rest, rest))[0, joint])

    return torque


def test_a_joint_of_the_arm_breaks_away_as_published(youbot):
    """Joint 2, its gravity subtracted by another engine's model: 0.956 N m in either direction."""
    arm, gravity = standing(youbot, sensors=Sensors(velocity_noise=0.005)), gravity_of(youbot, 1)
    settings = BreakAwaySettings(
        torque_cap=1.43, torque_limit=3.0, inertia=0.6, ramp_rate=0.6, repeats=2, settle_time=0.1,
    )
    test = BreakAwayTest(settings, POSE[SECOND], gravity)
    t, farthest = 0.0, np.zeros(5)
    while not test.has_ended:
        measured, true = arm.measure()
        farthest = np.maximum(farthest, np.abs(true.q - POSE))
        torque = test.step(t, measured.q[SECOND], measured.dq[SECOND])
        arm.advance_torque(np.array([torque]), PERIOD)
        t += PERIOD
    assert test.phase is Phase.DONE, test.reason
    run = BreakAwayRun('arm_joint_2', 'subtracted', settings, test.repeats)
    found = estimate_break_away(run)
    for direction in (1, -1):
        # Within the 2 % of the issue, by a ramp eight times as fast as usual; the joint is coupled
        # to the others, which stay where they are.
        assert found.boxes[direction].median == pytest.approx(0.956, rel=0.02)
    # As published, without correction, it is too high by what accelerates the joint.
    assert found.uncorrected_torque > 1.05 * 0.956
    # Drives of a stiffness of some 3600 / s^2 give way by less than a milliradian.
    assert np.all(np.delete(farthest, SECOND) < 1e-3)


@pytest.mark.parametrize('direction', [1.0, -1.0])
def test_it_sticks_up_to_the_torque_that_was_set(youbot, direction):
    """One per cent below it nothing creeps, one above it moves; about gravity's moment."""
    holding = gravity_of(youbot, SECOND)(POSE[SECOND])
    ways = []
    for share in (0.99, 1.01):
        arm = standing(youbot)
        # From slowly on, as a bristle that is let go at once rings.
        for level in np.linspace(0.0, share * 0.956, 100):
            arm.advance_torque(np.array([holding + direction * level]), PERIOD)
        before = arm.true_sample().q[SECOND]
        arm.advance_torque(np.array([holding + direction * share * 0.956]), 0.5)
        ways.append(direction * (arm.true_sample().q[SECOND] - before))
    # The bristle yields by a tenth of a milliradian in all, by 1e-6 rad for one per cent of it.
    assert abs(ways[0]) < 5e-6
    assert ways[1] > 1e-3

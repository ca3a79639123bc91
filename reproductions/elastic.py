# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Arms with elastic joints, exactly: rotor motion and motor torque of a given periodic link motion.

``tau = M(q) ddq + h(q, dq)``, ``tau = K (theta - q) + D (dtheta - dq)`` and
``motor = B ddtheta + friction(dtheta, tau, T) + periodic(theta) + tau`` are solved for the rotors
theta and the motors, with tau by MuJoCo and derivatives by the Fourier transform of one period.
Nothing is integrated, so that an estimator can be tested to rounding; `MujocoRobot` integrates
the same arm.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.errors import UsageError
from robot_identification.model import Motion, RobotModel
from robot_identification.simulation import GroundTruth
from robot_identification.simulation.mujoco_robot import rigid_inverse_dynamics

# Share of the amplitude that may lie in the upper half of the frequencies a grid can hold.
LARGEST_TAIL = 1.0e-6


@dataclass(frozen=True, eq=False)
class ElasticMotion:
    """The drives' side of a motion of an arm with elastic joints, shape (N, n) each."""

    rotor_q: FloatArray  # on the joint's side [rad]
    rotor_dq: FloatArray  # [rad/s]
    rotor_ddq: FloatArray  # [rad/s^2]
    joint_torque: FloatArray  # passed on to the links [N m]
    motor_torque: FloatArray  # on the joint's side [N m]
    current: FloatArray  # [A]


def inverse_elastic(
    robot: RobotModel, truth: GroundTruth, motion: Motion, period: float, *,
    temperature: FloatArray | float | None = None,
) -> ElasticMotion:
    """
    Return rotors and motor torques of a periodic motion of the links, of length `period` [s].

    Its samples are evenly spaced, without the last instant, which is the first one again. The
    truth has a stiffness; its friction, at the temperature of the joints (by default the reference
    [deg C]), does not stick. Raises a `UsageError` if the motion is not periodic or its grid too
    coarse.
    """
    if truth.stiffness is None:
        raise UsageError('the joints are rigid: give the truth a stiffness (with_elastic_joints)')
    joint_torque = rigid_inverse_dynamics(robot, truth, motion, with_rotors=False)
    damping = np.zeros(robot.n) if truth.joint_damping is None else truth.joint_damping
    bend, bend_rate, bend_acceleration = _solve_springs(
        joint_torque, truth.stiffness, damping, period
    )
    rotor_dq, rotor_ddq = motion.dq + bend_rate, motion.ddq + bend_acceleration
    rotor_q = motion.q + bend
    friction = truth.friction(rotor_dq, joint_torque, temperature)
    friction += truth.periodic_torque(rotor_q)
    motor = truth.reflected_inertia * rotor_ddq + friction + joint_torque
    return ElasticMotion(
        rotor_q, rotor_dq, rotor_ddq, joint_torque, motor, motor / truth.drive_gain
    )


def _solve_springs(
    torque: FloatArray, stiffness: FloatArray, damping: FloatArray, period: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return theta - q and its derivatives, shape (N, n) each, of ``K x + D x' = torque``."""
    N = len(torque)
    spectrum = np.fft.rfft(torque, axis=0)
    amplitude = np.abs(spectrum)
    tail = amplitude[len(spectrum) // 2:].max(axis=0, initial=0.0)
    if np.any(tail > LARGEST_TAIL * np.maximum(amplitude.max(axis=0), N * 1.0e-6)):
        joint = int(np.argmax(tail))
        raise UsageError(
            f'the torque of joint {joint + 1} does not fade out below the highest frequency of '
            f'{N} samples in {period:g} s: give more samples, and exactly one period'
        )
    s = 2j * np.pi * np.arange(len(spectrum))[:, None] / period
    bend = spectrum / (stiffness + s * damping)
    rate = s * bend
    if N % 2 == 0:
        # The highest frequency of an even number of samples has no phase to turn.
        rate[-1] = 0.0
    found, speed, acceleration = (
        np.fft.irfft(values, n=N, axis=0) for values in (bend, rate, s**2 * bend)
    )
    return found, speed, acceleration

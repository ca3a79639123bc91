# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""A simulated arm at work, MuJoCo moving it, for the tests of live estimates."""

from dataclasses import replace

import numpy as np
from recordings import fourier_motion
from robot_identification.model.regressor import Motion
from robot_identification.simulation.mujoco_robot import inverse_dynamics
from studies.payload_cases import bare_model, BODY, carrying, NOISE, true_arm

RATE = 25.0


class ArmAtWork:
    """
    A UR5 that goes on and on, bare or with a body, and what its model leaves of the torque.

    Attributes
    ----------
    truth : GroundTruth
        What it is.
    model : IdentifiedModel
        Of the bare arm, from a minute of its motion.

    """

    def __init__(self, robot):
        self.robot, self.truth = robot, true_arm(robot)
        model = bare_model(robot, self.truth, np.random.default_rng(1))
        self.model = replace(model, quality={'residual_standard_deviation': NOISE})
        self.loaded = carrying(robot, BODY)

    def work(self, seed, seconds, *, start=0.0, rate=RATE, body=False, truth=None, **options):
        """Return times (N,), motion and true torques (N, n)."""
        times = start + np.arange(round(seconds * rate)) / rate
        motion = fourier_motion(self.robot.n, seed, times, **options)
        return times, motion, self.torque(motion, body=body, truth=truth)

    def torque(self, motion, *, body=False, truth=None):
        """Return MuJoCo's torques (N, n)."""
        return inverse_dynamics(self.loaded if body else self.robot, truth or self.truth, motion)

    def residual(self, motion, tau, rng, correlation=0.0):
        """Return noisy residuals of the model, noise correlated from sample to sample."""
        noise = rng.normal(size=tau.shape)
        for k in range(1, len(noise) if correlation else 0):
            noise[k] = correlation * noise[k - 1] + np.sqrt(1.0 - correlation**2) * noise[k]
        return tau + NOISE * noise - self.model.torque(motion)


def feed(estimator, times, motion, residual):
    """Give all samples to a payload estimator."""
    for row in zip(times, motion.q, motion.dq, motion.ddq, residual, strict=True):
        estimator.add(*row)


def resting(motion, count):
    """Return the first pose of a motion repeatedly."""
    still = np.zeros((count, motion.q.shape[1]))
    return Motion(np.tile(motion.q[0], (count, 1)), still, still)

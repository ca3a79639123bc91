# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Identified models of a small simulated arm at chosen temperatures; MuJoCo is the truth."""

from dataclasses import replace
import hashlib

from known_models import base_of, made_up_dataset
import numpy as np
import pytest
from recordings import fourier_motion, write_small_arm
from robot_identification.estimation.estimators import ESTIMATORS
from robot_identification.estimation.problem import Observations
from robot_identification.estimation.rows import TrainingData
from robot_identification.estimation.uncertainty.covariance import covariance_of
from robot_identification.model.friction import CoulombFriction
from robot_identification.model.identified_model import IdentifiedModel, SignalSource
from robot_identification.model.registry import load_robot
from robot_identification.simulation.ground_truth import draw_truth
from robot_identification.simulation.mujoco_robot import inverse_dynamics

RATE = 50.0
DURATION = 18.0
# Noise of the torque over each joint's limit: current sensors of real arms have some 0.4 %.
NOISE = 0.004
# Viscous friction falls by these shares per kelvin, and holds at 25 deg C.
SLOPES = np.array([-0.015, -0.02, -0.01])
WARMTH = 25.0


class WarmArm:
    """An arm of three joints whose viscous friction alone is linear in temperature."""

    def __init__(self, folder):
        pytest.importorskip('mujoco', reason='MuJoCo, the simulated truth, is not installed')
        self.robot = load_robot(str(write_small_arm(folder)))
        # The same passage through rest as the law's, so that nothing but noise is in the errors.
        self.truth = replace(draw_truth(self.robot, 3), velocity_width=CoulombFriction().width)
        self.slopes = SLOPES * self.truth.viscous

    def viscous(self, temperature):
        """Return the true viscous friction [N m s/rad] at temperatures (..., 3)."""
        return self.truth.viscous + self.slopes * (temperature - WARMTH)

    def dataset(self, temperature, seed, *, motion_seed=1, noise=NOISE):
        """Return a recording with temperatures (3,) or (N, 3), and new noise for every seed."""
        times = np.arange(0.0, DURATION, 1.0 / RATE)
        motion = fourier_motion(3, motion_seed, times)
        warmth = np.broadcast_to(np.asarray(temperature, dtype=float), (len(times), 3)).copy()
        smooth = replace(self.truth, viscous=np.zeros(3))
        tau = inverse_dynamics(self.robot, smooth, motion)
        tau = tau + self.viscous(warmth) * motion.dq
        rng = np.random.default_rng([seed, 77])
        tau = tau + noise * self.robot.limits.effort * rng.normal(size=tau.shape)
        return made_up_dataset(
            self.robot.joint_names, replace(motion, temperature=warmth), tau, RATE
        )

    def identify(self, datasets, friction='coulomb,viscous,offset'):
        """Return the model of some recordings by weighted least squares."""
        reduction = base_of(self.robot, friction, rotors=True)
        observations = Observations(self.robot, reduction, [
            TrainingData(dataset, np.ones(3), dataset.fitted) for dataset in datasets
        ])
        estimate = ESTIMATORS['wls']().estimate(observations.factor())
        covariance = covariance_of(estimate)
        warmth = np.concatenate([dataset.motion.temperature for dataset in datasets])
        fastest = np.max([np.abs(d.motion.dq).max(axis=0) for d in datasets], axis=0)
        return IdentifiedModel(
            self.robot, 'Nm', reduction, estimate.theta, covariance.matrix, None, 'none',
            SignalSource(),
            {'bags': [
                {'path': d.source, 'sha256': hashlib.sha256(d.effort.tobytes()).hexdigest()}
                for d in datasets
            ]},
            {'speeds': fastest, 'loads': np.ones(3), 'degrees_of_freedom': covariance.freedom},
            covariance_kind=covariance.kind,
            temperature=warmth.mean(axis=0),
        )

    def run(self, temperature, seed, **options):
        """Return the model of one recording at a temperature of all joints, or of each."""
        warmth = np.broadcast_to(np.asarray(temperature, dtype=float), 3)
        return self.identify([self.dataset(warmth, seed)], **options)

# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""A driver whose readings are not the model's: bags are written and read through its encoders."""

from dataclasses import replace

import numpy as np
import pytest
from recordings import designed_motion
from robot_identification.estimation.method import IdentifyOptions
from robot_identification.model.registry import load_robot
from robot_identification.pipeline import identify
from robot_identification.processing.loading import load_for_model
from robot_identification.recording.simulated_run import simulate, write_simulated_bag
from robot_identification.simulation.ground_truth import draw_truth
from robot_identification.simulation.mujoco_robot import Sensors
from robot_identification.validation.validation import errors_on, predict_effort

pytest.importorskip('mujoco', reason='MuJoCo, the simulated truth, is not installed')


@pytest.fixture(scope='module')
def youbot_run():
    """Return the youBot, with one joint counted backwards, and a noisy run of ten seconds."""
    robot = load_robot('youbot')
    encoders = replace(robot.encoders, sign=np.array([1.0, 1.0, 1.0, -1.0, 1.0]))
    robot = replace(robot, encoders=encoders)
    runs = []
    for seed in range(2):
        trajectory = designed_motion(robot, seed)
        run = simulate(robot, trajectory, draw_truth(robot, 3), Sensors(), seed=seed)
        runs.append((trajectory, run))
    return robot, runs


def test_a_model_of_readings_predicts_readings(youbot_run, tmp_path):
    """Identified through the encoders, judged on a motion it has not seen."""
    # 15 % of the current's spread is noise of ten seconds; read without encoders the gravity
    # torque alone would be wrong by more than its size.
    robot, runs = youbot_run
    for number, (trajectory, run) in enumerate(runs):
        write_simulated_bag(tmp_path / f'bag{number}', robot, run, trajectory)
    plain = IdentifyOptions(friction='coulomb,viscous,offset')
    model = identify(robot, [tmp_path / 'bag0'], plain).model
    assert unseen_error(model, tmp_path / 'bag1') < 0.15
    assert unseen_error(replace(model, robot=load_robot('youbot')), tmp_path / 'bag1') > 0.5


def unseen_error(model, bag):
    dataset, _ = load_for_model(model, bag)
    errors = errors_on(dataset, predict_effort(model, dataset), dataset.scored)
    return errors.nrmse_mean

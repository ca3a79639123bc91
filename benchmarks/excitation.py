# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
A designed motion against random ones: the same arm, the same limits, the same number of samples.

Both keep the limits of the demo's experiment. Torques are MuJoCo's, of an arm whose parameters
nobody knows, with noise of the same size for both; the unseen motion is a third, random one.
"""

from __future__ import annotations

from dataclasses import replace
from importlib.util import find_spec

import numpy as np
from robot_identification.excitation.design import design_excitation
from robot_identification.excitation.experiment_file import find_experiment, load_experiment
from robot_identification.excitation.optimizers.search import Budget
from robot_identification.model.registry import load_robot
from robot_identification.model.regressor import Motion, standard_torque
from robot_identification.parallel import available_processors
from robot_identification.simulation.ground_truth import draw_truth
from robot_identification.simulation.mujoco_robot import inverse_dynamics

from .figaroh import estimate_ours, NOISE, RATE, SimulatedSet, TheirArm
from .figures import Figure

# One seed each, of the motions and of the noise.
REPEATS = 7
ROBOT, EXPERIMENT = 'ur5', 'demo'
EVALUATIONS = 400
UNSEEN_SEED = 1000
OURS, FIGAROHS = 'unseen error, ours', 'unseen error, FIGAROH'


def measure(repeats: int) -> list[Figure]:
    """Return what random motions lose, as ratios to the designed ones, a value for each seed."""
    robot, experiment = load_robot(ROBOT), load_experiment(find_experiment(EXPERIMENT))
    truth = draw_truth(robot, seed=3)
    at_random = replace(experiment, optimizer='random', optimizer_options={})

    def draw(seed: int) -> Motion:
        found = design_excitation(robot, at_random, seed=seed)
        return found.sample(found.times(RATE))

    unseen = draw(UNSEEN_SEED)
    unseen_torque = inverse_dynamics(robot, truth, unseen)
    noise = NOISE * np.std(unseen_torque, axis=0)
    ratios: dict[str, list[float]] = {}
    beside = 'unseen error, designed motion, FIGAROH / ours'
    for seed in range(repeats):
        designed = design_excitation(
            robot, experiment, seed=seed, budget=Budget(EVALUATIONS),
            processes=available_processors(),
        )
        qualities = []
        for motion in (designed.sample(designed.times(RATE)), draw(seed)):
            torque = inverse_dynamics(robot, truth, motion)
            white = np.random.default_rng(seed).standard_normal(torque.shape)
            qualities.append(judge(
                SimulatedSet(robot, motion, torque + noise * white, unseen, unseen_torque)
            ))
        for name, value in qualities[0].items():
            ratios.setdefault(f'{name}, random / designed', []).append(qualities[1][name] / value)
        if FIGAROHS in qualities[0]:
            ratios.setdefault(beside, []).append(qualities[0][FIGAROHS] / qualities[0][OURS])
    return [Figure(name, '', tuple(values)) for name, values in ratios.items()]


def judge(data: SimulatedSet) -> dict[str, float]:
    """Return how well a set shows its arm, by name; less is better."""
    parameters, reduction, estimate = estimate_ours(data, 'wls')
    theta = np.zeros(parameters.size)
    theta[reduction.independent] = estimate.theta
    found = {
        'condition number of scaled columns': estimate.condition_number_scaled,
        'standard errors, geometric mean': float(np.exp(np.mean(np.log(
            estimate.standard_errors
        )))),
        OURS: data.error(
            standard_torque(data.robot, parameters, theta, data.unseen)
        ),
    }
    if find_spec('figaroh') is not None:
        theirs = TheirArm(data.robot)
        columns, _, weighted = theirs.identify(data)
        found[FIGAROHS] = data.error(
            theirs.predict(columns, weighted, data.unseen)
        )
    return found

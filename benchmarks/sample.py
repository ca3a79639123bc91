# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
What a joint state costs the live models, without ROS, beside one `pinocchio.rnea` of the arm.

The model has the bodies of the description and every coefficient of the friction dictionary, none
of which is zero; six joints (a UR5e) and seven. Contact, feed-forward and the online estimator, of
the payload, run on the same samples; of the estimator, which filters blocks of them, it is the
mean.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
import tempfile
import time

import numpy as np
import pinocchio as pin
from robot_identification.arrays import FloatArray
from robot_identification.model import (
    IdentifiedModel, make_standard_parameters, Motion, parse_friction, prior_inertial_parameters,
    reduce_to_base, RobotModel, SignalSource,
)
from robot_identification.monitoring import ContactObserver, LivePayload
from robot_identification.prediction import FeedForward, Prediction, TorquePredictor

from .figures import Figure, ratio
from .live import CASES

REPEATS = 15
SAMPLES = 2000
RNEA = 'pinocchio.rnea'
FRICTION = 'dictionary,offset'


def measure(repeats: int) -> list[Figure]:
    """Return processor times by sample, and their ratios to inverse dynamics in the same run."""
    figures: list[Figure] = []
    with tempfile.TemporaryDirectory() as folder:
        for case in CASES:
            robot = replace(case.robot(Path(folder)), sampling_rate=case.rate)
            if not np.all(np.isfinite(robot.drives.drive_gain)):
                robot = robot.with_drive_gains([10.0] * robot.n)
            found = _run(model_of(robot), repeats)
            for name, times in found.items():
                figures.append(Figure(f'{name}, {case.name}', 'us', times))
                if name != RNEA:
                    figures.append(Figure(
                        f'{name} / {RNEA}, {case.name}', '', ratio(times, found[RNEA])
                    ))
    return figures


def model_of(robot: RobotModel) -> IdentifiedModel:
    """Return a model of the description's bodies with all of the dictionary's friction."""
    parameters = make_standard_parameters(
        robot.n, parse_friction(FRICTION), reflected_inertia=True
    )
    reduction = reduce_to_base(robot, parameters)
    theta = np.random.default_rng(0).uniform(0.1, 1.0, parameters.size)
    theta[: 10 * robot.n] = prior_inertial_parameters(robot)
    return IdentifiedModel(
        robot, 'A', reduction, reduction.K @ theta, 1e-4 * np.eye(reduction.rank), None, '',
        SignalSource(), {}, {'residual_standard_deviation': [1.0] * robot.n},
    )


def _run(model: IdentifiedModel, repeats: int) -> dict[str, tuple[float, ...]]:
    """Return the processor time of a sample [us] by what takes it, once for each repeat."""
    rate = model.robot.sampling_rate
    t = np.arange(SAMPLES) / rate
    phase = 2.0 * t[:, None] + np.arange(model.robot.n)
    motion = Motion(0.4 * np.sin(phase), 0.8 * np.cos(phase), -1.6 * np.sin(phase))
    steps = _steps(model, motion, model.torque(motion))
    times: dict[str, list[float]] = {name: [] for name in steps}
    for repeat in range(repeats):
        # Time goes on, so that nothing begins anew.
        stamps = (t + repeat * SAMPLES / rate).tolist()
        for name, step in steps.items():
            started = time.process_time()
            for k, stamp in enumerate(stamps):
                step(k, stamp)
            times[name].append(1e6 * (time.process_time() - started) / SAMPLES)
    return {name: tuple(found) for name, found in times.items()}


def _steps(
    model: IdentifiedModel, motion: Motion, torque: FloatArray
) -> dict[str, Callable[[int, float], None]]:
    """Return what takes sample k at a stamp [s], by its name; contact comes after the step."""
    arm, q, dq = model.robot.pinocchio, list(motion.q), list(motion.dq)
    ddq, tau, data = list(motion.ddq), list(torque), arm.createData()
    predictor, contact = TorquePredictor(model), ContactObserver(model, model.robot.sampling_rate)
    forward, payload = FeedForward(model), LivePayload(model)
    predictions: dict[int, Prediction | None] = {}

    def rnea(k: int, stamp: float) -> None:
        pin.rnea(arm, data, q[k], dq[k], ddq[k])

    def step(k: int, stamp: float) -> None:
        predictions[k] = predictor.step(stamp, q[k], dq[k])

    def observe(k: int, stamp: float) -> None:
        prediction = predictions[k]
        assert prediction is not None
        contact.step(stamp, prediction, tau[k])

    def feed(k: int, stamp: float) -> None:
        forward.step(stamp, q[k], dq[k], dq[k], tau[k])

    def estimate(k: int, stamp: float) -> None:
        payload.step(stamp, q[k], dq[k], tau[k])

    return {
        RNEA: rnea, 'TorquePredictor.step': step, 'ContactObserver.step': observe,
        'FeedForward.step': feed, 'online estimator': estimate,
    }

# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Tracking error of a simulated UR5 with and without feed-forward, and with computed torque.

MuJoCo is the arm: masses, centres, drive gains and rotors differ from the description, joints
stick. It is recorded under its own position control along one motion and identified by
`identify`; then it is driven by torques along another one. A repeat is another arm.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
import tempfile

from benchmarks.figures import Figure
import numpy as np
from robot_identification.estimation import IdentifyOptions
from robot_identification.estimation.method import PLAIN_FRICTION
from robot_identification.excitation import FourierParametrization
from robot_identification.model import (
    IdentifiedModel, load_robot, Motion, RigidTorque, RobotModel,
)
from robot_identification.pipeline import identify
from robot_identification.prediction import FeedForward, FeedForwardOptions
from robot_identification.recording import write_simulated_bag
from robot_identification.simulation import (
    draw_truth, driver_period, GroundTruth, MujocoRobot, quintic, record_motion, Sensors,
    with_static_friction,
)
from robot_identification.simulation.effort_arm import ControlledArm

from .controllers import (
    ComputedTorque, CONTROL_RATE, Controller, PdControl, PositionLoop, track, Tracking,
)

REPEATS = 5
# Of the recording that the model is identified from [s].
RECORDED = 60.0
LOOP = PositionLoop(frequency=4.0, damping=1.0)
OBSERVER = 2.0
# Poses about the middle of the joints' ranges, with the arm bent [rad], and the time of the move
# to each of them and of the rest there [s].
HOME = np.array([0.3, -1.3, 1.4, -0.9, 0.6, 0.2])
STOPS = (
    ((0.8, -0.4, 0.5, 0.7, -0.6, 0.9), 1.5, 0.4),
    ((-0.7, 0.3, -0.6, -0.8, 0.7, -1.0), 1.8, 0.4),
    ((0.1, -0.1, 0.2, 0.3, 0.1, -0.2), 1.4, 0.4),
    # Slow, so that it is friction that counts.
    ((0.2, -0.02, 0.12, 0.22, 0.2, -0.1), 2.0, 0.3),
    ((0.1, -0.1, 0.2, 0.3, 0.1, -0.2), 2.0, 0.3),
)
# How long the slow moves at the end take, rests included [s].
SLOW = sum(move + rest for _, move, rest in STOPS[-2:])


def tracked_motion() -> Motion:
    """Return moves from rest to rest, some of them slow, at the rate of the controller."""
    rest = np.zeros_like(HOME)
    rows, here = [], HOME
    for way, move, dwell in STOPS:
        there = HOME + np.array(way)
        times = np.arange(round(move * CONTROL_RATE)) / CONTROL_RATE
        rows += [quintic((here, rest, rest), (there, rest, rest), move, float(t)) for t in times]
        rows += [(there, rest, rest)] * round(dwell * CONTROL_RATE)
        here = there
    return Motion(*(np.array(column) for column in zip(*rows, strict=True)))


def recorded_motion(robot: RobotModel, period: float, seed: int = 0) -> Motion:
    """Return a lively motion to identify the arm from."""
    form = FourierParametrization(harmonics=8, base_period=RECORDED / 3.0)
    coefficients = np.random.default_rng(seed).normal(size=(robot.n, form.n_coefficients))
    times = np.arange(round(RECORDED / period)) * period
    q, dq, ddq = (basis @ coefficients.T for basis in form.basis(times))
    # Each joint at up to two thirds of its velocity limit, within a turn and a half.
    scale = np.minimum(
        2.0 / np.abs(dq).max(axis=0), 2.2 / np.abs(q - q.mean(axis=0)).max(axis=0)
    )
    return Motion(HOME + scale * (q - q.mean(axis=0)), scale * dq, scale * ddq)


def identify_arm(
    robot: RobotModel, truth: GroundTruth, seed: int, options: Sequence[IdentifyOptions]
) -> list[IdentifiedModel]:
    """Return what `identify` makes of one recording with the driver's noise, by its options."""
    period = driver_period(robot)
    motion = recorded_motion(robot, period)
    simulator = MujocoRobot(robot, truth, Sensors(), motion.q[0], seed)
    run = record_motion(robot, simulator, motion, period * np.arange(float(len(motion))), period)
    with tempfile.TemporaryDirectory() as folder:
        bag = Path(folder) / 'bag'
        write_simulated_bag(bag, robot, run)
        return [identify(robot, [bag], asked).model for asked in options]


def controllers(
    robot: RobotModel, model: IdentifiedModel, plain: IdentifiedModel, break_away: np.ndarray
) -> dict[str, Controller]:
    """
    Return what is compared, by name: with the CAD model `robot`, and with identified models.

    `plain` has plain laws of friction, `model` the automatic ones; `break_away` is what a test of
    break-away would find [N m], shape (n,).
    """
    described, identified = RigidTorque(robot), RigidTorque(model)
    inertia = np.diag(described.inertia(HOME))

    def pd(addition: FeedForward | None) -> PdControl:
        return PdControl(inertia, LOOP, addition)

    gravity = FeedForwardOptions(friction='none')
    kinetic, slow = FeedForwardOptions(friction='kinetic'), FeedForwardOptions()
    observed = FeedForwardOptions(observer_bandwidth=OBSERVER)
    friction = FeedForward(model, replace(slow, gravity=False))
    return {
        'PD alone': pd(None),
        'PD, gravity of the CAD model': pd(FeedForward(robot, gravity)),
        'PD, gravity': pd(FeedForward(model, gravity)),
        'PD, gravity, kinetic friction': pd(FeedForward(model, kinetic)),
        'PD, gravity, friction with break-away': pd(FeedForward(model, slow)),
        'PD, gravity, observer': pd(FeedForward(model, replace(observed, friction='none'))),
        'PD, gravity, friction with break-away, observer': pd(FeedForward(model, observed)),
        'PD, gravity, kinetic friction of plain laws': pd(FeedForward(plain, kinetic)),
        'PD, gravity, plain laws with break-away': pd(FeedForward(plain, slow)),
        'PD, gravity, plain laws with measured break-away': pd(
            FeedForward(plain, slow, break_away=break_away)
        ),
        'computed torque, CAD model': ComputedTorque(described, LOOP),
        'computed torque, CAD bodies, identified friction': ComputedTorque(
            described, LOOP, friction
        ),
        'computed torque, identified bodies': ComputedTorque(identified, LOOP),
        'computed torque, identified bodies and friction': ComputedTorque(
            identified, LOOP, FeedForward(model, replace(slow, gravity=False))
        ),
        'computed torque, identified bodies and friction, observer': ComputedTorque(
            identified, LOOP, FeedForward(model, replace(observed, gravity=False))
        ),
    }


def compare(seed: int) -> dict[str, Tracking]:
    """Return how each controller tracked the motion with one arm."""
    robot = load_robot('ur5')
    truth = with_static_friction(draw_truth(robot, seed))
    model, plain = identify_arm(
        robot, truth, seed, (IdentifyOptions(), IdentifyOptions(friction=PLAIN_FRICTION))
    )
    assert truth.static is not None
    # In torque as it is commanded.
    break_away = truth.static * robot.drives.drive_gain / truth.drive_gain
    motion = tracked_motion()
    return {
        name: track(ControlledArm(robot, truth, Sensors(), motion.q[0], seed), motion, controller)
        for name, controller in controllers(robot, model, plain, break_away).items()
    }


def figures_of(name: str, runs: Sequence[Tracking]) -> list[Figure]:
    """Return the errors of a controller, one value for each arm [mrad]."""
    figures = []
    for joint in range(runs[0].error.shape[1]):
        for kind in ('rms', 'worst'):
            figures.append(Figure(
                f'{name}: joint {joint + 1}, {kind}', 'mrad',
                tuple(1e3 * float(getattr(run, kind)[joint]) for run in runs),
            ))
    slow = round(SLOW * CONTROL_RATE)
    figures.append(Figure(
        f'{name}: slow moves, rms of all joints', 'mrad',
        tuple(1e3 * float(np.sqrt(np.mean(run.error[-slow:] ** 2))) for run in runs),
    ))
    return figures


def measure(repeats: int) -> list[Figure]:
    """Return the tracking errors of every joint [mrad]."""
    found = [compare(seed) for seed in range(1, repeats + 1)]
    return [
        figure for name in found[0]
        for figure in figures_of(name, [arm[name] for arm in found])
    ]

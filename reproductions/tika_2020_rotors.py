# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""What ordinary and constrained least squares make of rotor inertias, with many motions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from reproductions.pieces import Pieces
from reproductions.tika_2020_arm import (
    identify_both, least_inertia, NOISE_SEEDS, normalized_errors, simulated_arm, SimulatedArm,
    SMALL_ROTORS,
)
from robot_identification.excitation.trajectory import Trajectory
from robot_identification.model.robot_model import RobotModel

SMALL, PLAIN, LARGE = 'arm of table III', 'plain arm', 'large rotors'


@dataclass(frozen=True)
class RotorRun:
    """
    Rotor inertias of joints 3 to 6 from one motion.

    Attributes
    ----------
    ordinary, constrained : tuple of float
        By both methods [kg m^2].
    cost : float
        Total error of the constrained estimate over that of the ordinary one.
    wrong_cost : float
        The same with all rotor inertias of the ordinary estimate put to zero.
    poses : int
        Of 1000, those where the mass matrix of the ordinary estimate is not positive definite.

    """

    ordinary: tuple[float, ...]
    constrained: tuple[float, ...]
    cost: float
    wrong_cost: float
    poses: int


def try_motions(
    robot: RobotModel, motions: Mapping[str, Trajectory], pieces: Pieces
) -> dict[str, tuple[RotorRun, ...]]:
    """Return what both methods find with one period of every named motion, by arm."""
    small = simulated_arm(robot, SMALL_ROTORS)
    arms = {
        SMALL: small, PLAIN: small.with_simpler_friction()['nor joints that stick'],
        LARGE: simulated_arm(robot, 1.0),
    }
    return {
        arm_name: tuple(
            _from_plain(pieces.get(
                f'rotors_{arm_name} {name}'.replace(' ', '_'), partial(_try_motion, arm, motion)
            ))
            for name, motion in motions.items()
        )
        for arm_name, arm in arms.items()
    }


def _from_plain(plain: dict[str, Any]) -> RotorRun:
    found: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value for key, value in plain.items()
    }
    return RotorRun(**found)


def _try_motion(arm: SimulatedArm, motion: Trajectory) -> dict[str, object]:
    with TemporaryDirectory() as folder:
        bag = Path(folder) / 'bag'
        arm.record(replace(motion, periods=1), bag, NOISE_SEEDS[0])
        fit = identify_both(arm, bag)
    ordinary, constrained = fit.ordinary.theta, fit.model.theta_base
    without = np.where(
        [name.startswith('Ia') for name in fit.model.reduction.names], 0.0, ordinary
    )
    error, cost, wrong = (
        normalized_errors(fit.problem, theta)[1] for theta in (ordinary, constrained, without)
    )
    return asdict(RotorRun(
        tuple(fit.rotor_inertias(ordinary).values()),
        tuple(fit.rotor_inertias(constrained).values()), cost / error, wrong / error,
        least_inertia(fit.ordinary_model)[1],
    ))

# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Observation matrix, reduction and whole identification beside FIGAROH, where it is installed."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from types import SimpleNamespace
from typing import Any

import numpy as np
from robot_identification.errors import MissingDependencyError
from robot_identification.estimation import Estimate, ESTIMATORS
from robot_identification.model import (
    block_slices, initial_friction_states, load_robot, make_standard_parameters, Motion,
    observation_matrix, parse_friction, random_motion, reduce_to_base, RobotModel,
)

from .figures import alternate, Figure, ratio
from .regressor import observations, raw_calls

REPEATS = 9
SAMPLES = 5000
IDENTIFIED_SAMPLES = 2000
# What reduce_to_base draws by default.
STRUCTURE_SAMPLES = 200
COLUMNS = {'has_friction': True, 'has_actuator_inertia': True, 'has_joint_offset': False}


@dataclass(frozen=True, eq=False)
class TimedSet:
    """Samples of an arm and torques along them, whose values do not matter here."""

    robot: RobotModel
    motion: Motion
    torque: np.ndarray  # [N m], shape (N, n)


def random_set(robot: RobotModel, samples: int) -> TimedSet:
    """Return random samples of an arm with random torques."""
    rng = np.random.default_rng(0)
    motion = random_motion(robot, samples, rng)
    return TimedSet(robot, motion, rng.standard_normal((samples, robot.n)))


def estimate_ours(data: TimedSet) -> Estimate:
    """Return what this package makes of samples: structure, rows, factors, WLS estimate."""
    robot = data.robot
    parameters = make_standard_parameters(
        robot.n, parse_friction('coulomb,viscous,offset'), reflected_inertia=True
    )
    problem = observations(
        robot, reduce_to_base(robot, parameters), data.motion, data.torque
    ).factor()
    return ESTIMATORS['wls']().estimate(problem)


class TheirArm:
    """An arm as FIGAROH's functions want it, and its identification step by step."""

    def __init__(self, robot: RobotModel) -> None:
        self._robot = robot
        self._arm = SimpleNamespace(
            model=robot.pinocchio, data=robot.pinocchio.createData(), nv=robot.n
        )

    def matrix(self, motion: Motion, offset: bool = False) -> np.ndarray:
        """Return its observation matrix, joint after joint."""
        from figaroh.tools import regressor

        options = {
            **COLUMNS, 'has_joint_offset': offset, 'is_joint_torques': True,
            'act_idxv': list(range(self._robot.n)),
        }
        matrix: np.ndarray = regressor.build_regressor_basic(
            self._arm, motion.q, motion.dq, motion.ddq, options
        )
        return matrix

    def identify(self, data: TimedSet) -> np.ndarray:
        """Return its WLS values of the columns that it keeps."""
        from figaroh.identification.base_identification import BaseIdentification
        from figaroh.tools import regressor
        from figaroh.tools.qrdecomposition import QRDecomposer

        W = self.matrix(data.motion, offset=True)
        names = {f'column {index}': 0.0 for index in range(W.shape[1])}
        dropped, kept = regressor.get_index_eliminate(W, names, 1e-6)
        reduced = regressor.build_regressor_reduced(W, dropped)
        torque = data.torque.T.ravel()
        decomposer = QRDecomposer(tolerance=1e-6)
        base, _, _, ordinary = decomposer.double_decomposition(torque, reduced, list(kept))
        # Its own weighting, without the files that its class is configured by.
        state = SimpleNamespace(phi_base=ordinary)
        state._compute_wls_standard_deviations = (
            lambda covariance, values:
            BaseIdentification._compute_wls_standard_deviations(state, covariance, values)
        )
        _, variances = BaseIdentification._calculate_joint_variances(
            state, base, torque, self._robot.n
        )
        weighted, _ = BaseIdentification._solve_weighted_least_squares(
            state, base, torque, variances
        )
        values: np.ndarray = weighted
        return values


def measure(repeats: int) -> list[Figure]:
    """Return the ratios of FIGAROH's times to ours, for the same samples."""
    if find_spec('figaroh') is None:
        raise MissingDependencyError('FIGAROH', 'the comparison with it', 'pip install figaroh')
    release = version('figaroh')
    return [*_compare_matrices(release, repeats), *_compare_identification(release, repeats)]


def _compare_matrices(release: str, repeats: int) -> list[Figure]:
    robot = load_robot('ur5')
    parameters = make_standard_parameters(robot.n, parse_friction('coulomb_sign,viscous'), True)
    motion = random_motion(robot, SAMPLES, np.random.default_rng(0))
    few = motion.part(slice(0, STRUCTURE_SAMPLES))
    theirs = TheirArm(robot)
    rank = reduce_to_base(robot, parameters).rank
    found = reduce_with_figaroh(theirs.matrix(few))
    if found != rank:
        raise AssertionError(f'FIGAROH finds {found} base parameters, we {rank}')
    # As an identification asks for it: block by block, each thrown away after its reduction.
    our_matrix, figaroh_matrix, ours, figaroh = alternate(
        (
            lambda: _pass_over(robot, parameters, motion),
            lambda: theirs.matrix(motion),
            lambda: reduce_to_base(robot, parameters),
            lambda: reduce_with_figaroh(theirs.matrix(few)),
        ),
        repeats,
    )
    return [
        Figure(f'observation matrix, FIGAROH {release} / ours', '',
               ratio(figaroh_matrix, our_matrix)),
        Figure(f'structural reduction, FIGAROH {release} / ours', '', ratio(figaroh, ours)),
        Figure('base parameters both find', '', (float(rank),)),
    ]


def _pass_over(robot: RobotModel, parameters: Any, motion: Motion) -> None:
    states = initial_friction_states(parameters)
    for rows in block_slices(len(motion)):
        observation_matrix(robot, parameters, motion.part(rows), states)


def _compare_identification(release: str, repeats: int) -> list[Figure]:
    data = random_set(load_robot('ur10'), IDENTIFIED_SAMPLES)
    theirs = TheirArm(data.robot)
    raw, ours, figaroh = alternate(
        (
            lambda: raw_calls(data.robot, data.motion),
            lambda: estimate_ours(data),
            lambda: theirs.identify(data),
        ),
        repeats,
    )
    return [
        Figure(f'identification of 2000 samples, FIGAROH {release} / ours', '',
               ratio(figaroh, ours)),
        Figure('identification of 2000 samples / raw calls', '', ratio(ours, raw)),
    ]


def reduce_with_figaroh(W: np.ndarray) -> int:
    """Return the number of base parameters that FIGAROH finds in an observation matrix."""
    from figaroh.tools import qrdecomposition, regressor

    names = {f'column {index}': 0.0 for index in range(W.shape[1])}
    dropped, kept = regressor.get_index_eliminate(W, names, 1e-6)
    reduced = regressor.build_regressor_reduced(W, dropped)
    _, _, independent = qrdecomposition.get_baseParams(reduced, kept, names)
    return len(independent)

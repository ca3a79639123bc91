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
from robot_identification.estimation.estimate import Estimate
from robot_identification.estimation.estimators import ESTIMATORS
from robot_identification.estimation.problem import Observations
from robot_identification.estimation.rows import TrainingData
from robot_identification.excitation.parametrizations.fourier import FourierParametrization
from robot_identification.model.base_parameters import BaseReduction, random_motion, reduce_to_base
from robot_identification.model.friction import parse_friction
from robot_identification.model.parameters import make_standard_parameters, StandardParameters
from robot_identification.model.registry import load_robot
from robot_identification.model.regressor import (
    block_slices, initial_friction_states, Motion, observation_matrix, standard_torque,
)
from robot_identification.model.robot_model import RobotModel
from robot_identification.processing.dataset import Dataset
from robot_identification.simulation.ground_truth import draw_truth, GroundTruth
from robot_identification.simulation.mujoco_robot import inverse_dynamics

from .figures import alternate, Figure, ratio
from .regressor import raw_calls

REPEATS = 9
SAMPLES = 5000
IDENTIFIED_SAMPLES = 2000
# What reduce_to_base draws by default.
STRUCTURE_SAMPLES = 200
# Samples a second, and what the noise of a torque is of its spread.
RATE = 125.0
NOISE = 0.02
COLUMNS = {'has_friction': True, 'has_actuator_inertia': True, 'has_joint_offset': False}


@dataclass(frozen=True, eq=False)
class SimulatedSet:
    """
    Samples of a simulated arm and noise-free ones of another motion.

    Attributes
    ----------
    robot : RobotModel
        The arm with its prior.
    motion, unseen : Motion
        Training and unseen samples.
    torque : ndarray, shape (N, n)
        Training torque with noise [N m].
    unseen_torque : ndarray, shape (M, n)
        True torque [N m].

    """

    robot: RobotModel
    motion: Motion
    torque: np.ndarray
    unseen: Motion
    unseen_torque: np.ndarray

    def error(self, predicted: np.ndarray) -> float:
        """Return the root mean square error on the unseen motion over its spread, mean."""
        rms = np.sqrt(np.mean((predicted - self.unseen_torque) ** 2, axis=0))
        return float(np.mean(rms / np.std(self.unseen_torque, axis=0)))


def simulate_set(name: str, samples: int) -> SimulatedSet:
    """Return a set of two random motions, with white noise of 2 % of the torques' spread."""
    robot = load_robot(name)
    form = FourierParametrization(harmonics=5, base_period=16.0)
    motions = []
    for seed in (0, 1):
        coefficients = 0.25 * np.random.default_rng(seed).standard_normal(
            (robot.n, form.n_coefficients)
        )
        bases = form.basis(np.arange(samples) / RATE)
        motions.append(Motion(*(basis @ coefficients.T for basis in bases)))
    return record_set(robot, draw_truth(robot, seed=3), motions[0], motions[1], NOISE)


def record_set(
    robot: RobotModel, truth: GroundTruth, motion: Motion, unseen: Motion, noise: float,
    seed: int = 2,
) -> SimulatedSet:
    """Return MuJoCo's torques of two motions; noise is a share of the first ones' spread."""
    torque, unseen_torque = (
        inverse_dynamics(robot, truth, one) for one in (motion, unseen)
    )
    white = np.random.default_rng(seed).standard_normal(torque.shape)
    return SimulatedSet(
        robot, motion, torque + noise * np.std(torque, axis=0) * white, unseen, unseen_torque
    )


def identify_ours(data: SimulatedSet, estimator: str) -> tuple[Any, np.ndarray]:
    """Return the parameters and their values: structure, rows, factors, estimate, errors."""
    parameters, reduction, estimate = estimate_ours(data, estimator)
    theta = np.zeros(parameters.size)
    theta[reduction.independent] = estimate.theta
    return parameters, theta


def estimate_ours(
    data: SimulatedSet, estimator: str
) -> tuple[StandardParameters, BaseReduction, Estimate]:
    """Return the parameters, their reduction and the estimate."""
    robot = data.robot
    parameters = make_standard_parameters(
        robot.n, parse_friction('coulomb,viscous,offset'), reflected_inertia=True
    )
    everything = np.ones(len(data.motion), dtype=bool)
    dataset = Dataset(
        source='simulated', joint_names=robot.joint_names,
        stamps=np.arange(len(data.motion)) / RATE, motion=data.motion, effort=data.torque,
        effort_unit='Nm', scored=everything, fitted=everything,
        segments=(slice(0, len(data.motion)),), excluded={}, rate=RATE, notes=(),
    )
    problem = Observations(
        robot, reduce_to_base(robot, parameters),
        [TrainingData(dataset, np.ones(robot.n), everything)],
    ).factor()
    return parameters, problem.reduction, ESTIMATORS[estimator]().estimate(problem)


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

    def identify(self, data: SimulatedSet) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the columns it keeps, and its OLS and WLS values of them."""
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
        kept_columns = np.setdiff1d(np.arange(W.shape[1]), dropped)
        return kept_columns[list(decomposer.base_indices)], ordinary, weighted

    def predict(
        self, columns: np.ndarray, values: np.ndarray, motion: Motion
    ) -> np.ndarray:
        """Return the torque of its parameters, shape (N, n)."""
        W = self.matrix(motion, offset=True)[:, columns]
        torque: np.ndarray = (W @ values).reshape(self._robot.n, -1).T
        return torque


def measure(repeats: int) -> list[Figure]:
    """Return the ratios of FIGAROH's times and errors to ours, for the same samples."""
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
    data = simulate_set('ur10', IDENTIFIED_SAMPLES)
    theirs = TheirArm(data.robot)
    raw, ours, figaroh = alternate(
        (
            lambda: raw_calls(data.robot, data.motion),
            lambda: estimate_ours(data, 'wls'),
            lambda: theirs.identify(data),
        ),
        repeats,
    )
    columns, ordinary, weighted = theirs.identify(data)
    errors = {
        name: data.error(standard_torque(data.robot, *found, data.unseen))
        for name in ('ols', 'wls')
        if (found := identify_ours(data, name))
    }
    return [
        Figure(f'identification of 2000 samples, FIGAROH {release} / ours', '',
               ratio(figaroh, ours)),
        Figure('identification of 2000 samples / raw calls', '', ratio(ours, raw)),
        Figure('unseen error, OLS, ours', '', (errors['ols'],)),
        Figure('unseen error, OLS, FIGAROH', '',
               (data.error(theirs.predict(columns, ordinary, data.unseen)),)),
        Figure('unseen error, WLS, ours', '', (errors['wls'],)),
        Figure('unseen error, WLS, FIGAROH', '',
               (data.error(theirs.predict(columns, weighted, data.unseen)),)),
    ]


def reduce_with_figaroh(W: np.ndarray) -> int:
    """Return the number of base parameters that FIGAROH finds in an observation matrix."""
    from figaroh.tools import qrdecomposition, regressor

    names = {f'column {index}': 0.0 for index in range(W.shape[1])}
    dropped, kept = regressor.get_index_eliminate(W, names, 1e-6)
    reduced = regressor.build_regressor_reduced(W, dropped)
    _, _, independent = qrdecomposition.get_baseParams(reduced, kept, names)
    return len(independent)

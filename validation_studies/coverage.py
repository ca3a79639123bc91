# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Coverage of confidence intervals under noise that is correlated in time.

The design is fixed: half a minute of a UR5 at 125 Hz, friction and rotors included. A repeat is a
recording with new noise, estimated by WLS. Joints 1, 3, 5 have autoregressive noise, joints 2, 4,
6 moving averages, none the same; their correlation lasts from 8 to 200 ms.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from benchmarks.figures import Figure
import numpy as np
from robot_identification.estimation import (
    confidence_intervals, Covariance, covariance_of, Estimate, ESTIMATORS, joint_test,
    Observations, TIME_BLOCKS, TrainingData,
)
from robot_identification.estimation.uncertainty.intervals import CONFIDENCE, quantile
from robot_identification.excitation import FourierParametrization
from robot_identification.model import (
    load_robot, make_standard_parameters, Motion, observation_matrix, parse_friction,
    reduce_to_base, RobotModel,
)
from robot_identification.processing import Dataset
from scipy.signal import lfilter

REPEATS = 1000
DURATION, RATE = 30.0, 125.0
# Noise over model variance that makes degrees of freedom as good as infinite.
MOST_KNOWN = 1.0e3
# Standard deviation of the noise [N m].
DEVIATION = np.array([1.5, 1.5, 1.0, 0.3, 0.3, 0.3])
# Coefficient of first-order autoregressive noise, or number of samples averaged.
MIXED = ((0.6, 0), (0.0, 5), (0.9, 0), (0.0, 12), (0.96, 0), (0.0, 25))
WHITE = ((0.0, 1),) * 6
# Two thirds of it white, the rest remembered for a second: what windows hardly cover.
SLOW = ((0.992, 0),) * 6
# Samples that are left out until the noise has forgotten its beginning.
BEFORE = 1000
# Repeats for each one with the noises that are for comparison.
PART = 5


@dataclass
class Count:
    """Counts over the repeats for one kind of interval."""

    held: list[np.ndarray] = field(default_factory=list)
    half_widths: list[np.ndarray] = field(default_factory=list)
    predicted: list[np.ndarray] = field(default_factory=list)
    together: list[float] = field(default_factory=list)

    def add(self, truth: np.ndarray, estimate: Estimate, covariance: Covariance) -> None:
        """Count which intervals hold the truth."""
        ends = confidence_intervals(estimate.theta, covariance)
        self.held.append((ends[:, 0] <= truth) & (truth <= ends[:, 1]))
        self.half_widths.append(0.5 * (ends[:, 1] - ends[:, 0]))

    @property
    def share(self) -> np.ndarray:
        """Share of the repeats in which each interval held the truth."""
        return np.mean(self.held, axis=0)


class Design:
    """A motion of the UR5, its observation matrix and the torques that its prior would need."""

    def __init__(self) -> None:
        robot = load_robot('ur5')
        parameters = make_standard_parameters(
            robot.n, parse_friction('coulomb,viscous,offset'), reflected_inertia=True
        )
        self.reduction = reduce_to_base(robot, parameters)
        rng = np.random.default_rng(1)
        self.truth = rng.standard_normal(self.reduction.rank)
        self.N = int(DURATION * RATE)
        motion = lively_motion(robot, self.N, 0)
        everything = np.ones(self.N, dtype=bool)
        dataset = Dataset(
            source='made up', joint_names=robot.joint_names,
            stamps=np.arange(self.N) / RATE, motion=motion, effort=np.zeros((self.N, robot.n)),
            effort_unit='Nm', scored=everything, fitted=everything,
            segments=(slice(0, self.N),), excluded={}, rate=RATE, notes=(),
        )
        self.observations = Observations(
            robot, self.reduction, [TrainingData(dataset, np.ones(robot.n), everything)],
            time_blocks=TIME_BLOCKS,
        )
        self.torque = self.observations.torque(self.truth)[0]
        self.n = robot.n
        unseen = lively_motion(robot, 200, 1)
        self.unseen = observation_matrix(robot, parameters, unseen)[:, self.reduction.independent]

    def estimate(self, noise: np.ndarray) -> Estimate:
        """Return the estimate from torques with noise (N, n)."""
        tau = self.torque + noise
        part, = self.observations.data
        part.dataset.effort[:] = tau
        # The matrices that are kept are used again: only the torques are new.
        for block in self.observations.blocks():
            for joint, rows in enumerate(block.joints):
                rows.table[:, -1] = tau[rows.samples, joint]
        return ESTIMATORS['wls']().estimate(self.observations.factor())


def lively_motion(robot: RobotModel, samples: int, seed: int) -> Motion:
    """Return a periodic motion at RATE that shows every parameter."""
    form = FourierParametrization(harmonics=5, base_period=10.0)
    rng = np.random.default_rng(seed)
    coefficients = 0.2 * rng.standard_normal((robot.n, form.n_coefficients))
    bases = form.basis(np.arange(samples) / RATE)
    return Motion(*(basis @ coefficients.T for basis in bases))


def draw_noise(
    kinds: tuple[tuple[float, int], ...], samples: int, rng: np.random.Generator
) -> np.ndarray:
    """Return noise of unit variance, autoregressive or a moving average by joint, (N, n)."""
    noise = np.empty((samples, len(kinds)))
    for joint, (memory, averaged) in enumerate(kinds):
        white = rng.standard_normal(samples + BEFORE)
        if averaged:
            filtered = lfilter(np.ones(averaged) / np.sqrt(averaged), [1.0], white)
        else:
            filtered = lfilter([np.sqrt(1.0 - memory**2)], [1.0, -memory], white)
        noise[:, joint] = filtered[BEFORE:]
    return noise


def residual_noise(estimate: Estimate, covariance: Covariance) -> np.ndarray:
    """
    Return the standard deviation of the noise of each joint [N m], shape (n,).

    To the squared residuals is added what the fit took of the noise, which follows from the
    covariance; with noise that is correlated in time it is more than one square per parameter.
    That holds where joints are weighted by their noise.
    """
    problem = estimate.problem
    assert problem is not None
    squares = problem.squared_residuals(np.append(estimate.theta, estimate.nuisance))
    b = len(estimate.theta)
    for joint, factor in enumerate(problem.factors):
        own = factor.columns < b
        columns = factor.columns[own]
        rows = factor.triangle[:, :-1][:, own]
        squares[joint] += np.sum((rows @ covariance.matrix[np.ix_(columns, columns)]) * rows)
    return np.sqrt(squares / problem.samples)


def prediction_half_widths(W: np.ndarray, covariance: Covariance, noise: np.ndarray) -> np.ndarray:
    """
    Return how far single measurements may lie from their prediction [N m], (N, n).

    Half widths are ``t sqrt(noise^2 + w Cov w')``; t has the degrees of freedom of the sum by
    Satterthwaite (1946), those of the noise being infinite. `W` (N n, b) are the base columns of
    the observation matrix, row ``k * n + j`` joint j; `noise` (n,) is of the joints [N m].
    """
    of_model = np.maximum(np.sum((W @ covariance.matrix) * W, axis=1), 0.0)
    of_model = of_model.reshape(-1, len(noise))
    known = np.minimum(noise**2 / np.maximum(of_model, np.finfo(float).tiny), MOST_KNOWN)
    freedom = np.median(covariance.freedom) * (1.0 + known) ** 2
    return quantile(CONFIDENCE, freedom) * np.sqrt(noise**2 + of_model)


def count_coverage(
    design: Design, kinds: tuple[tuple[float, int], ...], names: tuple[str, ...], repeats: int,
    white_part: float = 0.0,
) -> tuple[dict[str, Count], np.ndarray]:
    """
    Repeat a recording with new noise.

    Returns
    -------
    counts : dict of Count
        By kind of covariance.
    deviation : ndarray, shape (b,)
        Standard deviation of the estimates: what intervals should know.

    """
    counts = {name: Count() for name in names}
    found = []
    groups = [
        [row for row, name in enumerate(design.reduction.names)
         if name in (f'fc{joint + 1}', f'fv{joint + 1}', f'f0{joint + 1}')]
        for joint in range(design.n)
    ]
    for number in range(repeats):
        rng = np.random.default_rng([7, number])
        noise = draw_noise(kinds, design.N, rng)
        if white_part:
            noise = np.sqrt(1.0 - white_part) * noise + np.sqrt(white_part) \
                * rng.standard_normal(noise.shape)
        estimate = design.estimate(DEVIATION * noise)
        found.append(estimate.theta)
        fresh = DEVIATION * rng.standard_normal((len(design.unseen) // design.n, design.n))
        for name, count in counts.items():
            covariance = covariance_of(estimate, name)
            count.add(design.truth, estimate, covariance)
            half = prediction_half_widths(
                design.unseen, covariance, residual_noise(estimate, covariance)
            )
            error = (design.unseen @ (estimate.theta - design.truth)).reshape(-1, design.n) + fresh
            count.predicted.append(np.mean(np.abs(error) <= half, axis=0))
            difference = estimate.theta - design.truth
            count.together.append(float(np.mean([
                joint_test(difference, covariance, group).p_value > 0.05 for group in groups
            ])))
    return counts, np.std(found, axis=0)


def measure(repeats: int) -> list[Figure]:
    """Return the share of intervals of 95 % that hold the truth, in per cent."""
    design = Design()
    mixed, deviation = count_coverage(design, MIXED, ('residual', 'hac', 'blocks'), repeats)
    part = max(repeats // PART, 1)
    white, white_deviation = count_coverage(design, WHITE, ('residual', 'hac', 'blocks'), part)
    slow, slow_deviation = count_coverage(design, SLOW, ('hac', 'blocks'), part, 2.0 / 3.0)
    figures = []
    for where, counts, spread in (
        ('', mixed, deviation), (', white noise', white, white_deviation),
        (', slow noise', slow, slow_deviation),
    ):
        for name, count in counts.items():
            figures += figures_of(name + where, count, spread)
    return figures


def figures_of(name: str, count: Count, deviation: np.ndarray) -> list[Figure]:
    """Return what was counted for one kind of interval, in per cent."""
    share = 100.0 * count.share
    predicted = 100.0 * np.mean(count.predicted, axis=0)
    width = np.mean(count.half_widths, axis=0) / (1.96 * deviation)
    return [
        Figure(f'{name}: all parameters', '%', (float(share.mean()),)),
        Figure(f'{name}: worst parameter', '%', (float(share.min()),)),
        Figure(f'{name}: width / ideal', '', (float(np.median(width)),)),
        Figure(f'{name}: three friction parameters together', '%',
               (float(100.0 * np.mean(count.together)),)),
        Figure(f'{name}: predictions', '%', (float(predicted.mean()),)),
        Figure(f'{name}: predictions, worst joint', '%',
               (float(predicted[np.argmax(np.abs(predicted - 95.0))]),)),
    ]

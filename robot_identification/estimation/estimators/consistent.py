# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Least squares over physically consistent bodies: the full set of standard parameters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from robot_identification.arrays import BoolArray, FloatArray
from robot_identification.errors import UsageError
from robot_identification.estimation.estimate import (
    check_count, check_positive, Estimate, Estimator, PriorTerm,
)
from robot_identification.estimation.estimators.conic import solve_conic
from robot_identification.estimation.estimators.consistent_problem import ConsistentProblem
from robot_identification.estimation.estimators.least_squares import not_negative_parameters
from robot_identification.estimation.estimators.log_cholesky import refine, solve_log_cholesky
from robot_identification.estimation.problem import IdentificationProblem
from robot_identification.estimation.solving import (
    describe_estimate, need_observations, renew_weights,
)
from robot_identification.model import (
    from_pseudo_inertia, prior_inertial_parameters, pseudo_inertia, smallest_eigenvalues,
)

SOLVERS = ('auto', 'conic', 'log_cholesky')
# Share by which the regularization may raise the squared residuals; with many samples noise
# allows less.
DISCREPANCY = 0.02
# A reference body weighs at least so much [kg] and extends at least so far [m] in every
# direction: nothing is regularized towards a body without mass or size.
LEAST_MASS, LEAST_RADIUS = 0.01, 0.002
# Unknowns (s,), and how they were found in words.
Solution = tuple[FloatArray, str]
# The weights that the discrepancy principle chooses among, in parts of the squared residual, and
# the factor to which it finds one.
WEIGHTS, WEIGHT_FACTOR = (1.0e-6, 1.0e4), 1.5
# Squared residuals below this part of the squared torque are of no meaning: 30 parts in a million
# of the torque.
MEANINGLESS = 1.0e-9
# Squares that noise gives a single body of ten parameters, whose rows are in units of the noise.
SQUARES_OF_BODY = 10.0


@dataclass(frozen=True)
class ConsistentLeastSquares(Estimator):
    r"""
    Minimize :math:`\lVert \tau - W \theta \rVert^2` over physically consistent bodies [1]_ [2]_.

    Every link's pseudo-inertia is positive definite, no rotor inertia is negative, nor is a
    friction coefficient but those of a law that may be. An entropic regularization towards the
    URDF's bodies decides what the motion does not show.

    References
    ----------
    .. [1] P. Wensing, S. Kim, J.-J. Slotine, "Linear matrix inequalities for physically
       consistent inertial parameter identification", IEEE RA-L 3(1), 2018.
    .. [2] T. Lee, P. Wensing, F. Park, "Geometric robot dynamic identification: a convex
       programming approach", IEEE T-RO 36(2), 2020.

    """

    solver: str = 'auto'  # 'auto' is the conic program where clarabel is installed
    # Weight of the divergence from the URDF's bodies, on the side of squared residuals in standard
    # deviations. By default the largest that the discrepancy principle allows.
    regularization: float | None = None
    # share by which it may raise the squared residuals over those of a vanishing weight; never
    # more than noise raises them for the true parameters: unknowns over rows
    discrepancy: float = DISCREPANCY
    reweightings: int = 3  # how often each joint's weight is renewed from its residual

    def __post_init__(self) -> None:
        if self.solver not in SOLVERS:
            raise UsageError(
                f'solver of consistent is {self.solver!r}, it must be one of {", ".join(SOLVERS)}'
            )
        if self.regularization is not None:
            check_positive(self.regularization, 'regularization of consistent')
        check_positive(self.discrepancy, 'discrepancy of consistent')
        check_count(self.reweightings, 0, 'reweightings of consistent')

    def estimate(self, problem: IdentificationProblem) -> Estimate:
        """Estimate physically consistent bodies; see `Estimator.estimate`."""
        robot = need_observations(problem, 'consistent').robot
        weights = renew_weights(problem, self.reweightings)
        fit = self.fit(problem, weights, prior_inertial_parameters(robot))
        estimate = describe_estimate(problem, weights, fit.unknowns)
        return replace(estimate, standard=fit.theta, notes=(*fit.notes, fit.describe()))

    def fit(
        self,
        problem: IdentificationProblem,
        weights: FloatArray,
        reference: FloatArray,
        priors: Sequence[PriorTerm] = (),
    ) -> ConsistentFit:
        """
        Fit physically consistent bodies to a problem whose joints have weights (n,) [1 / N m].

        The inertial parameters of the bodies to regularize towards, `reference` (10 n,), need not
        be possible. Raises NotIdentifiableError if no solver ends at the minimum.
        """
        R, z = problem.stacked(weights)
        R = np.vstack([R, *(term.matrix for term in priors)])
        z = np.concatenate([z, *(term.side for term in priors)])
        reference, notes = usable_reference(reference, problem.reduction.parameters.n)
        squares, seen, lift = _standard_problem(problem, R, z, reference)
        rounding = MEANINGLESS * max(float(z @ z), np.finfo(float).tiny)
        free = np.linalg.lstsq(R, z, rcond=None)[0]
        least = max(float(np.sum((R @ free - z) ** 2)), rounding)
        if self.regularization is None:
            # The squares of the truth are above the least ones by the share that the unknowns
            # took of the noise. With many rows that is little; a greater share would be a bias.
            noise = problem.size / max(float(np.sum(problem.samples)), 1.0)
            weight, (x, how) = choose_regularization(
                squares, min(self.discrepancy, noise), self.solver
            )
        else:
            weight = self.regularization
            x, how = solve_consistent(squares, weight, self.solver)
        theta = np.zeros(len(seen))
        theta[seen] = x
        return ConsistentFit(
            theta=theta[: problem.reduction.parameters.size],
            unknowns=lift @ theta,
            regularization=weight,
            divergence=squares.divergence(x),
            cost=max(squares.squared_residual(x) / least, 1.0) - 1.0,
            solver=how,
            notes=notes,
        )


@dataclass(frozen=True)
class LogCholeskyLeastSquares(ConsistentLeastSquares):
    """
    `ConsistentLeastSquares` without a conic solver, in coordinates that are always bodies [1]_.

    References
    ----------
    .. [1] C. Rucker, P. Wensing, "Smooth parameterization of rigid-body inertia", IEEE RA-L 7(2),
       2022.

    """

    solver: str = 'log_cholesky'


@dataclass(frozen=True)
class ConsistentAfter(Estimator):
    """
    Another estimator, and then physically consistent bodies for the problem that it solved last.

    Its weights of joints and rows, and its prior, are kept.
    """

    estimator: Estimator
    regularization: float | None = None  # as in `ConsistentLeastSquares`

    @property
    def chooses_terms(self) -> bool:
        """Return whether the other estimator does; see `Estimator.chooses_terms`."""
        return self.estimator.chooses_terms

    def estimate(self, problem: IdentificationProblem) -> Estimate:
        """Estimate twice; see `Estimator.estimate`."""
        estimate = self.estimator.estimate(problem)
        robot = need_observations(problem, 'consistent').robot
        fit = fit_after(estimate, prior_inertial_parameters(robot), self.regularization)
        b = problem.reduction.rank
        return replace(
            estimate, theta=fit.unknowns[:b], nuisance=fit.unknowns[b:], standard=fit.theta
        )


@dataclass(frozen=True, eq=False)
class ConsistentFit:
    """Standard parameters of physically consistent bodies, and what they cost."""

    theta: FloatArray  # standard parameters, (p,), SI units
    unknowns: FloatArray  # of the problem, (size,), that these give
    regularization: float  # weight of the divergence
    divergence: float  # of the bodies from the reference ones
    cost: float  # share of the weighted squared residuals above the least ones without conditions
    solver: str  # in words
    notes: tuple[str, ...] = ()

    def describe(self) -> str:
        """Return what the bodies cost, in words."""
        return (
            f'consistent parameters by {self.solver}, regularization {self.regularization:.3g} '
            f'towards the URDF: squared residuals {self.cost:.1%} above those without conditions'
        )


def fit_after(
    estimate: Estimate, reference: FloatArray, regularization: float | None = None
) -> ConsistentFit:
    """
    Fit physically consistent bodies to the problem that an estimator solved last.

    See `ConsistentLeastSquares.fit`; raises UsageError if the estimate does not hold its problem.
    """
    if estimate.problem is None:
        raise UsageError('the estimate does not hold the problem that it solves')
    return ConsistentLeastSquares(regularization=regularization).fit(
        estimate.problem, estimate.weights, reference,
        [term for term in (estimate.prior, estimate.damping) if term is not None],
    )


@dataclass(frozen=True, eq=False)
class ConsistentBody:
    """A physically consistent body on the last link, fitted to rows in units of their noise."""

    # (10,): inertial parameters, Pinocchio's order; their pseudo-inertia is positive definite.
    parameters: FloatArray
    cost: float  # by how much the sum of squares is above the least one without the condition


def fit_consistent_body(R: FloatArray, z: FloatArray, length: float) -> ConsistentBody:
    """
    Minimize ``|R @ parameters - z|^2`` over physically consistent bodies.

    Of an unknown body there is no reference: the regularization, towards a ball of the mass
    found, is a millionth of the squares, and raises them by no more than some hundred-thousandths.

    Parameters
    ----------
    R : ndarray, shape (m, 10)
        Of full column rank, rows in units of the noise.
    z : ndarray, shape (m,)
        Right-hand side in units of the noise.
    length : float
        Radius of gyration of the ball [m].

    Raises
    ------
    NotIdentifiableError
        If no solver ends at the minimum.

    """
    free = np.asarray(np.linalg.lstsq(R, z, rcond=None)[0], dtype=np.float64)
    if smallest_eigenvalues(free)[0] > 0.0:
        return ConsistentBody(free, 0.0)
    mass = max(abs(float(free[0])), LEAST_MASS)
    ball = from_pseudo_inertia(mass * np.diag([length**2] * 3 + [1.0]))
    squares = ConsistentProblem(R, z, ball, np.zeros(0, dtype=bool))
    _, _, (found, _) = _hardly_regularized(squares, 'auto', SQUARES_OF_BODY)
    return ConsistentBody(found, squares.squared_residual(found) - squares.squared_residual(free))


def choose_regularization(
    squares: ConsistentProblem, discrepancy: float, solver: str = 'auto'
) -> tuple[float, Solution]:
    """
    Return the largest weight that the residuals allow (discrepancy principle), and its solution.

    It may raise the squared residuals by the share `discrepancy` over those of a vanishing weight,
    and is found to WEIGHT_FACTOR, from below.
    """
    weight, least, solution = _hardly_regularized(squares, solver)
    low, high = (least * part for part in WEIGHTS)
    while high > WEIGHT_FACTOR * low:
        middle = float(np.sqrt(low * high))
        found = solve_consistent(squares, middle, solver)
        if squares.squared_residual(found[0]) <= (1.0 + discrepancy) * least:
            low = weight = middle
            solution = found
        else:
            high = middle
    return weight, solution


def _hardly_regularized(
    squares: ConsistentProblem, solver: str, meaningless: float = 0.0
) -> tuple[float, float, Solution]:
    """Return a weight of a millionth of the squares, these, and the solution under it."""
    torque = max(float(squares.z @ squares.z), np.finfo(float).tiny)
    weaker = WEIGHTS[0] * torque
    while True:
        weight = weaker
        solution = solve_consistent(squares, weight, solver)
        # Without noise nothing is left, and nothing is regularized.
        least = max(squares.squared_residual(solution[0]), meaningless, MEANINGLESS * torque)
        weaker = WEIGHTS[0] * least
        if weight <= 10.0 * weaker:
            return weight, least, solution


def solve_consistent(squares: ConsistentProblem, weight: float, solver: str = 'auto') -> Solution:
    """
    Return the unknowns under a weight of the regularization, positive, and how they were found.

    Raises NotIdentifiableError if the solver does not end at the minimum.
    """
    if solver != 'log_cholesky':
        x = solve_conic(squares, weight)
        if x is not None:
            return refine(squares, weight, x), 'conic program (clarabel)'
    return solve_log_cholesky(squares, weight), 'log-Cholesky coordinates'


def usable_reference(inertial: FloatArray, n: int) -> tuple[FloatArray, tuple[str, ...]]:
    """
    Return physically consistent bodies (10 n,) near those of a URDF, and which were changed.

    Each has a positive definite pseudo-inertia; the notes name links that were given size.
    """
    reference, changed = inertial.copy(), []
    for link, values in enumerate(reference.reshape(-1, 10)):
        P = pseudo_inertia(values)
        mass = max(P[3, 3], LEAST_MASS)
        centre = P[:3, 3] / mass
        squares, axes = np.linalg.eigh(P[:3, :3] - mass * np.outer(centre, centre))
        least = mass * LEAST_RADIUS**2
        if mass > P[3, 3] or squares[0] < least:
            extent = (axes * np.maximum(squares, least)) @ axes.T
            P[:3, :3] = extent + mass * np.outer(centre, centre)
            P[3, 3] = mass
            reference[10 * link: 10 * link + 10] = from_pseudo_inertia(P)
            changed.append(str(link + 1))
    return reference, (
        (f'the URDF gives the bodies of joints {", ".join(changed)} no mass or no size: '
         'consistent parameters are regularized towards bodies with a little',)
        if changed else ()
    )


def _standard_problem(
    problem: IdentificationProblem, R: FloatArray, z: FloatArray, reference: FloatArray
) -> tuple[ConsistentProblem, BoolArray, FloatArray]:
    """
    Return the squares in standard parameters and nuisance that the data determine.

    Then which these are, (p + nuisance,), and the unknowns of the problem from all of them,
    (size, p + nuisance).
    """
    reduction, nuisance = problem.reduction, problem.nuisance
    p, bodies = reduction.parameters.size, 10 * reduction.parameters.n
    seen = np.append(np.any(reduction.K != 0.0, axis=0), np.ones(nuisance, dtype=bool))
    seen[:bodies] = True
    lift = np.zeros((problem.size, p + nuisance))
    lift[: reduction.rank, :p] = reduction.K
    lift[reduction.rank:, p:] = np.eye(nuisance)
    bounded = np.append(not_negative_parameters(reduction), np.zeros(nuisance, dtype=bool))
    return ConsistentProblem((R @ lift)[:, seen], z, reference, bounded[seen][bodies:]), seen, lift

# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Least squares over physically consistent bodies: the full set of standard parameters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from robot_identification.arrays import BoolArray, FloatArray
from robot_identification.errors import UsageError
from robot_identification.estimation.estimators.conic import solve_conic
from robot_identification.estimation.estimators.consistent_problem import ConsistentProblem
from robot_identification.estimation.estimators.constrained import not_negative_parameters
from robot_identification.estimation.estimators.log_cholesky import refine, solve_log_cholesky
from robot_identification.estimation.estimators.options import check_count, check_positive
from robot_identification.estimation.linear import describe_estimate
from robot_identification.estimation.problem import (
    Estimate, Estimator, IdentificationProblem, PriorTerm,
)
from robot_identification.estimation.solving import (
    need_observations, renew_weights, solve_unknowns,
)
from robot_identification.model import (
    BaseReduction, from_pseudo_inertia, prior_inertial_parameters, pseudo_inertia,
)

SOLVERS = ('auto', 'conic', 'log_cholesky')
# Share by which a pull to the URDF may raise the squared residuals.
DISCREPANCY = 0.02
# A reference body weighs at least so much [kg] and extends at least so far [m] in every
# direction: nothing is pulled towards a body without mass or size.
LEAST_MASS, LEAST_RADIUS = 0.01, 0.002
# Unknowns (s,), and how they were found in words.
Solution = tuple[FloatArray, str]
# The pulls that the discrepancy principle chooses among, in parts of the squared residual, and
# the factor to which it finds one.
PULLS = (1.0e-6, 1.0e4)
PULL_FACTOR = 1.5
# Squared residuals below this part of the squared torque are of no meaning: 30 parts in a million
# of the torque.
MEANINGLESS = 1.0e-9


@dataclass(frozen=True)
class ConsistentLeastSquares(Estimator):
    r"""
    Minimise :math:`\lVert \tau - W \theta \rVert^2` over physically consistent bodies [1]_ [2]_.

    Every link's pseudo-inertia is positive definite, no rotor inertia is negative, nor is a
    friction coefficient but those of a law that may be. An entropic pull to the URDF's bodies
    decides what the motion does not show.

    Attributes
    ----------
    solver : {'auto', 'conic', 'log_cholesky'}
        'auto' is the conic program where clarabel is installed.
    pull : float, optional
        Weight of the divergence from the URDF's bodies, on the side of squared residuals in
        standard deviations. By default the largest that the discrepancy principle allows.
    discrepancy : float
        Share by which the pull may raise the squared residuals over those of a vanishing pull;
        never more than noise raises them for the true parameters: unknowns over rows.
    reweightings : int
        How often each joint's weight is renewed from its residual.

    References
    ----------
    .. [1] P. Wensing, S. Kim, J.-J. Slotine, "Linear matrix inequalities for physically
       consistent inertial parameter identification", IEEE RA-L 3(1), 2018.
    .. [2] T. Lee, P. Wensing, F. Park, "Geometric robot dynamic identification: a convex
       programming approach", IEEE T-RO 36(2), 2020.

    """

    solver: str = 'auto'
    pull: float | None = None
    discrepancy: float = DISCREPANCY
    reweightings: int = 3

    def __post_init__(self) -> None:
        if self.solver not in SOLVERS:
            raise UsageError(
                f'solver of consistent is {self.solver!r}, it must be one of {", ".join(SOLVERS)}'
            )
        if self.pull is not None:
            check_positive(self.pull, 'pull of consistent')
        check_positive(self.discrepancy, 'discrepancy of consistent')
        check_count(self.reweightings, 0, 'reweightings of consistent')

    def estimate(self, problem: IdentificationProblem) -> Estimate:
        """Estimate physically consistent bodies; see `Estimator.estimate`."""
        robot = need_observations(problem, 'consistent').robot
        weights = renew_weights(
            problem, self.reweightings, lambda weights: solve_unknowns(problem, weights)
        )
        fit = fit_consistently(
            problem, weights, prior_inertial_parameters(robot), self.pull,
            discrepancy=self.discrepancy, solver=self.solver,
        )
        estimate = describe_estimate(problem, weights, fit.unknowns)
        return replace(estimate, standard=fit.theta, notes=(*fit.notes, fit.describe()))


@dataclass(frozen=True)
class LogCholeskyLeastSquares(Estimator):
    """
    `ConsistentLeastSquares` without a conic solver, in coordinates that are always bodies [1]_.

    Attributes
    ----------
    pull, discrepancy, reweightings
        As in `ConsistentLeastSquares`.

    References
    ----------
    .. [1] C. Rucker, P. Wensing, "Smooth parameterization of rigid-body inertia", IEEE RA-L 7(2),
       2022.

    """

    pull: float | None = None
    discrepancy: float = DISCREPANCY
    reweightings: int = 3

    def __post_init__(self) -> None:
        self._consistent()

    def estimate(self, problem: IdentificationProblem) -> Estimate:
        """Estimate physically consistent bodies; see `Estimator.estimate`."""
        return self._consistent().estimate(problem)

    def _consistent(self) -> ConsistentLeastSquares:
        return ConsistentLeastSquares(
            'log_cholesky', self.pull, self.discrepancy, self.reweightings
        )


@dataclass(frozen=True)
class ConsistentAfter(Estimator):
    """
    Another estimator, and then physically consistent bodies for the problem that it solved last.

    Attributes
    ----------
    estimator : Estimator
        Whose weights of joints and rows, and whose prior, are kept.
    pull : float, optional
        As in `ConsistentLeastSquares`.

    """

    estimator: Estimator
    pull: float | None = None

    def estimate(self, problem: IdentificationProblem) -> Estimate:
        """Estimate twice; see `Estimator.estimate`."""
        estimate = self.estimator.estimate(problem)
        robot = need_observations(problem, 'consistent').robot
        fit = fit_after(estimate, prior_inertial_parameters(robot), self.pull)
        b = problem.reduction.rank
        return replace(
            estimate, theta=fit.unknowns[:b], nuisance=fit.unknowns[b:], standard=fit.theta
        )


@dataclass(frozen=True, eq=False)
class ConsistentFit:
    """
    Standard parameters of physically consistent bodies, and what they cost.

    Attributes
    ----------
    theta : ndarray, shape (p,)
        Standard parameters, SI units.
    unknowns : ndarray, shape (size,)
        The unknowns of the problem that they give.
    pull : float
        Weight of the divergence from the reference bodies.
    divergence : float
        How far the bodies are from them.
    cost : float
        Share by which the weighted squared residuals are above the least ones without conditions.
    solver : str
        How they were found.
    notes : tuple of str
        What a reader should know.

    """

    theta: FloatArray
    unknowns: FloatArray
    pull: float
    divergence: float
    cost: float
    solver: str
    notes: tuple[str, ...] = ()

    def describe(self) -> str:
        """Return what the bodies cost, in words."""
        return (
            f'consistent parameters by {self.solver}, pull {self.pull:.3g} to the URDF: squared '
            f'residuals {self.cost:.1%} above those without conditions'
        )


def fit_after(
    estimate: Estimate, reference: FloatArray, pull: float | None = None
) -> ConsistentFit:
    """
    Fit physically consistent bodies to the problem that an estimator solved last.

    Parameters
    ----------
    estimate : Estimate
        With its problem.
    reference, pull
        As in `fit_consistently`.

    Raises
    ------
    UsageError
        If the estimate does not hold its problem.

    """
    if estimate.problem is None:
        raise UsageError('the estimate does not hold the problem that it solves')
    return fit_consistently(
        estimate.problem, estimate.weights, reference, pull,
        beside=[term for term in (estimate.prior, estimate.damping) if term is not None],
    )


def fit_consistently(
    problem: IdentificationProblem,
    weights: FloatArray,
    reference: FloatArray,
    pull: float | None = None,
    *,
    discrepancy: float = DISCREPANCY,
    solver: str = 'auto',
    beside: Sequence[PriorTerm] = (),
) -> ConsistentFit:
    """
    Fit physically consistent bodies to a weighted problem.

    Parameters
    ----------
    problem : IdentificationProblem
        Factors of the data.
    weights : ndarray, shape (n,)
        Factor on the rows of each joint [1 / N m].
    reference : ndarray, shape (10 n,)
        Inertial parameters of the bodies to pull to; they need not be possible.
    pull, discrepancy, solver
        As in `ConsistentLeastSquares`.
    beside : sequence of PriorTerm
        Rows that are added to those of the data.

    Raises
    ------
    NotIdentifiableError
        If no solver ends at the minimum.

    """
    parameters, p = problem.reduction.parameters, problem.reduction.parameters.size
    reference, notes = usable_reference(reference, parameters.n)
    seen = np.append(
        _determined(problem.reduction), np.ones(problem.nuisance, dtype=bool)
    )
    # Unknowns of the problem from standard parameters and nuisance.
    lift = np.zeros((problem.size, p + problem.nuisance))
    lift[: problem.reduction.rank, :p] = problem.reduction.K
    lift[problem.reduction.rank:, p:] = np.eye(problem.nuisance)
    R, z = problem.stacked(weights)
    R = np.vstack([R, *(term.matrix for term in beside)])
    z = np.concatenate([z, *(term.side for term in beside)])
    bounded = np.append(
        not_negative_parameters(problem.reduction), np.zeros(problem.nuisance, dtype=bool)
    )
    squares = ConsistentProblem(
        (R @ lift)[:, seen], z, reference, bounded[seen][10 * parameters.n:]
    )
    rounding = MEANINGLESS * max(float(z @ z), np.finfo(float).tiny)
    free = np.linalg.lstsq(R, z, rcond=None)[0]
    least = max(float(np.sum((R @ free - z) ** 2)), rounding)
    solution = None
    if pull is None:
        # The squares of the truth are above the least ones by the share that the unknowns took
        # of the noise. With many rows that is little, and a greater share would be a bias.
        noise = problem.size / max(float(np.sum(problem.samples)), 1.0)
        pull, solution = choose_pull(squares, min(discrepancy, noise), solver)
    x, how = solution or solve_consistent(squares, pull, solver)
    theta = np.zeros(p + problem.nuisance)
    theta[seen] = x
    return ConsistentFit(
        theta=theta[:p],
        unknowns=lift @ theta,
        pull=pull,
        divergence=squares.divergence(x),
        cost=max(squares.squared_residual(x) / least, 1.0) - 1.0,
        solver=how,
        notes=notes,
    )


def choose_pull(
    squares: ConsistentProblem, discrepancy: float, solver: str = 'auto'
) -> tuple[float, Solution]:
    """
    Return the largest pull that the residuals allow: the discrepancy principle.

    Parameters
    ----------
    squares : ConsistentProblem
        The squares.
    discrepancy : float
        Share by which it may raise the squared residuals over those of a vanishing pull.
    solver : str
        As in `ConsistentLeastSquares`.

    Returns
    -------
    pull : float
        Found to a factor of PULL_FACTOR, from below.
    solution : Solution
        Under this pull.

    """
    torque = max(float(squares.z @ squares.z), np.finfo(float).tiny)
    weaker = PULLS[0] * torque
    while True:
        pull = weaker
        solution = solve_consistent(squares, pull, solver)
        # Without noise nothing is left, and nothing is pulled.
        weakest = max(squares.squared_residual(solution[0]), MEANINGLESS * torque)
        weaker = PULLS[0] * weakest
        if pull <= 10.0 * weaker:
            break
    low, high = (weakest * part for part in PULLS)
    while high > PULL_FACTOR * low:
        middle = float(np.sqrt(low * high))
        found = solve_consistent(squares, middle, solver)
        if squares.squared_residual(found[0]) <= (1.0 + discrepancy) * weakest:
            low = pull = middle
            solution = found
        else:
            high = middle
    return pull, solution


def solve_consistent(squares: ConsistentProblem, pull: float, solver: str = 'auto') -> Solution:
    """
    Return the unknowns and how they were found.

    Parameters
    ----------
    squares : ConsistentProblem
        The squares.
    pull : float
        Weight of the divergence from the references, positive.
    solver : str
        As in `ConsistentLeastSquares`.

    Raises
    ------
    NotIdentifiableError
        If the solver does not end at the minimum.

    """
    if solver != 'log_cholesky':
        x = solve_conic(squares, pull)
        if x is not None:
            return refine(squares, pull, x), 'conic program (clarabel)'
    return solve_log_cholesky(squares, pull), 'log-Cholesky coordinates'


def usable_reference(inertial: FloatArray, n: int) -> tuple[FloatArray, tuple[str, ...]]:
    """
    Return physically consistent bodies near those of a URDF, and which of them were changed.

    Parameters
    ----------
    inertial : ndarray, shape (10 n,)
        The URDF's.
    n : int
        Number of links.

    Returns
    -------
    reference : ndarray, shape (10 n,)
        Each with a positive definite pseudo-inertia.
    notes : tuple of str
        Links that were given size.

    """
    reference, changed = inertial.copy(), []
    for link, values in enumerate(reference.reshape(-1, 10)):
        P = pseudo_inertia(values)
        mass = max(P[3, 3], LEAST_MASS)
        centre = P[:3, 3] / mass
        squares, axes = np.linalg.eigh(P[:3, :3] - mass * np.outer(centre, centre))
        least = mass * LEAST_RADIUS**2
        if mass > P[3, 3] or squares[0] < least:
            spread = (axes * np.maximum(squares, least)) @ axes.T
            P[:3, :3] = spread + mass * np.outer(centre, centre)
            P[3, 3] = mass
            reference[10 * link: 10 * link + 10] = from_pseudo_inertia(P)
            changed.append(str(link + 1))
    return reference, (
        (f'the URDF gives the bodies of joints {", ".join(changed)} no mass or no size: '
         'consistent parameters are pulled to bodies with a little',)
        if changed else ()
    )


def _determined(reduction: BaseReduction) -> BoolArray:
    """Return the parameters of bodies, and others that the data determine; shape (p,)."""
    seen: BoolArray = np.any(reduction.K != 0.0, axis=0)
    seen[: 10 * reduction.parameters.n] = True
    return seen

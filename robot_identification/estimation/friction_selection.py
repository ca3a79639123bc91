# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
The friction laws of each joint, chosen on held-out blocks of that joint.

Candidates are tried on one joint at a time, all joints being fitted together; the others have the
first candidate, and then what was chosen for them, until no choice changes. Shape constants are
searched in the training part of every fold anew; what was found on all samples is only where that
search starts, so that a held-out block has no part in the model by which it is predicted. The
choice itself has seen all blocks, as every choice here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from robot_identification.arrays import BoolArray, FloatArray
from robot_identification.estimation.friction_rows import (
    ArmSolution, determined_bodies, fit_arm_shapes, joint_rows, MOST_SEARCHED, RigidRows,
    solve_arm, solve_weighted_arm,
)
from robot_identification.estimation.identification import Candidates
from robot_identification.estimation.problem import Observations
from robot_identification.estimation.separable import (
    fit_shapes, law_columns, SeparableFit, ShapeProblem,
)
from robot_identification.model import (
    exclude_each_other, FrictionLaw, FrictionTerm, JointMotion, parse_friction,
)
from robot_identification.validation import Folds, hold_out, is_no_worse

# Temperature of a joint that changes by less than this says nothing of its friction [K].
LEAST_WARMING = 5.0
# Part of a friction column, in rows of the joint, that bodies and other columns must leave.
LEAST_APART = 1.0e-3
# Times that joints are asked again because another one has changed its laws.
MOST_SWEEPS = 5
# Digits of a shape constant that a model file shows; a change of the next one changes nothing.
DIGITS = 4


@dataclass(frozen=True, eq=False)
class JointTrial:
    """Laws that were tried on one joint."""

    fit: SeparableFit  # constants found on all training samples
    # (folds,) errors of the joint on each held-out block, over the deviation of its effort
    by_fold: FloatArray
    score: float  # the same over all blocks together

    @property
    def size(self) -> int:
        """Return the number of coefficients and shape constants, determined by the data or not."""
        return len(self.fit.coefficients) + len(self.fit.constants)


@dataclass(frozen=True, eq=False)
class FrictionChoice:
    """Friction laws by joint, and what they were chosen from."""

    # by position within the joint, joints inner, as a model file reads them
    terms: tuple[FrictionTerm, ...]
    candidates: tuple[Candidates, ...]  # one question a joint
    notes: tuple[str, ...]  # shape constants with their errors, in words


def expand_candidates(
    candidates: Sequence[str], additions: Sequence[str]
) -> tuple[tuple[FrictionLaw, ...], ...]:
    """Return the combinations of laws to try."""
    found: dict[tuple[str, ...], None] = {}
    for count in range(len(additions) + 1):
        for candidate in candidates:
            names = tuple(law.name for law in parse_friction(candidate))
            for added in combinations(additions, count):
                whole = (*names, *added)
                if len(set(whole)) == len(whole) and not any(
                    exclude_each_other(one, other) for one, other in combinations(whole, 2)
                ):
                    found[whole] = None
    return tuple(parse_friction(','.join(names)) for names in found)


def order_terms(laws: Sequence[Sequence[FrictionLaw]]) -> tuple[FrictionTerm, ...]:
    """Return the terms of joints with their laws: by position in the joint, joints inner."""
    return tuple(
        FrictionTerm(joint, own[position])
        for position in range(max((len(own) for own in laws), default=0))
        for joint, own in enumerate(laws)
        if position < len(own)
    )


def choose_friction(
    observations: Observations,
    candidates: Sequence[tuple[FrictionLaw, ...]],
    unexcited: Sequence[int],
    folds: Folds,
    tie: float,
) -> FrictionChoice:
    """
    Choose the friction laws of every joint.

    The simplest candidate is taken that is no worse than the best by one standard error, block by
    block, or by the relative difference `tie`. Simple is what has few coefficients and shape
    constants. Temperature laws are tried where the temperature of the joint changes by more than
    `LEAST_WARMING`; a law whose columns the joint's rows do not tell apart is not tried.
    """
    arm = _Arm(observations, candidates[0], unexcited)
    fits = [
        [arm.plain[joint]] if joint in unexcited else arm.try_laws(joint, candidates)
        for joint in range(arm.n)
    ]
    blocks, recorded = _make_folds(arm, fits, folds)
    chosen = [0] * arm.n
    for _ in range(MOST_SWEEPS):
        trials = _try_candidates(blocks, fits, recorded, len(observations.data), chosen)
        before, chosen = chosen, [_choose_simplest(of_joint, tie) for of_joint in trials]
        if chosen == before:
            break
    names = observations.robot.joint_names
    questions = [
        _ask(names[joint], of_joint, of_joint[at], tie)
        for joint, (of_joint, at) in enumerate(zip(trials, chosen, strict=True))
        if len(of_joint) > 1
    ]
    settled = arm.settle([of_joint[at] for of_joint, at in zip(fits, chosen, strict=True)])
    terms = order_terms([rounded(fit.laws) for fit in settled])
    return FrictionChoice(
        tuple(
            replace(term, constant_errors=settled[term.joint].errors_of(term.law))
            for term in terms
        ),
        tuple(questions),
        _describe_shapes(names, settled, unexcited),
    )


def _ask(name: str, trials: Sequence[JointTrial], taken: JointTrial, tie: float) -> Candidates:
    """Return what was asked for a joint, and the answer."""
    return Candidates(
        f'friction of {name}',
        tuple(describe_laws(rounded(trial.fit.laws)) for trial in trials),
        tuple(trial.score for trial in trials),
        describe_laws(rounded(taken.fit.laws)),
        'the simplest that is no worse than the best by one standard error, block by block, or '
        f'by {tie:.0%}; NRMSE of the joint',
    )


class _Arm:
    """Training rows of an arm, and its fit with the same laws on every joint."""

    def __init__(
        self, observations: Observations, laws: Sequence[FrictionLaw], unexcited: Sequence[int]
    ) -> None:
        self.observations = observations
        self.unexcited = tuple(unexcited)
        self.n = observations.robot.n
        self.size = observations.reduction.rank
        self.laws = tuple(laws)
        self.given = [() if joint in unexcited else self.laws for joint in range(self.n)]
        self._determined = determined_bodies(observations, unexcited)
        rows = joint_rows(observations)
        self.plain, solution = fit_arm_shapes(
            rows, self._determined, self.size, self.given, [None] * self.n
        )
        self.joints = tuple(of_joint.with_load(solution.theta) for of_joint in rows)

    def try_laws(
        self, joint: int, candidates: Sequence[tuple[FrictionLaw, ...]]
    ) -> list[SeparableFit]:
        """Return the fits of the candidates that the rows of a joint can judge."""
        problem = self.joints[joint].thinned(MOST_SEARCHED).shape_problem()
        warm = bool(np.ptp(problem.motion.temperature) > LEAST_WARMING)
        fits = []
        for laws in candidates:
            if any(law.needs_temperature for law in laws) and not warm:
                continue
            fit = fit_shapes(problem, laws)
            if laws == self.laws or are_distinguishable(problem, fit.laws):
                fits.append(fit)
        return fits

    def settle(self, chosen: Sequence[SeparableFit]) -> tuple[SeparableFit, ...]:
        """Return the fits under the load of the bodies that are found with them."""
        fits, _ = fit_arm_shapes(
            self.joints, self._determined, self.size, [fit.laws for fit in chosen], chosen,
            most=max(len(rows.tau) for rows in self.joints),
        )
        # What does not move keeps the laws that it was given.
        return tuple(
            replace(fit, laws=self.laws) if joint in self.unexcited else fit
            for joint, fit in enumerate(fits)
        )


class _HeldOut:
    """Squared errors of one candidate on held-out blocks, by bag and fold."""

    def __init__(self, bags: int) -> None:
        self._squares: list[FloatArray] = []
        self._counts: list[FloatArray] = []
        self._bags = bags

    def add(self, rows: RigidRows, residual: FloatArray) -> None:
        """Put the residuals of a block to the others."""
        squares: FloatArray = np.bincount(rows.bag, residual**2, self._bags).astype(float)
        counts: FloatArray = np.bincount(rows.bag, minlength=self._bags).astype(float)
        self._squares.append(squares)
        self._counts.append(counts)

    def trial(self, fit: SeparableFit, deviation: FloatArray) -> JointTrial:
        """Return the errors over the deviation of the torque in each bag (bags,)."""
        squares, counts = np.array(self._squares), np.array(self._counts)
        seen = (counts > 0.0) & (deviation > 0.0)
        errors = np.full(squares.shape, np.nan)
        np.divide(np.sqrt(squares / np.maximum(counts, 1.0)), deviation, out=errors, where=seen)
        total = np.where(seen, squares, 0.0).sum(axis=0)
        count = np.where(seen, counts, 0.0).sum(axis=0)
        of_bag = np.sqrt(total[count > 0.0] / count[count > 0.0]) / deviation[count > 0.0]
        return JointTrial(fit, np.nanmean(errors, axis=1), float(of_bag.mean()))


class _Fold:
    """One held-out block, and every candidate with the constants of what is trained on."""

    def __init__(
        self,
        arm: _Arm,
        fits: Sequence[Sequence[SeparableFit]],
        recorded: Sequence[RigidRows],
        training: Sequence[BoolArray],
        held_out: Sequence[BoolArray],
    ) -> None:
        self._size = arm.size
        self._determined = determined_bodies(arm.observations.select(training), arm.unexcited)
        joints = [rows.taken(training) for rows in arm.joints]
        _, solution = fit_arm_shapes(joints, self._determined, arm.size, arm.given, arm.plain)
        self._joints = [rows.with_load(solution.theta) for rows in joints]
        self._tested = [rows.taken(held_out) for rows in recorded]
        self._laws = []
        for rows, of_joint in zip(self._joints, fits, strict=True):
            problem = rows.thinned(MOST_SEARCHED).shape_problem()
            self._laws.append([fit_shapes(problem, fit.laws, fit).laws for fit in of_joint])
        self._parts = [
            [rows.reduce(laws) for laws in of_joint]
            for rows, of_joint in zip(self._joints, self._laws, strict=True)
        ]

    def test(self, chosen: Sequence[int], errors: Sequence[Sequence[_HeldOut]]) -> None:
        """Add what each candidate leaves where the other joints have the chosen ones."""
        parts = [of_joint[at] for of_joint, at in zip(self._parts, chosen, strict=True)]
        solution = solve_weighted_arm(parts, self._determined, self._size)
        self._renew_load(solution.theta)
        parts = [of_joint[at] for of_joint, at in zip(self._parts, chosen, strict=True)]
        for joint, of_joint in enumerate(self._parts):
            if len(of_joint) < 2:
                continue
            tested = self._tested[joint].with_load(solution.theta)
            for part, laws, of_candidate in zip(
                of_joint, self._laws[joint], errors[joint], strict=True
            ):
                found = solve_arm(
                    [*parts[:joint], part, *parts[joint + 1:]], self._determined, self._size,
                    solution.weights,
                )
                of_candidate.add(tested, _residual(tested, laws, found, joint))

    def _renew_load(self, theta: FloatArray) -> None:
        for joint, of_joint in enumerate(self._laws):
            for at, laws in enumerate(of_joint):
                if any(law.needs_rigid_torque for law in laws):
                    rows = self._joints[joint].with_load(theta)
                    self._parts[joint][at] = rows.reduce(laws)


def _make_folds(
    arm: _Arm, fits: Sequence[Sequence[SeparableFit]], folds: Folds
) -> tuple[list[_Fold], tuple[RigidRows, ...]]:
    """Return the held-out blocks, and the rows as they were recorded."""
    observations = arm.observations
    untreated = observations.untreated()
    recorded = arm.joints if untreated is observations else joint_rows(untreated)
    parts = [list(hold_out(part.dataset, part.rows, folds)) for part in observations.data]
    return [
        _Fold(
            arm, fits, recorded, [rows for rows, _ in fold], [rows for _, rows in fold]
        )
        for fold in zip(*parts, strict=True)
    ], recorded


def _try_candidates(
    folds: Sequence[_Fold],
    fits: Sequence[Sequence[SeparableFit]],
    recorded: Sequence[RigidRows],
    bags: int,
    chosen: Sequence[int],
) -> list[list[JointTrial]]:
    """Return the trials of each joint, the others having the chosen candidates."""
    errors = [[_HeldOut(bags) for _ in of_joint] for of_joint in fits]
    for fold in folds:
        fold.test(chosen, errors)
    trials = []
    for rows, of_joint, of_fits in zip(recorded, fits, errors, strict=True):
        deviation = np.array([
            np.std(rows.tau[rows.bag == bag]) if np.any(rows.bag == bag) else 0.0
            for bag in range(bags)
        ])
        trials.append(
            [
                held_out.trial(fit, deviation)
                for fit, held_out in zip(of_joint, of_fits, strict=True)
            ]
            if len(of_joint) > 1 else [JointTrial(of_joint[0], np.zeros(len(folds)), 0.0)]
        )
    return trials


def _choose_simplest(trials: Sequence[JointTrial], tie: float) -> int:
    """Return which of the candidates of a joint is taken."""
    best = min(trials, key=lambda trial: trial.score)
    near = [
        at for at, trial in enumerate(trials)
        if trial is best or is_no_worse(trial.by_fold, best.by_fold)
        or trial.score <= (1.0 + tie) * best.score
    ]
    return min(near, key=lambda at: (trials[at].size, trials[at].score))


def _residual(
    rows: RigidRows, laws: Sequence[FrictionLaw], solution: ArmSolution, joint: int
) -> FloatArray:
    """Return the residuals of some rows of a joint, shape (m,) [N m]."""
    rigid = rows.rigid @ solution.theta[rows.columns]
    friction = law_columns(laws, rows.motion) @ solution.friction[joint]
    residual: FloatArray = rows.tau - rigid - friction
    return residual


def are_distinguishable(problem: ShapeProblem, laws: Sequence[FrictionLaw]) -> bool:
    """Return whether rows of a joint tell coefficients of laws apart, and from its bodies."""
    columns = law_columns(laws, problem.motion)
    # What a lively motion would put into a column is what little of it is measured by.
    lively = np.linalg.norm(law_columns(laws, _LIVELY), axis=0) / np.sqrt(_LIVELY.dq.size)
    scale = np.maximum(np.linalg.norm(columns, axis=0), lively * np.sqrt(len(columns)))
    triangle = np.linalg.qr(problem.project(columns / scale), mode='r')
    smallest = np.linalg.svd(triangle, compute_uv=False).min()
    return bool(smallest > LEAST_APART)


def _lively_motion() -> JointMotion:
    rng = np.random.default_rng(1)
    dq = rng.uniform(-3.0, 3.0, 200)
    return JointMotion(np.zeros(200), dq, np.ones(200), rng.uniform(20.0, 50.0, 200))


_LIVELY = _lively_motion()


def rounded(laws: Sequence[FrictionLaw]) -> tuple[FrictionLaw, ...]:
    """Return laws with shape constants of `DIGITS` digits."""
    return tuple(
        replace(law, **{
            name: float(f'{getattr(law, name):.{DIGITS}g}') for name in law.shape
        })
        for law in laws
    )


def describe_laws(friction: Sequence[FrictionLaw]) -> str:
    """Return friction laws and their shape constants in words."""
    return ', '.join(
        law.name + ''.join(
            f' {key} {value:g}' for key, value in law.constants().items()
            if isinstance(value, float)
        )
        for law in friction
    )


def _describe_shapes(
    names: Sequence[str], fits: Sequence[SeparableFit], unexcited: Sequence[int]
) -> tuple[str, ...]:
    """Return what the data say of the shape constants of each joint, in words."""
    notes = []
    for joint, (name, fit) in enumerate(zip(names, fits, strict=True)):
        found = [one for one in fit.constants if one.determined and not one.at_bound]
        ends = [one for one in fit.constants if one.at_bound]
        undetermined = [one for one in fit.constants if not one.determined]
        parts = [
            f'{words}{", ".join(one.describe() for one in group)}'
            for words, group in (
                ('', found), ('at the end of what is searched ', ends),
                ('not determined by the data and left as it was ', undetermined),
            )
            if group
        ]
        if parts and joint not in unexcited:
            notes.append(f'shape constants of {name}: {"; ".join(parts)}')
    return tuple(notes)

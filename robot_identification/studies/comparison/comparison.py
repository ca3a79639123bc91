# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Two models of one arm: what differs beyond its uncertainty, group by group.

Between a cold and a warm arm friction may move and the bodies must not; Raviola et al. 2021 say
so in words, here it is a test [1]_ of the differences against the sum of both covariances, with
degrees of freedom by Welch [2]_ and p-values corrected for the number of groups [3]_.

References
----------
.. [1] A. Wald, "Tests of statistical hypotheses concerning several parameters when the number of
   observations is large", Transactions of the American Mathematical Society 54(3), 1943.
.. [2] B. L. Welch, "The generalization of Student's problem when several different population
   variances are involved", Biometrika 34(1-2), 1947.
.. [3] S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of
   Statistics 6(2), 1979.

"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.errors import DataError
from robot_identification.estimation import Covariance, joint_test, JointTest
from robot_identification.model import EFFORT_UNITS, FRICTION_LAWS, IdentifiedModel
from robot_identification.report import sliding_text
from robot_identification.studies.comparison.common_parameters import (
    check_same_arm, common_parameters,
)
from robot_identification.studies.comparison.sliding import degrees_of_freedom
from robot_identification.validation import freedom_of_sums, MOST_FREEDOM
import scipy

# Probability of calling models different that are not, over all groups together; chosen: usual.
LEVEL = 0.05
# Probability that an interval holds the truth; chosen: usual.
CONFIDENCE = 0.95
# Of unit variance per parameter; less in some direction is a bound, a prior or rounding.
SINGULAR = 1.0e-10
# A friction coefficient below so many standard errors has no change in per cent.
LEAST_KNOWN = 3.0
# Largest speeds of one motion, repeated, differ by some 0.2 %; those of two by far more.
SAME_MOTION = 0.05
NO_ERROR = 'no standard error: held by a bound, or set'
WORDS = {
    'inertial': 'inertial parameters', 'rotor': 'rotor inertias', 'coulomb': 'Coulomb friction',
    'viscous': 'viscous friction', 'offset': 'friction offsets',
}


def two_sided(value: float, error: float, freedom: float) -> float:
    """
    Return the probability of a value at least as far from zero by chance.

    Student's t-test of a value with a standard error of so many degrees of freedom. NaN unless the
    value is finite and the error positive.
    """
    if not (np.isfinite(value) and error > 0.0):
        return float('nan')
    return float(2.0 * scipy.special.stdtr(freedom, -abs(value) / error))


def student_interval(
    value: float, error: float, freedom: float, confidence: float = CONFIDENCE
) -> tuple[float, float]:
    """Return the ends of Student's interval of a value; NaN where its error is not known."""
    half = float(scipy.special.stdtrit(freedom, 0.5 + 0.5 * confidence)) * error
    return value - half, value + half


def holm(p_values: Sequence[float]) -> FloatArray:
    """
    Return p-values corrected for their number [3]_.

    Compared with a level, the probability of any false finding among all is at most that level.
    """
    p = np.asarray(p_values, dtype=float)
    order = np.argsort(p)
    raised = p[order] * np.arange(len(p), 0, -1)
    corrected = np.empty_like(p)
    corrected[order] = np.minimum(np.maximum.accumulate(raised), 1.0)
    return corrected


def p_words(p_value: float) -> str:
    """Return a p-value as it is written after the letter p."""
    return '<1e-6' if p_value < 1.0e-6 else f'={p_value:.2g}'


@dataclass(frozen=True)
class ParameterDifference:
    """One parameter of both models."""

    # What it is.
    name: str
    unit: str
    # Its values.
    first: float
    second: float
    standard_error: float  # of their difference; zero where a bound holds it
    freedom: float  # degrees of freedom of that

    @property
    def z(self) -> float:
        """Return the difference in standard errors; NaN without one."""
        if not self.standard_error > 0.0:
            return float('nan')
        return (self.second - self.first) / self.standard_error

    @property
    def p_value(self) -> float:
        """Probability of a larger difference by chance, of this parameter alone."""
        return two_sided(self.second - self.first, self.standard_error, self.freedom)


@dataclass(frozen=True)
class GroupDifference:
    """Test of whether a group of parameters changed."""

    group: str  # 'inertial', 'rotor', or a kind of friction
    parameters: tuple[ParameterDifference, ...]  # of both models
    directions: int  # how many of them, or of their combinations, are tested
    test: JointTest | None  # none if nothing of the group can be tested
    p_corrected: float  # its p-value, corrected for the number of groups
    # Mean change over the joints, as a share of the first model's; NaN where that says nothing.
    change: float
    notes: tuple[str, ...] = ()  # what was left out, and why

    @property
    def moved(self) -> bool:
        """Return whether the group differs by more than chance."""
        return self.p_corrected < LEVEL

    @property
    def largest(self) -> ParameterDifference | None:
        """Return the parameter whose difference is most standard errors."""
        seen = [entry for entry in self.parameters if np.isfinite(entry.z)]
        return max(seen, key=lambda entry: abs(entry.z), default=None)

    def describe(self) -> str:
        """Return the finding in words."""
        words = group_words(self.group)
        if self.test is None:
            return f'{words} cannot be compared'
        chance = f'(p{p_words(self.p_corrected)})'
        if not self.moved:
            return f'{words} {"agree" if words.endswith("s") else "agrees"} {chance}'
        far = self.largest
        by = f' by {100.0 * self.change:+.0f} % on average' if np.isfinite(self.change) else ''
        most = '' if far is None else f', most at {far.name}: {far.z:+.1f} standard errors'
        return f'{words} moved{by} {chance}{most}'


@dataclass(frozen=True, eq=False)
class ModelComparison:
    """Differences between two models of one arm."""

    groups: tuple[GroupDifference, ...]  # bodies, rotors, friction by kind
    notes: tuple[str, ...]  # what a reader should know

    @property
    def verdict(self) -> tuple[str, ...]:
        """Return the findings in words, group by group."""
        return tuple(group.describe() for group in self.groups)

    @property
    def differ(self) -> bool:
        """Return whether any group moved."""
        return any(group.moved for group in self.groups)


def group_words(group: str) -> str:
    """Return a group of parameters in words."""
    return WORDS.get(group, f'{group.replace("_", " ")} friction')


def compare_models(first: IdentifiedModel, second: IdentifiedModel) -> ModelComparison:
    """
    Test by groups whether two models of one arm, from different recordings, differ.

    Friction laws and mountings may differ; parameters that one of them does not have are left out.
    Raises `DataError` if they are of different arms, or have no parameter in common.
    """
    check_same_arm(first, second)
    common = common_parameters(first, second)
    sides = [_common_values(model, M) for model, M in (
        (first, common.first), (second, common.second)
    )]
    (before, covariance, first_known), (after, other_covariance, second_known) = sides
    both = _welch(covariance, other_covariance)
    errors = np.sqrt(np.maximum(np.diag(both.matrix), 0.0)) * ~both.held
    sizes = [
        ParameterDifference(*words, *figures)
        for words, figures in zip(
            zip(common.names, common.units, strict=True),
            np.stack([before, after, errors, both.freedom], axis=1).tolist(), strict=True,
        )
    ]
    first_errors = np.sqrt(np.diag(covariance.matrix))
    groups = []
    for group in dict.fromkeys(common.groups):
        rows = [i for i, name in enumerate(common.groups) if name == group]
        test, directions, notes = group_test(after - before, both, rows)
        groups.append(GroupDifference(
            group, tuple(sizes[i] for i in rows), directions, test,
            np.nan if test is None else test.p_value,
            _mean_change([sizes[i] for i in rows], first_errors[rows], group), notes,
        ))
    tested = [i for i, found in enumerate(groups) if found.test is not None]
    if not tested:
        raise DataError(
            f'models of {first.robot.name} and {second.robot.name} have no parameter with a '
            'standard error in common: identify both from data, with the same friction laws'
        )
    for i, p_value in zip(tested, holm([groups[i].p_corrected for i in tested]), strict=True):
        groups[i] = replace(groups[i], p_corrected=float(p_value))
    return ModelComparison(
        tuple(groups),
        (*common.notes, *_warnings(first, second), *(
            () if first_known and second_known else (
                'a model file does not state degrees of freedom: its errors are taken as '
                'exact, identify again to add them',
            )
        )),
    )


def group_test(
    difference: FloatArray, covariance: Covariance, rows: Sequence[int]
) -> tuple[JointTest | None, int, tuple[str, ...]]:
    """
    Test whether a group of the differences (m,) is more than chance.

    Where the covariance is singular, the test is on the directions in which it is not. With more
    directions than half the degrees of freedom, each parameter is tested by itself, and the
    smallest p-value times their number is the group's. Returns the test, None if no direction is
    left, the number of directions, and notes on what is left out.
    """
    errors = np.sqrt(np.maximum(np.diag(covariance.matrix), 0.0))
    free = [i for i in rows if errors[i] > 0.0 and not covariance.held[i]]
    notes: tuple[str, ...] = ()
    if len(free) < len(rows):
        notes += (f'{len(rows) - len(free)} of {len(rows)} parameters are left out: {NO_ERROR}',)
    if not free:
        return None, 0, notes
    freedom = float(np.mean(covariance.freedom[free]))
    if len(free) > freedom / 2.0 and len(free) > 1:
        single = [joint_test(difference, covariance, [i]) for i in free]
        least = min(single, key=lambda test: test.p_value)
        return replace(least, p_value=min(least.p_value * len(free), 1.0)), len(free), (
            *notes,
            f'{len(free)} parameters with {freedom:.0f} degrees of freedom are tested one by one: '
            'longer recordings would allow to test them together',
        )
    scaled = difference[free] / errors[free]
    correlation = covariance.matrix[np.ix_(free, free)] / errors[free] / errors[free][:, None]
    variance, directions = np.linalg.eigh(correlation)
    seen = variance > SINGULAR * len(free)
    if not np.all(seen):
        notes += (
            f'{np.count_nonzero(~seen)} of {len(free)} combinations are left out: their '
            'covariance is singular',
        )
    k = int(np.count_nonzero(seen))
    within = Covariance(
        covariance.kind, np.diag(variance[seen]), np.full(k, freedom), np.zeros(k, dtype=bool)
    )
    return joint_test(directions[:, seen].T @ scaled, within, range(k)), k, notes


def _common_values(
    model: IdentifiedModel, M: FloatArray
) -> tuple[FloatArray, Covariance, bool]:
    """Return ``M @ theta_base`` (m,), its covariance, and if its degrees of freedom are known."""
    freedom, known = degrees_of_freedom(model)
    return M @ model.theta_base, Covariance(
        model.covariance_kind, M @ model.covariance @ M.T,
        freedom_of_sums(M, np.diag(model.covariance), freedom), np.zeros(len(M), dtype=bool),
    ), known


def _welch(first: Covariance, second: Covariance) -> Covariance:
    """Return the covariance of a difference, with Welch's degrees of freedom [2]_."""
    variances = [np.maximum(np.diag(c.matrix), 0.0) for c in (first, second)]
    total = variances[0] + variances[1]
    divisor = variances[0]**2 / first.freedom + variances[1]**2 / second.freedom
    return Covariance(
        first.kind, first.matrix + second.matrix,
        np.where(divisor > 0.0, total**2 / np.where(divisor > 0.0, divisor, 1.0), MOST_FREEDOM),
        (variances[0] == 0.0) | (variances[1] == 0.0),
    )


def _mean_change(
    entries: Sequence[ParameterDifference], errors: FloatArray, group: str
) -> float:
    """Return the mean relative change of friction coefficients that are well known."""
    law = FRICTION_LAWS.get(group)
    if law is None or not any(law.plain or ()):
        return float('nan')
    changes = [
        entry.second / entry.first - 1.0
        for entry, error in zip(entries, errors, strict=True)
        if abs(entry.first) > LEAST_KNOWN * error
    ]
    return float(np.mean(changes)) if changes else float('nan')


def _warnings(first: IdentifiedModel, second: IdentifiedModel) -> tuple[str, ...]:
    """Return what limits a comparison of two models, in words."""
    notes = [text for text in [sliding_text(first.robot)] if text]
    gains = [model.robot.drives.drive_gain for model in (first, second)]
    units = {first.effort_unit, second.effort_unit}
    if units == {'A'} and not np.allclose(gains[0], gains[1], rtol=1e-6, equal_nan=True):
        change = float(np.nanmax(np.abs(gains[1] / gains[0] - 1.0)))
        notes.append(
            f'drive gains differ by up to {100.0 * change:.2g} %: so may all parameters of a joint'
        )
    if len(units) > 1:
        notes.append(
            f'effort was {EFFORT_UNITS[first.effort_unit].description} for one and '
            f'{EFFORT_UNITS[second.effort_unit].description} for the other: they rest on '
            'different sensors'
        )
    for model in (first, second):
        if model.covariance_kind == 'residual':
            notes.append(
                'covariance residual does not count residuals that are '
                'correlated in time: differences may look certain that are not'
            )
            break
    bags = [
        {bag.get('sha256') for bag in model.provenance.get('bags', ())} - {None}
        for model in (first, second)
    ]
    if bags[0] & bags[1]:
        notes.append(
            'both were identified from a same recording: their errors are not independent, and '
            'the test does not hold'
        )
    carried = [float(sum(body.mass for body in model.payloads)) for model in (first, second)]
    if carried[0] != carried[1]:
        notes.append(
            f'the models carry payloads of {carried[0]:.3g} and {carried[1]:.3g} kg: inertial '
            'parameters have to differ'
        )
    one, other = (
        np.asarray(model.quality.get('speeds', ()), dtype=float) for model in (first, second)
    )
    if one.shape == other.shape and not np.allclose(one, other, rtol=SAME_MOTION):
        notes.append(
            'the recordings are of different motions: what the models leave unexplained differs '
            'as well, and may look like moved bodies; compare runs of one motion'
        )
    return tuple(notes)

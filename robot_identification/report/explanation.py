# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Explanation of the errors: against the URDF, the worst joint, and what efforts are made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
import math

import numpy as np
from robot_identification.arrays import BoolArray, FloatArray, IndexArray
from robot_identification.estimation import Identification
from robot_identification.model import (
    IdentifiedModel, massless_joints, Motion, standard_torque, StandardParameters,
)
from robot_identification.processing import Dataset
from robot_identification.report.formatting import effort_unit_text, fixed, number, percent
from robot_identification.validation import (
    BagErrors, errors_on, noise_deviation, predict_effort, Verdict,
)

# Letters of the reasons that stand open, chosen: with them the answers fill a screen of 1280 by
# 800 pixels at most.
OPEN_LETTERS = 480
# A part of the error above this is called most of it.
MAIN_SHARE = 0.7
# Class of the style sheet, and name, of every part; rotors are part of inertia.
PARTS = (
    ('gravity', 'gravity'),
    ('inertia', 'inertia, rotors included'),
    ('velocity', 'Coriolis and centrifugal'),
    ('friction', 'friction'),
    ('unexplained', 'unexplained'),
)


@dataclass(frozen=True, eq=False)
class Scored:
    """A recording as it was scored."""

    dataset: Dataset  # the recording
    predicted: FloatArray  # (N, n): effort of the model in the bag's unit
    rows: BoolArray  # (N,): samples that the errors were taken on
    errors: BagErrors


def score_fit(identification: Identification) -> tuple[Scored, ...]:
    """Return the training recordings as the model fits them, predicted once for all files."""
    return tuple(
        Scored(
            dataset, predicted, dataset.fitted,
            errors_on(dataset, predicted, dataset.fitted, detailed=False),
        )
        for dataset in identification.datasets
        for predicted in [predict_effort(identification.model, dataset)]
    )


@dataclass(frozen=True)
class UrdfComparison:
    """Errors of a model beside those of the URDF on the same samples."""

    # Mean NRMSE of both; NaN where it is not known.
    ours: float
    urdf: float
    lost: tuple[str, ...]  # joints that the URDF predicts better
    joints: int  # of which both errors are known
    fitted: bool  # whether friction was fitted in addition to the URDF, to the very samples

    @property
    def name(self) -> str:
        """Return what the errors of the URDF are called wherever they stand."""
        return f'URDF {"with" if self.fitted else "without"} friction'

    @property
    def is_known(self) -> bool:
        """Return whether there is something to compare."""
        return math.isfinite(self.ours) and math.isfinite(self.urdf)

    def describe(self) -> str:
        """Return the answer in words."""
        if not self.is_known:
            return 'Not known: there is no effort of the URDF to compare with.'
        share, won = 1.0 - self.ours / self.urdf, self.joints - len(self.lost)
        change = f'{abs(share):.0%} {"smaller" if share > 0.0 else "larger"}'.replace('%', ' %')
        fitted = ' fitted to these very samples' if self.fitted else ''
        return (
            f'{"Yes" if share > 0.0 else "No"}: the error is {change} than that of the '
            f'{self.name}{fitted}, and smaller on {won} of {self.joints} joints.'
        )


def sort_reasons(verdict: Verdict) -> tuple[list[str], list[str]]:
    """
    Return what limits a model, as much of it as fits the first screen, and the rest.

    Reasons that are the size of an error are not among them.
    """
    limits = [reason for reason in verdict.reasons if reason not in verdict.errors]
    letters = np.cumsum([len(reason) for reason in limits])
    count = max(1, int(np.searchsorted(letters, OPEN_LETTERS, side='right')))
    return limits[:count], limits[count:]


def compare_with_urdf(
    bags: Sequence[BagErrors], fitted: Sequence[BagErrors] | None = None
) -> UrdfComparison:
    """
    Compare errors with those of the URDF's bodies alone.

    Or with `fitted`, of the URDF whose friction was fitted to the very samples.
    """
    ours = np.array([bag.nrmse for bag in bags])
    theirs = np.array(
        [bag.urdf_nrmse for bag in bags] if fitted is None else [bag.nrmse for bag in fitted]
    )
    unknown = ~(np.isfinite(ours) & np.isfinite(theirs))
    own, other = (np.ma.array(values, mask=unknown).mean(axis=0) for values in (ours, theirs))
    known = ~unknown.all(axis=0)
    means = [
        float(values[known].mean()) if known.any() else math.nan for values in (own, other)
    ]
    return UrdfComparison(
        means[0], means[1],
        tuple(bags[0].joints[joint] for joint in np.flatnonzero(known & (other < own))),
        int(known.sum()), fitted is not None,
    )


def urdf_words(model: IdentifiedModel) -> str:
    """Return what the prediction of the URDF is that errors on recordings stand beside."""
    if model.relative_scale:
        return (
            'URDF: not available. The drive gains are unknown, so its torques cannot be compared '
            'with currents.'
        )
    massless = massless_joints(model.robot)
    missing = (
        '' if not massless
        else ' It has no masses: it predicts zero.' if len(massless) == model.robot.n
        else f' It has no masses at {", ".join(massless)}: it predicts zero there.'
    )
    gains = " with the model's drive gains" if model.effort_unit == 'A' else ''
    return (
        f"URDF: NRMSE of the URDF's own masses and inertias{gains}, without friction and rotors, "
        f'on the same samples.{missing}'
    )


def explain_worst_joint(model: IdentifiedModel, bags: Sequence[Scored]) -> tuple[str, ...]:
    """Return sentences on the joint with the largest NRMSE; none if no joint has one."""
    worst = [
        (float(value), position, joint)
        for position, bag in enumerate(bags)
        for joint, value in enumerate(bag.errors.nrmse)
        if math.isfinite(value)
    ]
    if not worst:
        return ()
    _, position, joint = max(worst)
    bag = bags[position]
    return (
        _size_of_error(bag, joint),
        _make_up_of_effort(model, bag, joint),
        *_typical_error(bag, joint),
        _noise_sentence(bag, joint),
    )


def _size_of_error(bag: Scored, joint: int) -> str:
    errors, unit = bag.errors, bag.errors.unit
    measured = bag.dataset.effort[bag.rows, joint]
    deviation, rms = float(np.std(measured)), float(np.sqrt(np.mean(measured**2)))
    return (
        f'{errors.joints[joint]} has the largest error next to its own effort: NRMSE '
        f'{fixed(errors.nrmse[joint])}, which is an RMSE of {_quantity(errors.rmse[joint], unit)} '
        f'on an effort that varies by {_quantity(deviation, unit)} (standard deviation) and has '
        f'an RMS of {_quantity(rms, unit)} ({errors.bag}).'
    )


def _make_up_of_effort(model: IdentifiedModel, bag: Scored, joint: int) -> str:
    if not model.parameters.friction:
        return 'The model has no friction, so that all friction of the joint is error.'
    unit = bag.errors.unit
    rigid, friction = (float(np.std(part)) for part in _parts_of_effort(model, bag, joint))
    fitting = 'its friction law fits' if friction > rigid else 'the inertial parameters fit'
    return (
        f'In the model, friction makes its effort vary by {_quantity(friction, unit)}, the rigid '
        f'body with its rotor by {_quantity(rigid, unit)}: this joint mainly shows how well '
        f'{fitting}.'
    )


def _parts_of_effort(
    model: IdentifiedModel, bag: Scored, joint: int
) -> tuple[FloatArray, FloatArray]:
    """Return the rigid-body and the friction part of one joint's predicted effort."""
    theta, parameters = model.theta_lifted, model.parameters
    bodies = StandardParameters(parameters.n, (), parameters.reflected_inertia)
    torque = standard_torque(
        model.robot, bodies,
        np.append(theta[: 10 * parameters.n], theta[parameters.reflected_inertia_slice]),
        bag.dataset.motion,
    )
    bag.dataset.release()
    rigid = torque[bag.rows, joint] * model.effort_per_torque[joint]
    return rigid, bag.predicted[bag.rows, joint] - rigid


def _typical_error(bag: Scored, joint: int) -> list[str]:
    errors, unit = bag.errors, bag.errors.unit
    typical = float(np.median(errors.rmse))
    if len(errors.joints) == 1 or errors.rmse[joint] > typical:
        return []
    return [
        f'In {effort_unit_text(unit)} its error is no larger than that of a typical joint (median '
        f'{_quantity(typical, unit)}): it stands out because its effort is small.'
    ]


def _noise_sentence(bag: Scored, joint: int) -> str:
    rmse, unit = float(bag.errors.rmse[joint]), bag.errors.unit
    noise = float(noise_deviation(bag.dataset.effort[bag.dataset.fitted, joint][:, None])[0])
    share = noise / rmse if rmse > 0.0 else math.nan
    sentence = (
        f'From sample to sample the recorded effort is noisy by at most {_quantity(noise, unit)} '
        f'({percent(share)} of the RMSE)'
    )
    if share > MAIN_SHARE:
        return f'{sentence}: most of the error can be noise, which no model predicts.'
    if share < 1.0 - MAIN_SHARE:
        return (
            f'{sentence}, so that noise is not the cause: the model lacks something or has it '
            'wrong (the friction law, a drive gain, a payload, temperature, elasticity).'
        )
    return f'{sentence}: noise can be part of the error, not all of it.'


def _quantity(value: float, unit: str) -> str:
    """Return a number with its unit, which no line break separates."""
    return f'{number(value)} {effort_unit_text(unit)}'.replace(' ', '\N{NO-BREAK SPACE}')


def joint_contributions(
    model: IdentifiedModel, bags: Sequence[Scored]
) -> list[tuple[str, list[float], list[float]]]:
    """
    Return what the effort of every joint is made of, over all recordings.

    Joint, RMS of the parts in the order of `PARTS` in the unit of the recording, and these over
    their sum: all zero where there is no effort.
    """
    squares, count = np.zeros((len(PARTS), model.robot.n)), 0
    for bag in bags:
        rows = np.flatnonzero(bag.rows)
        # Of two thousand the RMS of a motion is known to two digits.
        rows = rows[:: 1 + len(rows) * len(bags) // 2000]
        parts = effort_parts(model, bag, rows)
        left = bag.dataset.effort[rows] - parts.sum(axis=0)
        squares += np.sum(np.concatenate([parts, left[None]]) ** 2, axis=1)
        count += len(rows)
        bag.dataset.release()
    rms = np.sqrt(squares / max(count, 1))
    return [
        (name, own.tolist(), (own / (own.sum() or 1.0)).tolist())
        for name, own in zip(model.robot.joint_names, rms.T, strict=True)
    ]


def effort_parts(model: IdentifiedModel, bag: Scored, rows: IndexArray) -> FloatArray:
    """
    Return the parts of a predicted effort at some samples (m,), shape (4, m, n).

    In the bag's unit, in the order of `PARTS`, which the unexplained closes; their sum is the
    prediction. Friction is what bodies and rotors leave of it: offsets and corrections are in it.
    """
    n, theta, parameters = model.robot.n, model.theta_lifted, model.parameters
    motion = bag.dataset.motion.rows(rows)
    bodies, still = StandardParameters(n, (), False), np.zeros_like(motion.q)
    gravity, held, moved = (
        standard_torque(model.robot, bodies, theta[: 10 * n], Motion(motion.q, dq, ddq))
        for dq, ddq in ((still, still), (motion.dq, still), (motion.dq, motion.ddq))
    )
    inertia = moved - held
    if parameters.reflected_inertia:
        inertia = inertia + motion.drive_side.ddq * theta[parameters.reflected_inertia_slice]
    parts = np.array([gravity, inertia, held - gravity]) * model.effort_per_torque
    friction = bag.predicted[rows] - parts.sum(axis=0)
    return np.concatenate([parts, friction[None]])

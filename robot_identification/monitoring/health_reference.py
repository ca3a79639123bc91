# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Reference of friction health, as a file that is kept for weeks.

Format: docs/measuring_friction.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.errors import DescriptionError, IdentificationError
from robot_identification.files import (
    canonical_sha256, check_keys, check_schema_version, dump_yaml, HAND_WRITTEN, read_yaml,
    to_mapping, to_number, to_plain, write_results,
)
from robot_identification.model import IdentifiedModel
from robot_identification.monitoring.friction_change import FrictionChange, POSSIBLE_TEMPERATURES
from robot_identification.options import check_options, option
from robot_identification.studies.temperature import fit_line, line_at
import scipy

SCHEMA_VERSION = 1  # of the file
# Of the model's friction, that a torque may have for the model to be of use [1].
LARGEST_SHARE = 100.0
# Windows that are more alike drift: that is no scatter, which a factor could stand for.
MOST_LIKE = 0.8
# Scatter is taken at the upper end of what a reference of few windows leaves open.
CONFIDENCE = 0.9
# In learning, windows whose residuals are explained that much worse than usual do not count.
STRIKING = 3.0
# Without any noise there would be none [1].
SMALLEST_SCATTER = 1.0e-3


def _number(text: str, minimum: float, maximum: float) -> Any:
    """Return a field for a number; ranges are wide: they exclude mistakes alone."""
    return option(float, text, minimum=minimum, maximum=maximum)


@dataclass(frozen=True)
class JointReference:
    """
    Friction of one joint over that of the model, as it was learned.

    `change` is the mean, over so many `windows`, of measured friction over that of the model,
    minus 1; `scatter` the standard deviation of windows about it; `repeat` the correlation of one
    window with the next. Temperatures are mean, lowest and highest [deg C], None if unknown.
    `slope` and its error [1/K] are the change per temperature beyond the model's, None where
    temperatures did not vary enough. `unexplained` and `load` are medians of those of
    `FrictionChange`. Raises an IdentificationError if a number is out of range.
    """

    windows: int = option(int, 'number of windows', minimum=5, maximum=100_000)
    change: float = _number('mean change', -LARGEST_SHARE, LARGEST_SHARE)
    scatter: float = _number('scatter of the windows', 0.0, 2.0 * LARGEST_SHARE)
    repeat: float = _number('correlation of a window with the next', -1.0, 1.0)
    temperature: float | None = _number('mean temperature [deg C]', *POSSIBLE_TEMPERATURES)
    coldest: float | None = _number('lowest temperature [deg C]', *POSSIBLE_TEMPERATURES)
    warmest: float | None = _number('highest temperature [deg C]', *POSSIBLE_TEMPERATURES)
    slope: float | None = _number('slope [1/K]', -2.0 * LARGEST_SHARE, 2.0 * LARGEST_SHARE)
    slope_error: float | None = _number('its error [1/K]', 0.0, 10.0 * LARGEST_SHARE)
    unexplained: float = _number('median of what is unexplained', 0.0, LARGEST_SHARE)
    load: float = _number('median of the unknown load', 0.0, LARGEST_SHARE)

    def __post_init__(self) -> None:
        check_options(self)
        for name in ('windows', 'change', 'scatter', 'repeat', 'unexplained', 'load'):
            if getattr(self, name) is None:
                raise DescriptionError(f'{name} is null, it must be a number')
        temperatures = [self.coldest, self.temperature, self.warmest]
        known = [value for value in temperatures if value is not None]
        if len(known) not in (0, 3) or known != sorted(known):
            raise DescriptionError(
                f'coldest, temperature and warmest are {temperatures}: they must be numbers that '
                'ascend, or all null'
            )
        if (self.slope is None) != (self.slope_error is None) or (self.slope and not known):
            raise DescriptionError(
                'slope and slope_error must be given together, and with temperatures'
            )

    @property
    def long_scatter(self) -> float:
        """
        Return the standard deviation with which independent windows have sums that scatter so.

        The upper end of a one-sided interval: charts with limits for it keep the stated rate for
        nine in ten references, and not only in the mean over references (Gandy and Kvaloy 2013).
        """
        longer = _lengthening(self.repeat)
        free = max((self.windows - 2) / longer**2, 2.0)
        inflation = np.sqrt(free / scipy.special.chdtri(free, CONFIDENCE))
        return float(max(self.scatter, SMALLEST_SCATTER) * longer * inflation)

    @property
    def mean_error(self) -> float:
        """Return the standard error of `change`."""
        return self.long_scatter / float(np.sqrt(self.windows))

    def expected(self, temperature: float) -> float:
        """Return the change that friction at a temperature [deg C] has if nothing is wrong."""
        if self.slope is None or self.temperature is None or not np.isfinite(temperature):
            return self.change
        return float(line_at(temperature, self.change, self.slope, self.temperature))


def learn_reference(
    windows: Sequence[FrictionChange], smallest_span: float, *, with_slope: bool
) -> JointReference:
    """
    Return what at least 10 consecutive windows of one joint have in common.

    A slope needs temperatures that vary by `smallest_span` [K]; `with_slope` is false where the
    model has a slope of its own.
    """
    usual = np.median([window.unexplained for window in windows])
    good = [window for window in windows if window.unexplained <= STRIKING * usual]
    k = np.array([window.change for window in good])
    T = np.array([window.temperature for window in good])
    known = bool(np.all(np.isfinite(T)))
    sloped = bool(with_slope and known and np.ptp(T) >= smallest_span)
    fit = fit_line(k, (T - T.mean())[:, None] if sloped else np.zeros((k.size, 0)))
    left = fit.residuals
    scatter = float(np.sqrt(left @ left / (k.size - len(fit.coefficients))))
    repeat = _repeat(left)
    return JointReference(
        windows=int(k.size),
        change=float(fit.coefficients[0]),
        scatter=scatter,
        repeat=repeat,
        # The mean of equal numbers may be beyond them, by rounding.
        temperature=float(np.clip(T.mean(), T.min(), T.max())) if known else None,
        coldest=float(T.min()) if known else None,
        warmest=float(T.max()) if known else None,
        slope=float(fit.coefficients[1]) if sloped else None,
        slope_error=(
            scatter * _lengthening(repeat) / float(abs(fit.factor[1, 1])) if sloped else None
        ),
        unexplained=float(usual),
        load=float(np.median([window.load for window in good])),
    )


def _lengthening(repeat: float) -> float:
    """Return what a correlation with the next value makes of the standard error of a mean."""
    follow = min(max(repeat, 0.0), MOST_LIKE)
    return float(np.sqrt((1.0 + follow) / (1.0 - follow)))


def _repeat(left: FloatArray) -> float:
    """
    Return the correlation of values with the next ones.

    That of short series is too small by ``(1 + 3 r) / N`` in the mean (Kendall 1954).
    """
    power = float(left @ left)
    if power == 0.0:
        return 0.0
    r = float(left[1:] @ left[:-1]) / power
    return float(np.clip(r + (1.0 + 3.0 * r) / left.size, -1.0, 1.0))


@dataclass(frozen=True)
class HealthReference:
    """Reference of an arm in good order."""

    model_sha256: str  # of the model's friction, see `friction_sha256`
    joint_names: tuple[str, ...]  # kinematic order
    # With which windows were made, see `HealthOptions`.
    sliding_time: float
    slow_velocity: float
    joints: tuple[JointReference | None, ...]  # none for a joint that has not moved enough

    def to_dict(self) -> dict[str, Any]:
        """Return the content of its file."""
        return {
            'schema_version': SCHEMA_VERSION,
            'model_sha256': self.model_sha256,
            'sliding_time': self.sliding_time,
            'slow_velocity': self.slow_velocity,
            'joints': {
                name: None if joint is None else asdict(joint)
                for name, joint in zip(self.joint_names, self.joints, strict=True)
            },
        }

    @classmethod
    def from_dict(cls, content: Mapping[str, Any], source: str) -> HealthReference:
        """
        Return the reference that `to_dict` wrote; `source` names the file in errors.

        Raises DescriptionError if a key is missing or unknown, or a value has a wrong type or
        range.
        """
        check_schema_version(content, source, SCHEMA_VERSION)
        check_keys(content, source, {
            'schema_version', 'model_sha256', 'sliding_time', 'slow_velocity', 'joints',
        }, set())
        sliding_time, slow_velocity = (
            to_number(content[name], f'{source}: {name}')
            for name in ('sliding_time', 'slow_velocity')
        )
        if not min(sliding_time, slow_velocity) > 0.0:
            raise DescriptionError(f'{source}: sliding_time and slow_velocity must be above 0')
        joints = to_mapping(content['joints'], f'{source}: joints')
        if not isinstance(content['model_sha256'], str) or not joints:
            raise DescriptionError(f'{source}: model_sha256 must be a text, joints must be named')
        return cls(
            content['model_sha256'], tuple(str(name) for name in joints), sliding_time,
            slow_velocity,
            tuple(_joint_of(entry, f'{source}: {name}') for name, entry in joints.items()),
        )


def _joint_of(entry: Any, source: str) -> JointReference | None:
    if entry is None:
        return None
    check_keys(
        to_mapping(entry, source), source, {item.name for item in fields(JointReference)}, set()
    )
    try:
        return JointReference(**entry)
    except IdentificationError as error:
        raise DescriptionError(f'{source}: {error}') from error


def friction_sha256(model: IdentifiedModel) -> str:
    """
    Return the hash that identifies the friction of a model.

    Laws, their constants and coefficients, drive gains, joints and the description count; bodies
    do not, so that a model keeps its reference when a payload is added to it.
    """
    theta = model.theta_lifted
    gains = [gain if np.isfinite(gain) else None for gain in model.robot.drives.drive_gain]
    return canonical_sha256(to_plain({
        'joints': model.robot.joint_names,
        'urdf': model.robot.urdf_sha256,
        'effort': [model.effort_unit, gains],
        'friction': [
            [term.joint, term.law.name, term.law.constants(), theta[columns]]
            for term, columns in model.parameters.friction_columns
        ],
    }))


def write_reference(path: Path, reference: HealthReference) -> None:
    """Write the file of a reference; raises UsageError if there is one already."""
    write_results(
        path.parent, {path.name: dump_yaml(to_plain(reference.to_dict()))}, False, 'move it away'
    )


def read_reference(path: Path, model: IdentifiedModel) -> HealthReference:
    """
    Read the file of a reference.

    Raises UsageError if there is no such file, DescriptionError if it is no reference or that of
    another model.
    """
    reference = HealthReference.from_dict(read_yaml(path, HAND_WRITTEN), str(path))
    check_model(reference, model, str(path))
    return reference


def check_model(reference: HealthReference, model: IdentifiedModel, source: str) -> None:
    """Raise DescriptionError if the reference is that of another model."""
    names = model.robot.joint_names
    if reference.joint_names != names:
        raise DescriptionError(
            f'{source}: joints are {", ".join(reference.joint_names)}, those of the model are '
            f'{", ".join(names)}: use the model of this reference, or learn a new one'
        )
    if reference.model_sha256 != friction_sha256(model):
        raise DescriptionError(
            f'{source} was learned with another model of friction than that of '
            f'{model.robot.name}: changes would be those of the model; use the model of the time '
            'it was learned, or learn a new reference'
        )

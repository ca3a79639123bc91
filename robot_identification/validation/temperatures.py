# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Temperatures of the joints in the recordings that a model is fitted to."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.model import StandardParameters
from robot_identification.processing import Dataset

# Where the temperature of a joint varies by more than this within what is fitted together [K],
# its friction is not one number.
WIDE_RANGE = 5.0


def _fitted(datasets: Sequence[Dataset]) -> list[FloatArray]:
    """Return the temperatures (m, n) at the fitted samples of each recording that has them."""
    return [
        dataset.motion.temperature[dataset.fitted]
        for dataset in datasets if dataset.motion.temperature is not None
    ]


def mean_temperature(datasets: Sequence[Dataset]) -> FloatArray | None:
    """Return the mean temperature of each joint while it was fitted [deg C], if recorded."""
    seen = _fitted(datasets)
    if not seen or not np.all(np.isfinite(values := np.concatenate(seen))):
        return None
    mean: FloatArray = values.mean(axis=0)
    return mean


def temperatures_covered(
    datasets: Sequence[Dataset], others: Sequence[FloatArray] = ()
) -> FloatArray | None:
    """
    Return the lowest and highest temperature of each fitted joint (2, n) [deg C], if recorded.

    `others` (m, n) are temperatures of what is fitted with the datasets, extremes at least.
    """
    seen = [*others, *_fitted(datasets)]
    if not seen or not np.all(np.isfinite(values := np.concatenate(seen))) or not len(values):
        return None
    return np.stack([values.min(axis=0), values.max(axis=0)])


def temperature_notes(
    datasets: Sequence[Dataset],
    parameters: StandardParameters,
    others: Sequence[FloatArray] = (),
) -> tuple[str, ...]:
    """
    Return which joints warmed by so much that their viscous friction varies, in words.

    Joints with a law that knows of temperature are not named; `others` (m, n) [deg C] are the
    extreme temperatures, at least, of recordings that are fitted with the datasets.
    """
    seen = [*_fitted(datasets), *others]
    if not seen:
        return ()
    known = {term.joint for term in parameters.friction if term.law.needs_temperature}
    columns = np.concatenate(seen).T
    ends = [
        (name, float(np.nanmin(column)), float(np.nanmax(column)))
        for j, (name, column) in enumerate(zip(datasets[0].joint_names, columns, strict=True))
        if j not in known and np.any(np.isfinite(column))
    ]
    warm = [
        f'{name} from {low:.1f} to {high:.1f}' for name, low, high in ends
        if high - low > WIDE_RANGE
    ]
    if not warm:
        return ()
    return (
        f'temperatures vary by more than {WIDE_RANGE:g} K ({", ".join(warm)} deg C), and viscous '
        'friction with them: --friction coulomb,viscous,temperature_viscous,offset gives it a '
        'slope',
    )

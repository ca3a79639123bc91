# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Answers on the first screen of a page: what limits a model, is it better than the URDF."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
import math

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.validation import BagErrors, Verdict

# Letters of the reasons that stand open, chosen: with them the answers fill a screen of 1280 by
# 800 pixels at most.
OPEN_LETTERS = 480


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


@dataclass(frozen=True)
class Reasons:
    """Reasons of a verdict that are no size of an error: those that stand open, and the rest."""

    first: tuple[str, ...]
    others: tuple[str, ...]


def sort_reasons(verdict: Verdict) -> Reasons:
    """Return what limits a model, as much of it open as fits the first screen."""
    limits = [reason for reason in verdict.reasons if reason not in verdict.errors]
    letters = np.cumsum([len(reason) for reason in limits])
    count = max(1, int(np.searchsorted(letters, OPEN_LETTERS, side='right')))
    return Reasons(tuple(limits[:count]), tuple(limits[count:]))


def compare_with_fitted_urdf(
    bags: Sequence[BagErrors], prior: Sequence[BagErrors]
) -> UrdfComparison:
    """Compare held-out errors with those of the URDF whose friction was fitted to the samples."""
    return _compare(bags, [bag.nrmse for bag in prior], fitted=True)


def compare_with_urdf(bags: Sequence[BagErrors]) -> UrdfComparison:
    """Compare errors with those of the URDF's bodies alone."""
    return _compare(bags, [bag.urdf_nrmse for bag in bags], fitted=False)


def _compare(
    bags: Sequence[BagErrors], urdf: Sequence[FloatArray], *, fitted: bool
) -> UrdfComparison:
    ours, theirs = np.array([bag.nrmse for bag in bags]), np.array(urdf)
    unknown = ~(np.isfinite(ours) & np.isfinite(theirs))
    own, other = (np.ma.array(values, mask=unknown).mean(axis=0) for values in (ours, theirs))
    known = ~unknown.all(axis=0)
    means = [
        float(values[known].mean()) if known.any() else math.nan for values in (own, other)
    ]
    return UrdfComparison(
        means[0], means[1],
        tuple(bags[0].joints[joint] for joint in np.flatnonzero(known & (other < own))),
        int(known.sum()), fitted,
    )

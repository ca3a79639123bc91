# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Identification: everything one identification found, for the report and for scripts."""

from __future__ import annotations

from dataclasses import dataclass

from robot_identification.estimation.estimate import Estimate
from robot_identification.estimation.recommendations import Recommendation
from robot_identification.model import IdentifiedModel
from robot_identification.processing import Dataset
from robot_identification.texts import short_repr
from robot_identification.validation import BagErrors, Verdict


@dataclass(frozen=True)
class Candidates:
    """A question that held-out blocks decided."""

    question: str  # what was to be chosen
    names: tuple[str, ...]  # the candidates
    scores: tuple[float, ...]  # mean NRMSE of each on held-out blocks
    chosen: str  # the one taken
    rule: str  # by which it was


@dataclass(frozen=True, eq=False)
class Identification:
    """
    All that one identification found; the report draws it.

    Attributes
    ----------
    model : IdentifiedModel
        The result.
    estimate : Estimate
        with singular values and residual deviation.
    datasets : tuple of Dataset
        The training data.
    cross_validation : tuple of BagErrors
        Errors on held-out blocks of the training data, by bag.
    prior : tuple of BagErrors
        Errors of the URDF's inertial parameters with friction fitted to the same data.
    unidentifiable : tuple of str
        Base parameters that the data do not determine.
    stationary_joints : tuple of str
        Joints that hardly moved.
    verdict : Verdict
        In words.
    notes : tuple of str
        What a reader should know.
    candidates : tuple of Candidates
        What was chosen on held-out blocks.
    decided_by_prior : tuple of str
        Parameters of which the URDF says more than the data.
    recommendations : tuple of Recommendation
        Motions that would show what the data did not.

    """

    model: IdentifiedModel
    estimate: Estimate
    datasets: tuple[Dataset, ...]
    cross_validation: tuple[BagErrors, ...]
    prior: tuple[BagErrors, ...]
    unidentifiable: tuple[str, ...]
    stationary_joints: tuple[str, ...]
    verdict: Verdict
    notes: tuple[str, ...]
    candidates: tuple[Candidates, ...] = ()
    decided_by_prior: tuple[str, ...] = ()
    recommendations: tuple[Recommendation, ...] = ()

    __repr__ = short_repr

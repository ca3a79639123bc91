# Copyright 2026 The robot_identification developers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""Validation: errors of a model on bags, and a verdict in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
import json
import math
from typing import Any

import numpy as np
from robot_identification.files import to_plain
from robot_identification.model.identified_model import IdentifiedModel
from robot_identification.processing.dataset import BoolArray
from robot_identification.processing.dataset import Dataset
from robot_identification.processing.dataset import FloatArray
from robot_identification.validation.metrics import BagErrors
from robot_identification.validation.metrics import measure_errors

GOOD, USABLE, BAD = 'good', 'usable', 'bad'
# Mean share of the signal's spread left unexplained. Published models of industrial arms reach
# 5 to 15 % on motor currents of unseen motion; above 30 % the mean friction law is missed.
GOOD_NRMSE = 0.15
USABLE_NRMSE = 0.30
# One joint above this is named, and the whole is no longer good.
JOINT_NRMSE = 0.35


@dataclass(frozen=True)
class Verdict:
    """
    What a user needs to know first.

    Attributes
    ----------
    level : {'good', 'usable', 'bad'}
        The verdict.
    reasons : tuple of str
        Why, most important first.
    next_step : str
        What to do.

    """

    level: str
    reasons: tuple[str, ...]
    next_step: str


@dataclass(frozen=True)
class Validation:
    """Errors by bag and the verdict over all of them."""

    bags: tuple[BagErrors, ...]
    verdict: Verdict


def predict_effort(model: IdentifiedModel, dataset: Dataset) -> FloatArray:
    """
    Return the model's effort at every stamp of a dataset, in the bag's unit, shape (N, n).

    Friction states start at zero at the first sample and run through everything recorded.
    """
    return model.effort(dataset.motion)


def score(model: IdentifiedModel, dataset: Dataset) -> BagErrors:
    """Return the errors of a model on the scored samples of a dataset."""
    return errors_on(dataset, predict_effort(model, dataset), dataset.scored)


def errors_on(dataset: Dataset, predicted: FloatArray, rows: BoolArray) -> BagErrors:
    """
    Return the errors of a prediction on some samples of a dataset.

    Parameters
    ----------
    dataset : Dataset
        With N samples of n joints.
    predicted : ndarray, shape (N, n)
        Effort in the bag's unit.
    rows : ndarray of bool, shape (N,)
        The samples: `dataset.scored`, or `dataset.fitted` for those that were estimated from.

    """
    return measure_errors(
        dataset.effort[rows],
        predicted[rows],
        dataset.moving[rows],
        bag=dataset.source,
        unit=dataset.effort_unit,
        joints=dataset.joint_names,
    )


def validate(model: IdentifiedModel, datasets: Sequence[Dataset]) -> Validation:
    """Return errors and verdict of a model on unseen recordings."""
    bags = tuple(score(model, dataset) for dataset in datasets)
    return Validation(bags, judge(bags, unseen=True))


def judge(bags: Sequence[BagErrors], *, unseen: bool, lost: Sequence[str] = ()) -> Verdict:
    """
    Return a verdict on errors.

    Parameters
    ----------
    bags : sequence of BagErrors
        Errors on held-out samples.
    unseen : bool
        Whether the samples are of another recording than the training data.
    lost : sequence of str
        Parameters that the training data do not determine.

    """
    mean = float(np.mean([bag.nrmse_mean for bag in bags]))
    worst, joint, bag_name = max(
        (
            (value, name, bag.bag)
            for bag in bags
            for value, name in zip(bag.nrmse, bag.joints, strict=True)
            if math.isfinite(value)
        ),
        default=(math.nan, '', ''),
    )
    where = 'unseen motion' if unseen else 'held-out parts of the training recording'
    reasons = [f'mean NRMSE {mean:.3f} on {where}']
    if worst > JOINT_NRMSE:
        reasons.append(
            f"{joint} is worst: {worst:.0%} of its effort's spread is not explained ({bag_name})"
        )
    if lost:
        reasons.insert(0, f'the data do not determine {", ".join(lost)}')
    if not unseen:
        reasons.append('this is not an independent test: validate on another recording')
    if lost or not mean <= USABLE_NRMSE:
        level = BAD
    elif mean <= GOOD_NRMSE and not worst > JOINT_NRMSE:
        level = GOOD
    else:
        level = USABLE
    return Verdict(level, tuple(reasons), _next_step(level, joint, worst, bool(lost), unseen))


def _next_step(level: str, joint: str, worst: float, lost: bool, unseen: bool) -> str:
    if lost:
        return 'record a motion in which every joint moves fast and slowly, both ways'
    if level == BAD:
        return 'run `doctor` on the bag: check joint names, effort unit, drive gains and mounting'
    if worst > JOINT_NRMSE:
        return (
            f'look at {joint} in the report: a low torque next to its friction, a wrong drive '
            'gain or an unmodelled payload are the usual causes'
        )
    if not unseen:
        return 'record a second, different motion and run `validate` on it'
    return 'use it; validate again when payload, mounting or temperature change'


def validation_json(validation: Validation) -> str:
    """Return validation.json (docs/formats/validation.md)."""
    return json.dumps(validation_content(validation), indent=2, allow_nan=False) + '\n'


def validation_content(validation: Validation) -> dict[str, Any]:
    """Return the content of validation.json; NaN becomes null."""
    return {
        'schema_version': 1,
        'bags': [errors_content(bag) for bag in validation.bags],
        'verdict': validation.verdict.level,
        'reasons': list(validation.verdict.reasons),
    }


def errors_content(bag: BagErrors) -> dict[str, Any]:
    """Return the errors of a bag as plain numbers; NaN becomes None."""
    return {
        'bag': bag.bag,
        'samples': bag.samples,
        'unit': bag.unit,
        'joints': list(bag.joints),
        'rmse': _plain(bag.rmse),
        'nrmse': _plain(bag.nrmse),
        'nrmse_mean': bag.nrmse_mean if math.isfinite(bag.nrmse_mean) else None,
        'rmse_moving': _plain(bag.rmse_moving),
        'bias': _plain(bag.bias),
    }


def _plain(values: FloatArray) -> list[float | None]:
    return [value if math.isfinite(value) else None for value in to_plain(values)]

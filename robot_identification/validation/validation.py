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

"""Validation: errors of a model on bags, with the verdict on them, and their file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import fields
from dataclasses import replace
import json
import math
from typing import Any

import numpy as np
from robot_identification.experiment.storage import allocate
from robot_identification.experiment.storage import release
from robot_identification.files import to_plain
from robot_identification.model.identified_model import IdentifiedModel
from robot_identification.model.regressor import block_slices
from robot_identification.model.regressor import continue_torque
from robot_identification.model.regressor import initial_friction_states
from robot_identification.model.regressor import rigid_torque
from robot_identification.processing.dataset import BoolArray
from robot_identification.processing.dataset import Dataset
from robot_identification.processing.dataset import FloatArray
from robot_identification.validation.details import ErrorDetails
from robot_identification.validation.details import join_details
from robot_identification.validation.details import measure_details
from robot_identification.validation.metrics import BagErrors
from robot_identification.validation.metrics import measure_errors
from robot_identification.validation.verdict import judge as judge
from robot_identification.validation.verdict import Verdict as Verdict


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
    effort = allocate(dataset.motion.q.shape)
    states = initial_friction_states(model.parameters)
    for rows in block_slices(len(dataset)):
        torque = continue_torque(
            model.robot, model.parameters, model.theta_lifted, dataset.motion.part(rows), states
        )
        effort[rows] = torque * model.effort_per_torque
    release(effort)
    dataset.release()
    return effort


def score(model: IdentifiedModel, dataset: Dataset) -> BagErrors:
    """Return the errors of a model on the scored samples of a dataset, beside the URDF's."""
    limits = model.robot.limits.effort * np.abs(model.effort_per_torque)
    return errors_on(
        dataset,
        predict_effort(model, dataset),
        dataset.scored,
        # With unknown gains the URDF's torque is in another unit than the effort.
        urdf=None if model.relative_scale else predict_urdf_effort(model, dataset),
        limits=None if model.relative_scale else limits,
    )


def predict_urdf_effort(model: IdentifiedModel, dataset: Dataset) -> FloatArray:
    """Return the effort of the URDF's bodies without friction, in the bag's unit, (N, n)."""
    return rigid_torque(model.robot, dataset.motion) * model.effort_per_torque


def errors_on(
    dataset: Dataset,
    predicted: FloatArray,
    rows: BoolArray,
    *,
    urdf: FloatArray | None = None,
    limits: FloatArray | None = None,
    detailed: bool = True,
) -> BagErrors:
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
    urdf : ndarray, shape (N, n), optional
        Effort of the URDF's bodies, in the bag's unit, to compare with.
    limits : ndarray, shape (n,), optional
        Largest effort of the joints, in the bag's unit.
    detailed : bool
        Whether the errors are taken apart as well.

    """
    # Joint by joint: of a long recording there is room for one joint's copies, not for all.
    joined = join_errors([
        _errors_of_joint(
            dataset.joint(j), predicted[:, j: j + 1], rows,
            urdf=None if urdf is None else urdf[:, j: j + 1],
            limits=None if limits is None else limits[j: j + 1],
            detailed=detailed,
        )
        for j in range(len(dataset.joint_names))
    ])
    dataset.release()
    return joined


def _errors_of_joint(
    dataset: Dataset,
    predicted: FloatArray,
    rows: BoolArray,
    *,
    urdf: FloatArray | None,
    limits: FloatArray | None,
    detailed: bool,
) -> BagErrors:
    return measure_errors(
        dataset.effort[rows],
        predicted[rows],
        dataset.moving[rows],
        bag=dataset.source,
        unit=dataset.effort_unit,
        joints=dataset.joint_names,
        details=(
            measure_details(dataset, predicted, rows, urdf=urdf, limits=limits)
            if detailed else None
        ),
    )


def join_errors(parts: Sequence[BagErrors]) -> BagErrors:
    """Return the errors of an arm from those of its joints on the same samples."""
    details = [part.details for part in parts if part.details is not None]
    return replace(
        parts[0],
        joints=tuple(name for part in parts for name in part.joints),
        rmse=np.concatenate([part.rmse for part in parts]),
        nrmse=np.concatenate([part.nrmse for part in parts]),
        rmse_moving=np.concatenate([part.rmse_moving for part in parts]),
        bias=np.concatenate([part.bias for part in parts]),
        details=join_details(details) if len(details) == len(parts) else None,
    )


def validate(model: IdentifiedModel, datasets: Sequence[Dataset]) -> Validation:
    """Return errors and verdict of a model on unseen recordings."""
    bags = tuple(score(model, dataset) for dataset in datasets)
    return Validation(bags, judge(bags, unseen=True))


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
        'nrmse_mean': _finite(bag.nrmse_mean),
        'rmse_moving': _plain(bag.rmse_moving),
        'bias': _plain(bag.bias),
        'details': None if bag.details is None else _details_content(bag.details),
    }


def _details_content(details: ErrorDetails) -> dict[str, Any]:
    return {
        entry.name: (
            _finite(value) if isinstance(value := getattr(details, entry.name), float)
            else _plain(value)
        )
        for entry in fields(details)
    }


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _plain(values: FloatArray) -> list[float | None]:
    return [_finite(value) for value in to_plain(values)]

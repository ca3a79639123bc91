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

"""
The stages in the order the data take: the file to read first.

Every function is what one command does, without its printing and its files.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import field
from dataclasses import replace
import importlib.metadata
from itertools import product
from pathlib import Path
import platform
from typing import Any

import numpy as np
from robot_identification.errors import NotIdentifiableError
from robot_identification.errors import UsageError
from robot_identification.estimation import ESTIMATORS
from robot_identification.estimation.fitting import cross_validate
from robot_identification.estimation.fitting import fit_parameters
from robot_identification.estimation.fitting import score_prior
from robot_identification.estimation.identifiability import find_idle_joints
from robot_identification.estimation.identification import Identification
from robot_identification.estimation.standard import consistent_standard_parameters
from robot_identification.experiment.bag import read_recording
from robot_identification.experiment.recording import Recording
from robot_identification.files import file_sha256
from robot_identification.model.friction import parse_friction
from robot_identification.model.identified_model import IdentifiedModel
from robot_identification.model.identified_model import KinematicFilter
from robot_identification.model.identified_model import SignalSource
from robot_identification.model.robot_model import EFFORT_UNITS
from robot_identification.model.robot_model import RobotModel
from robot_identification.processing.dataset import Dataset
from robot_identification.processing.loading import check_robot_name
from robot_identification.processing.loading import load_for_model
from robot_identification.processing.process import process
from robot_identification.validation.validation import judge
from robot_identification.validation.validation import validate
from robot_identification.validation.validation import Validation

DEFAULT_FRICTION = 'coulomb,viscous,offset'
DEFAULT_ESTIMATOR = 'wls'


@dataclass(frozen=True)
class IdentifyOptions:
    """
    What `identify` may be told.

    Attributes
    ----------
    estimator : str
        A name in ESTIMATORS.
    friction : str
        Comma list of law names, or 'none'.
    effort_unit : {'A', 'Nm'}, optional
        By default what the bag's metadata or the robot's YAML say.
    relative_scale : bool
        Accept effort in ampere without drive gains; the model then has an unknown scale.
    topic : str, optional
        Joint-state topic.
    joint_names : mapping
        Model name by bag name, where they differ.
    kinematic_filter : KinematicFilter
        Smoothing of velocity and acceleration.
    start, stop : float, optional
        Window in seconds after the first joint state.

    """

    estimator: str = DEFAULT_ESTIMATOR
    friction: str = DEFAULT_FRICTION
    effort_unit: str | None = None
    relative_scale: bool = False
    topic: str | None = None
    joint_names: Mapping[str, str] = field(default_factory=dict)
    kinematic_filter: KinematicFilter = field(default_factory=KinematicFilter)
    start: float | None = None
    stop: float | None = None

    def __post_init__(self) -> None:
        if self.estimator not in ESTIMATORS:
            raise UsageError(
                f'unknown estimator {self.estimator!r}: known are {", ".join(ESTIMATORS)}'
            )
        if self.effort_unit is not None and self.effort_unit not in EFFORT_UNITS:
            raise UsageError(
                f'unknown effort unit {self.effort_unit!r}: it is one of {", ".join(EFFORT_UNITS)}'
            )
        if self.start is not None and self.stop is not None and not self.start < self.stop:
            raise UsageError(f'--start {self.start:g} must be before --stop {self.stop:g}')


def identify(
    robot: RobotModel, bags: Sequence[Path], options: IdentifyOptions
) -> Identification:
    """
    Identify an arm from its bags.

    Parameters
    ----------
    robot : RobotModel
        The arm with its prior, gravity and drive gains.
    bags : sequence of Path
        Recordings; they are used together.
    options : IdentifyOptions
        Everything else.

    Raises
    ------
    UsageError
        If the effort unit is unknown, or drive gains are and `relative_scale` is not set.
    DataError
        If a bag cannot be used.

    """
    recordings = [
        read_recording(
            bag, robot.joint_names, topic=options.topic, names=options.joint_names,
            encoders=robot.encoders,
        )
        for bag in bags
    ]
    notes = [check_robot_name(recording, robot.name) for recording in recordings]
    unit = choose_effort_unit(options.effort_unit, recordings, robot)
    notes += [
        f'{recording.source} says its effort is in {said}, it is read as {unit}'
        for recording in recordings
        if (said := recording.metadata.get('effort_unit', unit)) != unit
    ]
    robot, relative_scale = choose_drive_gains(robot, unit, options.relative_scale)
    datasets = tuple(
        process(
            recording, options.kinematic_filter, unit, start=options.start, stop=options.stop
        )
        for recording in recordings
    )
    if not np.isfinite(robot.sampling_rate):
        robot = replace(robot, sampling_rate=round(datasets[0].rate, 3))
    idle = find_idle_joints(datasets)
    if len(idle) == robot.n:
        raise NotIdentifiableError(
            f'{", ".join(map(str, bags))}: no joint moved by more than 0.05 rad: record a motion'
        )
    trials = [
        cross_validate(robot, friction, idle, datasets, options.estimator)
        for friction in product(*(law.alternatives() for law in parse_friction(options.friction)))
    ]
    chosen = min(trials, key=lambda trial: trial.score)
    whole = fit_parameters(
        robot, chosen.reduction, idle, datasets, [d.fitted for d in datasets], options.estimator
    )
    model = IdentifiedModel(
        robot=robot,
        effort_unit=unit,
        reduction=whole.problem.reduction,
        theta_base=whole.estimate.theta,
        covariance=whole.estimate.covariance,
        theta_consistent=None,
        consistency_note='',
        source=SignalSource(
            topic=recordings[0].topic,
            joint_names=options.joint_names,
            kinematic_filter=options.kinematic_filter,
        ),
        provenance=_provenance(bags, options),
        quality={},
        relative_scale=relative_scale,
    )
    if relative_scale:
        note = 'no standard parameters: drive gains are unknown, so the scale is'
    else:
        theta, note = consistent_standard_parameters(robot, model.reduction, model.theta_base)
        model = replace(model, theta_consistent=theta)
    model = replace(model, consistency_note=note)
    prior = score_prior(robot, datasets)
    verdict = judge(chosen.errors, unseen=False, lost=whole.lost)
    model = model.with_quality({
        'verdict': verdict.level,
        'reasons': list(verdict.reasons),
        'cross_validation': {
            'kind': '5 contiguous blocks of the training recording, 0.3 s apart',
            'nrmse': [errors.nrmse for errors in chosen.errors],
            'candidates': [
                {'friction': trial.describe(), 'nrmse_mean': trial.score} for trial in trials
            ],
        },
        'residual_standard_deviation': whole.estimate.sigma,
        'condition_number': whole.estimate.condition_number,
        'condition_number_scaled': whole.estimate.condition_number_scaled,
        'lost': list(whole.lost),
    })
    return Identification(
        model=model,
        estimate=whole.estimate,
        datasets=datasets,
        cross_validation=chosen.errors,
        prior=prior,
        lost=whole.lost,
        idle_joints=whole.idle_joints,
        verdict=verdict,
        notes=tuple(note for note in notes if note)
        + tuple(note for dataset in datasets for note in dataset.notes),
    )


def choose_effort_unit(
    option: str | None, recordings: Sequence[Recording], robot: RobotModel
) -> str:
    """
    Return the unit of the recorded effort: option, else the bags' record, else the robot's.

    Raises
    ------
    UsageError
        If nobody says it, or the bags disagree.

    """
    if option is not None:
        return option
    recorded = {recording.metadata.get('effort_unit', '') for recording in recordings} - {''}
    if len(recorded) > 1 or not recorded <= set(EFFORT_UNITS):
        raise UsageError(
            f'the bags say their effort is in {", ".join(sorted(recorded))}: choose with '
            '--effort-unit'
        )
    unit = recorded.pop() if recorded else robot.effort_unit
    if unit is None:
        raise UsageError(
            'unit of the effort unknown: add --effort-unit A (motor current, what a UR driver '
            'publishes by default) or --effort-unit Nm (joint torque)'
        )
    return unit


def choose_drive_gains(
    robot: RobotModel, unit: str, relative_scale: bool
) -> tuple[RobotModel, bool]:
    """
    Return the robot with usable drive gains, and whether its scale is only relative.

    Raises
    ------
    UsageError
        If effort is in ampere, drive gains are unknown and `relative_scale` is not set.

    """
    unknown = ~np.isfinite(robot.drives.drive_gain)
    if unit == 'Nm' or not unknown.any():
        return robot, False
    if not relative_scale:
        joints = ', '.join(np.array(robot.joint_names)[unknown])
        raise UsageError(
            f'effort is motor current, and the drive gain of {joints} is unknown: give all with '
            '--drive-gains (N m/A, kinematic order), or accept --relative-scale (torques per '
            'unknown gain)'
        )
    return robot.with_drive_gains(np.ones(robot.n)), True


def _provenance(bags: Sequence[Path], options: IdentifyOptions) -> dict[str, Any]:
    return {
        'bags': [{'path': str(bag), 'sha256': file_sha256(bag)} for bag in bags],
        'options': {
            'estimator': options.estimator,
            'friction': options.friction,
            'start': options.start,
            'stop': options.stop,
        },
        'versions': versions(),
    }


def validate_model(
    model: IdentifiedModel,
    bags: Sequence[Path],
    *,
    start: float | None = None,
    stop: float | None = None,
) -> tuple[Validation, tuple[Dataset, ...], tuple[str, ...]]:
    """
    Score a model on bags it has not seen; unit, names and filter come from the model file.

    Returns
    -------
    validation : Validation
        Errors and verdict.
    datasets : tuple of Dataset
        The bags as they were scored.
    notes : tuple of str
        What a reader should know.

    Raises
    ------
    DataError
        If a bag is of another robot or has effort in another unit.

    """
    loaded = [load_for_model(model, bag, start=start, stop=stop) for bag in bags]
    datasets = tuple(dataset for dataset, _ in loaded)
    notes = tuple(note for _, notes in loaded for note in notes)
    return validate(model, datasets), datasets, notes


def versions() -> dict[str, str]:
    """Return the versions of what computes results."""
    found = {'python': platform.python_version()}
    for name in ('robot_identification', 'numpy', 'scipy', 'pin', 'rosbags'):
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found

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
from robot_identification.errors import DataError
from robot_identification.errors import NotIdentifiableError
from robot_identification.errors import RankDeficientError
from robot_identification.errors import UsageError
from robot_identification.estimation import ESTIMATORS
from robot_identification.estimation.advice import advise
from robot_identification.estimation.advice import prior_decided
from robot_identification.estimation.covariance import Covariance
from robot_identification.estimation.covariance import covariance_of
from robot_identification.estimation.dictionary import DictionaryFit
from robot_identification.estimation.fitting import cross_validate
from robot_identification.estimation.fitting import cross_validate_prior_weights
from robot_identification.estimation.fitting import Fit
from robot_identification.estimation.fitting import fit_parameters
from robot_identification.estimation.fitting import Folds
from robot_identification.estimation.fitting import observe
from robot_identification.estimation.fitting import score_prior
from robot_identification.estimation.fitting import torque_per_effort
from robot_identification.estimation.fitting import Trial
from robot_identification.estimation.identifiability import find_idle_joints
from robot_identification.estimation.identifiability import find_silent_joints
from robot_identification.estimation.identification import Candidates
from robot_identification.estimation.identification import Identification
from robot_identification.estimation.observations import Observations
from robot_identification.estimation.observations import RowTreatment
from robot_identification.estimation.observations import TIME_BLOCKS
from robot_identification.estimation.prior import cad_prior
from robot_identification.estimation.prior import doubt_cad
from robot_identification.estimation.problem import Estimate
from robot_identification.estimation.problem import Estimator
from robot_identification.estimation.profiles import find_profile
from robot_identification.estimation.recipe import Recipe
from robot_identification.estimation.recipe import thin_rows
from robot_identification.estimation.standard import consistent_standard_parameters
from robot_identification.experiment.bag import read_recording
from robot_identification.experiment.recording import Recording
from robot_identification.files import file_sha256
from robot_identification.model.friction import parse_friction
from robot_identification.model.friction.law import FrictionLaw
from robot_identification.model.identified_model import IdentifiedModel
from robot_identification.model.identified_model import KinematicFilter
from robot_identification.model.identified_model import SignalSource
from robot_identification.model.parameters import StandardParameters
from robot_identification.model.regressor import standard_torque
from robot_identification.model.robot_model import EFFORT_UNITS
from robot_identification.model.robot_model import RobotModel
from robot_identification.processing.dataset import BoolArray
from robot_identification.processing.dataset import Dataset
from robot_identification.processing.dataset import FloatArray
from robot_identification.processing.loading import check_robot_name
from robot_identification.processing.loading import load_for_model
from robot_identification.processing.process import process
from robot_identification.validation.validation import judge
from robot_identification.validation.validation import validate
from robot_identification.validation.validation import Validation
from robot_identification.validation.validation import Verdict

AUTOMATIC = 'auto'
# The plain laws, where an estimator is named and no law is.
PLAIN_FRICTION = 'coulomb,viscous,offset'
DICTIONARY_FRICTION = 'dictionary,offset'
DICTIONARY_ESTIMATOR = 'dictionary'
PLAIN_ESTIMATOR = 'wls'
# Under this much motion [s] a full dictionary rests on little.
SHORT_MOTION = 20.0
# A recording with fewer samples in motion has none.
FEWEST_FITTED = 50
# Of the effort's spread, by which offsets of recordings differ noticeably.
FAR_OFFSET = 0.05
# Degrees of freedom that are as good as infinite.
MANY = 1.0e6
# A longer pause between samples is no motion [s].
LONGEST_PAUSE = 0.5
# The verdict names no more motions than this.
MOST_ADVICE = 3


@dataclass(frozen=True)
class IdentifyOptions:
    """
    What `identify` may be told.

    Attributes
    ----------
    profile : str, optional
        A name in PROFILES: a paper's method from end to end, in the place of estimator, friction
        and recipe.
    estimator : str, optional
        A name in ESTIMATORS; by default what `friction` asks for.
    friction : str, optional
        Comma list of law names, 'none', or 'auto', the default: the dictionary, whose terms are
        chosen from the data. An estimator without friction takes the plain laws.
    recipe : Recipe
        What is tried, and by what rules it is chosen.
    effort_unit : {'A', 'Nm'}, optional
        By default what the bag's metadata or the robot's YAML say.
    relative_scale : bool
        Accept effort in ampere without drive gains; the model then has an unknown scale.
    topic : str, optional
        Joint-state topic.
    joint_names : mapping
        Model name by bag name, where they differ.
    kinematic_filter : KinematicFilter, optional
        Smoothing of velocity and acceleration; by default chosen among the recipe's cut-offs.
    compensate_delay : bool
        Take the kinematics earlier by the delay of the effort that is found.
    start, stop : float, optional
        Window in seconds after the first joint state.

    """

    profile: str | None = None
    estimator: str | None = None
    friction: str | None = None
    recipe: Recipe = field(default_factory=Recipe)
    effort_unit: str | None = None
    relative_scale: bool = False
    topic: str | None = None
    joint_names: Mapping[str, str] = field(default_factory=dict)
    kinematic_filter: KinematicFilter | None = None
    compensate_delay: bool = False
    start: float | None = None
    stop: float | None = None

    def __post_init__(self) -> None:
        if self.profile is not None:
            find_profile(self.profile)
            if self.estimator is not None or self.friction is not None:
                raise UsageError(
                    f'--profile {self.profile} has its own estimator and friction: leave out '
                    '--estimator and --friction'
                )
        if self.estimator is not None and self.estimator not in ESTIMATORS:
            raise UsageError(
                f'unknown estimator {self.estimator!r}: known are {", ".join(ESTIMATORS)}'
            )
        if self.effort_unit is not None and self.effort_unit not in EFFORT_UNITS:
            raise UsageError(
                f'unknown effort unit {self.effort_unit!r}: it is one of {", ".join(EFFORT_UNITS)}'
            )
        if self.start is not None and self.stop is not None and not self.start < self.stop:
            raise UsageError(f'--start {self.start:g} must be before --stop {self.stop:g}')
        if self.estimator not in (None, DICTIONARY_ESTIMATOR) and self.friction == AUTOMATIC:
            raise UsageError(
                f'--friction {AUTOMATIC} chooses terms by the estimator {DICTIONARY_ESTIMATOR}, '
                f'not by {self.estimator}: name friction laws, or leave out --estimator'
            )

    @property
    def method(self) -> Method:
        """What is done, from the names that were given."""
        if self.profile is not None:
            profile = find_profile(self.profile)
            return Method(
                laws=(profile.friction,),
                estimator=profile.estimator,
                estimator_name=profile.estimator_name,
                kinematic_filter=self.kinematic_filter or profile.kinematic_filter,
                effort_filter=profile.effort_filter,
                treatment=RowTreatment(profile.slowest, profile.decimation),
                reflected_inertia=profile.reflected_inertia,
            )
        automatic = self.friction in (None, AUTOMATIC)
        has_dictionary = 'dictionary' in str(self.friction).split(',')
        estimator = self.estimator or (
            DICTIONARY_ESTIMATOR if automatic or has_dictionary else PLAIN_ESTIMATOR
        )
        if has_dictionary and estimator != DICTIONARY_ESTIMATOR:
            raise UsageError(
                f'the terms of friction dictionary are too many for the estimator {estimator}: '
                f'leave out --estimator, or name plain laws ({PLAIN_FRICTION})'
            )
        names = str(self.friction) if not automatic else (
            DICTIONARY_FRICTION if estimator == DICTIONARY_ESTIMATOR else PLAIN_FRICTION
        )
        laws = tuple(
            (self.recipe.dictionary,) if law.name == 'dictionary' else law.alternatives()
            for law in parse_friction(names)
        )
        return Method(
            laws=tuple(product(*laws)),
            estimator=(
                DictionaryFit(
                    passes=self.recipe.passes, huber=self.recipe.huber,
                    shrinkage=self.recipe.shrinkage, prior_weight=0.0,
                )
                if estimator == DICTIONARY_ESTIMATOR else ESTIMATORS[estimator]()
            ),
            estimator_name=estimator,
            kinematic_filter=self.kinematic_filter or self.recipe.kinematic_filter,
            effort_filter=self.recipe.effort_filter,
            treatment=RowTreatment(self.recipe.slowest, self.recipe.decimation),
        )


@dataclass(frozen=True)
class Method:
    """
    What an identification does between recording and parameters.

    Attributes
    ----------
    laws : tuple of tuple of FrictionLaw
        Friction of every joint, with every choice of shape constants that is tried.
    estimator : Estimator
        With its options.
    estimator_name : str
        Its key in ESTIMATORS.
    kinematic_filter : KinematicFilter, optional
        By default chosen among the recipe's cut-offs.
    effort_filter : KinematicFilter, optional
        Smoothing of the effort that is fitted; by default none.
    treatment : RowTreatment
        What is done to rows.
    reflected_inertia : bool
        Whether rotor inertias are among the parameters.

    """

    laws: tuple[tuple[FrictionLaw, ...], ...]
    estimator: Estimator
    estimator_name: str
    kinematic_filter: KinematicFilter | None = None
    effort_filter: KinematicFilter | None = None
    treatment: RowTreatment = field(default_factory=RowTreatment)
    reflected_inertia: bool = True

    @property
    def is_dictionary(self) -> bool:
        """Whether terms are chosen by a dictionary fit."""
        return isinstance(self.estimator, DictionaryFit)

    def observe(
        self,
        robot: RobotModel,
        friction: Sequence[FrictionLaw],
        datasets: Sequence[Dataset],
        rows: Sequence[BoolArray],
        *,
        time_blocks: int = 1,
    ) -> Observations:
        """Return the rows of some samples, treated as the method has it."""
        return observe(
            robot, friction, datasets, rows,
            offset_by_recording=self.is_dictionary,
            time_blocks=time_blocks,
            reflected_inertia=self.reflected_inertia,
            effort_filter=self.effort_filter,
            treatment=self.treatment,
        )


@dataclass(frozen=True, eq=False)
class Choice:
    """
    What was chosen inside the training data, and what it was chosen from.

    Attributes
    ----------
    kinematic_filter : KinematicFilter
        Smoothing of the kinematics.
    datasets : tuple of Dataset
        The recordings, processed with it.
    friction : tuple of FrictionLaw
        Laws of every joint.
    estimator : Estimator
        With its options.
    trial : Trial
        How the choice did on held-out blocks.
    candidates : tuple of Candidates
        The questions, in the order they were decided.
    notes : tuple of str
        What a reader should know.
    delay : float
        Of the effort, compensated [s].

    """

    kinematic_filter: KinematicFilter
    datasets: tuple[Dataset, ...]
    friction: tuple[FrictionLaw, ...]
    estimator: Estimator
    trial: Trial
    candidates: tuple[Candidates, ...]
    notes: tuple[str, ...] = ()
    delay: float = 0.0


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
    _refuse_copies(recordings)
    notes = [check_robot_name(recording, robot.name) for recording in recordings]
    unit = choose_effort_unit(options.effort_unit, recordings, robot)
    notes += [
        f'{recording.source} says its effort is in {said}, it is read as {unit}'
        for recording in recordings
        if (said := recording.metadata.get('effort_unit', unit)) != unit
    ]
    if any('effort_unit' in recording.metadata for recording in recordings):
        notes += [
            f'{recording.source} does not say the unit of its effort: {unit} is assumed'
            for recording in recordings if 'effort_unit' not in recording.metadata
        ]
    robot, relative_scale = choose_drive_gains(robot, unit, options.relative_scale)
    choice = choose(robot, recordings, unit, options, with_prior=not relative_scale)
    datasets = choice.datasets
    if not np.isfinite(robot.sampling_rate):
        robot = replace(robot, sampling_rate=round(datasets[0].rate, 3))
    method = options.method
    idle = find_unseen_joints(datasets)
    whole = fit_parameters(
        method.observe(
            robot, choice.friction, datasets, [dataset.fitted for dataset in datasets],
            time_blocks=TIME_BLOCKS,
        ),
        idle,
        choice.estimator,
    )
    covariance = _covariance_of(whole.estimate)
    model = IdentifiedModel(
        robot=robot,
        effort_unit=unit,
        reduction=whole.problem.reduction,
        theta_base=whole.estimate.theta,
        covariance=covariance.matrix,
        covariance_kind=covariance.kind,
        theta_consistent=None,
        consistency_note='',
        source=SignalSource(
            topic=recordings[0].topic,
            joint_names=options.joint_names,
            kinematic_filter=choice.kinematic_filter,
            delay=choice.delay,
        ),
        temperature=_mean_temperature(datasets),
        provenance=_provenance(recordings, options),
        quality={},
        relative_scale=relative_scale,
    )
    if relative_scale:
        note = 'no standard parameters: drive gains are unknown, so the scale is'
    else:
        theta, note = consistent_standard_parameters(robot, model.reduction, model.theta_base)
        model = replace(model, theta_consistent=theta)
    model = replace(model, consistency_note=note)
    # The friction of an idle joint is lost as a whole, under the name of its law.
    single = [name for name in whole.lost if name in model.parameters.names]
    advice = advise(robot, whole.estimate, covariance, single)
    verdict = judge(
        choice.trial.errors, unseen=False, lost=whole.lost,
        doubts=(
            ('unknown drive gains are taken as equal: the torques of joints may not fit together',)
            if relative_scale else _doubts_of_cad(robot, datasets)
        ),
        advice=tuple(str(one) for one in advice[:MOST_ADVICE]),
    )
    few = thin_rows([d.fitted for d in datasets], options.recipe.samples_in_choice)
    wide = _try_wider_gap(
        method.observe(robot, choice.friction, datasets, few), idle, choice.estimator,
        choice.trial.name,
        Folds(options.recipe.folds, options.recipe.wide_gap),
    )
    model = model.with_quality({
        **_quality(choice, wide, whole, verdict, options.recipe),
        **_ranges_covered(model, datasets, few),
    })
    return Identification(
        model=model,
        estimate=whole.estimate,
        datasets=datasets,
        cross_validation=choice.trial.errors,
        prior=score_prior(robot, datasets, few),
        lost=whole.lost,
        idle_joints=tuple(robot.joint_names[joint] for joint in find_idle_joints(datasets)),
        verdict=verdict,
        notes=tuple(note for note in notes if note)
        + choice.notes + _offset_notes(robot, whole.estimate, datasets)
        + whole.estimate.notes + covariance.notes,
        candidates=choice.candidates,
        decided_by_prior=prior_decided(whole.estimate),
        advice=advice,
    )


def choose(
    robot: RobotModel,
    recordings: Sequence[Recording],
    unit: str,
    options: IdentifyOptions,
    *,
    with_prior: bool,
) -> Choice:
    """
    Choose filter, friction and prior by cross-validation inside the training recordings.

    Parameters
    ----------
    robot : RobotModel
        The arm, with its drive gains where effort is in ampere.
    recordings : sequence of Recording
        Training data.
    unit : {'A', 'Nm'}
        Of the effort.
    options : IdentifyOptions
        What was asked for.
    with_prior : bool
        Whether the URDF may be a prior: not if the scale of the effort is unknown.

    Raises
    ------
    NotIdentifiableError
        If no joint moved.

    """
    recipe, method = options.recipe, options.method
    usual = method.kinematic_filter or KinematicFilter(
        order=recipe.order, cutoff=recipe.preferred_cutoff
    )

    def survey(delay: float) -> tuple[Dataset, ...]:
        return tuple(
            process(
                recording, usual, unit, start=options.start, stop=options.stop, robot=robot,
                delay=delay,
            )
            for recording in recordings
        )

    surveyed = survey(0.0)
    moving = [
        int(dataset.fitted.sum()) >= FEWEST_FITTED and len(find_unseen_joints([dataset])) < robot.n
        for dataset in surveyed
    ]
    still = [r.source for r, moves in zip(recordings, moving, strict=True) if not moves]
    if any(moving):
        recordings = [r for r, moves in zip(recordings, moving, strict=True) if moves]
        surveyed = tuple(d for d, moves in zip(surveyed, moving, strict=True) if moves)
    else:
        still = []
    idle = find_unseen_joints(surveyed)
    if len(find_idle_joints(surveyed)) == robot.n:
        raise NotIdentifiableError(
            f'{", ".join(r.source for r in recordings)}: no joint moved by more than 0.05 rad: '
            'record a motion'
        )
    if len(idle) == robot.n:
        raise DataError(
            f'{", ".join(r.source for r in recordings)}: the effort of every joint that moves is '
            'the same throughout: record a driver that fills it'
        )
    delay = 0.0
    if options.compensate_delay:
        delay = _delay_to_compensate(surveyed)
        surveyed = survey(delay)
    filters = (usual,) if method.kinematic_filter is not None else tuple(
        KinematicFilter(order=recipe.order, cutoff=cutoff)
        for cutoff in recipe.cutoffs_below(min(dataset.rate for dataset in surveyed))
    )
    tried = []
    for kinematic_filter in filters:
        datasets = surveyed if kinematic_filter == usual else tuple(
            process(
                recording, kinematic_filter, unit, start=options.start, stop=options.stop,
                delay=delay,
            )
            for recording in recordings
        )
        tried.append(
            _choose_prior_weight(robot, datasets, options, kinematic_filter, idle, with_prior)
            if method.is_dictionary
            else _choose_laws(robot, datasets, options, kinematic_filter, idle)
        )
    best = min(tried, key=lambda choice: choice.trial.score)
    for choice in tried:
        near = choice.trial.score <= (1.0 + recipe.tie) * best.trial.score
        if near and choice.kinematic_filter.cutoff == recipe.preferred_cutoff:
            best = choice
    best = replace(
        best, delay=delay,
        datasets=tuple(
            replace(dataset, found_delay=seen.found_delay)
            for dataset, seen in zip(best.datasets, surveyed, strict=True)
        ),
        notes=(
            *(f'{source} has no motion, or no effort that changes: left out' for source in still),
            *best.notes, *(note for dataset in surveyed for note in dataset.notes),
        ),
    )
    if len(tried) == 1:
        return best
    question = Candidates(
        'cut-off',
        tuple(f'{choice.kinematic_filter.cutoff:g} Hz' for choice in tried),
        tuple(choice.trial.score for choice in tried),
        f'{best.kinematic_filter.cutoff:g} Hz',
        f'{recipe.preferred_cutoff:g} Hz where it is within {recipe.tie:.0%} of the best',
    )
    return replace(best, candidates=(question, *best.candidates))


def _delay_to_compensate(datasets: Sequence[Dataset]) -> float:
    """Return the mean delay of the effort [s] where it is more than its own uncertainty."""
    found = [dataset.found_delay for dataset in datasets if dataset.found_delay is not None]
    values = [delay.value for delay in found if delay.is_significant]
    if not values:
        uncertain = ''.join(
            f' ({delay.value * 1e3:.1f} +- {delay.standard_error * 1e3:.1f} ms)' for delay in found
        )
        raise DataError(
            f'{", ".join(dataset.source for dataset in datasets)}: no certain delay between '
            f'position and effort was found{uncertain}: leave out --compensate-delay'
        )
    return float(np.mean(values))


def _choose_laws(
    robot: RobotModel,
    datasets: tuple[Dataset, ...],
    options: IdentifyOptions,
    kinematic_filter: KinematicFilter,
    idle: Sequence[int],
) -> Choice:
    """Choose the shape constants of plain laws."""
    recipe, method = options.recipe, options.method
    rows = thin_rows([dataset.fitted for dataset in datasets], recipe.samples_in_choice)
    trials = [
        cross_validate(
            method.observe(robot, friction, datasets, rows), idle, method.estimator,
            describe_laws(friction), Folds(recipe.folds, recipe.gap),
        )
        for friction in method.laws
    ]
    at = int(np.argmin([trial.score for trial in trials]))
    return Choice(
        kinematic_filter, datasets, method.laws[at], method.estimator, trials[at],
        (_compare('friction', trials, trials[at], 'the best score'),) if len(trials) > 1 else (),
    )


def _choose_prior_weight(
    robot: RobotModel,
    datasets: tuple[Dataset, ...],
    options: IdentifyOptions,
    kinematic_filter: KinematicFilter,
    idle: Sequence[int],
    with_prior: bool,
) -> Choice:
    """Choose the weight of the CAD prior of a dictionary fit."""
    recipe, method = options.recipe, options.method
    estimator, laws = method.estimator, method.laws[0]
    assert isinstance(estimator, DictionaryFit)
    notes = []
    weights: tuple[float, ...] = (0.0,)
    doubts = _doubts_of_cad(robot, datasets) if with_prior else ()
    if not with_prior:
        notes.append('the URDF is no prior: drive gains are unknown, so the scale is')
    elif doubts:
        notes.append('the URDF is no prior, for it contradicts the effort')
    else:
        # Outliers and load are judged with a light pull, whatever weight is tried.
        estimator = replace(estimator, prior=cad_prior(robot), prior_weight=1.0)
        weights = recipe.prior_weights
    motion = sum(_seconds_fitted(dataset) for dataset in datasets)
    if motion < SHORT_MOTION:
        notes.append(
            f'{motion:.0f} s of motion: under {SHORT_MOTION:g} s the friction terms rest on little'
        )
    rows = thin_rows([dataset.fitted for dataset in datasets], recipe.samples_in_choice)
    trials = cross_validate_prior_weights(
        method.observe(robot, laws, datasets, rows), idle, estimator, weights,
        Folds(recipe.folds, recipe.gap),
    )
    best = min(trials, key=lambda trial: trial.score)
    at = max(
        (i for i, trial in enumerate(trials) if trial.is_as_good_as(best)),
        key=lambda i: weights[i],
    )
    return Choice(
        kinematic_filter, datasets, laws, replace(estimator, prior_weight=weights[at]),
        trials[at],
        (_compare(
            'weight of the CAD prior', trials, trials[at],
            'the largest that is no worse than the best by one standard error, block by block',
        ),) if len(trials) > 1 else (),
        tuple(notes),
    )


def _doubts_of_cad(robot: RobotModel, datasets: Sequence[Dataset]) -> tuple[str, ...]:
    """Return where the effort contradicts the URDF in sign or size."""
    found = [
        doubt for dataset in datasets
        if (doubt := doubt_cad(robot, dataset, torque_per_effort(robot, dataset)))
    ]
    return tuple(
        f'measured over expected torque of the bodies is {doubt}: check effort unit, drive gains, '
        'signs and mounting'
        for doubt in found
    )


def _seconds_fitted(dataset: Dataset) -> float:
    """Return how long the motion is that parameters are estimated from, without gaps [s]."""
    steps = np.diff(dataset.stamps[dataset.fitted])
    return float(np.sum(steps[steps < LONGEST_PAUSE]))


def _try_wider_gap(
    observations: Observations, idle: Sequence[int], estimator: Estimator, name: str, folds: Folds
) -> Trial | None:
    """Return the errors with more time between the blocks, if that leaves enough to fit."""
    try:
        return cross_validate(observations, idle, estimator, name, folds)
    except DataError:
        return None


def describe_laws(friction: Sequence[FrictionLaw]) -> str:
    """Return friction laws and their shape constants in words."""
    return ', '.join(
        law.name + ''.join(
            f' {key} {value:g}' for key, value in law.constants().items()
            if isinstance(value, float)
        )
        for law in friction
    )


def _compare(question: str, trials: Sequence[Trial], chosen: Trial, rule: str) -> Candidates:
    return Candidates(
        question,
        tuple(trial.name for trial in trials),
        tuple(trial.score for trial in trials),
        chosen.name,
        rule,
    )


def _covariance_of(estimate: Estimate) -> Covariance:
    """Return the covariance of an estimate, of what its data tell apart."""
    try:
        return covariance_of(estimate)
    except RankDeficientError:
        b = len(estimate.theta)
        return Covariance(
            'residual', np.nan_to_num(estimate.covariance), np.full(b, MANY), np.zeros(b, bool),
            notes=(
                'friction terms act alike in this motion (a joint that never reverses, or never '
                'changes its speed): standard errors are those of white residuals, and of little '
                'meaning',
            ),
        )


def find_unseen_joints(datasets: Sequence[Dataset]) -> tuple[int, ...]:
    """Return the joints that hardly move, or whose effort never changes, in all recordings."""
    silent = set.intersection(*(set(find_silent_joints(dataset)) for dataset in datasets))
    return tuple(sorted(silent | set(find_idle_joints(datasets))))


def _offset_notes(
    robot: RobotModel, estimate: Estimate, datasets: Sequence[Dataset]
) -> tuple[str, ...]:
    """Return which joints have another offset in each recording."""
    if not estimate.nuisance.size:
        return ()
    others = estimate.nuisance.reshape(-1, robot.n)
    largest = np.abs(np.vstack([-others.sum(axis=0), others])).max(axis=0)
    per_effort = torque_per_effort(robot, datasets[0])
    spread = np.mean(
        [np.std(dataset.effort[dataset.fitted], axis=0) for dataset in datasets], axis=0
    ) * np.abs(per_effort)
    far = [
        f'{name} by up to {value:.2g} N m'
        for name, value, size in zip(robot.joint_names, largest, spread, strict=True)
        if value > FAR_OFFSET * size
    ]
    return (
        (f'offsets of the recordings differ from their mean, which the model keeps: '
         f'{", ".join(far)}; a payload, a cable or a current sensor has changed between them',)
        if far else ()
    )


def _mean_temperature(datasets: Sequence[Dataset]) -> FloatArray | None:
    """Return the mean temperature of each joint while it was fitted [deg C], if recorded."""
    seen = [
        dataset.motion.temperature[dataset.fitted]
        for dataset in datasets if dataset.motion.temperature is not None
    ]
    if not seen or not np.all(np.isfinite(values := np.concatenate(seen))):
        return None
    mean: FloatArray = values.mean(axis=0)
    return mean


def _ranges_covered(
    model: IdentifiedModel, datasets: Sequence[Dataset], rows: Sequence[BoolArray]
) -> dict[str, Any]:
    """Return for what speeds and loads of each joint the model's friction was found."""
    rigid = StandardParameters(model.robot.n, (), model.parameters.reflected_inertia)
    theta = np.concatenate([
        model.theta_lifted[: 10 * rigid.n],
        model.theta_lifted[model.parameters.reflected_inertia_slice],
    ])
    motions = [
        dataset.motion.rows(np.flatnonzero(chosen))
        for dataset, chosen in zip(datasets, rows, strict=True)
    ]
    loads = [
        np.abs(standard_torque(model.robot, rigid, theta, motion))
        for motion in motions
    ]
    return {
        'speeds': np.max([np.abs(motion.dq).max(axis=0) for motion in motions], axis=0),
        'loads': np.concatenate(loads).mean(axis=0),
    }


def _quality(
    choice: Choice, wide: Trial | None, whole: Fit, verdict: Verdict, recipe: Recipe
) -> dict[str, Any]:
    estimate = whole.estimate
    return {
        'verdict': verdict.level,
        'reasons': list(verdict.reasons),
        'cross_validation': {
            'kind': f'{recipe.folds} contiguous blocks of the training recording, '
                    f'{recipe.gap:g} s apart',
            'nrmse': [errors.nrmse for errors in choice.trial.errors],
            'nrmse_mean': choice.trial.score,
            'wider_gap': {
                'seconds': recipe.wide_gap, 'nrmse_mean': None if wide is None else wide.score,
            },
            'choices': [
                {
                    'question': question.question,
                    'rule': question.rule,
                    'chosen': question.chosen,
                    'candidates': [
                        {'name': name, 'nrmse_mean': score}
                        for name, score in zip(question.names, question.scores, strict=True)
                    ],
                }
                for question in choice.candidates
            ],
        },
        'passes': estimate.passes,
        'residual_standard_deviation': estimate.sigma,
        'condition_number': estimate.condition_number,
        'condition_number_scaled': estimate.condition_number_scaled,
        'lost': list(whole.lost),
    }


def _refuse_copies(recordings: Sequence[Recording]) -> None:
    """Refuse a recording that is given twice: it would count as two."""
    seen: dict[str, str] = {}
    for recording in recordings:
        digest = file_sha256(Path(recording.source))
        if digest in seen:
            raise UsageError(
                f'{recording.source} holds the same bytes as {seen[digest]}: name each recording '
                'once, or its errors would be taken for smaller than they are'
            )
        seen[digest] = recording.source


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


def _provenance(recordings: Sequence[Recording], options: IdentifyOptions) -> dict[str, Any]:
    return {
        'bags': [
            {
                'path': recording.source,
                'sha256': file_sha256(Path(recording.source)),
                'completeness': recording.completeness.describe() or 'complete',
            }
            for recording in recordings
        ],
        'options': {
            'profile': options.profile,
            'estimator': options.method.estimator_name,
            'friction': ','.join(law.name for law in options.method.laws[0]) or 'none',
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

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

from collections.abc import Callable
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import replace
import importlib.metadata
from pathlib import Path
import platform
import secrets
from typing import Any

import numpy as np
from robot_identification.errors import DataError
from robot_identification.errors import NotIdentifiableError
from robot_identification.errors import UsageError
from robot_identification.estimation.acceptance import ConsistentParameters
from robot_identification.estimation.acceptance import find_consistent_parameters
from robot_identification.estimation.advice import advise
from robot_identification.estimation.advice import prior_decided
from robot_identification.estimation.choice import Choice
from robot_identification.estimation.choice import choose_laws
from robot_identification.estimation.choice import choose_laws_by_joint
from robot_identification.estimation.choice import choose_prior_weight
from robot_identification.estimation.choice import find_doubts
from robot_identification.estimation.choice import try_wider_gap
from robot_identification.estimation.fitting import fit_parameters
from robot_identification.estimation.fitting import Folds
from robot_identification.estimation.fitting import score_prior
from robot_identification.estimation.identifiability import find_idle_joints
from robot_identification.estimation.identifiability import find_unseen_joints
from robot_identification.estimation.identification import Candidates
from robot_identification.estimation.identification import Identification
from robot_identification.estimation.joint_stiffness import describe_figures
from robot_identification.estimation.joint_stiffness import two_encoder_figures
from robot_identification.estimation.many_bags import BagObservations
from robot_identification.estimation.many_bags import BagSource
from robot_identification.estimation.many_bags import BagSurvey
from robot_identification.estimation.many_bags import ManyBags
from robot_identification.estimation.many_bags import spread_evenly
from robot_identification.estimation.many_bags import survey_bags
from robot_identification.estimation.method import IdentifyOptions
from robot_identification.estimation.observations import TIME_BLOCKS
from robot_identification.estimation.quality import condition_notes
from robot_identification.estimation.quality import find_covariance
from robot_identification.estimation.quality import mean_temperature
from robot_identification.estimation.quality import offset_notes
from robot_identification.estimation.quality import quality_figures
from robot_identification.estimation.quality import ranges_covered
from robot_identification.estimation.quality import temperature_notes
from robot_identification.estimation.quality import temperatures_covered
from robot_identification.estimation.recipe import thin_rows
from robot_identification.estimation.schedulers import InThisProcess
from robot_identification.estimation.schedulers import Scheduler
from robot_identification.estimation.two_encoders import have_rotors
from robot_identification.experiment.bag import read_recording
from robot_identification.experiment.recording import Recording
from robot_identification.files import file_sha256
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

# A recording with fewer samples in motion has none.
FEWEST_FITTED = 50
# The verdict names no more motions than this.
MOST_ADVICE = 3

# Takes the share that is done, from 0 to 1, and what is begun then; what it raises ends the work.
Report = Callable[[float, str], None]


def _tell_nobody(share: float, stage: str) -> None:
    pass


def identify(
    robot: RobotModel,
    bags: Sequence[Path],
    options: IdentifyOptions,
    scheduler: Scheduler | None = None,
    report: Report = _tell_nobody,
) -> Identification:
    """
    Identify an arm from its bags.

    With more bags than the recipe takes for the choices, those are made on a part of them, and
    only factors of the others are in memory (docs/many_bags.md).

    Parameters
    ----------
    robot : RobotModel
        The arm with its prior, gravity and drive gains.
    bags : sequence of Path
        Recordings; they are used together.
    options : IdentifyOptions
        Everything else.
    scheduler : Scheduler, optional
        Who reduces bags to their factors for the fit to all of them; by default this process.
    report : callable, optional
        Called at every stage with the share that is done, from 0 to 1, and the stage's name.

    Raises
    ------
    UsageError
        If the effort unit is unknown, or drive gains are and `relative_scale` is not set.
    DataError
        If a bag cannot be used.

    """
    method = options.method
    if scheduler is not None and method.estimator.needs_rows:
        raise UsageError(
            f'the estimator {method.estimator_name} looks at the samples of all bags, which '
            '--scheduler leaves in other processes: leave out --scheduler, or choose --estimator '
            'dictionary, huber or wls'
        )
    report(0.0, 'reading')
    most = len(bags) if method.estimator.needs_rows else options.recipe.bags_in_choice
    recordings = [
        read_recording(
            bags[at], robot.joint_names, topic=options.topic, names=options.joint_names,
            encoders=robot.encoders,
        )
        for at in spread_evenly(len(bags), most)
    ]
    hashes = _refuse_copies(bags)
    notes = [check_robot_name(recording, robot.name) for recording in recordings]
    unit = choose_effort_unit(options.effort_unit, recordings, robot)
    notes += _unit_notes(
        [(found.source, found.metadata.get('effort_unit')) for found in recordings], unit
    )
    robot, relative_scale = choose_drive_gains(robot, unit, options.relative_scale)
    choice = choose(
        robot, recordings, unit, options, with_prior=not relative_scale,
        report=lambda share, stage: report(0.1 + 0.4 * share, stage),
    )
    report(0.5, 'fitting')
    datasets = choice.datasets
    if not np.isfinite(robot.sampling_rate):
        robot = replace(robot, sampling_rate=round(datasets[0].rate, 3))
    idle, seen_idle = find_unseen_joints(datasets), find_idle_joints(datasets)
    few = thin_rows([d.fitted for d in datasets], options.recipe.samples_in_choice)
    in_choice = method.observe(robot, choice.friction, datasets, few)
    temperature, doubts = mean_temperature(datasets), find_doubts(robot, datasets)
    spreads = [dataset.effort[dataset.fitted].std(axis=0) for dataset in datasets]
    others: tuple[BagSurvey, ...] = ()
    fitted: tuple[BagSurvey, ...] = ()
    if scheduler is None and len(recordings) == len(bags):
        whole = fit_parameters(
            method.observe(
                robot, choice.friction, datasets, [dataset.fitted for dataset in datasets],
                time_blocks=TIME_BLOCKS,
            ),
            idle,
            choice.estimator,
        )
    else:
        many, others, more_notes = _read_elsewhere(
            robot, hashes, recordings, choice, unit, options, scheduler or InThisProcess()
        )
        notes += more_notes
        fitted = many.surveys
        doubts = tuple(dict.fromkeys(
            (*doubts, *(doubt for survey in others for doubt in survey.doubts))
        ))
        spreads = [survey.spread for survey in fitted]
        temperature, seen_idle = many.mean_temperature(), many.idle_joints()
        whole = fit_parameters(
            BagObservations(many, method, in_choice.reduction, in_choice.data, TIME_BLOCKS),
            many.unseen_joints(),
            choice.estimator,
        )
    report(0.6, 'finding bodies that can exist')
    covariance = find_covariance(whole.estimate)
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
        temperature=temperature,
        provenance={
            **_provenance(hashes, recordings, others, options),
            'two_encoders': have_rotors(datasets),
        },
        quality={},
        relative_scale=relative_scale,
    )
    consistent = (
        ConsistentParameters(
            None, 'no standard parameters: drive gains are unknown, so the scale is'
        )
        if relative_scale else
        find_consistent_parameters(robot, whole, choice, in_choice, idle, options.recipe)
    )
    model = replace(
        model, theta_consistent=consistent.theta, consistency_note=consistent.note
    )
    report(0.8, 'judging')
    # The friction of an idle joint is lost as a whole, under the name of its law.
    single = [name for name in whole.lost if name in model.parameters.names]
    advice = advise(robot, whole.estimate, covariance, single)
    verdict = judge(
        choice.trial.errors, unseen=False, lost=whole.lost,
        doubts=(
            ('unknown drive gains are taken as equal: the torques of joints may not fit together',)
            if relative_scale else doubts
        ),
        advice=tuple(str(one) for one in advice[:MOST_ADVICE]),
    )
    wide = try_wider_gap(
        in_choice, idle, choice.estimator, choice.trial.name,
        Folds(options.recipe.folds, options.recipe.wide_gap),
    )
    ranges = ranges_covered(model, datasets, few)
    ranges['speeds'] = np.max([ranges['speeds'], *(one.fastest for one in fitted)], axis=0)
    of_joints = two_encoder_figures(model, datasets, few)
    warmths = [one.warmth for one in fitted if one.warmth is not None]
    model = model.with_quality({
        **quality_figures(choice, wide, whole, verdict, options.recipe),
        **ranges,
        'temperatures': temperatures_covered(datasets, warmths),
        'degrees_of_freedom': covariance.freedom,
        'consistency': dict(consistent.figures),
        'two_encoders': of_joints or None,
    })
    return Identification(
        model=model,
        estimate=whole.estimate,
        datasets=datasets,
        cross_validation=choice.trial.errors,
        prior=score_prior(robot, datasets, few),
        lost=whole.lost,
        idle_joints=tuple(robot.joint_names[joint] for joint in seen_idle),
        verdict=verdict,
        notes=tuple(note for note in notes if note)
        + choice.notes + offset_notes(robot, whole.estimate, spreads, unit)
        + temperature_notes(
            datasets, model.parameters, warmths
        )
        + whole.estimate.notes + condition_notes(whole.estimate) + covariance.notes
        + describe_figures(robot.joint_names, of_joints),
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
    report: Report = _tell_nobody,
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
    report : callable, optional
        As that of `identify`.

    Raises
    ------
    NotIdentifiableError
        If no joint moved.

    """
    recipe, method = options.recipe, options.method
    usual = method.kinematic_filter or KinematicFilter(
        order=recipe.order, cutoff=recipe.preferred_cutoff
    )

    def survey(delay: float, *, rotor_side: bool = True) -> tuple[Dataset, ...]:
        return tuple(
            process(
                recording, usual, unit, start=options.start, stop=options.stop, robot=robot,
                delay=delay, rotor_side=rotor_side,
            )
            for recording in recordings
        )

    report(0.0, 'preparing')
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
    delay, notes = 0.0, tuple(
        f'{source} has no motion, or no effort that changes: left out' for source in still
    )
    without = [dataset.source for dataset in surveyed if dataset.motion.rotor is None]
    has_rotors = not without
    if 0 < len(without) < len(surveyed):
        # A model is of one kind, and so is what it predicts from.
        notes += (
            f'rotor positions of the other recordings are left out, for {", ".join(without)} has '
            'none that are usable: one encoder a joint is used',
            *(note for dataset in surveyed if dataset.source in without for note in dataset.notes),
        )
        surveyed = survey(0.0, rotor_side=False)
    if options.compensate_delay:
        delay = _delay_to_compensate(surveyed)
        surveyed = survey(delay, rotor_side=has_rotors)
    filters = (usual,) if method.kinematic_filter is not None else tuple(
        KinematicFilter(order=recipe.order, cutoff=cutoff)
        for cutoff in recipe.cutoffs_below(min(dataset.rate for dataset in surveyed))
    )
    choose_by = choose_laws_by_joint if method.by_joint else choose_laws
    tried = []
    for number, kinematic_filter in enumerate(filters):
        report(
            (number + 1) / (len(filters) + 1),
            f'choosing by cross-validation, cut-off {kinematic_filter.cutoff:g} Hz',
        )
        datasets = surveyed if kinematic_filter == usual else tuple(
            process(
                recording, kinematic_filter, unit, start=options.start, stop=options.stop,
                delay=delay, rotor_side=has_rotors,
            )
            for recording in recordings
        )
        tried.append(
            choose_prior_weight(robot, datasets, options, kinematic_filter, idle, with_prior)
            if method.is_dictionary
            else choose_by(robot, datasets, options, kinematic_filter, idle)
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
            *notes, *best.notes, *(note for dataset in surveyed for note in dataset.notes),
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


def _refuse_copies(bags: Sequence[Path]) -> dict[Path, str]:
    """Return the hashes of bags; refuse one that is given twice: it would count as two."""
    seen: dict[str, Path] = {}
    for bag in bags:
        if not bag.exists():
            raise UsageError(f'no such bag: {bag}')
        digest = file_sha256(bag)
        if digest in seen:
            raise UsageError(
                f'{bag} holds the same bytes as {seen[digest]}: name each recording '
                'once, or its errors would be taken for smaller than they are'
            )
        seen[digest] = bag
    return {bag: digest for digest, bag in seen.items()}


def _unit_notes(said: Sequence[tuple[str, str | None]], unit: str) -> list[str]:
    """Return what is to be said of the units that bags state, by bag."""
    notes = [
        f'{bag} says its effort is in {stated}, it is read as {unit}'
        for bag, stated in said if stated is not None and stated != unit
    ]
    if any(stated is not None for _, stated in said):
        notes += [
            f'{bag} does not say the unit of its effort: {unit} is assumed'
            for bag, stated in said if stated is None
        ]
    return notes


def _read_elsewhere(
    robot: RobotModel,
    hashes: Mapping[Path, str],
    recordings: Sequence[Recording],
    choice: Choice,
    unit: str,
    options: IdentifyOptions,
    scheduler: Scheduler,
) -> tuple[ManyBags, tuple[BagSurvey, ...], list[str]]:
    """Have bags read by others; return those to fit, the ones not in the choice, and notes."""
    fit, has_rotors = secrets.token_hex(8), have_rotors(choice.datasets)
    bags = survey_bags(
        [
            BagSource(
                str(bag), bag.absolute(), digest, fit, robot, unit, choice.kinematic_filter,
                choice.delay, options.topic, options.joint_names, options.start, options.stop,
                has_rotors,
            )
            for bag, digest in hashes.items()
        ],
        scheduler,
    )
    read = {recording.source for recording in recordings}
    others = tuple(survey for survey in bags.surveys if survey.name not in read)
    stated = {survey.unit_said for survey in others} - {None, unit}
    if options.effort_unit is None and stated:
        raise UsageError(
            f'the bags say their effort is in {", ".join(sorted({unit, *map(str, stated)}))}: '
            'choose with --effort-unit'
        )
    moving = tuple(
        survey for survey in others
        if survey.samples >= FEWEST_FITTED and len(survey.unseen) < robot.n
    )
    lacking = [survey.name for survey in moving if has_rotors and not survey.has_rotors]
    if lacking:
        raise DataError(
            f'{", ".join(lacking)}: no usable rotor positions, which the recordings of the choice '
            'have: leave these bags out, or name one of them first, so that the choice sees it '
            'and no rotors are used'
        )
    notes = [note for survey in others if (note := survey.robot_note)]
    notes += _unit_notes([(survey.name, survey.unit_said) for survey in others], unit)
    notes += [
        f'{survey.name} has no motion, or no effort that changes: left out'
        for survey in others if survey not in moving
    ]
    notes += [f'{survey.name}: {note}' for survey in moving for note in survey.notes]
    if others:
        notes.append(
            f'filter, friction, prior and every figure of errors are from {len(choice.datasets)} '
            f'of {len(bags.surveys)} recordings, spread evenly; the fit took all that move'
        )
    used = [dataset.source for dataset in choice.datasets] + [one.name for one in moving]
    return bags.only(used), others, notes


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


def _provenance(
    hashes: Mapping[Path, str],
    recordings: Sequence[Recording],
    others: Sequence[BagSurvey],
    options: IdentifyOptions,
) -> dict[str, Any]:
    completeness = {
        **{found.source: found.completeness.describe() or 'complete' for found in recordings},
        **{survey.name: survey.completeness for survey in others},
    }
    return {
        'bags': [
            {'path': str(bag), 'sha256': digest, 'completeness': completeness[str(bag)]}
            for bag, digest in hashes.items()
        ],
        'options': {
            'profile': options.profile,
            'estimator': options.method.estimator_name,
            'friction': options.method.friction_name,
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

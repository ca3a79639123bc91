# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Bags that are too many for the choices: surveyed one by one, and used in the fit alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
import secrets

from robot_identification.errors import DataError, UsageError
from robot_identification.estimation.choice import Choice, FEWEST_FITTED
from robot_identification.estimation.inputs import Inputs, unit_notes
from robot_identification.estimation.many_bags import BagSource, BagSurvey, ManyBags, survey_bags
from robot_identification.estimation.method import IdentifyOptions
from robot_identification.estimation.two_encoders import have_rotors
from robot_identification.parallel import Scheduler


@dataclass(frozen=True, eq=False)
class AllBags:
    """All bags of an identification, of which only some were in the choices."""

    fitted: ManyBags  # the bags that are fitted to
    others: tuple[BagSurvey, ...]  # the bags that were not in the choices
    notes: tuple[str, ...]  # remarks on `others`


def survey_all(
    inputs: Inputs, choice: Choice, options: IdentifyOptions, scheduler: Scheduler
) -> AllBags:
    """
    Survey every bag on a scheduler and decide which are fitted to.

    Different stated units, without an option that decides, raise a `UsageError`; bags that cannot
    be used, or lack rotor positions that the choice has, a `DataError`.
    """
    has_rotors, fit = have_rotors(choice.datasets), secrets.token_hex(8)
    bags = survey_bags(
        [
            BagSource(
                str(bag), bag.absolute(), digest, fit, inputs.robot, inputs.unit,
                choice.kinematic_filter, choice.delay, options.topic, options.joint_names,
                options.start, options.stop, has_rotors,
            )
            for bag, digest in inputs.hashes.items()
        ],
        scheduler,
    )
    read = {recording.source for recording in inputs.recordings}
    others = tuple(survey for survey in bags.surveys if survey.name not in read)
    if options.effort_unit is None:
        _check_units(others, inputs.unit)
    moving = tuple(
        survey for survey in others
        if survey.samples >= FEWEST_FITTED and len(survey.unseen) < inputs.robot.n
    )
    if has_rotors:
        _check_rotors(moving)
    notes = _describe(others, moving, inputs.unit)
    if others:
        notes.append(
            f'filter, friction, prior and every figure of errors are from {len(choice.datasets)} '
            f'of {len(bags.surveys)} recordings, spread evenly; the fit took all that move'
        )
    used = [dataset.source for dataset in choice.datasets] + [one.name for one in moving]
    return AllBags(bags.only(used), others, tuple(notes))


def _check_units(others: Sequence[BagSurvey], unit: str) -> None:
    stated = {survey.stated_unit for survey in others} - {None, unit}
    if stated:
        raise UsageError(
            f'the bags say their effort is in {", ".join(sorted({unit, *map(str, stated)}))}: '
            'choose with --effort-unit'
        )


def _check_rotors(moving: Sequence[BagSurvey]) -> None:
    lacking = [survey.name for survey in moving if not survey.has_rotors]
    if lacking:
        raise DataError(
            f'{", ".join(lacking)}: no usable rotor positions, which the recordings of the choice '
            'have: leave these bags out, or name one of them first, so that the choice sees it '
            'and no rotors are used'
        )


def _describe(
    others: Sequence[BagSurvey], moving: Sequence[BagSurvey], unit: str
) -> list[str]:
    return [
        *(note for survey in others if (note := survey.robot_note)),
        *unit_notes([(survey.name, survey.stated_unit) for survey in others], unit),
        *(
            f'{survey.name} has no motion, or no effort that changes: left out'
            for survey in others if survey not in moving
        ),
        *(f'{survey.name}: {note}' for survey in moving for note in survey.notes),
    ]

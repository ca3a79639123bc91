# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Identification options, as a command, a node, a file or Python gives them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any

from robot_identification.arrays import BoolArray
from robot_identification.errors import DescriptionError, UsageError
from robot_identification.estimation.estimate import Estimator
from robot_identification.estimation.estimators import ESTIMATORS
from robot_identification.estimation.estimators.dictionary import SparseNonnegativeRegression
from robot_identification.estimation.fitting import observe
from robot_identification.estimation.problem import Observations
from robot_identification.estimation.recipe import load_recipe, Recipe
from robot_identification.estimation.rows import RowTreatment
from robot_identification.estimation.two_encoders import TwoEncoderFit
from robot_identification.files import is_there, read_text
from robot_identification.model import (
    AUTOMATIC_FRICTION, CORRECTIONS, EFFORT_UNITS, FrictionLaw, FrictionTerm, KinematicFilter,
    parse_friction, PLAIN_FRICTION, RobotModel, STATED_UNITS,
)
from robot_identification.options import check_options, option
from robot_identification.processing import Dataset
from robot_identification.recording import parse_joint_names

AUTOMATIC = 'auto'
DICTIONARY_ESTIMATOR = 'dictionary'
PLAIN_ESTIMATOR = 'wls'
# What the effort is from: the recorded one, or the error of positions against commands.
EFFORT: str = 'effort'
COMMAND: str = 'command'
# A window that begins or ends later is a mistake [s].
LATEST_TIME = 1.0e6


def check_friction(text: str) -> None:
    """Raise a `UsageError` unless a text names friction laws, or a way of choosing them."""
    if text not in ('', AUTOMATIC):
        parse_friction(text)


@dataclass(frozen=True)
class IdentifyOptions:
    """
    Identification options: what is given, and the method that follows from it.

    The declarations say what each is. In place of a name, Python also gives an estimator with its
    options, friction laws with their constants, or a recipe.

    Raises
    ------
    UsageError
        If a value is unknown or out of its range, or options do not fit together.
    DescriptionError
        If a value is of another type, or the recipe cannot be read.

    """

    topic: str | None = option(
        str, 'joint-state topic of the bags; several with a part of the joints each: A,B',
        otherwise='/joint_states',
    )
    effort_unit: str | None = option(
        str, 'unit of the recorded effort', otherwise='that of the bag or the robot YAML',
        choices=STATED_UNITS,
    )
    relative_scale: bool = option(
        bool, 'accept currents without drive gains; torques are then per unknown gain',
        default=False,
    )
    trust_effort_unit: bool = option(
        bool, 'keep the unit of the effort where the recording shows another kind of effort',
        default=False,
    )
    effort_from: str = option(
        str, 'source of the effort: as recorded, or the position error of proportional servos '
        'against the commanded positions of a log, whose delay is found', default=EFFORT,
        choices=(EFFORT, COMMAND),
    )
    joint_names: Mapping[str, str] = option(  # or the text of one
        str, 'names of the joints in the bag, BAG=MODEL,..', otherwise='those of the model',
        metavar='BAG=MODEL,..', check=parse_joint_names,
    )
    table_mapping: Path | None = option(
        str, 'columns and units of recordings that are tables (docs/formats/mapping.md)',
        otherwise='LOG.yaml beside each, else recognized', metavar='FILE', key='mapping',
    )
    estimator: str | Estimator | None = option(
        str, 'estimator', otherwise='dictionary, or wls where plain friction laws are named',
        choices=tuple(ESTIMATORS),
    )
    friction: str | Sequence[FrictionLaw] | None = option(
        str, 'comma list of friction laws, none, or auto: terms chosen from the data',
        otherwise='auto', metavar='LAWS', check=check_friction,
    )
    cutoff: float | None = option(
        float, 'cut-off frequency of the zero-phase low-pass of the kinematics [Hz]',
        otherwise='chosen from the data', minimum=0.0, maximum=1000.0, metavar='HZ',
    )
    compensate_delay: bool = option(
        bool, 'shift kinematics earlier by the identified delay of the effort (up to 40 ms; it '
        'is always reported)', default=False,
    )
    corrections: str = option(
        str, 'corrections that are offered to each joint: a comma list of '
        f'{", ".join(CORRECTIONS)}, none, or auto: all beside a friction dictionary',
        default=AUTOMATIC, metavar='GROUPS',
    )
    recipe: Recipe = option(  # or its file
        str, 'recipe: candidates and constants of every choice (docs/formats/recipe.md)',
        metavar='FILE', key='config',
    )
    start: float | None = option(
        float, 'start of the window after the first joint state [s]',
        otherwise='the first joint state', minimum=0.0, maximum=LATEST_TIME, metavar='S',
    )
    stop: float | None = option(
        float, 'end of the window after the first joint state [s]',
        otherwise='the last joint state', minimum=0.0, maximum=LATEST_TIME, metavar='S',
    )
    # Of any kind, in place of the low-pass of `cutoff` and of the recipe's filter.
    kinematic_filter: KinematicFilter | None = None

    def __post_init__(self) -> None:
        self._read_texts()
        as_objects = ('joint_names', 'table_mapping', 'estimator', 'friction', 'recipe')
        check_options(self, but=[
            name for name in as_objects if not isinstance(getattr(self, name), str)
        ])
        if not isinstance(self.estimator, str | Estimator | None):
            raise DescriptionError(
                f'estimator is {self.estimator!r:.60}, it must be a name or an estimator'
            )
        self._check_effort()
        if self.start is not None and self.stop is not None and not self.start < self.stop:
            raise UsageError(f'--start {self.start:g} must be before --stop {self.stop:g}')
        self._check_corrections()
        self._check_friction()

    def _read_texts(self) -> None:
        """Make names, recipe and mapping of the texts that stand for them."""
        names, recipe = self.joint_names, self.recipe
        if isinstance(names, str):
            names = parse_joint_names(names)
        elif not isinstance(names, Mapping | None):
            raise DescriptionError('joint_names must map names: in the bag to in the model')
        if isinstance(recipe, str | Path):
            recipe = load_recipe(Path(recipe))
        elif not isinstance(recipe, Recipe | None):
            raise DescriptionError(f'recipe is {recipe!r:.60}, it must be a recipe or its file')
        if isinstance(self.table_mapping, str):
            object.__setattr__(self, 'table_mapping', Path(self.table_mapping))
        object.__setattr__(
            self, 'joint_names', {str(bag): str(name) for bag, name in (names or {}).items()}
        )
        object.__setattr__(self, 'recipe', recipe or Recipe())

    def _check_effort(self) -> None:
        if self.effort_from == COMMAND and self.effort_unit is not None:
            raise UsageError(
                f'--effort-from {COMMAND} takes no recorded effort, so that --effort-unit '
                f'{self.effort_unit} has no meaning: leave one of the two out'
            )

    def _check_corrections(self) -> None:
        unknown = set(self.corrections.split(',')) - set(CORRECTIONS)
        if self.corrections not in (AUTOMATIC, 'none') and unknown:
            raise UsageError(
                f'unknown corrections {", ".join(sorted(unknown))!r}: known are {AUTOMATIC}, none '
                f'and {", ".join(CORRECTIONS)}'
            )

    def _check_friction(self) -> None:
        estimator = self._given_estimator
        if estimator not in (None, DICTIONARY_ESTIMATOR) and self.friction == AUTOMATIC:
            raise UsageError(
                f'--friction {AUTOMATIC} chooses terms by the estimator {DICTIONARY_ESTIMATOR}, '
                f'not by {estimator}: name friction laws, or leave out --estimator'
            )
        if self._has_dictionary and estimator not in (None, DICTIONARY_ESTIMATOR):
            raise UsageError(
                f'the terms of friction dictionary are too many for the estimator {estimator}: '
                f'leave out --estimator, or name plain laws ({PLAIN_FRICTION})'
            )
        if self.recipe.two_encoders is not None and (
            self.friction == AUTOMATIC or estimator == DICTIONARY_ESTIMATOR
        ):
            raise UsageError(
                'two_encoders of the recipe says what is known of the drives, which plain laws '
                'and estimators take into account: name friction laws, leave out --friction and '
                '--estimator, or take two_encoders out of the recipe'
            )

    def for_effort(self, unit: str) -> IdentifyOptions:
        """
        Return the options for an effort in a unit.

        Without gravity it does not show the load of joints: friction terms that grow with it are
        not offered. Raises UsageError if one is named.
        """
        if EFFORT_UNITS[unit].with_gravity:
            return self
        recipe = self.recipe
        options = replace(self, recipe=replace(
            recipe,
            dictionary=replace(recipe.dictionary, load_sliding=(), load_presliding=()),
        ))
        loaded = {
            law.name for laws in options.laws for law in laws
            if law.needs_rigid_torque and not law.is_sparse
        }
        if loaded:
            raise UsageError(
                f'friction {", ".join(sorted(loaded))} grows with the torque that a joint '
                f'carries, which {EFFORT_UNITS[unit].description} does not show: name other '
                f'laws, as --friction {PLAIN_FRICTION}, or record an effort with gravity'
            )
        return options

    @property
    def _given_estimator(self) -> str | None:
        """Return the name of the estimator that was given, its class where it has none."""
        if not isinstance(self.estimator, Estimator):
            return self.estimator
        kind = type(self.estimator)
        return next((name for name, one in ESTIMATORS.items() if one is kind), kind.__name__)

    @cached_property
    def _given_laws(self) -> tuple[FrictionLaw, ...]:
        """Return the laws that were given; none where they are chosen."""
        if self.friction in (None, AUTOMATIC):
            return ()
        if isinstance(self.friction, str):
            return parse_friction(self.friction)
        return tuple(self.friction or ())

    @property
    def _has_dictionary(self) -> bool:
        return any(law.is_sparse for law in self._given_laws)

    @cached_property
    def estimator_name(self) -> str:
        """Return the estimator's name in ESTIMATORS; by default what the friction asks for."""
        automatic = self.friction in (None, AUTOMATIC) and self.recipe.two_encoders is None
        return self._given_estimator or (
            DICTIONARY_ESTIMATOR if automatic or self._has_dictionary else PLAIN_ESTIMATOR
        )

    @cached_property
    def used_estimator(self) -> Estimator:
        """Return the estimator with its options; of two encoders a joint it is wrapped."""
        name, recipe = self.estimator_name, self.recipe
        if isinstance(self.estimator, Estimator):
            estimator = self.estimator
        elif name == DICTIONARY_ESTIMATOR:
            estimator = SparseNonnegativeRegression(
                passes=recipe.passes, huber=recipe.huber, shrinkage=recipe.shrinkage,
                prior_weight=0.0, offset_deviation=recipe.offset_deviation,
            )
        else:
            estimator = ESTIMATORS[name]()
        if name != DICTIONARY_ESTIMATOR and recipe.two_encoders is not None:
            return TwoEncoderFit(recipe.two_encoders, estimator)
        return estimator

    @cached_property
    def laws(self) -> tuple[tuple[FrictionLaw, ...], ...]:
        """Return friction of every joint, with every choice of shape constants to try."""
        given = self._given_laws
        if self.friction in (None, AUTOMATIC):
            given = parse_friction(
                AUTOMATIC_FRICTION if self.estimator_name == DICTIONARY_ESTIMATOR
                else PLAIN_FRICTION
            )
        elif not isinstance(self.friction, str):
            return (given,)
        return tuple(product(*(
            (self.recipe.dictionary,) if law.is_sparse else law.alternatives() for law in given
        )))

    @property
    def friction_name(self) -> str:
        """Return what was asked for, in the words of --friction."""
        return ','.join(law.name for law in self.laws[0]) or 'none'

    @property
    def offered_corrections(self) -> tuple[str, ...]:
        """Return the groups that are offered to each joint, in the order of CORRECTIONS."""
        if self.corrections == AUTOMATIC:
            automatic = self.estimator_name == DICTIONARY_ESTIMATOR
            return self.recipe.corrections if automatic else ()
        return tuple(name for name in CORRECTIONS if name in self.corrections.split(','))

    @property
    def given_filter(self) -> KinematicFilter | None:
        """Return the filter of the kinematics; None where it is chosen among cut-offs."""
        if self.kinematic_filter is None and self.cutoff is not None:
            return KinematicFilter(order=self.recipe.order, cutoff=self.cutoff)
        return self.kinematic_filter or self.recipe.kinematic_filter

    @property
    def needs_whole_recordings(self) -> bool:
        """Return whether kinematics depend on all of a recording."""
        return self.given_filter is not None and self.given_filter.needs_whole_recording

    @property
    def treatment(self) -> RowTreatment:
        """Return what is done to rows."""
        return RowTreatment(self.recipe.slowest, self.recipe.decimation)

    def observe(
        self,
        robot: RobotModel,
        friction: Sequence[FrictionLaw | FrictionTerm],
        datasets: Sequence[Dataset],
        rows: Sequence[BoolArray],
        *,
        time_blocks: int = 1,
    ) -> Observations:
        """Return the rows of some samples, treated as the options have it."""
        return observe(
            robot, friction, datasets, rows,
            offset_by_recording=self.used_estimator.chooses_terms,
            time_blocks=time_blocks,
            effort_filter=self.recipe.effort_filter,
            treatment=self.treatment,
            two_encoders=self.recipe.two_encoders,
        )

    def as_plain(self) -> dict[str, Any]:
        """Return the options that differ from their defaults as texts; of files the content."""
        default = IdentifyOptions()
        given = {
            entry.name: repr(value) for entry in fields(self)
            if (value := getattr(self, entry.name)) != getattr(default, entry.name)
        }
        if self.table_mapping is not None and is_there(self.table_mapping):
            given['table_mapping'] = read_text(self.table_mapping)
        return given

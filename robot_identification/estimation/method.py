# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Identification options, and the method that follows from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product
from numbers import Real
from pathlib import Path

from robot_identification.arrays import BoolArray
from robot_identification.errors import UsageError
from robot_identification.estimation.estimate import Estimator
from robot_identification.estimation.estimators import ESTIMATORS
from robot_identification.estimation.estimators.dictionary import SparseNonnegativeRegression
from robot_identification.estimation.fitting import observe
from robot_identification.estimation.problem import Observations
from robot_identification.estimation.recipe import Recipe
from robot_identification.estimation.rows import RowTreatment
from robot_identification.estimation.two_encoders import TwoEncoderFit, TwoEncoders
from robot_identification.model import (
    AUTOMATIC_FRICTION, CORRECTIONS, EFFORT_UNITS, FrictionLaw, FrictionTerm, KinematicFilter,
    parse_friction, PLAIN_FRICTION, RobotModel, STATED_UNITS,
)
from robot_identification.processing import Dataset
from robot_identification.removed import describe_unknown

AUTOMATIC = 'auto'
DICTIONARY_ESTIMATOR = 'dictionary'
PLAIN_ESTIMATOR = 'wls'
# What the effort is from: the recorded one, or the error of positions against commands.
EFFORT, COMMAND = 'effort', 'command'
# A window that begins or ends later is a mistake [s].
LATEST_TIME = 1.0e6


@dataclass(frozen=True)
class IdentifyOptions:
    """
    Identification options.

    Attributes
    ----------
    estimator : str or Estimator, optional
        A name in ESTIMATORS, or an estimator with its options; by default what `friction` asks
        for.
    friction : str or sequence of FrictionLaw, optional
        Laws with their constants, or a comma list of law names, 'none', or 'auto', the default:
        the dictionary, whose terms are chosen from the data. An estimator without friction takes
        the plain laws.
    recipe : Recipe
        What is tried, and by what rules it is chosen.
    effort_unit : str, optional
        By default what the bag's metadata or the robot's YAML say.
    relative_scale : bool
        Accept effort in ampere without drive gains; the model then has an unknown scale.
    trust_effort_unit : bool
        Keep the unit where the recordings show another kind of effort.
    effort_from : str
        'effort', or 'command': the position error of proportional servos against their commands.
    topic : str, optional
        Joint-state topic.
    joint_names : mapping
        Model name by bag name, where they differ.
    table_mapping : Path, optional
        Columns and units of recordings that are tables; by default a file beside each, else they
        are recognized.
    kinematic_filter : KinematicFilter, optional
        Smoothing of velocity and acceleration; by default chosen among the recipe's cut-offs.
    compensate_delay : bool
        Take the kinematics earlier by the delay of the effort that is found.
    corrections : str
        Groups of corrections that are offered to each joint: a comma list of names in CORRECTIONS,
        'none', or 'auto', the default: those of the recipe beside a friction dictionary, none
        beside other estimators.
    start, stop : float, optional
        Window in seconds after the first joint state.

    """

    estimator: str | Estimator | None = None
    friction: str | Sequence[FrictionLaw] | None = None
    recipe: Recipe = field(default_factory=Recipe)
    effort_unit: str | None = None
    relative_scale: bool = False
    trust_effort_unit: bool = False
    effort_from: str = EFFORT
    topic: str | None = None
    joint_names: Mapping[str, str] = field(default_factory=dict)
    table_mapping: Path | None = None
    kinematic_filter: KinematicFilter | None = None
    compensate_delay: bool = False
    corrections: str = AUTOMATIC
    start: float | None = None
    stop: float | None = None

    def __post_init__(self) -> None:
        self._check_names()
        self._check_window()
        self._check_corrections()
        self._check_friction()

    def _check_names(self) -> None:
        if not isinstance(self.estimator, Estimator | None) and self.estimator not in ESTIMATORS:
            raise UsageError(describe_unknown('estimator', self.estimator, ESTIMATORS))
        if self.effort_unit is not None and self.effort_unit not in STATED_UNITS:
            raise UsageError(
                f'unknown effort unit {self.effort_unit!r}: it is one of {", ".join(STATED_UNITS)}'
            )
        if self.effort_from not in (EFFORT, COMMAND):
            raise UsageError(
                f'unknown source of the effort {self.effort_from!r}: it is {EFFORT} or {COMMAND}'
            )
        if self.effort_from == COMMAND and self.effort_unit is not None:
            raise UsageError(
                f'--effort-from {COMMAND} takes no recorded effort, so that --effort-unit '
                f'{self.effort_unit} has no meaning: leave one of the two out'
            )

    def _check_window(self) -> None:
        for name in ('start', 'stop'):
            value = getattr(self, name)
            if value is not None and not isinstance(value, Real):
                raise UsageError(f'{name} is {value!r:.60}, it must be a number of seconds')
            if value is not None and not 0.0 <= float(value) <= LATEST_TIME:
                raise UsageError(f'{name} is {value:g} s, allowed are 0 to {LATEST_TIME:g} s')
        if self.start is not None and self.stop is not None and not self.start < self.stop:
            raise UsageError(f'--start {self.start:g} must be before --stop {self.stop:g}')

    def _check_corrections(self) -> None:
        unknown = set(self.corrections.split(',')) - set(CORRECTIONS)
        if self.corrections not in (AUTOMATIC, 'none') and unknown:
            raise UsageError(
                f'unknown corrections {", ".join(sorted(unknown))!r}: known are {AUTOMATIC}, none '
                f'and {", ".join(CORRECTIONS)}'
            )

    def _check_friction(self) -> None:
        estimator = self._estimator_name
        if estimator not in (None, DICTIONARY_ESTIMATOR) and self.friction == AUTOMATIC:
            raise UsageError(
                f'--friction {AUTOMATIC} chooses terms by the estimator {DICTIONARY_ESTIMATOR}, '
                f'not by {estimator}: name friction laws, or leave out --estimator'
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
            law.name for laws in options.method.laws for law in laws
            if law.needs_rigid_torque and not law.is_sparse
        }
        if loaded:
            raise UsageError(
                f'friction {", ".join(sorted(loaded))} grows with the torque that a joint '
                f'carries, which {EFFORT_UNITS[unit].description} does not show: name other '
                f'laws, as --friction {PLAIN_FRICTION}, or record an effort with gravity'
            )
        return options

    @cached_property
    def method(self) -> Method:
        """Return what is done, from what was given."""
        recipe = self.recipe
        name, estimator = self._named_estimator()
        if name != DICTIONARY_ESTIMATOR and recipe.two_encoders is not None:
            estimator = TwoEncoderFit(recipe.two_encoders, estimator)
        return Method(
            laws=self._laws(name),
            estimator=estimator,
            two_encoders=recipe.two_encoders,
            estimator_name=name,
            kinematic_filter=self.kinematic_filter or recipe.kinematic_filter,
            effort_filter=recipe.effort_filter,
            treatment=RowTreatment(recipe.slowest, recipe.decimation),
            corrections=self._corrections(automatic=name == DICTIONARY_ESTIMATOR),
        )

    def _named_estimator(self) -> tuple[str, Estimator]:
        """Return name and estimator, that which the friction asks for if none was given."""
        has_dictionary = any(law.is_sparse for law in self._given_laws())
        automatic = self.friction in (None, AUTOMATIC) and self.recipe.two_encoders is None
        name = self._estimator_name or (
            DICTIONARY_ESTIMATOR if automatic or has_dictionary else PLAIN_ESTIMATOR
        )
        if has_dictionary and name != DICTIONARY_ESTIMATOR:
            raise UsageError(
                f'the terms of friction dictionary are too many for the estimator {name}: '
                f'leave out --estimator, or name plain laws ({PLAIN_FRICTION})'
            )
        if isinstance(self.estimator, Estimator):
            return name, self.estimator
        if name != DICTIONARY_ESTIMATOR:
            return name, ESTIMATORS[name]()
        return name, SparseNonnegativeRegression(
            passes=self.recipe.passes, huber=self.recipe.huber,
            shrinkage=self.recipe.shrinkage, prior_weight=0.0,
            offset_deviation=self.recipe.offset_deviation,
        )

    @property
    def _estimator_name(self) -> str | None:
        """Return the name of the estimator that was given."""
        if not isinstance(self.estimator, Estimator):
            return self.estimator
        kind = type(self.estimator)
        return next((name for name, one in ESTIMATORS.items() if one is kind), kind.__name__)

    def _given_laws(self) -> tuple[FrictionLaw, ...]:
        """Return the laws that were given; none where they are chosen."""
        if self.friction in (None, AUTOMATIC):
            return ()
        if isinstance(self.friction, str):
            return parse_friction(self.friction)
        return tuple(self.friction or ())

    def _corrections(self, *, automatic: bool) -> tuple[str, ...]:
        """Return the groups that are offered, in the order of CORRECTIONS."""
        if self.corrections == AUTOMATIC:
            return self.recipe.corrections if automatic else ()
        return tuple(name for name in CORRECTIONS if name in self.corrections.split(','))

    def _laws(self, estimator: str) -> tuple[tuple[FrictionLaw, ...], ...]:
        """Return the laws to try."""
        if self.friction in (None, AUTOMATIC):
            given = parse_friction(
                AUTOMATIC_FRICTION if estimator == DICTIONARY_ESTIMATOR else PLAIN_FRICTION
            )
        elif isinstance(self.friction, str):
            given = self._given_laws()
        else:
            return (self._given_laws(),)
        return tuple(product(*(
            (self.recipe.dictionary,) if law.is_sparse else law.alternatives() for law in given
        )))


@dataclass(frozen=True)
class Method:
    """Method of an identification, from recording to parameters."""

    # friction of every joint, with every choice of shape constants that is tried
    laws: tuple[tuple[FrictionLaw, ...], ...]
    estimator: Estimator  # with its options
    estimator_name: str  # its key in ESTIMATORS, or its class where it has none
    # by default chosen among the recipe's cut-offs
    kinematic_filter: KinematicFilter | None = None
    # smoothing of the effort that is fitted; by default none
    effort_filter: KinematicFilter | None = None
    treatment: RowTreatment = field(default_factory=RowTreatment)  # what is done to rows
    # what is known of the drives; the estimator is then a `TwoEncoderFit`
    two_encoders: TwoEncoders | None = None
    corrections: tuple[str, ...] = ()  # groups that are offered to each joint

    @property
    def needs_whole_recordings(self) -> bool:
        """Return whether kinematics depend on all of a recording."""
        return self.kinematic_filter is not None and self.kinematic_filter.needs_whole_recording

    @property
    def friction_name(self) -> str:
        """Return what was asked for, in the words of --friction."""
        return ','.join(law.name for law in self.laws[0]) or 'none'

    def observe(
        self,
        robot: RobotModel,
        friction: Sequence[FrictionLaw | FrictionTerm],
        datasets: Sequence[Dataset],
        rows: Sequence[BoolArray],
        *,
        time_blocks: int = 1,
    ) -> Observations:
        """Return the rows of some samples, treated as the method has it."""
        return observe(
            robot, friction, datasets, rows,
            offset_by_recording=self.estimator.chooses_terms,
            time_blocks=time_blocks,
            effort_filter=self.effort_filter,
            treatment=self.treatment,
            two_encoders=self.two_encoders,
        )

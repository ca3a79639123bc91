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

"""What an identification may be told, and the method that follows from it."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import field
from itertools import product

from robot_identification.errors import UsageError
from robot_identification.estimation import ESTIMATORS
from robot_identification.estimation.dictionary import DictionaryFit
from robot_identification.estimation.fitting import observe
from robot_identification.estimation.observations import Observations
from robot_identification.estimation.observations import RowTreatment
from robot_identification.estimation.problem import Estimator
from robot_identification.estimation.profiles import find_profile
from robot_identification.estimation.recipe import Recipe
from robot_identification.model.friction import parse_friction
from robot_identification.model.friction.law import FrictionLaw
from robot_identification.model.identified_model import KinematicFilter
from robot_identification.model.robot_model import EFFORT_UNITS
from robot_identification.model.robot_model import RobotModel
from robot_identification.processing.dataset import BoolArray
from robot_identification.processing.dataset import Dataset

AUTOMATIC = 'auto'
# The plain laws, where an estimator is named and no law is.
PLAIN_FRICTION = 'coulomb,viscous,offset'
DICTIONARY_FRICTION = 'dictionary,offset'
DICTIONARY_ESTIMATOR = 'dictionary'
PLAIN_ESTIMATOR = 'wls'


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

# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Identification options as users give them: on the command line, as parameters, in YAML."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from robot_identification.errors import DescriptionError
from robot_identification.estimation.estimators import ESTIMATORS
from robot_identification.estimation.method import (
    AUTOMATIC, COMMAND, EFFORT, IdentifyOptions, LATEST_TIME,
)
from robot_identification.estimation.recipe import load_recipe, Recipe
from robot_identification.files import is_there, read_text
from robot_identification.model import CORRECTIONS, KinematicFilter, parse_friction, STATED_UNITS
from robot_identification.options import check_options, option
from robot_identification.recording import parse_joint_names


def check_friction(text: str) -> None:
    """Raise a `UsageError` unless a text names friction laws, or a way of choosing them."""
    if text not in ('', AUTOMATIC):
        parse_friction(text)


@dataclass(frozen=True)
class IdentifyArguments:
    """
    Identification options as texts and numbers; None means that an option is not given.

    The fields say in their declaration what each is.
    """

    topic: str | None = option(
        str, 'joint-state topic of the bags; several with a part of the joints each: A,B',
        otherwise='/joint_states',
    )
    effort_unit: str | None = option(
        str, 'unit of the recorded effort', otherwise='that of the bag or the robot YAML',
        choices=STATED_UNITS,
    )
    relative_scale: bool | None = option(
        bool, 'accept currents without drive gains; torques are then per unknown gain',
    )
    trust_effort_unit: bool | None = option(
        bool, 'keep the unit of the effort where the recording shows another kind of effort',
    )
    effort_from: str | None = option(
        str, 'source of the effort: as recorded, or the position error of proportional servos '
        'against the commanded positions of a log, whose delay is found', otherwise=EFFORT,
        choices=(EFFORT, COMMAND),
    )
    joint_names: Mapping[str, str] | str | None = option(
        str, 'names of the joints in the bag, BAG=MODEL,..', otherwise='those of the model',
        metavar='BAG=MODEL,..', check=parse_joint_names,
    )
    table_mapping: str | None = option(
        str, 'columns and units of recordings that are tables (docs/formats/mapping.md)',
        otherwise='LOG.yaml beside each, else recognized', metavar='FILE', key='mapping',
    )
    estimator: str | None = option(
        str, 'estimator', otherwise='dictionary, or wls where plain friction laws are named',
        choices=tuple(ESTIMATORS),
    )
    friction: str | None = option(
        str, 'comma list of friction laws, none, or auto: terms chosen from the data',
        otherwise='auto', metavar='LAWS', check=check_friction,
    )
    cutoff: float | None = option(
        float, 'cut-off frequency of the zero-phase low-pass of the kinematics [Hz]',
        otherwise='chosen from the data', minimum=0.0, maximum=1000.0, metavar='HZ',
    )
    compensate_delay: bool | None = option(
        bool, 'shift kinematics earlier by the identified delay of the effort (up to 40 ms; it '
        'is always reported)',
    )
    corrections: str | None = option(
        str, 'corrections that are offered to each joint: a comma list of '
        f'{", ".join(CORRECTIONS)}, none, or auto: all beside a friction dictionary',
        otherwise='auto', metavar='GROUPS',
    )
    recipe: str | None = option(
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

    def __post_init__(self) -> None:
        names = self.joint_names
        if isinstance(names, str):
            names = parse_joint_names(names)
        elif names is not None and not isinstance(names, Mapping):
            raise DescriptionError('joint_names must map names: in the bag to in the model')
        if names is not None:
            names = {str(a): str(b) for a, b in names.items()}
        object.__setattr__(self, 'joint_names', names)
        check_options(self, but='joint_names')

    @property
    def names_in_bag(self) -> dict[str, str]:
        """Return the model's name of each joint by its name in the bag, where they differ."""
        return dict(self.joint_names) if isinstance(self.joint_names, Mapping) else {}

    def over(self, other: IdentifyArguments) -> IdentifyArguments:
        """Return these options, and those of another where they are not given."""
        return IdentifyArguments(**{
            entry.name: getattr(
                other if getattr(self, entry.name) is None else self, entry.name
            )
            for entry in fields(self)
        })

    def load_recipe(self) -> Recipe:
        """Return the recipe."""
        return Recipe() if self.recipe is None else load_recipe(Path(self.recipe))

    def identify_options(self) -> IdentifyOptions:
        """
        Return the options of `pipeline.identify`.

        Raises IdentificationError if the recipe cannot be read, or options do not fit together.
        """
        given = {
            name: value for entry in fields(self)
            if (value := getattr(self, name := entry.name)) is not None
        }
        given['recipe'] = recipe = self.load_recipe()
        if self.table_mapping is not None:
            given['table_mapping'] = Path(self.table_mapping)
        if 'cutoff' in given:
            given['kinematic_filter'] = KinematicFilter(
                order=recipe.order, cutoff=given.pop('cutoff')
            )
        return IdentifyOptions(**given)

    def as_plain(self) -> dict[str, Any]:
        """Return the given options as plain values; of a recipe its content."""
        given = {name: value for name, value in asdict(self).items() if value is not None}
        if self.recipe is not None:
            given['recipe'] = repr(self.load_recipe())
        if self.table_mapping is not None and is_there(Path(self.table_mapping)):
            given['table_mapping'] = read_text(Path(self.table_mapping))
        return given

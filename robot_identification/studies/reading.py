# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Common parts of studies that read bags of an arm: options of reading, groups of poses."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from robot_identification.estimation import COMMAND, EFFORT, take_position_errors
from robot_identification.model import RobotModel, STATED_UNITS
from robot_identification.options import check_options, option
from robot_identification.processing import check_robot_name, hold_as_recorded, read_arm
from robot_identification.recording import parse_joint_names, Recording

Item = TypeVar('Item')


@dataclass(frozen=True)
class ReadingOptions:
    """Options of reading bags."""

    topic: str | None = option(
        str, 'joint-state topic of the bags; several with a part of the joints each: A,B',
        otherwise='/joint_states',
    )
    effort_unit: str | None = option(
        str, 'unit of the recorded effort', otherwise='that of the bag or the robot YAML',
        choices=STATED_UNITS,
    )
    joint_names: str | None = option(
        str, 'names of the joints in the bag, BAG=MODEL,..', otherwise='those of the model',
        metavar='BAG=MODEL,..',
    )
    mapping: Path | None = option(
        Path, 'columns and units of recordings that are tables (docs/formats/mapping.md)',
        otherwise='LOG.yaml beside each, else recognized', metavar='FILE',
    )

    effort_from: str = option(
        str, 'source of the effort: as recorded, or the position error of proportional servos '
        'against the commanded positions of a log, whose delay is found', default=EFFORT,
        choices=(EFFORT, COMMAND),
    )

    def __post_init__(self) -> None:
        check_options(self)

    def read(
        self, robot: RobotModel, bags: Sequence[Path]
    ) -> tuple[RobotModel, list[Recording], list[str]]:
        """
        Return the arm with its held joints where they stood, its recordings, and notes on them.

        A note names a recording that does not state its robot, or held joints that stood
        elsewhere or moved.
        """
        names = parse_joint_names(self.joint_names)
        recordings = [
            read_arm(robot, bag, topic=self.topic, names=names, mapping=self.mapping)
            for bag in bags
        ]
        notes = [note for one in recordings if (note := check_robot_name(one, robot.name))]
        robot, held = hold_as_recorded(robot, recordings)
        notes += held
        if self.effort_from == COMMAND:
            with_errors, delay = take_position_errors(robot, recordings, names, self.mapping)
            return robot, list(with_errors), [*notes, delay.describe()]
        return robot, recordings, notes


def group_alike(items: Iterable[Item], alike: Callable[[Item, Item], bool]) -> list[list[Item]]:
    """Return items group by group; each is alike to the first of its group."""
    groups: list[list[Item]] = []
    for item in items:
        group = next((group for group in groups if alike(group[0], item)), None)
        if group is None:
            groups.append([item])
        else:
            group.append(item)
    return groups

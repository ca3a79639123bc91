# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Options of the payload study."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from robot_identification.errors import UsageError
from robot_identification.estimation import LATEST_TIME
from robot_identification.options import check_options, option

# What of every joint may differ from the model's runs, and the unknowns of a joint and run.
CHANGES = {'none': 0, 'offset': 1, 'friction': 3}
# Why an effort without gravity shows none.
UNKNOWN_PAYLOAD = (
    'how much of the gravity of a payload is left in it depends on the payload that is set on '
    'the controller'
)


@dataclass(frozen=True)
class PayloadOptions:
    """
    Options of the payload study.

    Rows of a moving joint below the speed `slowest` [rad/s] are left out, because models know
    friction least there. Raises UsageError if an option is out of its range, or two contradict
    each other.
    """

    static: bool = option(bool, 'use rests alone: mass and centre of mass', default=False)
    changes: str = option(
        str, 'parameters of every joint that may differ from the model: nothing, the offset, or '
        'offset, Coulomb and viscous friction', choices=tuple(CHANGES), default='offset',
    )
    frame: str | None = option(
        str, 'link to state the payload in, fixed to the last one',
        otherwise="the tool's (tool0, flange, ..), else the last link", metavar='LINK',
    )
    shortest_rest: float = option(
        float, 'minimum rest to count as a static pose [s]; its last half is averaged',
        default=2.0, minimum=0.0, metavar='S', key='shortest_dwell',
    )
    start: float | None = option(
        float, 'start of the window after the first joint state [s]', minimum=0.0,
        maximum=LATEST_TIME, metavar='S',
    )
    stop: float | None = option(
        float, 'end of the window after the first joint state [s]', minimum=0.0,
        maximum=LATEST_TIME, metavar='S',
    )
    mapping: Path | None = option(
        Path, 'columns and units of recordings that are tables (docs/formats/mapping.md)',
        otherwise='LOG.yaml beside each, else recognized', metavar='FILE',
    )
    slowest: float = 0.05

    def __post_init__(self) -> None:
        check_options(self)
        if not self.slowest >= 0.0:
            raise UsageError(
                f'the slowest speed is {self.slowest:g} rad/s, it must not be negative'
            )
        if self.static and self.changes == 'friction':
            raise UsageError('friction cannot be found at rest: choose --changes offset or none')

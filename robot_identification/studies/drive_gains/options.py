# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Options of the study of drive gains."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from robot_identification.errors import UsageError
from robot_identification.estimation import COMMAND
from robot_identification.model import Payload, RobotModel, tool_frame
from robot_identification.options import option
from robot_identification.studies.reading import ReadingOptions

# Poses that runs without and with a payload must share; chosen: with fewer the motion says more.
FEWEST_SHARED_POSES = 3


@dataclass(frozen=True)
class DriveGainsOptions(ReadingOptions):
    """
    Options of the study of drive gains.

    Raises UsageError if an option is out of its range, or only one of payload and bags with it is
    given.
    """

    smallest_current: float = option(
        float, 'smallest current [A]; poses with less are left out for the joint',
        default=0.05, minimum=0.0, metavar='A',
    )
    intercept: bool = option(bool, 'allow the current an offset at rest', default=False)
    shortest_rest: float = option(
        float, 'minimum rest to count as a static pose [s]; its last half is averaged',
        default=2.0, minimum=0.0, metavar='S', key='shortest_dwell',
    )
    torque_from: str = option(
        str, "torques at rest: target, the controller's target torques; urdf, the gravity of the "
        'masses in the URDF; or the gravity of an identified_model.yaml', default='target',
        metavar='SOURCE',
    )
    current: str | None = option(
        str, 'currents at rest', choices=('target', 'measured'),
        otherwise='target where torques are targets and it was recorded, else measured',
    )
    payload: tuple[float, ...] | None = option(
        float, 'a known payload instead: mass [kg] and centre of mass [m]; bags with it follow '
        '--loaded', count=4, metavar=('MASS', 'X', 'Y', 'Z'),
    )
    payload_inertia: tuple[float, ...] = option(
        float, 'inertia of the payload about its centre of mass [kg m^2]', count=6,
        metavar=('IXX', 'IYY', 'IZZ', 'IXY', 'IXZ', 'IYZ'), default=(0.0,) * 6,
        otherwise='that of a point',
    )
    payload_frame: str | None = option(
        str, 'link that the payload is stated in', otherwise="the tool's (tool0, flange, ..)",
        metavar='LINK',
    )
    loaded: tuple[Path, ...] = option(
        Path, 'bags with the payload', count='+', metavar='BAG', default=(),
    )
    use: str = option(
        str, 'part of the effect of a payload that is used: that at poses that both runs have, '
        f'or that in motion; auto: poses where there are {FEWEST_SHARED_POSES}',
        choices=('auto', 'poses', 'motion'), default='auto',
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if (self.payload is None) != (not self.loaded):
            raise UsageError(
                '--payload and --loaded go together: what it weighs, and bags with it'
            )

    @property
    def gain_unit(self) -> str:
        """Unit of the gains: joint torque per motor current, or per position error of a servo."""
        return 'N m/rad' if self.effort_from == COMMAND else 'N m/A'

    def known_payload(self, robot: RobotModel) -> Payload | None:
        """Return the known payload, if any; raises UsageError if it cannot be a rigid body."""
        if self.payload is None:
            return None
        mass, *center = self.payload
        if not mass > 0.0:
            raise UsageError(f'the mass of the payload is {mass:g} kg, it must be positive')
        xx, yy, zz, xy, xz, yz = self.payload_inertia
        payload = Payload(
            mass, np.array(center), np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]),
            tool_frame(robot, self.payload_frame),
        )
        if not payload.is_possible:
            raise UsageError(
                'no rigid body has this --payload-inertia: none of Ixx, Iyy, Izz is negative, or '
                'more than the sum of the others'
            )
        return payload

# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Experiment: what motion is wanted, within which margins and limits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.errors import DescriptionError
from robot_identification.excitation.collision import Obstacle
from robot_identification.excitation.parametrizations.composite import Segment
from robot_identification.excitation.parametrizations.parametrization import Parametrization
from robot_identification.model import DEFAULT_PREFERENCE

# One number for every joint, or numbers by joint.
JointValues = float | Mapping[str, float]
Triple = tuple[float, float, float]

# Between links, and to obstacles [m]; chosen for a first motion, a cell may need more.
DEFAULT_CLEARANCE = 0.02


@dataclass(frozen=True)
class FrameBox:
    """A box in the root frame that the origin of the link `frame` stays in."""

    frame: str
    lower: Triple  # corner [m], infinite where a side is open
    upper: Triple  # likewise


@dataclass(frozen=True)
class FrameSpeed:
    """The largest speed of the origin of the link `frame` [m/s]."""

    frame: str
    limit: float


@dataclass(frozen=True)
class SumOfJoints:
    """A range of a weighted sum of joint positions."""

    joints: Mapping[str, float]  # factor of each joint
    offset: float  # added to the sum [rad]
    lower: float  # [rad], infinite where a side is open
    upper: float  # likewise


@dataclass(frozen=True)
class SineTimesCosine:
    """A largest value of the sine of one joint times the magnitude of the cosine of another."""

    sine: str
    cosine: str
    at_most: float


@dataclass(frozen=True, eq=False)
class ExtraLimits:
    """Limits beyond margins and windows; by default none."""

    jerk: JointValues | None = None  # largest jerk [rad/s^3]
    # By kind (velocity, acceleration, torque), what is taken for the robot's own limit where that
    # is wider.
    limits: Mapping[str, JointValues] = field(default_factory=dict)
    workspace: tuple[FrameBox, ...] = ()  # where links stay
    tool_speed: FrameSpeed | None = None  # how fast a link moves
    rules: tuple[SumOfJoints | SineTimesCosine, ...] = ()  # what positions keep together


@dataclass(frozen=True)
class Margins:
    """Margins to the hardware's limits: a distance [rad], and shares of the limits."""

    position: float = 0.1
    velocity: float = 0.8
    acceleration: float = 0.8
    torque: float = 0.8

    def __post_init__(self) -> None:
        if not 0.0 <= self.position < np.pi:
            raise DescriptionError(f'margin of position is {self.position} rad, allowed 0 to pi')
        for name in ('velocity', 'acceleration', 'torque'):
            value = getattr(self, name)
            if not 0.0 < value <= 1.0:
                raise DescriptionError(
                    f'margin of {name} is {value}, it is the share of the limit that may be used: '
                    'above 0 and at most 1'
                )


@dataclass(frozen=True, eq=False)
class Experiment:
    """A wanted motion."""

    form: Parametrization  # family of the motion
    periods: int  # how often it is repeated
    margins: Margins  # distance from the hardware's limits
    window: Mapping[str, tuple[float, float]]  # position range by joint [rad], inside the limits
    gravity: FloatArray  # (3,): in the URDF's root frame [m/s^2]
    friction: str  # friction laws whose columns take part in the criterion
    # Names in CRITERIA and OPTIMIZERS.
    criterion: str
    optimizer: str
    # Samples of a period the criterion is optimized on; of several sets the worst counts.
    samples: tuple[int, ...]
    # Motions before and after that of the form in each repetition, and how many come before.
    segments: tuple[Segment, ...] = ()
    segments_before: int = 0
    # Options of the optimizer by name.
    optimizer_options: Mapping[str, Any] = field(default_factory=dict)
    # Positions that joints move about [rad], where they are not left to the optimizer.
    center: Mapping[str, float] = field(default_factory=dict)
    # Link frames and leading parameters of the base set, on which condition numbers depend.
    frames: str = 'joint'
    preference: str = DEFAULT_PREFERENCE
    rotor_inertia: bool = True  # whether reflected rotor inertias are among the parameters
    # Whether motions are proved free of collision; False is for arms without collision shapes, in
    # a cell where nothing is within reach.
    collision: bool = True
    # Distance that links keep from each other and from obstacles [m].
    clearance: float = DEFAULT_CLEARANCE
    # Whether limits and collision check were chosen for want of better: the certificate lists them
    # as not checked.
    generic: bool = False
    obstacles: tuple[Obstacle, ...] = ()  # what stands in the cell
    # Further limits, see `ExtraLimits`.
    jerk: JointValues | None = None
    limits: Mapping[str, JointValues] = field(default_factory=dict)
    workspace: tuple[FrameBox, ...] = ()
    tool_speed: FrameSpeed | None = None
    rules: tuple[SumOfJoints | SineTimesCosine, ...] = ()
    # 'sampled', or 'conservative': sums over harmonics keep the limits of the joints.
    bounds: str = 'sampled'

    @property
    def duration(self) -> float:
        """Length of one repetition, segments included [s]."""
        return self.form.duration + sum(one.form.duration for one in self.segments)

    @property
    def extra_limits(self) -> ExtraLimits:
        """Limits beyond margins and window."""
        return ExtraLimits(self.jerk, self.limits, self.workspace, self.tool_speed, self.rules)

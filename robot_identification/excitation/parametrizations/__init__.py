# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Trajectory forms.

To add one: write its class, add one line to PARAMETRIZATIONS; the contract tests run over it.
"""

from robot_identification.excitation.parametrizations.composite import CompositeParametrization
from robot_identification.excitation.parametrizations.fourier import FourierParametrization
from robot_identification.excitation.parametrizations.parametrization import Parametrization
from robot_identification.excitation.parametrizations.point_to_point import (
    StaticPosesParametrization, TrapezoidalParametrization, ViaPointsParametrization,
)
from robot_identification.excitation.parametrizations.sampled import SampledParametrization

PARAMETRIZATIONS: dict[str, type[Parametrization]] = {
    'fourier': FourierParametrization,
    'via_points': ViaPointsParametrization,
    'static_poses': StaticPosesParametrization,
    'trapezoidal': TrapezoidalParametrization,
    'composite': CompositeParametrization,
    'sampled': SampledParametrization,
}

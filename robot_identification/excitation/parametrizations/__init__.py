# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Trajectory forms, one a file.

To add one: write its file, add one line to PARAMETRIZATIONS; the contract tests run over it.
"""

from robot_identification.excitation.parametrizations.bspline import BSplineParametrization
from robot_identification.excitation.parametrizations.composite import CompositeParametrization
from robot_identification.excitation.parametrizations.fourier import FourierParametrization
from robot_identification.excitation.parametrizations.modified_fourier import (
    ModifiedFourierParametrization,
)
from robot_identification.excitation.parametrizations.parametrization import Parametrization
from robot_identification.excitation.parametrizations.pick_and_place import (
    PickAndPlaceParametrization,
)
from robot_identification.excitation.parametrizations.sampled import SampledParametrization
from robot_identification.excitation.parametrizations.static_poses import (
    StaticPosesParametrization,
)
from robot_identification.excitation.parametrizations.trapezoidal import TrapezoidalParametrization
from robot_identification.excitation.parametrizations.via_points import ViaPointsParametrization

PARAMETRIZATIONS: dict[str, type[Parametrization]] = {
    'fourier': FourierParametrization,
    'modified_fourier': ModifiedFourierParametrization,
    'bspline': BSplineParametrization,
    'via_points': ViaPointsParametrization,
    'static_poses': StaticPosesParametrization,
    'trapezoidal': TrapezoidalParametrization,
    'pick_and_place': PickAndPlaceParametrization,
    'composite': CompositeParametrization,
    'sampled': SampledParametrization,
}

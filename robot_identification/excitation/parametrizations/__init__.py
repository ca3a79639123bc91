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

"""
Trajectory forms, one a file.

To add one: write its file, add one line to PARAMETRIZATIONS; the contract tests run over it.
"""

from robot_identification.excitation.parametrizations.bspline import BSplineParametrization
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
    'sampled': SampledParametrization,
}

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
Optimizers, one a file.

To add one: write its file, add one line to OPTIMIZERS; the contract tests run over every entry.
"""

from robot_identification.excitation.optimizers.genetic import Genetic
from robot_identification.excitation.optimizers.memetic import Memetic
from robot_identification.excitation.optimizers.multistart import Multistart
from robot_identification.excitation.optimizers.optimizer import Optimizer
from robot_identification.excitation.optimizers.random_motion import RandomMotion
from robot_identification.excitation.optimizers.spectral import Spectral

OPTIMIZERS: dict[str, type[Optimizer]] = {
    'spectral': Spectral,
    'multistart': Multistart,
    'memetic': Memetic,
    'genetic': Genetic,
    'random': RandomMotion,
}
DEFAULT_OPTIMIZER = 'spectral'

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
One BLAS thread, before any test imports NumPy.

The package sets the same where it is imported first. Tests import NumPy before it; with more
threads the same small matrices take 3 to 100 times as long.
"""

import os

VARIABLES = ('OPENBLAS_NUM_THREADS', 'OMP_NUM_THREADS', 'MKL_NUM_THREADS')
for _variable in VARIABLES:
    os.environ.setdefault(_variable, '1')
BLAS_THREADS = os.environ[VARIABLES[0]]

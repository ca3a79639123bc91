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
Measurements of this package, run by hand: `python -m benchmarks [NAME ...]`.

A benchmark is a file with `measure(repeats)` that returns its figures, and one line in BENCHMARKS
of __main__.py. Figures of speed are ratios taken in one run, because a time alone says more about
the machine than about the code.
"""

import os

# Before NumPy is imported: more BLAS threads make small matrices slower, and times scatter.
for _name in ('OPENBLAS_NUM_THREADS', 'OMP_NUM_THREADS', 'MKL_NUM_THREADS'):
    os.environ[_name] = '1'

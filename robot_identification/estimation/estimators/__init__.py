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
Estimators, one a file: an IdentificationProblem in, an Estimate out.

To add one: write its file, add one line to ESTIMATORS; the contract tests run over every entry.
"""

from robot_identification.estimation.estimators.bisquare import BisquareRegression
from robot_identification.estimation.estimators.consistent import ConsistentLeastSquares
from robot_identification.estimation.estimators.consistent import LogCholeskyLeastSquares
from robot_identification.estimation.estimators.constrained import ConstrainedLeastSquares
from robot_identification.estimation.estimators.dictionary import DictionaryFit
from robot_identification.estimation.estimators.essential import EssentialParameters
from robot_identification.estimation.estimators.generalized import GeneralizedLeastSquares
from robot_identification.estimation.estimators.huber import HuberRegression
from robot_identification.estimation.estimators.instrumental_variables import InstrumentalVariables
from robot_identification.estimation.estimators.joint_groups import JointGroupLeastSquares
from robot_identification.estimation.estimators.limit_weighted import LimitWeightedLeastSquares
from robot_identification.estimation.estimators.maximum_likelihood import MaximumLikelihood
from robot_identification.estimation.estimators.ordinary import OrdinaryLeastSquares
from robot_identification.estimation.estimators.recursive import RecursiveLeastSquares
from robot_identification.estimation.estimators.ridge import RidgeRegression
from robot_identification.estimation.estimators.total_least_squares import TotalLeastSquares
from robot_identification.estimation.estimators.weighted import WeightedLeastSquares
from robot_identification.estimation.problem import Estimator

ESTIMATORS: dict[str, type[Estimator]] = {
    'ols': OrdinaryLeastSquares,
    'wls': WeightedLeastSquares,
    'raviola_wls': LimitWeightedLeastSquares,
    'gls': GeneralizedLeastSquares,
    'ridge': RidgeRegression,
    'constrained': ConstrainedLeastSquares,
    'consistent': ConsistentLeastSquares,
    'log_cholesky': LogCholeskyLeastSquares,
    'huber': HuberRegression,
    'bisquare': BisquareRegression,
    'dictionary': DictionaryFit,
    'tls': TotalLeastSquares,
    'recursive': RecursiveLeastSquares,
    'essential': EssentialParameters,
    'joint_groups': JointGroupLeastSquares,
    'iv': InstrumentalVariables,
    'maximum_likelihood': MaximumLikelihood,
}

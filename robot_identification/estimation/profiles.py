# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
The methods of five published works, each as one set of choices from end to end.

A profile says what a paper does, so that it can be compared; where the paper leaves something
open, or is wrong, `departures` says what is done instead.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from robot_identification.errors import UsageError
from robot_identification.estimation.estimate import Estimator
from robot_identification.estimation.estimators import ESTIMATORS
from robot_identification.estimation.estimators.constrained import ConstrainedLeastSquares
from robot_identification.estimation.estimators.joint_groups import JointGroupLeastSquares
from robot_identification.estimation.estimators.limit_weighted import LimitWeightedLeastSquares
from robot_identification.estimation.estimators.ordinary import OrdinaryLeastSquares
from robot_identification.estimation.estimators.ridge import RidgeRegression
from robot_identification.estimation.estimators.weighted import WeightedLeastSquares
from robot_identification.estimation.two_encoders import TwoEncoders
from robot_identification.model import (
    CoulombFriction, CoulombSignFriction, FrictionLaw, KinematicFilter, ViscousFriction,
)


@dataclass(frozen=True)
class Profile:
    """Named set of identification options."""

    paper: str  # where the method is published
    method: str  # what it does, with the paper's equations
    departures: tuple[str, ...]  # where this differs from the paper, and why
    # laws of every joint, with the constants they have here: none is to be searched for
    friction: tuple[FrictionLaw, ...]
    estimator: Estimator  # with its options
    # smoothing of position and velocity, before they are differentiated
    kinematic_filter: KinematicFilter
    # smoothing of the effort that parameters are estimated from; by default none. Errors are taken
    # on the raw effort all the same
    effort_filter: KinematicFilter | None = None
    # cut-off [Hz] of the low-pass that observation matrix and torques go through together before
    # rows are left out; by default they do not
    decimation: float | None = None
    # rows of joints slower than this [rad/s] are left out; by default none are
    slowest: float | None = None
    reflected_inertia: bool = True  # whether rotor inertias are among the parameters
    # what is done with rotor positions, where they were recorded
    two_encoders: TwoEncoders | None = None

    @property
    def estimator_name(self) -> str:
        """Key of the estimator in ESTIMATORS."""
        return next(
            name for name, kind in ESTIMATORS.items() if isinstance(self.estimator, kind)
        )


PORCELLI_2020 = Profile(
    paper=(
        'G. Porcelli, "Dynamic parameters identification of a UR5 robot manipulator", thesis, '
        'Politecnico di Torino, 2020'
    ),
    method=(
        'rigid bodies only, without friction and rotors (chapter 4); least squares on the base '
        'parameters (eq. 3.62 to 3.64); nothing is filtered'
    ),
    departures=(
        'the whole arm is identified at once: the thesis takes base, shoulder and elbow apart '
        'from the wrist, which leaves out what the weight of the wrist does to the arm: profile '
        'porcelli_2020_groups does as well',
        'velocities and accelerations are those of a recording; the thesis has those of the '
        'planned motion of a simulated arm',
        'base parameters are found by QR with a tolerance; the rule printed in the thesis, '
        'abs(R_ii) < 0, is never met',
    ),
    friction=(),
    estimator=OrdinaryLeastSquares(),
    kinematic_filter=KinematicFilter(kind='none'),
    reflected_inertia=False,
)

PORCELLI_2020_GROUPS = replace(
    PORCELLI_2020,
    method=(
        'as porcelli_2020, in the two groups of chapter 4: base, shoulder and elbow from their '
        'own torques as if the arm ended there, and the wrist (equations 4.1 to 4.3)'
    ),
    departures=(
        'what the wrist does to the arm is left out as in the thesis, which says itself that '
        'this leads to mistakes; a note says how large it was',
        'both groups move at once and the wrist is identified as it is carried, with 21 base '
        'parameters; the thesis moves it by itself on a vertical base at rest, with 15',
        *PORCELLI_2020.departures[1:],
    ),
    estimator=JointGroupLeastSquares(sizes=(3, 3), neglect_distal=True, reweightings=0),
)

RAJAGOPAL_2017 = Profile(
    paper=(
        'J. Rajagopal, "Dynamic robot model parameter identification via domain specific '
        'optimization", R&D report, Hochschule Bonn-Rhein-Sieg, 2017'
    ),
    method=(
        'ten inertial parameters a link, without friction and rotors; ridge regression on all of '
        'them with the smallest eigenvalue that is not zero (eq. 3.73); velocity and acceleration '
        'by differences'
    ),
    departures=(
        'the result is mapped to base parameters: masses of single links (table 4.1) are what the '
        'penalty makes of combinations, and the report itself finds them implausible',
        'differentiation in the frequency domain (section 3.5.2) is described there, but its data '
        'were random motions differentiated directly; for periodic motions choose filter fourier',
        'break-away friction is measured joint by joint there (section 3.6) and is no part of the '
        'fit',
    ),
    friction=(),
    estimator=RidgeRegression(),
    kinematic_filter=KinematicFilter(kind='none'),
    reflected_inertia=False,
)

TIKA_2020 = Profile(
    paper=(
        'A. Tika, J. Ulmen, N. Bajcinca, "Dynamic parameter estimation utilizing optimized '
        'trajectories", 2020'
    ),
    method=(
        'sign and viscous friction (eq. 8) and rotor inertias; velocities and currents smoothed '
        'by robust local regression, accelerations by central differences; least squares with '
        'rotor inertias that are not negative (section V)'
    ),
    departures=(
        'the span of the smoothing is not printed: 0.15 s, 19 samples at 125 Hz',
        'rotor inertias that merge with link inertias (joints 1 and 2 of a UR5) have no bound; '
        'the paper does not say what its bound is for these',
        'the sign of a velocity of zero, which the paper does not define, is zero',
        'the pseudo-inverse is taken by QR; its equation 13 lacks a transpose',
    ),
    friction=(CoulombSignFriction(), ViscousFriction()),
    estimator=ConstrainedLeastSquares(friction=False),
    kinematic_filter=KinematicFilter(kind='rloess', span=0.15),
    effort_filter=KinematicFilter(kind='rloess', span=0.15),
)

_RAVIOLA_PAPER = (
    'A. Raviola, R. Guida, A. De Martin, S. Pastorelli, S. Mauro, M. Sorli, "Effects of '
    'temperature and mounting configuration on the dynamic parameters identification of '
    'industrial robots", Robotics 10(3), 2021'
)
_RAVIOLA_FRICTION = (CoulombFriction(width=0.001), ViscousFriction())
_RAVIOLA_DEPARTURES = (
    'the filter that the paper uses for all signals is not printed: that of this package, forward '
    'and backward, for kinematics and effort alike',
    'the smooth sign has the printed width of 0.001 rad/s, which is no more than the noise of a '
    'measured velocity at rest',
)

RAVIOLA_2021 = Profile(
    paper=_RAVIOLA_PAPER,
    method=(
        'Coulomb friction tanh(dq / 0.001), viscous friction and rotor inertias; all signals '
        'filtered, accelerations from velocities; least squares on the base parameters (eq. 9), '
        'which the authors prefer to weighted ones'
    ),
    departures=_RAVIOLA_DEPARTURES,
    friction=_RAVIOLA_FRICTION,
    estimator=OrdinaryLeastSquares(),
    kinematic_filter=KinematicFilter(),
    effort_filter=KinematicFilter(),
)

RAVIOLA_2021_WLS = Profile(
    paper=_RAVIOLA_PAPER,
    method=(
        'as raviola_2021, with the rows of each joint over its torque limit (eq. 10), which the '
        'authors compare'
    ),
    departures=(
        *_RAVIOLA_DEPARTURES,
        'rows are scaled: the 139 s that the paper needs are those of a dense weight matrix',
        'the gear ratio in its weights is that of all joints and changes nothing',
    ),
    friction=_RAVIOLA_FRICTION,
    estimator=LimitWeightedLeastSquares(),
    kinematic_filter=KinematicFilter(),
    effort_filter=KinematicFilter(),
)

MADSEN_2020 = Profile(
    paper=(
        'E. Madsen, S. A. Timm, N. A. Ujfalusi, O. S. Rosenlund, D. Brandt, X. Zhang, "Dynamics '
        'parametrization and calibration of flexible-joint collaborative industrial robot '
        'manipulators", Mathematical Problems in Engineering, 2020'
    ),
    method=(
        'inverse dynamics and weighted least squares: positions through a Butterworth low-pass of '
        'order 4 forward and backward (section 4.1), central differences; observation matrix and '
        'torques of each joint filtered alike and every n-th row kept (4.2); weights from the '
        'residuals of one least-squares fit (4.3); rotor side compensated by the second encoder '
        '(3.1), sign and viscous friction as corrections'
    ),
    departures=(
        'where a recording has no rotor positions, the rotors turn as the links do, and the '
        'compensation of rotor dynamics, the point of the paper, has nothing to work with',
        'rotor inertias that the YAML of the robot does not state are estimated; the paper knows '
        'them',
        'friction is all in the sign and viscous terms unless a recipe states a friction estimate '
        'found beforehand (docs/two_encoders.md); the paper subtracts a nonlinear one, for which '
        'law strain_wave stands',
        'its equations and numbers are lost in our copy: the cut-off of 50 Hz is five times a '
        'dynamics of 10 Hz, and 20 Hz follows from keeping every 20th of 1000 rows a second',
        'degrees of freedom are shared equally by the joints; the paper takes off the parameters '
        'that act on each',
    ),
    friction=(CoulombSignFriction(), ViscousFriction()),
    estimator=WeightedLeastSquares(reweightings=1),
    kinematic_filter=KinematicFilter(order=4, cutoff=50.0),
    decimation=20.0,
    two_encoders=TwoEncoders(),
)

PROFILES: dict[str, Profile] = {
    'porcelli_2020': PORCELLI_2020,
    'porcelli_2020_groups': PORCELLI_2020_GROUPS,
    'rajagopal_2017': RAJAGOPAL_2017,
    'tika_2020': TIKA_2020,
    'raviola_2021': RAVIOLA_2021,
    'raviola_2021_wls': RAVIOLA_2021_WLS,
    'madsen_2020': MADSEN_2020,
}


def find_profile(name: str) -> Profile:
    """Return a profile by its name; an unknown one raises a `UsageError`."""
    if name not in PROFILES:
        raise UsageError(f'unknown profile {name!r}: known are {", ".join(PROFILES)}')
    return PROFILES[name]

# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Write friction as the JSON of Better Actuator Models (BAM), one model for each joint."""

from __future__ import annotations

import json

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.export.arm import check_consistent, covered, exported_arm
from robot_identification.export.friction_forms import friction_curve
from robot_identification.model import IdentifiedModel
import scipy

# The variant with Stribeck and load-dependent friction, and the actuator of theirs that takes a
# torque; both are names of their library.
VARIANT, ACTUATOR = 'm4', 'unitree_go1'
# Exponent of the Stribeck curve: a Gaussian, as in LuGre friction.
ALPHA = 2.0
# Loads of the fit as multiples of the mean load [1], chosen.
LOADS = (0.0, 0.5, 1.0, 1.5, 2.0)
# Of a joint whose limit is not known [N m]: their own default would cut its torque at 23.7.
NO_LIMIT = 1.0e9
# What their loader sets beside the gain and the voltage of servos, and a torque does not need.
UNUSED = {'error_gain': 1.0, 'max_pwm': 1.0}


def fit_bam(model: IdentifiedModel, theta: FloatArray, joint: int) -> dict[str, float]:
    """
    Return the friction of a joint with parameters (p,) that is nearest over speed and load.

    By the names of BAM: torques at any speed and more at rest [N m], the same per torque between
    motor and load, Stribeck velocity [rad/s], exponent and viscous friction [N m s/rad].

    The load of BAM is the torque between motor and load: twice that of gravity at a steady
    velocity, or the friction itself where that is more, the mean of both directions.
    """
    mean = covered(model, 'loads', joint)
    curves = [friction_curve(model, theta, joint, load * mean) for load in LOADS]
    speeds = np.tile(curves[0].speeds, len(curves))
    torque = np.concatenate([curve.torque for curve in curves])
    loads = np.repeat([curve.load for curve in curves], len(curves[0].speeds))
    between = np.maximum(2.0 * loads, torque)

    def columns(velocity: float) -> FloatArray:
        rest = np.exp(-(speeds / velocity) ** ALPHA)
        return np.column_stack([
            np.ones_like(speeds), rest, between, between * rest, speeds
        ])

    # Without load-dependent friction nothing is to be taken for it.
    depends = mean > 0.0 and bool(np.ptp([curve.torque[0] for curve in curves]) > 0.0)
    most = np.array([np.inf, np.inf, *(2 * [np.inf if depends else 1e-12]), np.inf])

    def solve(velocity: float) -> tuple[float, FloatArray]:
        found = scipy.optimize.lsq_linear(columns(velocity), torque, (np.zeros(5), most))
        return float(found.cost), found.x

    fastest = curves[0].speeds[-1]
    logarithm = scipy.optimize.minimize_scalar(
        lambda value: solve(float(np.exp(value)))[0],
        bounds=(np.log(0.01 * fastest), np.log(fastest)), method='bounded',
    ).x
    velocity = float(np.exp(logarithm))
    _, found = solve(velocity)
    values = [float(value) if value > 1e-12 else 0.0 for value in found]
    base, stribeck, load, load_stribeck, viscous = values
    return {
        'friction_base': base,
        'friction_stribeck': stribeck,
        'load_friction_base': load,
        'load_friction_stribeck': load_stribeck,
        'dtheta_stribeck': velocity,
        'alpha': ALPHA,
        'friction_viscous': viscous,
    }


def export_bam(model: IdentifiedModel) -> str:
    """
    Return a JSON for `bam.mujoco.load_config`: one group for each joint, with its model.

    Their actuator is one whose controller gives a torque, named as the joint; its gains are the
    simulation's. Raises InconsistentModelError if the model is not physically consistent.
    """
    arm, theta = exported_arm(model), check_consistent(model)
    groups = {
        joint.name: {
            'dofs': [joint.name],
            **UNUSED,
            'model': {
                'model': VARIANT,
                'actuator': ACTUATOR,
                'ratio': 1.0,
                'armature': joint.reflected_inertia,
                'max_torque': min(joint.effort, NO_LIMIT),
                **fit_bam(model, theta, number),
            },
        }
        for number, joint in enumerate(arm.joints)
    }
    return json.dumps(groups, indent=2) + '\n'

# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Write an actuator group of Isaac Lab with the identified rotors and friction."""

from __future__ import annotations

import json

import numpy as np
from robot_identification.export.arm import exported_arm
from robot_identification.export.friction_forms import fit_all_frictions, LUGRE, PLAIN
from robot_identification.export.usd import static_friction
from robot_identification.model import IdentifiedModel

_TEXT = '''\
"""
Actuators of an arm for Isaac Lab 2.2 and later on Isaac Sim 5, identified by robot_identification.

    ArticulationCfg(actuators=ACTUATORS, ..)

Armature in kg m^2 (kg), friction in N m (N) and N m s/rad (N s/m). `stiffness` and `damping` are
those of your controller: None keeps what the USD has.
"""

from isaaclab.actuators import ImplicitActuatorCfg

ACTUATORS = {{
    "arm": ImplicitActuatorCfg(
        joint_names_expr={names},
        stiffness=None,
        damping=None,
{fields}
    ),
}}
'''


def export_isaac_lab(model: IdentifiedModel) -> str:
    """
    Return a Python file with an `ImplicitActuatorCfg` for the arm.

    Static friction is that of the curve at rest, the others are the nearest Coulomb and viscous
    friction. Raises InconsistentModelError if the model is not physically consistent.
    """
    arm = exported_arm(model)
    plain, bristle = fit_all_frictions(model, PLAIN), fit_all_frictions(model, LUGRE)
    columns = {
        'armature': [joint.reflected_inertia for joint in arm.joints],
        'friction': [static_friction(*pair) for pair in zip(plain, bristle, strict=True)],
        'dynamic_friction': [one.coulomb for one in plain],
        'viscous_friction': [one.damping[0] for one in plain],
        'effort_limit_sim': [joint.effort for joint in arm.joints],
        'velocity_limit_sim': [joint.velocity for joint in arm.joints],
    }
    names = [joint.name for joint in arm.joints]
    fields = []
    for field, values in columns.items():
        known = {
            name: value for name, value in zip(names, values, strict=True) if np.isfinite(value)
        }
        if known:
            text = json.dumps(known, indent=4).replace('\n', '\n        ')
            fields.append(f'        {field}={text},')
    return _TEXT.format(names=json.dumps(names), fields='\n'.join(fields))

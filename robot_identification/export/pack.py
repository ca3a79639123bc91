# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Files of an arm for simulators, with models to randomize over that the data allow."""

from __future__ import annotations

from dataclasses import dataclass, replace
import json

from robot_identification.errors import UsageError
from robot_identification.estimation import draw_consistent
from robot_identification.export.arm import exported_arm
from robot_identification.export.friction_forms import PLAIN
from robot_identification.export.isaac_lab import export_isaac_lab
from robot_identification.export.mjcf import export_mjcf
from robot_identification.export.urdf import export_urdf
from robot_identification.export.usd import export_usd
from robot_identification.model import IdentifiedModel

SCHEMA_VERSION = 1  # of randomization.json
MOST_MODELS = 10_000  # chosen: minutes of conic programs, and files that a folder still lists


@dataclass(frozen=True)
class PackOptions:
    """Options of a simulation pack."""

    friction_form: str = PLAIN  # of `friction_forms.FORMS`
    usd_joints: str = ''  # prim that holds the joints, by default /ROBOT/joints
    # Models to randomize over, and the seed of their draw; a hundred hold 98 % of what the
    # covariance does.
    models: int = 100
    seed: int = 0


def simulation_pack(model: IdentifiedModel, options: PackOptions) -> dict[str, str]:
    """
    Return the files of a simulation pack by their names in its folder.

    Raises UsageError if an option is out of range, InconsistentModelError if the model is not
    physically consistent.
    """
    if not 1 <= options.models <= MOST_MODELS:
        raise UsageError(f'--models is {options.models}, it must be 1 to {MOST_MODELS}')
    files = {
        'arm.urdf': export_urdf(model),
        'arm.xml': export_mjcf(model, options.friction_form),
        'arm_joints.usda': export_usd(model, options.usd_joints),
        'isaac_lab.py': export_isaac_lab(model),
    }
    draws = draw_consistent(model, options.models, options.seed)
    width, listed = len(str(options.models - 1)), []
    for number, theta in enumerate(draws.theta):
        drawn = replace(
            model, theta_consistent=theta, theta_base=model.reduction.K @ theta
        )
        name = f'models/{number:0{width}d}.xml'
        files[name] = export_mjcf(drawn, options.friction_form)
        listed.append({'file': name, 'joints': [{
            'name': joint.name,
            'mass': joint.body.mass,
            'center_of_mass': joint.body.lever.tolist(),
            'inertia': joint.body.inertia.tolist(),
            'armature': joint.reflected_inertia,
            'coulomb': joint.coulomb,
            'viscous': joint.viscous,
        } for joint in exported_arm(drawn).joints]})
    files['randomization.json'] = json.dumps({
        'schema_version': SCHEMA_VERSION,
        'robot': model.robot.name,
        'seed': options.seed,
        'covariance_kind': model.covariance_kind,
        'moved_to_possible': draws.moved,
        'units': 'kg, m, kg m^2 about the centre of mass in the frame of the joint, N m, '
                 'N m s/rad',
        'models': listed,
    }, indent=1) + '\n'
    return files

# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""A Pinocchio model with everything identified that Pinocchio has a place for."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from robot_identification.export.arm import exported_arm
from robot_identification.model import IdentifiedModel


def build_pinocchio_model(model: IdentifiedModel) -> pin.Model:
    """
    Return the arm for Pinocchio: identified bodies, rotors, plain friction, limits and gravity.

    Joints that the model does not move are locked, and their bodies are part of the link before
    them. Pinocchio's `rnea` has bodies and rotors (`armature`); friction (`friction`, of Coulomb)
    and `damping` (viscous) are in the model for what uses them, and not in `rnea`. Raises
    InconsistentModelError if the model is not physically consistent.
    """
    arm = exported_arm(model)
    # The joints' limits are those of the robot's YAML, which win over the URDF's.
    built = model.robot.pinocchio.copy()
    built.gravity.linear = arm.gravity
    for number, joint in enumerate(arm.joints, start=1):
        built.inertias[number] = joint.body
    built.armature = np.array([joint.reflected_inertia for joint in arm.joints])
    built.friction = np.array([joint.coulomb for joint in arm.joints])
    built.damping = np.array([joint.viscous for joint in arm.joints])
    limits = model.robot.limits
    built.lowerPositionLimit = limits.lower
    built.upperPositionLimit = limits.upper
    built.velocityLimit = limits.velocity
    built.effortLimit = limits.effort
    return built

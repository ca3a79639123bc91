# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The physically consistent bodies of a model, link by link, beside those of its URDF."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from robot_identification.model import IdentifiedModel, prior_inertial_parameters, pseudo_inertia


@dataclass(frozen=True)
class LinkBody:
    """One link as a rigid body."""

    joint: str  # the joint that moves it
    # Of the model and of the URDF [kg].
    mass: float
    urdf_mass: float
    center: tuple[float, float, float]  # centre of mass in the joint's frame [m]
    # Of the pseudo-inertia, ascending [kg m^2, kg]: all positive for a consistent body.
    eigenvalues: tuple[float, ...]

    @property
    def can_exist(self) -> bool:
        """Return whether some distribution of mass has these parameters."""
        return self.eigenvalues[0] > 0.0


def link_bodies(model: IdentifiedModel) -> tuple[LinkBody, ...]:
    """Return the bodies that exports use; none where the model has no consistent parameters."""
    if model.theta_consistent is None:
        return ()
    inertial = model.theta_consistent[: 10 * model.robot.n].reshape(-1, 10)
    urdf = prior_inertial_parameters(model.robot).reshape(-1, 10)
    return tuple(
        LinkBody(
            joint,
            float(own[0]),
            float(prior[0]),
            _center(own),
            tuple(map(float, np.linalg.eigvalsh(pseudo_inertia(own)))),
        )
        for joint, own, prior in zip(model.robot.joint_names, inertial, urdf, strict=True)
    )


def _center(parameters: np.ndarray) -> tuple[float, float, float]:
    x, y, z = parameters[1:4] / parameters[0]
    return float(x), float(y), float(z)

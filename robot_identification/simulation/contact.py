# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Contact of a simulated arm: a force on a link for some time.

The torque of a force is ``J^T F`` by MuJoCo's Jacobian of the point that is touched, so that the
arm is really pushed: position-controlled drives have to hold against it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.errors import UsageError


@dataclass(frozen=True, eq=False)
class Contact:
    """
    Force on a point of a link.

    `link` is a moved link of the URDF, with all that is fixed to it; `point` (3,) is in its frame
    [m], `force` (3,) on the arm in the URDF's root frame [N], and `start` and `duration` in
    simulated time [s]. With `stiffness` [N/m] the force is that of a spring in the direction of
    `force`: it is proportional to how far the point has come against that direction since the
    contact began, and at most `force`. Without it the whole force acts at once. Raises UsageError
    if a value is out of range.
    """

    link: str
    point: FloatArray
    force: FloatArray
    start: float
    duration: float
    stiffness: float | None = None

    def __post_init__(self) -> None:
        for name in ('point', 'force'):
            value = getattr(self, name)
            if np.shape(value) != (3,) or not np.all(np.isfinite(value)):
                raise UsageError(
                    f'contact: {name} is {np.asarray(value).tolist()}, it must be 3 finite numbers'
                )
        if not np.isfinite(self.start):
            raise UsageError(f'contact: start is {self.start!r} s, it must be finite')
        if not (np.isfinite(self.duration) and self.duration > 0.0):
            raise UsageError(f'contact: duration is {self.duration!r} s, it must be positive')
        if self.stiffness is not None:
            if not (np.isfinite(self.stiffness) and self.stiffness > 0.0):
                raise UsageError(
                    f'contact: stiffness is {self.stiffness!r} N/m, it must be positive'
                )
            if not np.any(self.force):
                raise UsageError(
                    'contact: a spring needs a force other than 0, for its direction and its '
                    'largest force'
                )

    def torque(
        self, mujoco: Any, model: Any, data: Any, touched: FloatArray | None
    ) -> tuple[FloatArray, FloatArray | None]:
        """
        Return the torque on the joints (n,) [N m], and where the point was when it was touched.

        Positions of the bodies in `data` must have been computed; `touched` is None at first.
        """
        body = model.body(self.link).id
        point = data.xpos[body] + data.xmat[body].reshape(3, 3) @ self.point
        start, force = point if touched is None else touched, self.force
        if self.stiffness is not None:
            most = float(np.linalg.norm(force))
            direction = force / most
            way = float(direction @ (start - point))
            force = direction * min(max(self.stiffness * way, 0.0), most)
        jacobian = np.zeros((3, model.nv))
        mujoco.mj_jac(model, data, jacobian, None, point, body)
        return jacobian.T @ force, start


class Contacts:
    """Present and future contacts of an arm."""

    def __init__(self, mujoco: Any, model: Any) -> None:
        self._mujoco, self._model = mujoco, model
        self._nothing = np.zeros(model.nv)
        # With where the point of a spring was when its contact began.
        self._touches: list[tuple[Contact, FloatArray | None]] = []

    @property
    def links(self) -> list[str]:
        """Links that can be touched, from the base to the tool."""
        return [self._model.body(int(body)).name for body in self._model.jnt_bodyid]

    @property
    def expected(self) -> bool:
        """Return whether there are contacts, present or to come."""
        return bool(self._touches)

    def add(self, touch: Contact) -> None:
        """Add a contact; UsageError if the arm has no such link."""
        if touch.link not in self.links:
            raise UsageError(
                f'contact: the arm has no moved link {touch.link!r}; it has '
                f'{", ".join(self.links)}'
            )
        self._touches.append((touch, None))

    def clear(self) -> None:
        """End all contacts."""
        self._touches = []

    def torque(self, data: Any) -> FloatArray:
        """
        Return the torque of all contacts on the joints at the present instant [N m], shape (n,).

        Positions of the bodies in `data` must have been computed.
        """
        if not self._touches:
            return self._nothing
        # A clock that adds up steps rounds by less than a nanosecond.
        now, total = float(data.time) + 1.0e-9, self._nothing.copy()
        going = []
        for touch, touched in self._touches:
            if now >= touch.start + touch.duration:
                continue
            if now >= touch.start:
                torque, touched = touch.torque(self._mujoco, self._model, data, touched)
                total += torque
            going.append((touch, touched))
        self._touches = going
        return total

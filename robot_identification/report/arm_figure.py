# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The poses of the arm in a recording, of which the page's script draws that at the cursor."""

from __future__ import annotations

from markupsafe import Markup
import numpy as np
from robot_identification.arrays import FloatArray, IndexArray
from robot_identification.model import RobotModel
from robot_identification.processing import Dataset

# Poses of a recording; between them the script interpolates. Chosen: 25 kB for six joints.
MOST_POSES = 240
# Units of the longer side of a drawing, and left free at its edges.
SIZE, EDGE = 1000, 60
# Where the arm is looked at from: to the right of its x axis and above the horizon [rad].
AZIMUTH, ELEVATION = np.radians(40.0), np.radians(20.0)


def arm_drawing(robot: RobotModel, dataset: Dataset) -> Markup:
    """
    Return a hidden drawing of the arm with its poses at the samples that are scored.

    Its data are times [s], and for each the points of the arm and of its shadow on the ground.
    """
    scored = np.flatnonzero(dataset.scored)
    rows = scored[np.linspace(0, len(scored) - 1, min(MOST_POSES, len(scored))).astype(int)]
    arm = joint_positions(robot, dataset.motion.q, rows)
    shadow = arm * (1.0, 1.0, 0.0)
    seen = np.concatenate([project(arm), project(shadow)], axis=1)
    low, high = seen.min(axis=(0, 1)), seen.max(axis=(0, 1))
    scale = (SIZE - 2 * EDGE) / max(float(np.max(high - low)), np.finfo(float).tiny)
    places = (EDGE + scale * (seen - low)).round().astype(int)
    width, height = (2 * EDGE + scale * (high - low)).round().astype(int)
    times = ' '.join(f'{time:.3f}' for time in dataset.stamps[rows])
    poses = ';'.join(' '.join(map(str, pose.ravel())) for pose in places)
    return Markup(
        f'<svg class="arm" hidden viewBox="0 0 {width} {height}" data-times="{times}" '
        f'data-poses="{poses}" aria-hidden="true"><path class="shadow"/><path/></svg>'
    )


def joint_positions(robot: RobotModel, q: FloatArray, rows: IndexArray) -> FloatArray:
    """
    Return base, joints and the far end of the last link for some positions (N, n).

    Shape (m, n + 2, 3), in the frame of the base [m].
    """
    import pinocchio as pin

    model = robot.pinocchio
    data = model.createData()
    of_last = [frame.placement.translation for frame in model.frames
               if frame.parentJoint == model.njoints - 1]
    end = max(of_last, key=lambda place: float(np.linalg.norm(place)), default=np.zeros(3))
    points = np.zeros((len(rows), robot.n + 2, 3))
    for pose, row in zip(points, rows, strict=True):
        pin.forwardKinematics(model, data, np.ascontiguousarray(q[row]))
        for joint in range(1, model.njoints):
            pose[joint] = data.oMi[joint].translation
        pose[-1] = data.oMi[model.njoints - 1].act(end)
    return points


def project(points: FloatArray) -> FloatArray:
    """Return where points (.., 3) are seen in a parallel projection: across and down (.., 2)."""
    x, y, z = np.moveaxis(points, -1, 0)
    across = y * np.cos(AZIMUTH) - x * np.sin(AZIMUTH)
    toward = x * np.cos(AZIMUTH) + y * np.sin(AZIMUTH)
    return np.stack([across, toward * np.sin(ELEVATION) - z * np.cos(ELEVATION)], axis=-1)

# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Write friction over speed and load as a Python file that a MuJoCo simulation calls."""

from __future__ import annotations

import json

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.export.arm import check_consistent
from robot_identification.model import IdentifiedModel
from robot_identification.prediction import FrictionTable, tabulate_friction

# Part of a joint's largest friction by which straight lines between rows may miss the table,
# chosen: far below what is known of friction, and a file that a person can look through.
LEFT_OUT = 1.0e-4
_HEAD = '''\
"""
Friction of {robot} over speed and load, identified by robot_identification.

    from {module} import JointFriction
    friction = JointFriction(model)
    while True:
        friction.update(model, data)
        mujoco.mj_step(model, data)

MuJoCo's joints hold a dry friction that knows neither speed nor load. `update` sets it in each
step to that of the joint's velocity and of the torque that its bodies need, and applies what both
directions have in common. Damping of these joints is set to zero, since it is in the tables; rows
are (speed, resistance, bias, resistance per load, bias per load) in N m, rad/s and 1 (N, m/s).
"""

import mujoco
import numpy as np

TABLES = {{
{tables}
}}
'''
_BODY = '''

class JointFriction:
    """Friction of the joints of a compiled MuJoCo model, by name."""

    def __init__(self, model, names=None):
        """Find the joints; `names` has the simulation's name of a joint by the one here."""
        self.tables = [np.array(table).T for table in TABLES.values()]
        joints = [model.joint((names or {}).get(name, name)) for name in TABLES]
        self.dofs = np.array([joint.dofadr[0] for joint in joints])
        self.applied = np.zeros(len(joints))
        model.dof_damping[self.dofs] = 0.0
        if hasattr(model, "dof_dampingpoly"):
            model.dof_dampingpoly[self.dofs] = 0.0

    def friction(self, velocity, load):
        """Return resistance and bias of every joint [N m]; `load` is the size of a torque."""
        rows = np.array([
            [np.interp(abs(speed), table[0], column) for column in table[1:]]
            for speed, table in zip(velocity, self.tables)
        ]).T
        return rows[0] + load * rows[2], rows[1] + load * rows[3]

    def update(self, model, data):
        """Set the friction of the next step from the state and acceleration of the last one."""
        rigid = np.zeros(model.nv)
        mujoco.mj_mulM(model, data, rigid, data.qacc)
        rigid += data.qfrc_bias - model.dof_armature * data.qacc
        resistance, bias = self.friction(data.qvel[self.dofs], np.abs(rigid[self.dofs]))
        model.dof_frictionloss[self.dofs] = resistance
        data.qfrc_applied[self.dofs] -= bias + self.applied
        self.applied = -bias
'''


def export_friction_callback(model: IdentifiedModel) -> str:
    """
    Return a Python file with the friction of every joint over speed and load.

    It needs NumPy and MuJoCo alone. Raises InconsistentModelError if the model is not physically
    consistent.
    """
    check_consistent(model)
    table = tabulate_friction(model.with_consistent_parameters())
    tables = '\n'.join(
        f'    {json.dumps(name)}: {json.dumps(table_rows(table, joint, LEFT_OUT).tolist())},'
        for joint, name in enumerate(model.robot.joint_names)
    )
    # Names come from a file, and must not end the text in which they stand.
    name = ascii(model.robot.name)[1:-1].replace('"', "'")
    return _HEAD.format(
        robot=name, module='the_name_of_this_file', tables=_wrapped(tables)
    ) + _BODY


def _wrapped(tables: str) -> str:
    """Return tables with one row a line."""
    return tables.replace('], [', '],\n        [').replace(': [[', ': [\n        [')


def table_rows(table: FrictionTable, joint: int, left_out: float) -> FloatArray:
    """
    Return the rows of a joint's table that straight lines do not replace, shape (m, 5).

    Lines miss at most `left_out` of the largest number of a column.
    """
    rows = np.column_stack([
        table.speeds[joint], table.resistance[joint], table.bias[joint],
        table.resistance_per_load[joint], table.bias_per_load[joint],
    ])
    largest = np.abs(rows[:, 1:]).max(axis=0)
    kept, parts = {0, len(rows) - 1}, [(0, len(rows) - 1)]
    while parts:
        first, last = parts.pop()
        inside = rows[first + 1: last]
        share = (inside[:, 0] - rows[first, 0]) / (rows[last, 0] - rows[first, 0])
        line = rows[first, 1:] + share[:, None] * (rows[last, 1:] - rows[first, 1:])
        missed = (np.abs(inside[:, 1:] - line) - left_out * largest).max(axis=1, initial=0.0)
        if missed.max(initial=0.0) > 0.0:
            worst = first + 1 + int(np.argmax(missed))
            kept.add(worst)
            parts += [(first, worst), (worst, last)]
    return rows[sorted(kept)]

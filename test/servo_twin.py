# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""An SO-101 in MuJoCo with proportional servos, logged as LeRobot does: commands and positions."""

from dataclasses import dataclass
from pathlib import Path
import sysconfig

from log_styles import write_episodes
import mujoco
import numpy as np
from robot_identification.model.registry import load_robot
from robot_identification.model.urdf import read_urdf

URDF = Path(
    sysconfig.get_path('purelib'), 'cmeel.prefix', 'share', 'example-robot-data', 'robots',
    'so_arm_description', 'urdf', 'so101.urdf',
)
JOINTS = ('shoulder_pan', 'shoulder_lift', 'elbow_flex', 'wrist_flex', 'wrist_roll')
TOOL = 'gripper_link'
# Of a payload's centre of mass in the frame of the tool: beside the last axis [m].
PLACE = (0.06, 0.0, -0.05)
# Of a STS3215 as TheRobotStudio/SO-ARM100 publishes it (Simulation/SO101/joints_properties.xml):
# stiffness [N m/rad], damping [N m s/rad], dry friction [N m], rotor [kg m^2], limit [N m].
STIFFNESS, DAMPING, DRY_FRICTION, ROTOR, LIMIT = 17.8, 0.60, 0.052, 0.028, 3.35
# Its encoder has 4096 steps a turn [rad].
STEP = 2.0 * np.pi / 4096.0
RATE = 30.0  # of LeRobot's loop [Hz]
# From when a command is logged to when the servo has it [s].
LATENCY = 0.012
# Steps of the simulation between two rows: 1.96 ms.
SUBSTEPS = 17


def so101():
    return load_robot(urdf=URDF, joints=JOINTS)


@dataclass(frozen=True, eq=False)
class ServoLog:
    """Commands and positions (N, 5) [rad] at times (N,) [s]."""

    t: np.ndarray
    command: np.ndarray
    q: np.ndarray


def servo_arm(seed, payload=0.0):
    """Return the arm with masses off by up to 20 %, and a point mass [kg] at the tool."""
    spec = mujoco.MjSpec.from_string(read_urdf(URDF).text)
    spec.option.timestep = 1.0 / (RATE * SUBSTEPS)
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    spec.delete(spec.joint('gripper'))
    rng = np.random.default_rng(seed)
    for body in spec.bodies:
        factor = rng.uniform(0.8, 1.2)
        body.mass, body.inertia = factor * body.mass, factor * np.array(body.inertia)
        if body.fullinertia[0] == body.fullinertia[0]:
            body.fullinertia = factor * np.array(body.fullinertia)
    for name in JOINTS:
        joint = spec.joint(name)
        joint.damping[0], joint.frictionloss, joint.armature = DAMPING, DRY_FRICTION, ROTOR
        servo = spec.add_actuator(name=name, target=name, trntype=mujoco.mjtTrn.mjTRN_JOINT)
        servo.set_to_position(kp=STIFFNESS)
        servo.forcelimited, servo.forcerange = True, [-LIMIT, LIMIT]
    if payload:
        spec.body(TOOL).add_body(
            name='payload', mass=payload, ipos=PLACE, inertia=[1e-6] * 3, explicitinertial=True
        )
    return spec.compile()


def log_motion(seed, duration=60.0, payload=0.0, arm=1):
    """Return what is logged along a random motion of an arm."""
    model = servo_arm(arm, payload)
    data, n = mujoco.MjData(model), len(JOINTS)
    rng = np.random.default_rng(seed)
    t = np.arange(round(duration * RATE)) / RATE
    angle = 2.0 * np.pi * np.arange(1, 7) / 15.0 * t[:, None]
    waves = np.hstack([np.sin(angle), np.cos(angle)])
    command = waves @ rng.normal(size=(2 * 6, n))
    command *= np.array([1.2, 0.9, 0.9, 1.2, 1.5]) / np.abs(command).max(axis=0)
    data.qpos[:] = command[0]
    late = round(LATENCY * RATE * SUBSTEPS)
    q = np.empty_like(command)
    data.ctrl[:] = command[0]
    for row, wanted in enumerate(command):
        q[row] = np.round(data.qpos / STEP) * STEP
        for step in range(SUBSTEPS):
            if step == late:
                data.ctrl[:] = wanted
            mujoco.mj_step(model, data)
    return ServoLog(t, command, q)


def write_lerobot(path, log):
    """Write a LeRobot dataset of one episode, in degrees; the gripper, in percent, is still."""
    held = np.full((len(log.t), 1), 10.0)
    command, q = (np.hstack([np.degrees(values), held]) for values in (log.command, log.q))
    names = [f'{joint}.pos' for joint in (*JOINTS, 'gripper')]
    write_episodes(path, [(log.t, command, q)], names, RATE)
    return path

# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Drift and unseen torque error of simulations, before and after, beside MuJoCo's identification.

Two simulated arms have effects that no exported file has, two recordings are of real arms (where
ROBOT_IDENTIFICATION_DATA names their folder; first 60 % to identify, the rest to judge). Rollouts
begin at measured states of what was not identified from, as those of `validate --rollout`.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from robot_identification.export.arm import exported_arm
from robot_identification.export.friction_forms import FORMS, PLAIN
from robot_identification.export.mjcf import export_mjcf
from robot_identification.model.base_parameters import reduce_to_base
from robot_identification.model.consistency import RigidDynamics
from robot_identification.model.corrections import Corrections
from robot_identification.model.friction import parse_friction
from robot_identification.model.identified_model import IdentifiedModel
from robot_identification.model.parameters import make_standard_parameters
from robot_identification.model.regressor import prior_inertial_parameters
from robot_identification.model.robot_model import RobotModel
from robot_identification.pipeline import validate
from robot_identification.processing.dataset import Dataset
from robot_identification.processing.loading import load_for_model
from robot_identification.simulation.ground_truth import SimulatedArmOptions
from robot_identification.studies.rollout.drift import measure_drift, Measurement, Simulated
from robot_identification.studies.rollout.study import (
    CLOSED, MJCF, MODEL, OPEN, roll_out_mjcf, Rollout, RolloutOptions, run_rollout, URDF, VELOCITY,
)

from . import mujoco_sysid
from .corrections import public_scenes, Scene, simulated
from .figures import Figure

REPEATS = 1
SEED = 1
# Of the twins: arm, and what it has beyond rigid bodies and smooth friction.
TWINS = {
    'UR5 twin': ('ur5', SimulatedArmOptions(
        static_friction=True, torque_ripple=0.1, velocity_loop=0.002,
    )),
    'UR10 twin': ('ur10', SimulatedArmOptions(
        static_friction=True, position_torque=0.2, gain_error=0.03,
    )),
}
RECORDED = ('UR10, real', 'Panda, real')
# In the place of drifts without a number, of joints [mrad] and the tool [mm]: half a turn, from
# which on a joint is lost, and what no arm here reaches.
LOST, BROKEN = 1.0e3 * np.pi, 1.0e4


@contextmanager
def scene_of(name: str) -> Iterator[Scene | None]:
    """Yield an arm with its recordings; None where a recording is not there."""
    if name in TWINS:
        arm, effects = TWINS[name]
        with simulated(name, effects, SEED, arm) as scene:
            yield replace(scene, robot=without_limits(scene.robot))
    else:
        yield next((scene for scene in public_scenes() if scene.name == name), None)


def without_limits(robot: RobotModel) -> RobotModel:
    """Return an arm that stops nowhere, as the simulated one, whose motion passes its limits."""
    free = np.full(robot.n, np.inf)
    return replace(robot, limits=replace(robot.limits, lower=-free, upper=free, effort=free))


def plain_model(
    model: IdentifiedModel, inertial: np.ndarray, others: np.ndarray
) -> IdentifiedModel:
    """
    Return a model of what MJCF holds: bodies (10 n,), and `others` (n, 4) of the joints.

    These are Coulomb friction, viscous friction, offset and reflected inertia.
    """
    parameters = make_standard_parameters(
        model.robot.n, parse_friction('coulomb,viscous,offset'), reflected_inertia=True
    )
    reduction = reduce_to_base(model.robot, parameters)
    theta = np.zeros(parameters.size)
    theta[: len(inertial)] = inertial
    for term, columns in parameters.friction_columns:
        column = ('coulomb', 'viscous', 'offset').index(term.law.name)
        theta[columns] = others[term.joint, column]
    theta[parameters.reflected_inertia_slice] = others[:, 3]
    return replace(
        model, reduction=reduction, theta_base=reduction.K @ theta, theta_consistent=theta,
        covariance=np.eye(reduction.rank), corrections=Corrections(), quality={},
    )


def described_model(model: IdentifiedModel) -> IdentifiedModel:
    """Return the bodies of the description, without rotors and friction."""
    return plain_model(
        model, prior_inertial_parameters(model.robot), np.zeros((model.robot.n, 4))
    )


def exported_model(model: IdentifiedModel) -> IdentifiedModel:
    """Return the model that its plain MJCF holds."""
    joints = exported_arm(model).joints
    return plain_model(
        model, np.concatenate([joint.body.toDynamicParameters() for joint in joints]),
        np.array([
            [joint.coulomb, joint.viscous, joint.offset, joint.reflected_inertia]
            for joint in joints
        ]),
    )


@dataclass(frozen=True, eq=False)
class Unseen:
    """What a model is judged on."""

    scene: Scene
    model: IdentifiedModel  # the identified one
    dataset: Dataset
    rollout: Rollout

    def simulate(self, text: str) -> Iterator[Simulated]:
        """Yield the drift of a MJCF in both loops, from the same states, with the same PD."""
        rollout, motion = self.rollout, self.dataset.motion
        plan = rollout.plan
        measurement = Measurement(self.dataset, plan)
        for loop, share in ((OPEN, 0.0), (CLOSED, 1.0)):
            q, ends = roll_out_mjcf(
                text, self.model.robot.joint_names, (motion.q[plan.rows], motion.dq[plan.rows]),
                partial(
                    measurement.drive, 1.0 / self.model.effort_per_torque,
                    servo=(share * rollout.stiffness, share * rollout.damping),
                ),
            )
            kept = q[np.round(plan.times / ends[1]).astype(int)]
            yield measure_drift(self.model.robot, MJCF, loop, kept, rollout.measured)

    def drift(self, words: str, one: Simulated) -> list[Figure]:
        """Return the drift at the tool, a value for each start, and of joints, one for each."""
        figures = []
        for horizon, at in zip(self.rollout.plan.horizons, self.rollout.plan.stated, strict=True):
            joints = np.median(np.minimum(1e3 * np.abs(one.drift[at]), LOST), axis=0)
            tool = np.minimum(1e3 * one.tool[at], BROKEN)
            name = f'{self.scene.name}: {words}: {one.loop}, {horizon:g} s'
            figures += [
                Figure(f'{name}, tool', 'mm', tuple(tool.tolist())),
                Figure(f'{name}, joints', 'mrad', tuple(joints.tolist())),
            ]
        return figures

    def inertia(self, words: str, model: IdentifiedModel, ours: IdentifiedModel) -> Figure:
        """Return the inertia about each joint over that of our exported file."""
        q = np.asarray(self.dataset.motion.q[self.rollout.plan.rows])
        ratio = mean_inertia(model, q) / mean_inertia(ours, q)
        return Figure(f'{self.scene.name}: {words}: inertia / ours', '', tuple(ratio.tolist()))

    def torque(self, words: str, model: IdentifiedModel) -> list[Figure]:
        """Return the error of the predicted torque, a value for each joint."""
        bag, = validate(model, self.scene.alike, start=self.scene.start).validation.bags
        errors = np.array(bag.rmse) / np.abs(model.effort_per_torque)
        return [
            Figure(f'{self.scene.name}: {words}: torque', 'N m', tuple(errors.tolist())),
            Figure(f'{self.scene.name}: {words}: NRMSE', '', tuple(map(float, bag.nrmse))),
        ]


def mean_inertia(model: IdentifiedModel, q: np.ndarray) -> np.ndarray:
    """Return the inertia about each joint (n,), rotors included, in the mean over poses (N, n)."""
    joints = exported_arm(model).joints
    dynamics = RigidDynamics(
        model.robot, np.concatenate([joint.body.toDynamicParameters() for joint in joints]),
        np.array([joint.reflected_inertia for joint in joints]),
    )
    inertia: np.ndarray = np.mean([np.diag(dynamics.mass_matrix(pose)) for pose in q], axis=0)
    return inertia


def measure_scene(name: str) -> list[Figure]:
    """Return what is measured on one arm; nothing where its recording is not there."""
    with scene_of(name) as scene:
        return [] if scene is None else _measure(scene)


def _measure(scene: Scene) -> list[Figure]:
    model, took = mujoco_sysid.timed(scene.fit)
    dataset, _ = load_for_model(model, scene.alike, start=scene.start)
    seen, _ = load_for_model(model, scene.training, stop=scene.options.stop)
    rollout, = run_rollout(model, [dataset], RolloutOptions())
    unseen = Unseen(scene, model, dataset, rollout)
    described, exported = described_model(model), exported_model(model)
    held = {'URDF': described, 'ours': model, f'ours, MJCF {PLAIN}': exported}
    files = {f'ours, MJCF {form}': export_mjcf(model, form) for form in FORMS}
    seconds = {'ours': took}
    for words, start in (
        ('mujoco.sysid', mujoco_sysid.usual_start(described, plain_model)),
        ('mujoco.sysid from ours', exported),
    ):
        found, seconds[words] = mujoco_sysid.timed(
            partial(mujoco_sysid.identify, start, seen, plain_model)
        )
        held[words], files[words] = found, export_mjcf(found)
    figures = [
        Figure(f'{scene.name}: {words}: processor time', 's', (value,))
        for words, value in seconds.items()
    ]
    for words, one in held.items():
        figures += unseen.torque(words, one)
    for key, words in ((URDF, 'URDF'), (MODEL, 'ours')):
        for loop in (OPEN, CLOSED):
            figures += unseen.drift(words, rollout.find(key, loop))
    figures += unseen.drift('constant velocity', rollout.find(VELOCITY, OPEN))
    for words, text in files.items():
        for one in unseen.simulate(text):
            figures += unseen.drift(words, one)
    return figures + [unseen.inertia(words, held[words], exported) for words in seconds]


def measure(repeats: int) -> list[Figure]:
    """Return errors and drifts of every arm; one repeat, since nothing is drawn anew."""
    mujoco_sysid.load()
    with ProcessPoolExecutor(2) as pool:
        found = list(pool.map(measure_scene, [*TWINS, *RECORDED]))
    return [figure for one in found for figure in one]

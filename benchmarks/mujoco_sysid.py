# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Identification by `mujoco.sysid`, which is in MuJoCo's wheel, for `drift`.

It fits the simulated motion of short windows to the measured one: bodies by log-Cholesky
parameters, as its own `InertiaType.Pseudo` has them (MuJoCo 4.0 refuses the orientation that its
own modifier writes), armature, damping, dry friction, and the bias of the motor of every joint.
It needs absl-py, colorama, imageio, plotly and tabulate, which MuJoCo does not ask for.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import redirect_stdout
from functools import partial
import io
import os
from typing import Any, TypeVar

import numpy as np
import pinocchio as pin
from robot_identification.errors import MissingDependencyError
from robot_identification.export.arm import exported_arm
from robot_identification.export.mjcf import export_mjcf
from robot_identification.model.identified_model import IdentifiedModel
from robot_identification.processing.dataset import Dataset
from robot_identification.studies.rollout.drift import Measurement, plan_rollouts

# The budget: windows of the recording, their length [s], and iterations of the optimizer. Chosen:
# 4 s of motion, and about 50 s of a processor.
WINDOWS, LENGTH, ITERATIONS = 20, 0.2, 15
# Where nothing is known of a joint, of the size that published scenes have: Coulomb friction
# [N m], viscous friction [N m s/rad], offset [N m], armature [kg m^2].
USUAL = (1.0, 1.0, 0.0, 0.1)
# Bounds of a joint's values above, and how far a body's parameters may go: log of the scale, logs
# of the diagonal, shears [1], centre of mass [m]. Chosen: no arm here needs more.
HIGHEST = np.array([200.0, 200.0, 50.0, 50.0])
REACH = np.array([0.7, *(3 * [1.5]), *(3 * [1.5]), *(3 * [0.3])])
# Of the range between two bounds, how far from them a start is at least [1]. Chosen: 2 mN m.
INSIDE = 1.0e-5
# Least eigenvalue of a body's pseudo-inertia [kg, kg m^2], a hundredth of any that is known.
FLAT = 1.0e-9
# In the place of a rollout that broke down.
BROKEN = 1.0e3

Made = TypeVar('Made')
Plain = Callable[[IdentifiedModel, np.ndarray, np.ndarray], IdentifiedModel]


def load() -> Any:
    """Return `mujoco.sysid`."""
    try:
        from mujoco import sysid
    except ImportError as error:
        raise MissingDependencyError('mujoco', 'drift', 'pip install mujoco') from error
    if not hasattr(sysid, 'optimize'):
        raise MissingDependencyError(
            'what mujoco.sysid imports', 'drift',
            'pip install absl-py colorama imageio plotly tabulate',
        )
    return sysid


def timed(function: Callable[[], Made]) -> tuple[Made, float]:
    """Return what a call returns, and the processor time it took [s], of its processes too."""
    before = os.times()
    found = function()
    return found, sum(os.times()[:4]) - sum(before[:4])


def usual_start(described: IdentifiedModel, plain_model: Plain) -> IdentifiedModel:
    """Return the bodies of a description with the usual friction and rotors."""
    n = described.robot.n
    return plain_model(
        described, described.theta_consistent[: 10 * n], np.tile(np.array(USUAL), (n, 1))
    )


def identify(start: IdentifiedModel, dataset: Dataset, plain_model: Plain) -> IdentifiedModel:
    """Return what `mujoco.sysid` makes of a dataset, from the model that it starts with."""
    sysid, spec = load(), make_spec(start)
    parameters, joints = sysid.ParameterDict(), exported_arm(start).joints
    for joint in joints:
        name, body = joint.name, joint.link
        values = np.array([joint.coulomb, joint.viscous, joint.offset, joint.reflected_inertia])
        theta = log_cholesky(joint.body)
        parameters.add(sysid.Parameter(
            f'{body} body', theta, theta - REACH, theta + REACH,
            modifier=lambda spec, found, body=body: set_body(spec.body(body), found.value),
        ))
        parameters.add(sysid.Parameter(
            f'{name} joint', values, np.array([0.0, 0.0, -HIGHEST[2], 0.0]), HIGHEST,
            modifier=lambda spec, found, name=name: set_joint(spec, name, found.value),
        ))
    # On a bound the optimizer stalls, as it says itself.
    parameters.move_off_bounds(INSIDE, INSIDE)
    scale = np.concatenate([
        np.std(signal[dataset.fitted], axis=0) for signal in (dataset.motion.q, dataset.motion.dq)
    ])
    residual = sysid.build_residual_fn(
        models_sequences=[windows(sysid, spec, start, dataset)], n_threads=1,
        modify_residual=partial(scaled_difference, sysid, scale),
    )

    def finite(x: np.ndarray, found: Any) -> Any:
        residuals, *others = residual(x, found)
        return [np.nan_to_num(one, nan=BROKEN) for one in residuals], *others

    # It reports every iteration, whatever `verbose` says.
    with redirect_stdout(io.StringIO()):
        found, _ = sysid.optimize(
            parameters, finite, optimizer='mujoco', max_iters=ITERATIONS, verbose=False,
            x_scale='jac',
        )
    return plain_model(
        start,
        np.concatenate([
            inertia(found[f'{joint.link} body'].value).toDynamicParameters() for joint in joints
        ]),
        np.array([found[f'{joint.name} joint'].value for joint in joints]),
    )


def make_spec(start: IdentifiedModel) -> Any:
    """Return the MuJoCo model of a start, with sensors of its joints."""
    import mujoco
    spec = mujoco.MjSpec.from_string(export_mjcf(start))
    # Bodies that are nearly flat fail MuJoCo's check of their inertia by rounding.
    spec.compiler.balanceinertia = True
    for kind, what in (('JOINTPOS', 'q'), ('JOINTVEL', 'dq')):
        for name in start.robot.joint_names:
            spec.add_sensor(
                name=f'{what}_{name}', objname=name, objtype=mujoco.mjtObj.mjOBJ_JOINT,
                type=getattr(mujoco.mjtSensor, f'mjSENS_{kind}'),
            )
    return spec


def windows(sysid: Any, spec: Any, model: IdentifiedModel, dataset: Dataset) -> Any:
    """Return short parts of a dataset as `mujoco.sysid` takes them."""
    arm = spec.compile()
    plan = plan_rollouts(dataset, WINDOWS, (LENGTH,))
    measurement = Measurement(dataset, plan)
    times = np.arange(round(LENGTH * dataset.rate) + 1.0) / dataset.rate
    torque = measurement.effort(times) / model.effort_per_torque
    states = np.concatenate([measurement.position(times), measurement.velocity(times)], axis=2)
    series = sysid.TimeSeries
    q, dq = dataset.motion.q[plan.rows], dataset.motion.dq[plan.rows]
    return sysid.ModelSequences(
        'arm', spec, [f'window {number}' for number in range(len(plan.rows))],
        [sysid.create_initial_state(arm, *state) for state in zip(q, dq, strict=True)],
        [series.from_control_names(times, torque[:, number], arm) for number in range(len(q))],
        [series.from_names(times, states[:, number], arm) for number in range(len(q))],
    )


def scaled_difference(
    sysid: Any, scale: np.ndarray, _parameters: Any, _sensors: Any, measured: Any, *_: Any,
    state: np.ndarray, **_others: Any,
) -> tuple[np.ndarray, Any, Any]:
    """
    Return measured less simulated states, each over its deviation in the recording.

    Their own scale is the size of a signal in a window: a joint that hardly moves there, and its
    noise, would decide the fit.
    """
    columns = [np.interp(measured.times, state[:, 0], one) for one in state[:, 1:].T]
    simulated = sysid.TimeSeries(
        measured.times, np.stack(columns, axis=1), measured.signal_mapping
    )
    return (measured.data - simulated.data) / scale, simulated, measured


def log_cholesky(body: pin.Inertia) -> np.ndarray:
    """Return the log-Cholesky parameters (10,) of a body (Rucker and Wensing, 2022)."""
    pseudo = body.toPseudoInertia().toMatrix()
    upper = np.linalg.cholesky(pseudo[::-1, ::-1])[::-1, ::-1]
    scale = upper[3, 3]
    upper = upper / scale
    return np.array([
        np.log(scale), *np.log(np.diagonal(upper)[:3]),
        upper[0, 1], upper[1, 2], upper[0, 2], *upper[:3, 3],
    ])


def inertia(theta: np.ndarray) -> pin.Inertia:
    """Return the body of log-Cholesky parameters (10,)."""
    body = pin.Inertia.FromLogCholeskyParameters(pin.LogCholeskyParameters(theta))
    # At its bounds it may be flat but for rounding.
    matrix = body.toPseudoInertia().toMatrix() + FLAT * np.eye(4)
    return pin.Inertia.FromPseudoInertia(pin.PseudoInertia.FromMatrix(matrix))


def set_body(body: Any, theta: np.ndarray) -> None:
    """Give a body of a MuJoCo model an inertia."""
    found = inertia(theta)
    body.mass, body.ipos, body.iquat = found.mass, found.lever, [1.0, 0.0, 0.0, 0.0]
    body.inertia, body.explicitinertial = np.zeros(3), True
    rows, columns = [0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]
    body.fullinertia = found.inertia[rows, columns]


def set_joint(spec: Any, name: str, values: np.ndarray) -> None:
    """Give a joint its friction and rotor, and its motor a bias."""
    import mujoco
    joint, motor = spec.joint(name), spec.actuator(name)
    joint.frictionloss, joint.armature = values[0], values[3]
    joint.damping[0] = values[1]
    motor.biastype = mujoco.mjtBias.mjBIAS_AFFINE
    motor.biasprm[0] = -values[2]

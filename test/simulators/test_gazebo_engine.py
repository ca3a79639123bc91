# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Exported SDF in the physics engine of Gazebo Fortress: one step has the model's acceleration.

    pytest -rA test/simulators/test_gazebo_engine.py

It needs Debian's g++, pkg-config, libignition-physics-sdf-dev, libignition-plugin-dev and
libignition-physics5-dartsim-plugin5, but neither a server of Gazebo nor ROS.
"""

from dataclasses import replace
from pathlib import Path
import shutil
import subprocess

from export.exported_models import changed_prior, everything, model_of
import numpy as np
import pinocchio as pin
import pytest
from robot_identification.export.sdf import export_sdf
from robot_identification.model.registry import known_robots
from robot_identification.simulation.ground_truth import draw_truth

SOURCE = Path(__file__).with_name('gazebo_step.cpp')
LIBRARIES = ('ignition-physics5-sdf', 'ignition-plugin1-loader')
PLUGIN = 'ign-physics-5/engine-plugins/libignition-physics5-dartsim-plugin.so.5'
ARMS = (*(known.name for known in known_robots()), 'mixed', 'tilted', 'everything')
# Gazebo's own step, and one that is short for the lightest wrist with friction [ns].
USUAL, SHORT = 1_000_000, 1_000
# Over the largest acceleration. A wrist without its rotor is so light that eigenvalues of the mass
# matrix are as 4e4 to 1: torques that are rounded by 1e-16 can make 1e-12 of the acceleration. Of
# all arms, 4e-13 was the largest.
PRECISION = 1e-12
LARGEST_ACCELERATION = 10.0


def pkg_config(*arguments):
    """Return the words that pkg-config answers with; none where it does not know a library."""
    run = subprocess.run(['pkg-config', *arguments], capture_output=True, text=True, timeout=60)
    return run.stdout.split() if run.returncode == 0 else []


@pytest.fixture(scope='module')
def engine(tmp_path_factory):
    """Return the program that makes a step of the engine, and the engine's plugin."""
    missing = [tool for tool in ('g++', 'pkg-config') if shutil.which(tool) is None]
    if missing:
        pytest.skip(f'{" and ".join(missing)}, to compile {SOURCE.name}: not installed')
    flags = pkg_config('--cflags', '--libs', *LIBRARIES)
    plugin = Path(*pkg_config('--variable=libdir', LIBRARIES[0]), PLUGIN)
    if not flags or not plugin.exists():
        pytest.skip(
            f'the engine of Gazebo Fortress ({", ".join(LIBRARIES)} of pkg-config and {plugin}) '
            'is not installed: see the packages at the top of this file'
        )
    program = tmp_path_factory.mktemp('engine') / SOURCE.stem
    subprocess.run(['g++', str(SOURCE), '-o', str(program), *flags], check=True, timeout=240)
    return str(program), str(plugin)


@pytest.fixture
def stepped(engine, tmp_path):
    """Return what makes a step from states (N, 3, n): accelerations (N, n), torques (N, n, 3)."""
    def step(model, states, nanoseconds=USUAL):
        file = tmp_path / 'arm.sdf'
        file.write_text(export_sdf(model))
        gravity = float(np.linalg.norm(model.robot.mounting_gravity))
        run = subprocess.run(
            [*engine, str(file), repr(gravity), str(nanoseconds), *model.robot.joint_names],
            input=' '.join(map(repr, states.ravel().tolist())), capture_output=True, text=True,
            timeout=60,
        )
        assert run.returncode == 0, run.stderr
        n = model.robot.n
        found = np.array(run.stdout.split(), dtype=float).reshape(len(states), 4 * n)
        return found[:, :n], found[:, n:].reshape(-1, n, 3)

    return step


@pytest.fixture(scope='module')
def arm_of(robots):
    """Return a function that returns an arm by name."""
    tilted = robots['ur5'].with_gravity([4.0, 0.0, -8.0])
    return {**robots, 'tilted': tilted, 'everything': everything()}.__getitem__


def identified(robot, **values):
    """Return a model with bodies that are not the description's, and parameters of joints."""
    model = model_of(robot, changed_prior(robot), 'coulomb,viscous')
    theta = model.theta_consistent.copy()
    theta[10 * robot.n:] = 0.0
    for symbol, value in values.items():
        for number, one in enumerate(value, start=1):
            theta[model.parameters.names.index(f'{symbol}{number}')] = one
    return replace(model, theta_consistent=theta)


def of_pinocchio(model, rotors=None):
    """Return Pinocchio's model of the identified bodies, which has nothing of the exports."""
    arm = model.robot.pinocchio.copy()
    for index in range(model.robot.n):
        arm.inertias[index + 1] = pin.Inertia.FromDynamicParameters(
            model.theta_consistent[10 * index: 10 * index + 10]
        )
    arm.armature = np.zeros(model.robot.n) if rotors is None else rotors
    return arm


def states_of(robot, arm, rng, friction=np.zeros_like, samples=40):
    """Return q, dq and tau (N, 3, n) within all limits, as the engine would enforce each."""
    limits, shape = robot.limits, (samples, robot.n)
    # A continuous joint turns over and over.
    q = rng.uniform(np.maximum(limits.lower, -20.0), np.minimum(limits.upper, 20.0), shape)
    # Joints are neither about to rest, and stick, nor to reach the limit within a step.
    dq = rng.choice([-1.0, 1.0], shape) * rng.uniform(0.2, 0.5, shape)
    dq *= np.minimum(limits.velocity, 2.0)
    ddq = rng.uniform(-LARGEST_ACCELERATION, LARGEST_ACCELERATION, shape)
    data = arm.createData()
    tau = np.array([pin.rnea(arm, data, *state) for state in zip(q, dq, ddq, strict=True)])
    tau += friction(dq)
    states = np.stack([q, dq, tau], axis=1)[(np.abs(tau) < limits.effort).all(axis=1)]
    assert len(states) > samples / 2
    return states


def aba(arm, states, friction=np.zeros_like):
    """Return the accelerations (N, n) of a model of Pinocchio."""
    data = arm.createData()
    return np.array([pin.aba(arm, data, q, dq, tau - friction(dq)) for q, dq, tau in states])


@pytest.mark.parametrize('name', ARMS)
def test_a_rigid_arm_has_the_models_acceleration(stepped, arm_of, rng, name):
    """
    At a step of any length: the engine takes the velocities of its beginning.

    Of SDF's own `continuous` joint the engine makes one that does not move, which the program
    refuses; ours moves.
    """
    model = identified(arm_of(name))
    arm = of_pinocchio(model)
    states = states_of(model.robot, arm, rng)
    expected = aba(arm, states)
    error = np.abs(stepped(model, states)[0] - expected).max() / np.abs(expected).max()
    print(f'{name}: {error:.1e} of {np.abs(expected).max():.1f} rad/s^2')
    assert error < PRECISION


@pytest.mark.parametrize('name', ARMS)
def test_friction_is_the_models_in_the_limit_of_short_steps(stepped, arm_of, rng, name):
    """The engine takes friction at the end of a step: half the step has half the error."""
    robot = arm_of(name)
    coulomb, viscous = np.outer([0.03, 0.02], np.minimum(robot.limits.effort, 100.0))
    model = identified(robot, fc=coulomb, fv=viscous)
    arm = of_pinocchio(model)

    def friction(dq):
        return coulomb * np.sign(dq) + viscous * dq

    states = states_of(robot, arm, rng, friction)
    expected = aba(arm, states, friction)
    long, short = (stepped(model, states, step)[0] - expected for step in (SHORT, SHORT // 2))
    order = np.log2(np.abs(long).max() / np.abs(short).max())
    print(f'{name}: order {order:.4f}, {np.abs(long).max():.1e} rad/s^2 at {SHORT} ns')
    assert order == pytest.approx(1.0, abs=0.02)
    # Without what is of first order, as in the limit of no step.
    assert np.abs(2.0 * short - long).max() < 0.03 * np.abs(long).max()


def test_the_wrench_of_a_joint_has_no_friction(stepped, arm_of, rng):
    """It is what gz_ros2_control publishes as effort: the torque on the bodies, at any step."""
    robot = arm_of('ur5e')
    coulomb = 0.03 * robot.limits.effort
    model = identified(robot, fc=coulomb)
    arm = of_pinocchio(model)
    data = arm.createData()
    states = states_of(robot, arm, rng, lambda dq: coulomb * np.sign(dq))
    accelerations, torques = stepped(model, states)
    bodies = np.array([
        pin.rnea(arm, data, q, dq, ddq)
        for (q, dq, _), ddq in zip(states, accelerations, strict=True)
    ])
    np.testing.assert_allclose(torques[:, :, 2], bodies, rtol=0, atol=1e-9)
    assert (np.abs(states[:, 2] - bodies).mean(axis=0) > 0.1 * coulomb).all()


def test_the_error_of_the_rotors_that_sdf_cannot_hold(stepped, arm_of, rng):
    """With the torques of the whole arm, wrists accelerate many times too fast."""
    robot = arm_of('ur5')
    rotors = draw_truth(robot, 11).reflected_inertia
    model = identified(robot, Ia=rotors)
    whole, rigid, added = of_pinocchio(model, rotors), of_pinocchio(model), of_pinocchio(model)
    states = states_of(robot, whole, rng)
    # A step so short that no velocity reaches its limit: the change of velocity has fewer digits.
    found, expected = stepped(model, states, SHORT)[0], aba(rigid, states)
    assert np.abs(found - expected).max() < 1e-9 * np.abs(expected).max()
    # Is a rotor better a part of the link? What moves the link from before turns it as well.
    for number, inertia in enumerate(rotors, start=1):
        assert added.joints[number].shortname() == 'JointModelRZ'
        body, own = added.inertias[number], np.diag([0.0, 0.0, inertia])
        added.inertias[number] = pin.Inertia(body.mass, body.lever, body.inertia + own)
    true = aba(whole, states)
    without, remedied = (
        np.linalg.norm(one - true, axis=0) / np.linalg.norm(true, axis=0)
        for one in (found, aba(added, states))
    )
    print(f'without rotors {without}, in the links {remedied}')
    # As in docs/export.md.
    assert 1.0 < without[:3].min() and without[:3].max() < 10.0
    np.testing.assert_allclose(without[3:], [17.0, 31.0, 620.0], rtol=0.1)
    assert 0.1 < remedied.min() and 1.0 < remedied.max() < 1.5

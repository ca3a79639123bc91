# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The names of the package's top level work in a fresh interpreter, and importing it is free."""

import subprocess
import sys

import numpy as np
import pytest
import robot_identification
from robot_identification import (
    identify, load_experiment, load_model, load_robot, predict, read_recording, validate,
)
from robot_identification.errors import UsageError
from robot_identification.model import (
    energy_regressor, inertial_regressor, Motion, rigid_torque, static_regressor,
)
from robot_identification.monitoring.contact_observer import MomentumObserver
from robot_identification.prediction import FeedForward, TorquePredictor
from robot_identification.prediction.sample_torque import RigidTorque


def run(code):
    return subprocess.run(
        [sys.executable, '-c', code], capture_output=True, text=True, check=True
    ).stdout


def test_importing_the_package_imports_nothing_heavy():
    """NumPy, SciPy, Pinocchio and the rooms wait until a name is used, not until it is listed."""
    loaded, listed = run(
        'import sys\nimport robot_identification\nimport robot_identification.model\n'
        'names = dir(robot_identification)\n'
        'print(*(name for name in sys.modules if name.split(".")[0] in '
        '("numpy", "scipy", "pinocchio", "yaml", "robot_identification")))\nprint(*names)'
    ).splitlines()
    assert set(loaded.split()) == {
        'robot_identification', 'robot_identification.blas', 'robot_identification.lazy',
        'robot_identification.model',
    }
    assert {*robot_identification.__all__, '__version__'} <= set(listed.split())


def test_paths_may_be_text(scene, model_file, tmp_path):
    """Wherever a file or folder is named; one bag need not stand in a list."""
    bag = scene('ur5').bags[1]
    robot = load_robot('ur5')
    model = load_model(str(model_file))
    assert model.robot.joint_names == load_model(model_file).robot.joint_names
    read = read_recording(str(bag), robot.joint_names)
    np.testing.assert_array_equal(read.q, read_recording(bag, robot.joint_names).q)
    of_text = validate(model, str(bag), stop=3.0)
    of_path = validate(model, [bag], stop=3.0)
    assert of_text.datasets[0].source == of_path.datasets[0].source
    np.testing.assert_array_equal(
        of_text.validation.bags[0].rmse, of_path.validation.bags[0].rmse
    )
    np.testing.assert_array_equal(
        predict(model, str(bag))[0].predicted, predict(model, bag)[0].predicted
    )
    path = tmp_path / 'arm.urdf'
    path.write_text(robot.urdf.text)
    assert load_robot(urdf=str(path)).joint_names == load_robot(urdf=path).joint_names
    with pytest.raises(UsageError, match='no_such_file'):
        load_experiment('no_such_file.yaml')
    with pytest.raises(UsageError, match='no such bag: no_such_bag'):
        identify(robot, 'no_such_bag')
    with pytest.raises(UsageError, match='no_such_bag'):
        read_recording('no_such_bag', robot.joint_names)


ARRAY_CALLS = {
    'torque': lambda model, q: model.torque(Motion([q], [q], [q])),
    'effort': lambda model, q: model.effort(Motion([q], [q], [q])),
    'rigid_torque': lambda model, q: rigid_torque(model.robot, Motion([q], [q], [q])),
    'inertial_regressor': lambda model, q: inertial_regressor(
        model.robot, Motion([q], [q], [q])
    ),
    'static_regressor': lambda model, q: static_regressor(model.robot, [q]),
    'energy_regressor': lambda model, q: energy_regressor(model.robot, Motion([q], [q], [q])),
    'RigidTorque': lambda model, q: RigidTorque(model)(q, q, q),
    'gravity': lambda model, q: RigidTorque(model.robot).gravity(q),
    'inertia_and_bias': lambda model, q: RigidTorque(model.robot).inertia_and_bias(q, q),
    'MomentumObserver': lambda model, q: MomentumObserver(model).step(0.01, q, q, q, q),
    'step': lambda model, q: TorquePredictor(model).step(0.0, q, q).effort,
    'run': lambda model, q: TorquePredictor(model).run([0.0], [q], [q])[0],
    'FeedForward': lambda model, q: FeedForward(model).step(0.0, q, q, q, q),
}


@pytest.mark.parametrize('call', ARRAY_CALLS.values(), ids=ARRAY_CALLS)
def test_arrays_may_be_lists_and_other_shapes_are_named(model_file, call):
    """In our words, not in those of the C++ behind Pinocchio."""
    model = load_model(model_file)
    q = [0.1, -0.2, 0.3, 0.4, -0.5, 0.6]
    # Some return two arrays, and the observer none before it has settled.
    of_lists, of_arrays = (
        found if isinstance(found, tuple) else (found,)
        for found in (call(model, q), call(model, np.array(q)))
    )
    for one, other in zip(of_lists, of_arrays, strict=True):
        np.testing.assert_array_equal(one, other)
    for wrong, words in (
        (q[:5], r'shape.* \(1, 5\).* needed is \([N1], 6\)|shape \(5,\), needed is \(6,\)'),
        (['a', *q[1:]], 'an array of numbers is needed'),
    ):
        with pytest.raises(UsageError, match=words):
            call(model, wrong)

# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The Python interface as a notebook uses it: arrays in, arrays out, without the command line."""

from contextlib import chdir
from dataclasses import replace
from pathlib import Path
import re
import subprocess
import sys
from types import SimpleNamespace

from known_models import known_model
import numpy as np
import pinocchio as pin
import pytest
import robot_identification as ri
import robot_identification
from robot_identification import (
    identify, load_experiment, load_model, load_robot, predict, read_recording, validate,
)
from robot_identification.errors import UsageError
from robot_identification.model import (
    energy_regressor, inertial_regressor, Motion, prior_deviation, prior_inertial_parameters,
    rigid_torque, static_regressor,
)
from robot_identification.model.dynamics import standard_covariance
from robot_identification.monitoring.contact_observer import MomentumObserver
from robot_identification.prediction import FeedForward, TorquePredictor
from robot_identification.prediction.sample_torque import RigidTorque
from scipy.linalg import null_space

RATE = 500.0
PAGE = Path(__file__).resolve().parents[1] / 'docs' / 'python.md'


@pytest.fixture(scope='module')
def block(scene, tmp_path_factory):
    """Return what a notebook has: a robot of its URDF, two logs as arrays, and what was found."""
    made, folder = scene('ur5'), tmp_path_factory.mktemp('notebook')
    path = folder / 'arm.urdf'
    path.write_text(made.robot.urdf.text)
    robot = ri.load_robot(path)
    gains = made.robot.drives.drive_gain
    logs = [
        ri.Recording.from_arrays(
            run.stamps, run.measured[0], run.measured[2] * gains, dq=run.measured[1], unit='Nm'
        ) for run in made.runs
    ]
    found = ri.identify(robot, logs[0])
    return SimpleNamespace(
        robot=robot, logs=logs, found=found, model=found.model, folder=folder, run=made.runs[1],
        gains=gains,
    )


@pytest.fixture
def motion(block, rng):
    """Return random positions, velocities and accelerations (20, 6), one of them at rest."""
    q, dq, ddq = rng.normal(size=(3, 20, block.robot.n))
    dq[3] = 0.0
    return q, dq, ddq


def test_the_page_is_run_line_by_line(block):
    """What docs/python.md shows, in its order, with arrays of an arm that has its names."""
    matplotlib = pytest.importorskip('matplotlib')
    for module in ('mujoco', 'pandas'):
        pytest.importorskip(module)
    matplotlib.use('Agg')
    log, folder = block.logs[0], block.folder / 'page'
    folder.mkdir()
    urdf = block.robot.urdf.text.replace('forearm_link', 'forearm').replace('elbow_joint', 'elbow')
    (folder / 'arm.urdf').write_text(urdf)
    block.model.export(folder / 'menagerie.xml')
    scene = (folder / 'menagerie.xml').read_text()
    (folder / 'menagerie.xml').write_text(scene.replace('elbow_joint', 'elbow'))
    names = {
        't': log.stamps, 'q': log.q, 'dq': log.dq, 'ddq': np.zeros_like(log.q), 'tau': log.effort,
        'other': block.logs[1],
    }
    blocks = re.findall(r'```python\n(.*?)```', PAGE.read_text(encoding='utf-8'), re.DOTALL)
    assert len(blocks) > 2
    with chdir(folder):
        for code in blocks:
            exec(compile(code, str(PAGE), 'exec'), names)
    assert {'arm.yaml', 'scene.xml', 'report.html'} <= {path.name for path in folder.iterdir()}
    assert names['model'].links['forearm'].mass > 0.0


def test_what_is_printed_is_short(block):
    """Ten lines with the verdict by use, the errors and what to do next; as much in a notebook."""
    score = ri.validate(block.model, block.logs[1])
    for value, words in (
        (block.found, ('GOOD', 'torque prediction', 'NRMSE', 'Next step')),
        (score, ('GOOD', 'elbow_joint', 'Next step')), (block.model, ('ur5', 'joint torque')),
    ):
        text = str(value)
        assert len(text.splitlines()) <= 10 and all(word in text for word in words)
        assert len(repr(value)) < 2000
        assert '<pre>' in value._repr_html_()


def test_torque_of_arrays_is_that_of_an_unseen_motion(block):
    """Against the noise-free truth, at speeds that friction slides at; NRMSE as the verdict's."""
    q, dq, effort = block.run.true
    ddq = np.gradient(dq, block.run.stamps, axis=0)
    tau, found = effort * block.gains, block.model.torque(q, dq, ddq)
    for joint in range(block.robot.n):
        slides = np.abs(dq[:, joint]) > 0.1
        error = found[slides, joint] - tau[slides, joint]
        assert np.sqrt(np.mean(error**2)) < 0.05 * tau[:, joint].std()


def test_parts_add_up_and_have_their_shape(block, motion):
    """One sample as a list, or many; the friction of an arm at rest is its offset alone."""
    model, (q, dq, ddq) = block.model, motion
    tau, parts = model.torque(q, dq, ddq), model.torque(q, dq, ddq, parts=True)
    np.testing.assert_allclose(sum(parts), tau, atol=1e-12)
    np.testing.assert_allclose(model.torque(*(list(one[4]) for one in motion)), tau[4], rtol=1e-12)
    np.testing.assert_array_equal(parts.gravity, model.gravity(q))
    np.testing.assert_array_equal(parts.coriolis, model.coriolis(q, dq))
    np.testing.assert_allclose(
        parts.inertia, np.einsum('kij,kj->ki', model.mass_matrix(q), ddq), atol=1e-12
    )
    np.testing.assert_array_equal(model.torque(q), model.torque(q, 0.0 * q, 0.0 * q))
    curves = [model.friction(name, [0.0]).torque[0] for name in block.robot.joint_names]
    np.testing.assert_allclose(parts.friction[3], curves, atol=1e-12)


def test_power_of_coriolis_is_half_the_change_of_the_mass_matrix(block, motion):
    """The identity ``dq' (c - M' dq / 2) = 0``, with M' by differences of the mass matrix."""
    q, dq, _ = motion
    step = 1e-6
    change = (
        block.model.mass_matrix(q + step * dq) - block.model.mass_matrix(q - step * dq)
    ) / (2.0 * step)
    power = np.einsum('ki,kij,kj->k', dq, change, dq)
    coriolis = np.sum(dq * block.model.coriolis(q, dq), axis=1)
    # Differences of M have errors of 1e-10 / 1e-6.
    np.testing.assert_allclose(coriolis, 0.5 * power, atol=1e-6)


def test_forward_dynamics_is_the_inverse_of_torque(block, motion):
    """Friction grows with the load, which accelerations decide."""
    q, dq, ddq = motion
    tau = block.model.torque(q, dq, ddq)
    np.testing.assert_allclose(block.model.forward_dynamics(q, dq, tau), ddq, atol=1e-9)
    np.testing.assert_allclose(
        block.model.forward_dynamics(q[0], dq[0], tau[0]), ddq[0], atol=1e-9
    )


def test_standard_errors_of_bodies_are_those_of_description_and_data(block):
    """What K sees has the data's covariance; what is independent of it, the description's."""
    model, K = block.model, block.model.reduction.K
    prior = prior_deviation(model.robot, model.parameters.size)
    covariance = standard_covariance(model)
    np.testing.assert_allclose(
        K @ covariance @ K.T, model.covariance, rtol=1e-6,
        atol=1e-9 * np.abs(model.covariance).max(),
    )
    # In units of the prior: directions that K does not see have variance 1, and no correlation
    # with what it sees.
    unseen = null_space(K * prior)
    whitened = covariance / np.outer(prior, prior)
    np.testing.assert_allclose(
        unseen.T @ whitened @ unseen, np.eye(unseen.shape[1]), atol=1e-9
    )
    np.testing.assert_allclose(unseen.T @ whitened @ (K * prior).T, 0.0, atol=1e-9)
    for link, urdf in zip(
        model.links.values(), list(model.robot.pinocchio.inertias)[1:], strict=True
    ):
        assert abs(link.mass - urdf.mass) < 4.0 * link.std.mass
        assert np.all(np.abs(link.com - urdf.lever) < 4.0 * link.std.com)
        assert np.linalg.eigvalsh(link.inertia)[0] > 0.0


def test_bodies_are_the_consistent_parameters(block):
    """Pinocchio has the same mass, centre and inertia of them."""
    theta = block.model.theta_consistent[:60].reshape(6, 10)
    assert [*block.model.links] == [
        'shoulder_link', 'upper_arm_link', 'forearm_link', 'wrist_1_link', 'wrist_2_link',
        'wrist_3_link',
    ]
    for link, parameters in zip(block.model.links.values(), theta, strict=True):
        body = pin.Inertia.FromDynamicParameters(parameters)
        assert link.mass == pytest.approx(body.mass, rel=1e-12)
        np.testing.assert_allclose(link.com, body.lever, atol=1e-12)
        np.testing.assert_allclose(link.inertia, body.inertia, atol=1e-9)


def test_a_friction_curve_is_the_friction_of_torque(block):
    """The band is of the coefficients; torques of the curve are those of `torque`."""
    dq = np.linspace(-1.0, 1.0, 21)
    curve = block.model.friction('elbow_joint', dq, load=0.0)
    assert np.all(curve.lower <= curve.torque) and np.all(curve.torque <= curve.upper)
    rest = np.zeros((21, 6))
    moving = rest.copy()
    moving[:, 2] = dq
    # No load: a weightless arm with the same laws.
    friction = block.model.torque(rest, moving, parts=True).friction[:, 2]
    loaded = block.model.friction(
        'elbow_joint', dq[5:6], load=float(np.abs(
            block.model.torque(rest, moving)[5, 2] - friction[5]
        ))
    )
    assert loaded.torque[0] == pytest.approx(friction[5], abs=1e-9)


def test_a_model_is_saved_and_shown_as_a_table(block):
    pandas = pytest.importorskip('pandas')
    block.model.save(block.folder / 'arm.yaml')
    read = ri.load_model(block.folder / 'arm.yaml')
    np.testing.assert_array_equal(read.theta_base, block.model.theta_base)
    table = read.to_frame()
    assert isinstance(table, pandas.DataFrame)
    assert tuple(table['name']) == read.parameter_names
    np.testing.assert_array_equal(table['standard_error'], np.sqrt(np.diag(read.covariance)))
    assert list(table.columns) == ['name', 'value', 'standard_error', 'unit', 'expression']


def test_a_score_has_the_samples_behind_its_errors(block):
    """NRMSE is computed again from the residuals; training data are known by their samples."""
    matplotlib = pytest.importorskip('matplotlib')
    matplotlib.use('Agg')
    score = ri.validate(block.model, block.logs[1])
    found = score.residuals
    assert found.joints == block.robot.joint_names
    deviation = found.measured - found.measured.mean(axis=0)
    again = np.linalg.norm(found.residual, axis=0) / np.linalg.norm(deviation, axis=0)
    np.testing.assert_allclose(score.nrmse, again, rtol=1e-9)
    assert not score.validation.training
    assert ri.validate(block.model, block.logs[0]).validation.training
    axes = score.plot()
    assert len(axes) == 6 and 'elbow_joint' in axes[2].get_ylabel()


def test_external_torque_is_found_where_it_acts(block):
    """A push of 20 N m on the elbow for a second, added to what the drives measure."""
    log = block.logs[1]
    pushed = log.effort.copy()
    during = (log.stamps > 5.0) & (log.stamps < 6.0)
    # What others do to the arm, the drives hold against.
    pushed[during, 2] -= 20.0
    quiet, found = (
        block.model.external_torque(ri.Recording.from_arrays(
            log.stamps, log.q, effort, dq=log.dq, unit='Nm'
        )) for effort in (log.effort, pushed)
    )
    late = (log.stamps > 5.5) & during
    np.testing.assert_allclose(
        (found.external - quiet.external)[late, 2], 20.0, rtol=0.02
    )


def test_a_model_goes_to_files_by_their_suffix(block):
    """The bodies of each are the model's; a scene is changed and nothing else of it."""
    mujoco = pytest.importorskip('mujoco')
    for name in ('out.urdf', 'scene.xml', 'out.sdf', 'gravity.yaml'):
        block.model.export(block.folder / name)
        assert (block.folder / name).stat().st_size > 100
    scene = block.folder / 'menagerie.xml'
    scene.write_text((block.folder / 'scene.xml').read_text().replace(
        '<worldbody>', '<worldbody><!-- my table --><geom name="table" size=".1"/>'
    ))
    block.model.export(block.folder / 'changed.xml', into=scene)
    assert 'my table' in (block.folder / 'changed.xml').read_text()
    compiled = mujoco.MjModel.from_xml_path(str(block.folder / 'changed.xml'))
    mass = sum(link.mass for link in block.model.links.values())
    masses = compiled.body_mass[compiled.jnt_bodyid]
    assert masses.sum() == pytest.approx(mass, rel=1e-6)
    with pytest.raises(ri.IdentificationError, match='no format that is known'):
        block.model.export(block.folder / 'out.txt')
    with pytest.raises(ri.IdentificationError, match='frictions: no option'):
        block.model.export(block.folder / 'out.urdf', frictions='plain')


def test_a_motion_is_designed_from_the_description_alone(block):
    motion = ri.design_excitation(block.robot, time_limit=2.0)
    samples = motion.sample(RATE)
    assert len(samples) == len(motion.times(RATE))
    lower, upper = block.robot.limits.lower, block.robot.limits.upper
    assert np.all((samples.q > lower) & (samples.q < upper))
    motion.save(block.folder / 'motion.yaml')
    assert ri.load_trajectory(block.folder / 'motion.yaml').sha256 == motion.sha256
    with pytest.raises(ri.IdentificationError, match='time_limit is a positive number'):
        ri.design_excitation(block.robot, time_limit=-1.0)


def test_a_report_is_one_file(block):
    block.found.report(block.folder / 'report.html')
    text = (block.folder / 'report.html').read_text()
    assert 'held-out' in text and 'src="http' not in text


def test_a_log_may_have_other_columns_and_an_order_of_its_own(scene, block):
    """Joints are found by name, signs and zeros of the driver by the arm."""
    made = scene('ur5')
    read = ri.read_recording(made.bags[0])
    assert sorted(read.joint_names) == list(read.joint_names), 'as the UR driver has them'
    usual = ri.read_recording(made.bags[0], made.robot.joint_names)
    of_arm = read.for_arm(made.robot)
    for kind in ('stamps', 'q', 'dq', 'effort'):
        np.testing.assert_array_equal(getattr(of_arm, kind), getattr(usual, kind))
    log = block.logs[0]
    order = [5, 0, 3, 1, 2, 4]
    names = [block.robot.joint_names[joint] for joint in order]
    wide = ri.Recording.from_arrays(
        log.stamps, np.column_stack([log.q[:, order], log.stamps]),
        np.column_stack([log.effort[:, order], log.stamps]),
        joint_names=[*names, 'finger'],
    ).for_arm(block.robot)
    np.testing.assert_array_equal(wide.q, log.q)
    np.testing.assert_array_equal(wide.effort, log.effort)
    assert np.isnan(wide.dq).all()


def test_signs_and_zeros_of_a_driver_are_those_of_the_arm(scene):
    """A recording that was read without an arm becomes what reading it for the arm gives."""
    made, rng = scene('ur5'), np.random.default_rng(3)
    arm = replace(made.robot, encoders=replace(
        made.robot.encoders, sign=np.array([1.0, -1.0, 1.0, -1.0, -1.0, 1.0]),
        zero=rng.normal(size=6),
    ))
    usual = ri.read_recording(made.bags[0], arm.joint_names, encoders=arm.encoders)
    found = ri.read_recording(made.bags[0]).for_arm(arm)
    for kind in ('q', 'dq', 'effort'):
        np.testing.assert_array_equal(getattr(found, kind), getattr(usual, kind))
    assert set(found.channels) == set(usual.channels)
    for name, channel in usual.channels.items():
        np.testing.assert_array_equal(found.channels[name].values, channel.values)


def test_recordings_of_one_name_are_told_from_each_other(block, scene):
    """Training data among them are found, and what was read of a bag counts not twice with it."""
    score = ri.validate(block.model, [block.logs[1], block.logs[0]])
    assert [bag.bag for bag in score.validation.bags] == ['arrays', 'arrays (2)']
    assert set(score.validation.training) == {'arrays (2)'}
    bag = scene('ur5').bags[0]
    for twice in ([bag, ri.read_recording(bag)], [ri.read_recording(bag), bag]):
        with pytest.raises(ri.IdentificationError, match='the same bytes'):
            ri.identify(scene('ur5').robot, twice)


def test_friction_of_two_encoders_sees_the_bodies_alone(block, motion):
    """As a recording of such a model that has one encoder is predicted: rotors load no gear."""
    arm = known_model(
        block.robot, 'load', prior_inertial_parameters(block.robot), fcl=0.2, Ia=1.0
    )
    model = replace(arm, provenance={'two_encoders': True})
    stiff = Motion(*motion).with_stiff_joints()
    # Single samples: the law has no memory.
    np.testing.assert_allclose(model.torque(*motion), model.torque(stiff), atol=1e-9)
    assert np.abs(model.torque(*motion) - arm.torque(*motion)).max() > 1e-3
    with pytest.raises(ri.IdentificationError, match='stiff joints only'):
        model.forward_dynamics(*motion)


@pytest.mark.parametrize(('call', 'words'), [
    (lambda block: block.model.torque(np.zeros(5)), r'q has the shape \(5,\), needed is \(6,\)'),
    (lambda block: block.model.torque(np.zeros((3, 6)), np.zeros(6)), r'dq has the shape \(6,\)'),
    (lambda block: block.model.mass_matrix('abc'), 'an array of numbers is needed'),
    (lambda block: block.model.friction('knee', [0.0]), 'no joint .knee.: the joints are'),
    (lambda block: ri.Recording.from_arrays([0.0, 1.0], np.zeros((3, 6)), np.zeros((3, 6))),
     r'needed are \(N,\) and \(N, n\)'),
    (lambda block: ri.Recording.from_arrays([0.0], np.zeros((1, 6)), np.zeros((1, 5))),
     r'effort has the shape \(1, 5\), needed is \(1, 6\)'),
    (lambda block: ri.Recording.from_arrays([0.0], [[0.0]], [[0.0]], unit='lbf'), 'unit is .lbf.'),
    (lambda block: ri.identify(block.robot, ri.Recording.from_arrays([0.0], [[0.0]], [[0.0]])),
     '1 columns without names, ur5 has 6 joints'),
    (lambda block: ri.identify(block.robot, [block.logs[0], block.logs[0]]), 'the same bytes'),
    (lambda block: ri.load_robot('ur5', mounting=(0.0, 0.0)), r'needed is \(3,\)'),
])
def test_wrong_arguments_name_what_is_needed(block, call, words):
    """Every error is of the package's one base class."""
    with pytest.raises(ri.IdentificationError, match=words):
        call(block)


def test_an_arm_is_loaded_as_it_stands(block):
    """Mounting and drive gains beside the description; gravity of a wall lies in its plane."""
    wall = ri.load_robot(
        block.folder / 'arm.urdf', mounting=(np.pi / 2, 0.0, 0.0), drive_gains=[10.0] * 6,
        joints=block.robot.joint_names,
    )
    np.testing.assert_allclose(wall.gravity, [0.0, -9.81, 0.0], atol=1e-12)
    np.testing.assert_array_equal(wall.drives.drive_gain, 10.0)


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

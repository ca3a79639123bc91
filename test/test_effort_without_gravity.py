# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""A simulated arm whose driver publishes torque less that of gravity, from bag to export."""

from dataclasses import replace
from types import SimpleNamespace

from defusedxml.ElementTree import fromstring
import numpy as np
import pytest
from recordings import designed_motion
from robot_identification.estimation.method import IdentifyOptions
from robot_identification.export.arm import build_pinocchio_model
from robot_identification.export.formats import EXPORTERS
from robot_identification.export.mjcf import export_mjcf
from robot_identification.model.corrections import Corrections
from robot_identification.model.friction import CoulombFriction
from robot_identification.model.kinematic_filter import KinematicFilter
from robot_identification.model.model_file import dump_model, load_model
from robot_identification.model.regressor import Motion, rigid_torque
from robot_identification.monitoring.contact_observer import MomentumObserver
from robot_identification.monitoring.live_residuals import LiveResiduals
from robot_identification.pipeline import identify, validate
from robot_identification.prediction.feed_forward import FeedForward, FeedForwardOptions
from robot_identification.prediction.sample_torque import RigidTorque
from robot_identification.prediction.torque_predictor import TorquePredictor
from robot_identification.recording.simulated_run import simulate, write_simulated_bag
from robot_identification.simulation import draw_truth, Sensors
from robot_identification.simulation.mujoco_robot import (
    rigid_inverse_dynamics, true_inertial_parameters,
)
from robot_identification.studies.comparison.comparison import compare_models
from robot_identification.studies.drive_gains.study import torque_source
from robot_identification.studies.payload.estimate import estimate_payload, loaded_run
from robot_identification.studies.temperature.trend import study_temperature

UNIT = 'Nm-without-gravity'


@pytest.fixture(scope='module')
def twin(ur5, tmp_path_factory):
    """Return a UR5 whose driver knows its gains and the gravity of its bodies, and recordings."""
    pytest.importorskip('mujoco', reason='MuJoCo, the simulated truth, is not installed')
    folder = tmp_path_factory.mktemp('twin')
    robot = replace(ur5, effort_unit=UNIT)
    # Friction is that of the laws that are fitted, so that nothing but noise is in the errors.
    truth = replace(
        draw_truth(ur5, 7), drive_gain=ur5.drives.drive_gain,
        velocity_width=CoulombFriction().width,
    )
    runs = [
        simulate(robot, designed_motion(ur5, number), truth, Sensors(), seed=number)
        for number in range(2)
    ]
    bags = [folder / f'bag_{number}' for number in range(2)]
    for bag, run in zip(bags, runs, strict=True):
        write_simulated_bag(bag, robot, run)
    found = identify(robot, bags, IdentifyOptions(
        estimator='wls', friction='coulomb,viscous,offset',
        kinematic_filter=KinematicFilter(cutoff=14.0),
    ))
    model_file = folder / 'identified_model.yaml'
    model_file.write_text(dump_model(found.model))
    return SimpleNamespace(
        robot=robot, truth=truth, runs=runs, bags=bags, found=found, model=found.model,
        model_file=model_file,
    )


def test_the_driver_publishes_torque_less_gravity(twin):
    """Of MuJoCo, at every sample, to rounding: what is left is inertia and friction."""
    q, _, effort = twin.runs[0].true
    whole = simulate(
        replace(twin.robot, effort_unit='Nm'), designed_motion(twin.robot, 0), twin.truth,
        Sensors(), seed=0,
    ).true[2]
    still = np.zeros_like(q)
    gravity = rigid_inverse_dynamics(twin.robot, twin.truth, Motion(q, still, still))
    np.testing.assert_allclose(whole - effort, gravity, atol=1e-9)


def test_what_motion_shows_is_the_truth(twin):
    """Bodies and rotors; what gravity alone shows is named, in model file and notes."""
    model, n = twin.model, 6
    parameters, rows = model.parameters, model.reduction.independent
    theta = np.zeros(parameters.size)
    theta[: 10 * n] = true_inertial_parameters(twin.robot, twin.truth)
    theta[parameters.reflected_inertia_slice] = twin.truth.reflected_inertia
    own = np.flatnonzero((theta != 0.0) | (np.arange(parameters.size) < 10 * n))
    bodies = np.isin(rows, own)
    z = (model.theta_base - model.reduction.K @ theta)[bodies] / model.standard_errors[bodies]
    # Of 38 numbers, and of errors that are estimated, too.
    assert np.abs(z).max() < 4.0
    assert not {'mx2', 'my2'} & set(model.reduction.names)
    assert 'mx2, my2 of the bodies, which nothing else shows' in model.consistency_note
    assert any('gravity is not in the effort' in note for note in twin.found.notes)


def test_the_model_file_keeps_gravity_and_kind(twin):
    """The recording shows the kind."""
    assert twin.model.quality['effort'].startswith('effort is joint torque without gravity')
    read = load_model(twin.model_file)
    assert read.effort_unit == UNIT
    np.testing.assert_array_equal(read.robot.gravity, 0.0)
    np.testing.assert_allclose(read.robot.mounting_gravity, [0.0, 0.0, -9.81])
    motion = twin.found.datasets[0].motion.part(slice(0, 50))
    np.testing.assert_allclose(read.torque(motion), twin.model.torque(motion), rtol=1e-9)


def test_prediction_follows(twin):
    """On unseen motion as on the fitted one; live bit for bit; a pose at rest takes no torque."""
    fitted, unseen = (
        validate(twin.model, [bag]).validation.bags[0].nrmse.mean() for bag in twin.bags
    )
    assert unseen < 1.2 * fitted
    q, dq, _ = twin.runs[1].measured
    stamps = twin.runs[1].stamps[:100]
    whole = TorquePredictor(twin.model).run(stamps, q[:100], dq[:100])[0]
    live = TorquePredictor(twin.model)
    for k in range(100):
        np.testing.assert_array_equal(live.step(stamps[k], q[k], dq[k]).effort, whole[k])
    np.testing.assert_allclose(RigidTorque(twin.model).gravity(q[0]), 0.0, atol=1e-9)


def test_contact_is_seen_in_what_is_left(twin):
    """Torque without gravity is free motion, and another one is what was added to it."""
    period, phase = 0.002, np.arange(6)
    inverse = RigidTorque(twin.model)
    for push in (0.0, 5.0):
        observer = MomentumObserver(twin.model)
        for t in np.arange(0.0, 1.0, period):
            q, dq = np.sin(1.3 * t + phase), 1.3 * np.cos(1.3 * t + phase)
            seen = observer.step(period, q, dq, inverse(q, dq, -1.69 * q) - push, np.zeros(6))
        # The step of 2 ms; gravity would be up to 60 N m.
        np.testing.assert_allclose(seen, push, atol=0.05)


def test_exports_have_the_gravity_of_the_mounting(twin):
    """Simulators need it; what it shows alone is the URDF's within what bodies allow."""
    option = fromstring(export_mjcf(twin.model)).find('option')
    assert [float(value) for value in option.get('gravity').split()] == [0.0, 0.0, -9.81]
    built = build_pinocchio_model(twin.model)
    np.testing.assert_allclose(built.gravity.linear, [0.0, 0.0, -9.81])
    theta = dict(zip(twin.model.parameters.names, twin.model.theta_consistent, strict=True))
    described = twin.robot.pinocchio.inertias[2].toDynamicParameters()
    # A prior, which the mass that motion shows moves: 30 % is what a URDF is taken to be off.
    np.testing.assert_allclose(theta['mx2'], described[1], rtol=0.3)


def test_terms_that_grow_with_load_are_not_offered():
    options = IdentifyOptions().for_effort(UNIT)
    assert not any('load' in kind for kind, _ in options.laws[0][0].terms)
    assert IdentifyOptions().for_effort('Nm') == IdentifyOptions()


def test_an_arm_in_an_effort_without_gravity_goes_back(ur5):
    """The mounting is kept: there and back is the arm, on a wall as well."""
    on_wall = ur5.with_gravity([0.0, 9.81, 0.0])
    there = on_wall.for_effort(UNIT)
    q = np.full((1, 6), 0.5)
    still = Motion(q, 0.0 * q, 0.0 * q)
    np.testing.assert_array_equal(rigid_torque(there, still), 0.0)
    for unit in ('A', 'Nm'):
        back = there.for_effort(UNIT).for_effort(unit)
        np.testing.assert_array_equal(rigid_torque(back, still), rigid_torque(on_wall, still))


@pytest.fixture(scope='module')
def pair(identification):
    """Return a model with corrections on every joint and the same without."""
    model = identification.model
    one, *_ = model.corrections.offline
    everywhere = tuple(replace(one, joint=joint) for joint in range(model.robot.n))
    corrections = Corrections(model.corrections.rate, everywhere, everywhere)
    return replace(model, corrections=corrections), replace(model, corrections=Corrections())


def payload(model, dataset, _):
    """Return a payload of nothing, on the training recording."""
    found = estimate_payload(model, [loaded_run(model, dataset)])
    return found.parameters, found.after


def temperature(model, *_):
    """Return lines through the same model, warm and cold."""
    return repr(study_temperature([
        replace(model, temperature=np.full(6, warmth)) for warmth in (25.0, 35.0)
    ]).joints)


def drive_gains(model, _, folder):
    """Return the gravity that gains are found from: that of the bodies."""
    file = folder / 'model.yaml'
    file.write_text(dump_model(model))
    q = np.random.default_rng(0).uniform(-1.0, 1.0, (20, model.robot.n))
    gravity = torque_source(model.robot, str(file))[0](q)
    assert np.ptp(gravity, axis=0).max() > 1.0
    return gravity


def feed_forward_and_online_residuals(model, dataset, _):
    """Return both of every sample that has them."""
    forward, live = FeedForward(model, FeedForwardOptions()), LiveResiduals(model)
    found = []
    for k in range(400):
        q, dq = dataset.motion.q[k], dataset.motion.dq[k]
        torque = dataset.effort[k] / model.effort_per_torque
        residual = live.step(dataset.stamps[k], q, dq, torque)
        found.append((
            forward.step(dataset.stamps[k], q, dq, dq, torque),
            None if residual is None else residual.residual,
        ))
    assert sum(residual is not None for _, residual in found) > 10
    return found


@pytest.mark.parametrize('compute', [
    *(lambda model, *_, write=exporter.write: write(model) for exporter in EXPORTERS.values()),
    payload, temperature, drive_gains, feed_forward_and_online_residuals,
], ids=[*EXPORTERS, 'payload', 'temperature', 'drive gains', 'live'])
def test_what_does_not_see_them(pair, identification, tmp_path, compute):
    np.testing.assert_equal(*(
        compute(model, identification.datasets[0], tmp_path) for model in pair
    ))


def test_comparison(pair):
    """No difference at all between a model with and without them."""
    groups = compare_models(*pair).groups
    assert groups and not any(
        group.moved or np.nan_to_num(group.change) for group in groups
    )

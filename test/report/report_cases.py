# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Made-up arms, recordings and findings that the tests of reports draw."""

from dataclasses import replace
from pathlib import Path

from builders import joint, link, robot_urdf
import numpy as np
from robot_identification.estimation.estimators import ESTIMATORS
from robot_identification.estimation.judgement import Identification
from robot_identification.estimation.problem import Observations
from robot_identification.estimation.rows import TrainingData
from robot_identification.estimation.uncertainty.covariance import Covariance, residual_covariance
from robot_identification.estimation.uncertainty.intervals import JointTest
from robot_identification.excitation.certificate import certify
from robot_identification.excitation.evaluation import evaluate_motion
from robot_identification.excitation.experiment_file import find_experiment, load_experiment
from robot_identification.excitation.trajectory import Trajectory
from robot_identification.model.base_parameters import reduce_to_base
from robot_identification.model.friction import parse_friction
from robot_identification.model.identified_model import IdentifiedModel, SignalSource
from robot_identification.model.parameters import make_standard_parameters
from robot_identification.model.payload import Payload
from robot_identification.model.regressor import Motion, prior_inertial_parameters, standard_torque
from robot_identification.model.robot_model import make_robot_model
from robot_identification.model.urdf import parse_urdf
from robot_identification.processing.dataset import Dataset
from robot_identification.studies.break_away.estimate import BreakAwayRun, estimate_break_away
from robot_identification.studies.break_away.options import BreakAwaySettings
from robot_identification.studies.break_away.procedure import BreakAwayRepeat
from robot_identification.studies.comparison.comparison import compare_models
from robot_identification.studies.comparison.report import ComparedPair, CompareResult
from robot_identification.studies.comparison.torque_change import change_of_torque, TorqueChange
from robot_identification.studies.drive_gains.estimate import (
    DriveGain, DriveGains, DriveGainsOptions, GainPoint,
)
from robot_identification.studies.drive_gains.report import DriveGainsResult
from robot_identification.studies.payload.estimate import LoadedRun, PayloadErrors, PayloadEstimate
from robot_identification.studies.payload.report import PayloadResult
from robot_identification.studies.temperature.line import fit_temperature_line
from robot_identification.studies.temperature.trend import JointTemperature, TemperatureStudy
from robot_identification.validation.validation import errors_on, predict_effort
from robot_identification.validation.verdict import judge

RATE = 100.0
NOISE = 0.3
FRICTION = 'coulomb,viscous,offset'
COULOMB, VISCOUS, OFFSET, ROTOR = 3.0, 1.5, 0.2, 0.4


def chain_arm(joints, names=None):
    """Return an arm of revolute joints whose axes alternate, its joints by other names."""
    axes = ((0, 0, 1), (0, 1, 0), (1, 0, 0))
    parts = [link('link_0')]
    for number in range(joints):
        parts.append(link(f'link_{number + 1}', 3.0 / (number + 1)))
        parts.append(joint(
            f'a_rather_long_joint_{number + 1}', f'link_{number}', f'link_{number + 1}',
            axis=axes[number % 3], xyz=(0.05, 0.02, 0.25), rpy=(0.1, 0.0, 0.0),
        ))
    robot = make_robot_model(parse_urdf(robot_urdf(*parts, name='chain'), 'chain'))
    return replace(robot, joint_names=names) if names else robot


def true_parameters(robot):
    """Return the standard parameters that recordings of an arm are made with."""
    parameters = make_standard_parameters(robot.n, parse_friction(FRICTION), True)
    values = {'fc': COULOMB, 'fv': VISCOUS, 'f0': OFFSET, 'Ia': ROTOR}
    theta = np.zeros(parameters.size)
    theta[: 10 * robot.n] = prior_inertial_parameters(robot)
    for column in range(10 * robot.n, parameters.size):
        theta[column] = values[parameters.names[column].rstrip('123456789')]
    return parameters, theta


def record(robot, source, seed, samples=800):
    """Return a recording with white noise, ten samples before its window and one gap."""
    rng = np.random.default_rng(seed)
    t = np.arange(samples) / RATE
    rates = rng.uniform(1.0, 4.0, (3, robot.n))
    phases = rng.uniform(0.0, 6.0, (3, robot.n))
    angles = rates[:, None] * t[:, None] + phases[:, None]
    motion = Motion(
        (0.4 * np.sin(angles)).sum(axis=0),
        (0.4 * rates[:, None] * np.cos(angles)).sum(axis=0),
        (-0.4 * rates[:, None] ** 2 * np.sin(angles)).sum(axis=0),
        temperature=np.full((samples, robot.n), 31.5),
    )
    effort = standard_torque(robot, *true_parameters(robot), motion)
    effort = effort + rng.normal(scale=NOISE, size=effort.shape)
    effort[:10] = np.nan
    inside = np.arange(samples) >= 10
    return Dataset(
        source, robot.joint_names, t, motion, effort, 'Nm', inside, inside,
        (slice(0, samples),), {'duplicate (scored, not fitted)': 3}, RATE, (),
    )


def identify_chain(joints, bags, samples=800, *, names=None, source='/recordings/bag'):
    """Return an identification of a made-up arm by weighted least squares."""
    robot = chain_arm(joints, names)
    datasets = tuple(record(robot, f'{source}_{seed}', seed, samples) for seed in range(bags))
    parameters, theta = true_parameters(robot)
    reduction = reduce_to_base(robot, parameters)
    problem = Observations(robot, reduction, [
        TrainingData(dataset, np.ones(robot.n), dataset.fitted) for dataset in datasets
    ]).factor()
    estimate = ESTIMATORS['wls']().estimate(problem)
    covariance = residual_covariance(estimate)
    model = IdentifiedModel(
        robot=robot,
        effort_unit='Nm',
        reduction=reduction,
        theta_base=estimate.theta,
        covariance=covariance.matrix,
        theta_consistent=theta,
        consistency_note='those the recordings were made with',
        source=SignalSource(),
        provenance={
            'bags': [
                {'path': dataset.source, 'sha256': 'ab' * 32, 'completeness': 'complete'}
                for dataset in datasets
            ],
            'options': {'estimator': 'wls', 'friction': FRICTION},
            'versions': {'numpy': '0'},
        },
        quality={'degrees_of_freedom': covariance.freedom},
        temperature=np.full(robot.n, 31.5),
    )
    errors = tuple(
        errors_on(dataset, predict_effort(model, dataset), dataset.fitted) for dataset in datasets
    )
    return Identification(
        model=model,
        estimate=estimate,
        datasets=datasets,
        cross_validation=errors,
        prior=tuple(replace(one, nrmse=2.0 * one.nrmse) for one in errors),
        unidentifiable=(),
        stationary_joints=(),
        verdict=judge(errors, unseen=False),
        notes=('a note on <the> data',),
    )


def temperature_study(joints=('one', 'two')):
    """Return a study of four runs in which viscous friction falls and Coulomb stays."""
    warmth = np.array([22.0, 28.0, 34.0, 40.0])
    errors = np.full(4, 0.05)
    viscous = 10.0 - 0.2 * (warmth - 22.0) + np.array([0.02, -0.03, 0.03, -0.02])
    coulomb = np.array([4.0, 4.02, 3.98, 4.01])
    lines = [
        fit_temperature_line(warmth, values, errors, np.full(4, 50.0))
        for values in (viscous, coulomb)
    ]
    n = len(joints)
    return TemperatureStudy(
        'arm',
        tuple(
            JointTemperature(
                name, warmth, viscous, errors, coulomb, errors, *lines, None, coulomb_p=0.8,
            )
            for name in joints
        ),
        (0, 1, 2, 3),
        TorqueChange(
            tuple(joints), 500, np.full(n, 1.2), np.full(n, 3.1), np.full(n, 1.5),
            np.full(n, 150.0),
        ),
        ('a note on <the> runs',),
    )


def comparison(model):
    """Return a model compared with itself, and with one whose friction is larger."""
    names = model.reduction.names
    viscous = np.array([name.startswith('fv') for name in names])
    worn = replace(model, theta_base=np.where(viscous, 1.3, 1.0) * model.theta_base)
    motion = record(model.robot, 'motion', 9, 200).motion
    return CompareResult(tuple(
        ComparedPair(
            ('first.yaml', path), compare_models(model, other),
            change_of_torque(model, other, motion),
        )
        for path, other in (('worn.yaml', worn), ('same.yaml', model))
    ))


def drive_gains(robot):
    """Return gains of all joints but the first, from poses."""
    torques = np.linspace(-20.0, 20.0, 6)
    found = DriveGains(
        'poses', 'the URDF', 'the bag',
        tuple(
            DriveGain(name, reason='nothing pulls at it') if number == 0 else DriveGain(
                name, 11.0 + number, 0.05, 0.1, 0.02, 0.01, 6, 5, 1.2, 20.0
            )
            for number, name in enumerate(robot.joint_names)
        ),
        tuple(
            () if number == 0 else tuple(
                GainPoint(float(torque), float(torque) / (11.0 + number), 0.1, side=int(k == 0))
                for k, torque in enumerate(torques)
            )
            for number in range(robot.n)
        ),
        ('a note on <the> poses',),
    )
    return DriveGainsResult(robot, ('bag',), DriveGainsOptions(), None, found)


def payload(model, *, p_value=1e-8):
    """Return the result of a loaded run with a body of two kilograms."""
    body = Payload(2.0, np.array([0.01, 0.0, 0.08]), np.diag([0.012, 0.01, 0.006]), 'tool0')
    motion = record(model.robot, 'loaded', 5, 300).motion
    n = model.robot.n
    found = PayloadEstimate(
        payload=body, unconstrained=body,
        errors=PayloadErrors(0.03, np.full(3, 0.002), np.full((3, 3), 0.001)),
        in_link=body, parameters=body.parameters, covariance=Covariance(
            'residual', 1e-4 * np.eye(10), np.full(10, 400.0), np.zeros(10, dtype=bool)
        ),
        from_model=0.1, test=JointTest(90.0, (10.0, 400.0), p_value), tested=('mass',),
        unseen=(), weak=(), cost=1.0, relative_scale=False, static=False, samples=300,
        before=np.full(n, 2.0), after=np.full(n, 0.4), changes=np.zeros((1, n, 3)),
        notes=('a note on <the> tool',),
    )
    tau = model.torque(motion) + 1.0
    run = LoadedRun(motion, tau, np.ones(len(motion), dtype=bool), 3.0)
    return PayloadResult(model, Path('model'), (Path('loaded'),), found, run)


def break_away(torques=(('a_joint', 1.2),)):
    """Return break-away torques of joints about some values [N m], 25 ramps either way."""
    rng = np.random.default_rng(0)
    settings = BreakAwaySettings(torque_cap=1.9, torque_limit=4.0, inertia=0.4)
    return [
        estimate_break_away(BreakAwayRun(name, 'free', settings, tuple(
            BreakAwayRepeat(sign, 1.02 * torque, torque, 0.0, 0.0, torque, 5e-4, 0.095, 0.1)
            for torque in rng.normal(median, 0.02, size=25) for sign in (1, -1)
        )))
        for name, median in torques
    ]


def some_motion(robot, experiment, size=0.05):
    """Return a motion of any arm in the form of an experiment."""
    coefficients = size * np.random.default_rng(1).normal(
        size=(robot.n, experiment.form.n_coefficients)
    )
    return Trajectory(robot.name, robot.joint_names, experiment.form, coefficients, 1, {})


def certified_motion(robot, **changes):
    """Return a certified motion of a small arm, its experiment and its evaluation."""
    experiment = replace(
        load_experiment(find_experiment('demo')), window={}, collision=False, **changes
    )
    found = certify(
        robot, experiment, some_motion(robot, experiment), {'optimizer': 'spectral', 'seed': 0}
    )
    return found, experiment, evaluate_motion(robot, experiment, found)

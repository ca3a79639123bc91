# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Wrong recordings that a verdict must not call good, and sound ones that it must not warn of.

The truth is MuJoCo's, with masses up to 20 % and drive gains up to 5 % off the description, and
with what the model lacks: friction that varies with the pose, elastic joints whose motor-side
encoders are read, torque ripple. Every arm and seed is made once; what is wrong with a recording
is done to its arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from benchmarks.figures import Figure
import numpy as np
from reproductions.elastic import inverse_elastic
from robot_identification.errors import IdentificationError
from robot_identification.estimation import choose, fit_parameters, IdentifyOptions, Recipe
from robot_identification.estimation.choice import Choice
from robot_identification.estimation.fitting import Fit
from robot_identification.excitation import FourierParametrization
from robot_identification.model import (
    IdentifiedModel, load_robot, make_robot_model, Motion, mount_tool, parse_urdf,
    prior_inertial_parameters, RobotModel, SignalSource, Tool, tool_frame,
)
from robot_identification.processing import process
from robot_identification.recording import Recording
from robot_identification.simulation import draw_truth, GroundTruth, with_static_friction
from robot_identification.validation import Findings, judge, predict_effort
from robot_identification.validation.hypotheses.signals import find_structure
from robot_identification.validation.verdict import GOOD
from scipy.signal import butter, sosfilt

ARMS = ('ur5', 'youbot', 'ur10e')
RATE, PERIOD = 125.0, 20.0
# Of the Fourier motions: fastest joint speed [rad/s] and largest way from the middle [rad].
SPEED, WAY = 1.4, 1.2
HARMONICS = 12
# Of all joints whose drive gain the robot's YAML does not have [N m/A].
USUAL_GAIN = 10.0
# Stiffness [1/rad], ripple and noise [1] as shares of the effort limit; ripple per turn.
STIFFNESS, RIPPLE, NOISE, RIPPLES = 100.0, 0.003, 0.004, 20.0
# Share by which dry friction varies with the pose.
UNEVEN = 0.15
# Masses of a tool that a description lacks, as shares of those of the links that move: of a UR5
# 0.5 to 2.3 kg.
TOOL_SHARE = (0.03, 0.15)
# A model is much worse where its unseen error is more than so many times that of the clean one.
WORSE = 2.0
REPEATS = 20


@dataclass(frozen=True, eq=False)
class Arm:
    """A simulated arm with recordings of two motions."""

    robot: RobotModel
    truth: GroundTruth
    training: Recording
    unseen: Recording
    unseen_true: np.ndarray


def make_arm(name: str, seed: int, *, with_tool: bool = False) -> Arm:
    """Return an arm whose truth and motions are drawn by a seed, its description without tool."""
    robot = load_robot(name)
    if not np.all(np.isfinite(robot.drives.drive_gain)):
        robot = robot.with_drive_gains(np.full(robot.n, USUAL_GAIN))
    limit = robot.limits.effort
    truth = with_static_friction(draw_truth(robot, seed))
    truth = replace(
        truth, stiffness=STIFFNESS * limit, joint_damping=0.1 * limit,
        velocity_width=0.01,
    )
    real = mount(robot, draw_tool(robot, seed)) if with_tool else robot
    training, _ = record(real, truth, seed, 0)
    unseen, true = record(real, truth, seed, 1)
    return Arm(robot, truth, training, unseen, true)


def draw_tool(robot: RobotModel, seed: int) -> Tool:
    """Return a tool of 3 to 15 % of the mass of the links that move, beyond the flange."""
    rng = np.random.default_rng([seed, 7])
    mass = rng.uniform(*TOOL_SHARE) * float(prior_inertial_parameters(robot)[::10].sum())
    x, y, z = rng.uniform((-0.03, -0.03, 0.03), (0.03, 0.03, 0.12))
    return Tool(mass=mass, center_of_mass=(x, y, z), size=(0.1, 0.1, 0.2))


def mount(robot: RobotModel, tool: Tool) -> RobotModel:
    """Return an arm with a tool in its description."""
    text = mount_tool(robot.urdf.text, robot.name, tool_frame(robot), tool)
    made = make_robot_model(
        parse_urdf(text, robot.name), name=robot.name, joints=robot.joint_names,
        gravity=robot.gravity,
    )
    return replace(made, limits=robot.limits, drives=robot.drives)


def record(
    robot: RobotModel, truth: GroundTruth, seed: int, number: int, *,
    gravity: np.ndarray | None = None,
) -> tuple[Recording, np.ndarray]:
    """Return a recording, effort in A, and its effort without noise (N, n)."""
    rng = np.random.default_rng([seed, number])
    real = robot if gravity is None else robot.with_gravity(gravity)
    form = FourierParametrization(harmonics=HARMONICS, base_period=PERIOD)
    times = np.arange(round(PERIOD * RATE)) / RATE
    basis = form.basis(times)
    coefficients = rng.normal(size=(robot.n, form.n_coefficients))
    q, dq, ddq = (part @ coefficients.T for part in basis)
    size = np.minimum(SPEED / np.abs(dq).max(axis=0), WAY / (0.5 * np.ptp(q, axis=0)))
    q, dq, ddq = size * q, size * dq, size * ddq
    q = q - 0.5 * (q.max(axis=0) + q.min(axis=0)) + middle_pose(robot)
    limit = robot.limits.effort
    moved = inverse_elastic(real, truth, Motion(q, dq, ddq), PERIOD)
    phase = np.random.default_rng([seed, 99]).uniform(0.0, 2.0 * np.pi, (2, robot.n))
    uneven = UNEVEN * truth.coulomb * np.sin(q + phase[0]) * np.tanh(dq / 0.01)
    ripple = RIPPLE * limit * np.sin(RIPPLES * moved.rotor_q + phase[1])
    true = (moved.motor_torque + uneven + ripple) / truth.drive_gain
    gain = robot.drives.drive_gain
    effort = true + NOISE * limit / gain * rng.normal(size=q.shape)
    measured_q = np.round(moved.rotor_q / 1e-6) * 1e-6 + 1e-5 * rng.normal(size=q.shape)
    measured_dq = moved.rotor_dq + 1e-3 * rng.normal(size=q.shape)
    return Recording(
        f'{robot.name} {seed}.{number}', '/joint_states', robot.joint_names, times,
        measured_q, measured_dq, effort, metadata={'robot': robot.name, 'effort_unit': 'A'},
    ), true


def middle_pose(robot: RobotModel) -> np.ndarray:
    """Return the middle of the joints' ranges, or a bent arm where they turn freely."""
    lower, upper = robot.limits.lower, robot.limits.upper
    middle = 0.5 * (lower + upper)
    bent = np.array([0.0, -1.2, 1.2, -0.6, 0.9, 0.0, 0.5])[: robot.n]
    free = ~(np.isfinite(middle) & (upper - lower < 6.0))
    return np.where(free, bent, middle)


@dataclass(frozen=True)
class Corruption:
    """
    Something wrong with a recording, and the hypotheses that name it rightly.

    `make` takes the arm and the recording's name number and returns a wrong recording.
    """

    names: tuple[str, ...]
    make: Callable[[Arm, int], Recording]
    with_tool: bool = False  # of the arm, which its description lacks


def exchange(recording: Recording, i: int, j: int, *, effort: bool) -> Recording:
    """Exchange two joints, or only their positions and velocities."""
    order = np.arange(recording.q.shape[1])
    order[[i, j]] = order[[j, i]]
    return replace(
        recording, q=recording.q[:, order], dq=recording.dq[:, order],
        effort=recording.effort[:, order] if effort else recording.effort,
    )


def late(recording: Recording, delay: float, joints: slice) -> Recording:
    """Make the effort of some joints late by `delay` [s]."""
    effort, t = recording.effort.copy(), recording.stamps
    for joint in range(effort.shape[1])[joints]:
        effort[:, joint] = np.interp(t - delay, t, recording.effort[:, joint])
    return replace(recording, effort=effort)


def clipped(recording: Recording, share: float) -> Recording:
    """Clip the effort of every joint at a quantile of its size."""
    level = np.quantile(np.abs(recording.effort), share, axis=0)
    return replace(recording, effort=np.clip(recording.effort, -level, level))


def filtered(recording: Recording, cutoff: float) -> Recording:
    """Run the effort through a causal low-pass."""
    sos = butter(2, cutoff, fs=RATE, output='sos')
    start = recording.effort[:1]
    return replace(recording, effort=sosfilt(sos, recording.effort - start, axis=0) + start)


def tilted(arm: Arm, seed: int) -> Recording:
    """Record the arm with its mounting turned by 10 degrees about a horizontal axis."""
    angle, way = np.deg2rad(10.0), np.random.default_rng([seed, 5]).uniform(0.0, 2.0 * np.pi)
    g = np.linalg.norm(arm.robot.gravity)
    gravity = g * np.array([
        np.sin(angle) * np.cos(way), np.sin(angle) * np.sin(way), -np.cos(angle)
    ])
    return record(arm.robot, arm.truth, seed, 0, gravity=gravity)[0]


def on_the_moon(arm: Arm, seed: int) -> Recording:
    """Record the arm where gravity is 1.62 m/s^2."""
    return record(arm.robot, arm.truth, seed, 0, gravity=np.array([0.0, 0.0, -1.62]))[0]


def taking_up(arm: Arm, seed: int) -> Recording:
    """Record the arm with a payload from half of the time on."""
    loaded, _ = record(mount(arm.robot, draw_tool(arm.robot, seed)), arm.truth, seed, 0)
    bare, late = arm.training, arm.training.stamps[:, None] >= 0.5 * PERIOD
    return replace(bare, **{
        name: np.where(late, getattr(loaded, name), getattr(bare, name))
        for name in ('q', 'dq', 'effort')
    })


def scaled(recording: Recording, factor: float, joint: int | None = None) -> Recording:
    """Multiply the effort of a joint, or of all."""
    factors = np.ones(recording.q.shape[1])
    factors[slice(None) if joint is None else joint] = factor
    return replace(recording, effort=recording.effort * factors)


def offset_zero(recording: Recording, joint: int, offset: float) -> Recording:
    """Move the zero of an encoder [rad]."""
    q = recording.q.copy()
    q[:, joint] += offset
    return replace(recording, q=q)


def inner(arm: Arm, seed: int) -> int:
    """Return a joint between the first and the last."""
    return 1 + seed % (arm.robot.n - 2)


CORRUPTIONS = {
    'clean': Corruption((), lambda arm, seed: arm.training),
    'clean, with a tool': Corruption((), lambda arm, seed: arm.training, with_tool=True),
    'names exchanged, mid-arm': Corruption(
        ('joint_order',), lambda arm, seed: exchange(arm.training, 1, 2, effort=True)),
    'names exchanged, wrist': Corruption(
        ('joint_order',),
        lambda arm, seed: exchange(arm.training, arm.robot.n - 3, arm.robot.n - 2, effort=True)),
    'positions exchanged, mid-arm': Corruption(
        ('joint_order',), lambda arm, seed: exchange(arm.training, 1, 2, effort=False)),
    'positions exchanged, wrist': Corruption(
        ('joint_order',),
        lambda arm, seed: exchange(arm.training, arm.robot.n - 3, arm.robot.n - 2, effort=False)),
    'effort 96 ms late': Corruption(
        ('delay',), lambda arm, seed: late(arm.training, 0.096, slice(None))),
    'effort of one joint 80 ms late': Corruption(
        ('delay',),
        lambda arm, seed: late(
            arm.training, 0.080, slice(seed % arm.robot.n, seed % arm.robot.n + 1))),
    'effort clipped at its 80 % quantile': Corruption(
        ('clipping',), lambda arm, seed: clipped(arm.training, 0.8)),
    'effort filtered at 1 Hz': Corruption(
        ('filtering',), lambda arm, seed: filtered(arm.training, 1.0)),
    'mounting 10 degrees wrong': Corruption(('gravity',), tilted),
    'gravity of the Moon': Corruption(('gravity',), on_the_moon),
    'payload from half of the time on': Corruption(('payload_change',), taking_up),
    'effort doubled': Corruption(
        ('common_factor',), lambda arm, seed: scaled(arm.training, 2.0)),
    'effort doubled, with a tool': Corruption(
        ('common_factor',), lambda arm, seed: scaled(arm.training, 2.0), with_tool=True),
    'effort of one joint x 1.3': Corruption(
        ('joint_factor',), lambda arm, seed: scaled(arm.training, 1.3, inner(arm, seed))),
    'one encoder zero 0.3 rad off': Corruption(
        ('encoder_zero',), lambda arm, seed: offset_zero(arm.training, inner(arm, seed), 0.3)),
    'stamps x 1.05': Corruption(
        ('time_scale',), lambda arm, seed: replace(
            arm.training, stamps=1.05 * arm.training.stamps)),
    'all signs of the effort flipped': Corruption(
        ('sign',), lambda arm, seed: scaled(arm.training, -1.0)),
}

# Plain laws for the many models whose unseen error is compared, the automatic recipe with one
# cut-off for the verdict of those that no test warns of.
PLAIN = IdentifyOptions(
    friction='coulomb,viscous,offset', effort_unit='A',
    recipe=Recipe(cutoffs=(9.0,), samples_in_choice=1250),
)
AUTOMATIC = IdentifyOptions(
    effort_unit='A',
    recipe=Recipe(cutoffs=(9.0,), prior_weights=(0.0, 10.0, 100.0), samples_in_choice=1250),
)


@dataclass(frozen=True)
class Result:
    """
    Result for one recording.

    `unseen` is the error of a plain model on the sound recording of another motion, mean over the
    joints of its RMS over the spread of the true effort; NaN where there is no model.
    """

    warnings: tuple[str, ...]  # their names; 'refused' where the recording was not accepted
    level: str  # of the verdict
    unseen: float


def judge_recording(arm: Arm, recording: Recording) -> Result:
    """Return what is said of a recording, and how well its model predicts."""
    try:
        plain = choose(arm.robot, [recording], 'A', PLAIN, with_prior=True)
    except IdentificationError:
        return Result(('refused',), 'refused', float('nan'))
    fit = fit_choice(arm.robot, plain, PLAIN)
    model = IdentifiedModel(
        arm.robot, 'A', fit.problem.reduction, fit.estimate.theta, fit.estimate.covariance, None,
        '', SignalSource(kinematic_filter=plain.kinematic_filter), {}, {},
    )
    other = process(arm.unseen, plain.kinematic_filter, 'A')
    error = predict_effort(model, other)[other.scored] - arm.unseen_true[other.scored]
    unseen = float(np.mean(
        np.sqrt(np.mean(error**2, axis=0)) / np.std(arm.unseen_true[other.scored], axis=0)
    ))
    # Structure is judged of what the automatic recipe leaves, which is made where nothing else
    # is found.
    found = plain.findings
    contradictions = [one for dataset in plain.datasets for one in dataset.contradictions]
    if found.warnings or any(one.of_several for one in contradictions):
        names = tuple(warning.name for warning in found.warnings) or ('urdf',)
        return Result(names, 'usable', unseen)
    automatic = choose(arm.robot, [recording], 'A', AUTOMATIC, with_prior=True)
    fit = fit_choice(arm.robot, automatic, AUTOMATIC)
    warnings = find_structure(arm.robot, automatic.datasets, fit.estimate.sigma)
    verdict = judge(
        automatic.trial.errors, unseen=False,
        findings=Findings(warnings, unidentifiable=fit.unidentifiable),
    )
    return Result(tuple(warning.name for warning in warnings), verdict.level, unseen)


def fit_choice(robot: RobotModel, choice: Choice, options: IdentifyOptions) -> Fit:
    """Return the fit of a choice to all its samples."""
    observations = options.observe(
        robot, choice.friction, choice.datasets, [one.fitted for one in choice.datasets]
    )
    return fit_parameters(observations, (), choice.estimator)


def run(name: str, seed: int) -> dict[str, Result]:
    """Return what is said of every wrong recording of an arm, by what is wrong."""
    arms = {tool: make_arm(name, seed, with_tool=tool) for tool in (False, True)}
    return {
        wrong: judge_recording(
            arms[corruption.with_tool], corruption.make(arms[corruption.with_tool], seed)
        )
        for wrong, corruption in CORRUPTIONS.items()
    }


def measure(repeats: int) -> list[Figure]:
    """Return shares in per cent by what is wrong with the recordings, all arms together."""
    runs = [run(name, seed) for seed in range(repeats) for name in ARMS]
    return [figure for wrong in CORRUPTIONS for figure in figures_of(wrong, runs)]


def figures_of(wrong: str, runs: Sequence[Mapping[str, Result]]) -> list[Figure]:
    """Return what became of one kind of recording in all runs."""
    results = [one[wrong] for one in runs]
    right = CORRUPTIONS[wrong].names
    worse = np.array([one[wrong].unseen / one['clean'].unseen for one in runs])
    good = np.array([one.level == GOOD for one in results])
    shares = {
        'warned of': [bool(one.warnings) for one in results],
        'named rightly': [any(name in right for name in one.warnings) for one in results],
        'not good': ~good,
        'good, with more than twice the unseen error': good & (worse > WORSE),
    }
    known = worse[np.isfinite(worse)]
    return [
        *(
            Figure(f'{wrong}: {name}', '%', (100.0 * float(np.mean(share)),))
            for name, share in shares.items() if right or name != 'named rightly'
        ),
        Figure(
            f'{wrong}: unseen error / clean', '',
            (float(np.median(known)) if known.size else float('nan'),),
        ),
    ]

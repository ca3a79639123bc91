# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The reports say what was found, to anyone, and need nothing but themselves."""

import base64
from dataclasses import replace
import hashlib
from html.parser import HTMLParser
import math
import re
from xml.etree import ElementTree

from builders import two_link_urdf
import mujoco
import numpy as np
import pinocchio as pin
import pytest
from report import report_cases
from report.report_cases import some_motion
from robot_identification.estimation.uncertainty.intervals import (
    find_needed_terms, schwarz_criterion,
)
from robot_identification.excitation.experiment_file import find_experiment, load_experiment
from robot_identification.model.registry import load_robot
from robot_identification.model.regressor import standard_torque
from robot_identification.model.robot_model import make_robot_model
from robot_identification.model.urdf import parse_urdf
from robot_identification.report.corrections import corrections_section
from robot_identification.report.effort_figures import joint_positions
from robot_identification.report.explanation import effort_parts, score_fit, Scored
from robot_identification.report.figures import decimate, MAXIMUM_POINTS
from robot_identification.report.formatting import number, percent
from robot_identification.report.friction import (
    friction_picture, friction_points, sliding_friction,
)
from robot_identification.report.parameters import coefficients, inertial_coefficients
from robot_identification.report.plot import Drawing, UNITS
from robot_identification.report.reports import (
    render_identification_report, render_validation_report,
)
from robot_identification.report.residuals import collect_residuals, spectrum_of, whiteness_words
from robot_identification.report.text_report import results_text
from robot_identification.report.trajectory_report import (
    _joint_drawings, hardly_shown, judge_trajectory, render_trajectory_report,
)
from robot_identification.validation.validation import errors_on, predict_effort, validate

MAXIMUM_BYTES = 5_000_000
HOSTILE = '<script>alert(1)</script>'
# Marks of HTML, letters that a font may lack.
AWKWARD = 'shoulder $\\frac$ 肩 " onload="alert(1)'


@pytest.fixture(scope='module')
def awkward():
    """Return a small identification whose joints have names nobody would choose."""
    return report_cases.identify_chain(
        2, 1, 600, names=(HOSTILE, AWKWARD), source=f'/bags/{HOSTILE}\x1b[31m'
    )


class Page(HTMLParser):
    """What a browser would load and run, and what a reader would see."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.addresses, self.handlers, self.alternatives = [], [], [], []
        self.text, self.is_script = '', False
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        for name, value in attrs:
            if name in ('src', 'href', 'srcset', 'data', 'action'):
                self.addresses.append(value)
            elif name.startswith('on'):
                self.handlers.append(name)
        self.is_script = tag == 'script'
        if tag == 'svg' and ('class', 'plot') in attrs:
            self.alternatives.append(dict(attrs).get('aria-label', ''))

    def handle_data(self, data):
        if not self.is_script:
            self.text += data


def check_page(text):
    """Check what every report must be; return it parsed."""
    page = Page(text)
    assert len(text.encode()) < MAXIMUM_BYTES
    # One script, the page's own, and none but that may run.
    assert page.tags.count('script') == 1
    script = text.partition('<script>')[2].partition('</script>')[0]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in text
    assert not page.handlers
    assert all(address.startswith(('#', 'data:image/png;base64,')) for address in page.addresses)
    assert all(page.alternatives)
    assert 'Next step:' in page.text
    return page


def test_identification_report_stands_alone(awkward):
    page_text = render_identification_report(awkward, command_line='identify <bag>')
    page = check_page(page_text)
    assert HOSTILE not in page_text, 'its marks are escaped'
    assert page_text == render_identification_report(
        awkward, command_line='identify <bag>'
    )
    verdict = awkward.verdict
    assert verdict.level.capitalize() in page.text
    # What is to be typed is marked as such, and loses its backticks.
    next_step = verdict.next_step.replace('`', '')
    for text in (*verdict.reasons, next_step, *awkward.notes, 'identify <bag>'):
        assert text in page.text
    assert HOSTILE in page.text and AWKWARD in page.text
    assert all(
        entry.expression in page.text for entry in inertial_coefficients(awkward.model)
    )
    assert 'white residuals' in page.text
    assert 'the truth' not in page.text


def test_validation_report_stands_alone(awkward):
    model = awkward.model
    datasets = [report_cases.record(model.robot, f'/bags/{seed}', seed) for seed in (1, 2)]
    validation = validate(model, datasets)
    text = render_validation_report(
        model, validation, datasets, [predict_effort(model, d) for d in datasets], ['a note'], 'v'
    )
    page = check_page(text)
    assert HOSTILE not in text
    for expected in (*validation.verdict.reasons, 'a note', '/bags/1', '/bags/2'):
        assert expected in page.text
    assert 'Training data' not in page.text
    assert "NRMSE of the URDF's own masses and inertias" in page.text
    known = validate(model, datasets, {'/bags/1': 'identified from it'})
    page = check_page(render_validation_report(
        model, known, datasets, [predict_effort(model, d) for d in datasets], []
    ))
    assert 'Training data:' in page.text and 'Identified from it.' in page.text


@pytest.fixture(scope='module')
def found():
    """Return the identification of an arm of three joints whose truth is known."""
    return report_cases.identify_chain(3, 2)


@pytest.fixture(scope='module')
def bags(found):
    return [
        Scored(dataset, predict_effort(found.model, dataset), dataset.fitted, errors)
        for dataset, errors in zip(found.datasets, found.cross_validation, strict=True)
    ]


def test_intervals_hold_the_truth(found):
    """Of all parameters but a few: 95 of 100 do by their definition, the noise being white."""
    rows = coefficients(found.model, ('Ia2',))
    truth = found.model.reduction.K @ found.model.theta_consistent
    inside = [row.low <= value <= row.high for row, value in zip(rows, truth, strict=True)]
    # Four of thirty outside happen in one of fifteen arms.
    assert np.mean(inside) > 0.85
    for row in rows:
        middle = 0.5 * (row.low + row.high)
        assert row.value == pytest.approx(middle)
        assert row.by_prior == (row.name == 'Ia2')


def test_friction_points_lie_on_the_true_friction(found, bags):
    """Bins and curve are Coulomb, viscous and offset of the truth, in both directions."""
    for points in friction_points(found.model, bags):
        for values in (points.bins, *points.curve):
            speed, friction = values[:2]
            fast = np.abs(speed) > 0.1
            expected = (
                report_cases.COULOMB * np.sign(speed) + report_cases.VISCOUS * speed
                + report_cases.OFFSET
            )
            # A bin holds at least ten samples of the noise; bodies are known far better.
            np.testing.assert_allclose(
                friction[fast], expected[fast], atol=4.0 * report_cases.NOISE / np.sqrt(10.0)
            )
        assert points.bins.shape[1] > 10 and len(points.curve) == 2
        assert points.temperature == pytest.approx(31.5)
        assert points.joint in friction_picture(points).alternative


def test_steady_sliding_is_the_laws_sum(found):
    speeds = np.array([0.2, 0.5, 1.0])
    model = found.model
    theta = dict(zip(model.parameters.names, model.theta_lifted, strict=True))
    torque, error = sliding_friction(model, 1, -speeds, 5.0, float('nan'))
    expected = theta['f02'] - theta['fc2'] - theta['fv2'] * speeds
    # Far from rest the smooth sign of the law is one to rounding.
    np.testing.assert_allclose(torque, expected, rtol=1e-6)
    # The error is that of the sum, by the covariance of the three coefficients.
    W = np.column_stack([-np.ones(3), -speeds, np.ones(3)])
    rows = [model.reduction.names.index(name) for name in ('fc2', 'fv2', 'f02')]
    covariance = model.covariance[np.ix_(rows, rows)]
    np.testing.assert_allclose(error**2, np.diag(W @ covariance @ W.T), rtol=1e-6)


def test_terms_that_are_there_are_needed(found):
    """What the recordings were made with is needed; a term that is not there mostly is not."""
    groups = find_needed_terms(found)
    kinds = {group.kind for group in groups}
    assert {'coulomb', 'viscous', 'rotor inertia'} <= kinds
    for group in groups:
        if group.kind in ('coulomb', 'viscous'):
            assert group.finding == 'needed' and group.bic > 0.0
        # Residuals are white: both tests are the same one.
        assert group.white_p == pytest.approx(group.p_value, abs=1e-6)
    names = found.model.reduction.names
    absent = replace(found.model, theta_base=np.where(
        [name == 'fc2' for name in names], 0.0, found.model.theta_base
    ))
    one = next(
        group for group in find_needed_terms(replace(found, model=absent))
        if group.parameters == ('fc2',)
    )
    assert one.p_value == pytest.approx(1.0)
    assert one.finding == 'not shown to be needed'


SAMPLES = 4000


@pytest.fixture(scope='module')
def recording():
    """Return a recording of two joints with white noise."""
    return report_cases.record(report_cases.chain_arm(2), 'bag', 3, SAMPLES)


def scored(dataset, residual):
    predicted = np.nan_to_num(dataset.effort) - residual
    return Scored(dataset, predicted, dataset.fitted, errors_on(
        dataset, predicted, dataset.fitted, detailed=False
    ))


def collected(bags):
    return tuple(collect_residuals(bags))


def noise(seed=0):
    return np.random.default_rng(seed).normal(size=(SAMPLES, 2))


def test_noise_with_memory_is_not_white(recording):
    """An autoregression of 0.9 has that lag-one correlation, and 1/19 independent samples."""
    steps = noise(1)
    slow = np.zeros_like(steps)
    for k in range(1, SAMPLES):
        slow[k] = 0.9 * slow[k - 1] + steps[k]
    first, second = collected([scored(recording, slow)])
    for one in (first, second):
        assert not one.is_white and one.finding().startswith('not white')
        # Errors of these from 4000 samples: 0.007, and a quarter of the value.
        assert one.lag_one == pytest.approx(0.9, abs=0.03)
        assert one.independent == pytest.approx(len(one) / 19.0, rel=0.6)
    words = whiteness_words((first, second))
    assert 'all joints are not white noise' in words


# --- contributions to the effort ---------------------------------------------------------


@pytest.fixture(scope='module')
def chain_fit():
    """Return an identification whose bodies are exactly those of the URDF."""
    chain_fit = report_cases.identify_chain(3, 1, samples=300)
    _, theta = report_cases.true_parameters(chain_fit.model.robot)
    model = replace(chain_fit.model, theta_base=chain_fit.model.reduction.K @ theta)
    return replace(chain_fit, model=model)


def test_parts_are_those_of_rigid_body_mechanics(chain_fit):
    """Gravity, inertia with rotors and velocity by Pinocchio, friction by its laws."""
    model, (bag,) = chain_fit.model, score_fit(chain_fit)
    rows = np.flatnonzero(bag.rows)[::7]
    gravity, inertia, velocity, friction = effort_parts(model, bag, rows)
    np.testing.assert_allclose(
        gravity + inertia + velocity + friction, bag.predicted[rows], atol=1e-9
    )
    motion, arm = bag.dataset.motion.rows(rows), model.robot.pinocchio
    data = arm.createData()
    for k, (q, dq, ddq) in enumerate(zip(motion.q, motion.dq, motion.ddq, strict=True)):
        weight = pin.computeGeneralizedGravity(arm, data, q).copy()
        # The mass matrix of Pinocchio is the upper triangle only.
        mass = np.triu(pin.crba(arm, data, q))
        mass = mass + np.triu(mass, 1).T
        np.testing.assert_allclose(gravity[k], weight, atol=1e-9)
        np.testing.assert_allclose(
            inertia[k], mass @ ddq + report_cases.ROTOR * ddq, atol=1e-9
        )
        np.testing.assert_allclose(
            velocity[k], pin.rnea(arm, data, q, dq, np.zeros(3)) - weight, atol=1e-9
        )
    parameters = model.parameters
    only = np.where([name.startswith('f') for name in parameters.names], model.theta_lifted, 0.0)
    np.testing.assert_allclose(
        friction, standard_torque(model.robot, parameters, only, motion), atol=1e-9
    )


@pytest.fixture(scope='module')
def fitted(identification):
    return score_fit(identification)


def test_errors_are_those_of_the_predictions(identification, fitted):
    """Both of a pair by hand, from the predictions without and with corrections."""
    model = identification.model
    section = corrections_section(identification, fitted)
    corrected = {model.robot.joint_names[one.joint] for one in model.corrections.offline}
    assert {joint for joint, _ in section.rows} == corrected
    dataset, rows = fitted[0].dataset, fitted[0].rows
    moving = dataset.moving[rows]
    for name, (_, errors, *_) in section.rows:
        joint = model.robot.joint_names.index(name)
        for row, plain in enumerate((True, False)):
            effort = predict_effort(model, dataset, corrected=not plain)
            left = (dataset.effort - effort)[rows, joint][moving[:, joint]]
            # Three digits are shown.
            assert float(errors[row]) == pytest.approx(
                np.sqrt(np.mean(left**2)), rel=6e-3
            )
        assert float(errors[1]) < float(errors[0])


@pytest.fixture(scope='module')
def experiment():
    return replace(load_experiment(find_experiment('demo')), window={})


@pytest.fixture(scope='module')
def motion(ur5, experiment):
    return some_motion(ur5, experiment, 0.3)


def panels_of(drawings):
    return [drawing.all_panels for _, drawing in drawings]


def test_every_joint_has_its_curves_and_limits(ur5, motion, experiment):
    """Curves are the motion's samples; dashed lines are at the margins, where they are near."""
    drawings = list(_joint_drawings(ur5, motion, experiment))
    assert tuple(name for name, _ in drawings) == ur5.joint_names
    for joint, panels in enumerate(panels_of(drawings)):
        assert [panel.y.label for panel in panels] == ['[rad]', '[rad/s]', '[rad/s²]', '[N m]']
        for kind, panel in zip(('q', 'dq', 'ddq'), panels, strict=False):
            curve, *limits = panel.marks
            expected = getattr(motion.sample(curve.x), kind)[:, joint]
            np.testing.assert_allclose(curve.y, expected, atol=1e-12)
            assert len(limits) <= 2
            assert all(line.dashed for line in limits)
    margins = sorted(line.y[0] for line in drawings[0][1].all_panels[1].marks[1:])
    assert margins == pytest.approx(0.6 * ur5.limits.velocity[0] * np.array([-1.0, 1.0]))


# --- the arm at the cursor ---------------------------------------------------------------


def test_joints_are_where_mujoco_puts_them(rng):
    """All six of a UR5 in ten poses; the far end is no nearer to the last joint than its mass."""
    robot = load_robot('ur5')
    model = mujoco.MjModel.from_xml_string(re.sub(
        r'<(visual|collision)\b.*?</\1>', '', robot.urdf.text, flags=re.DOTALL
    ))
    data = mujoco.MjData(model)
    q = rng.uniform(-2.0, 2.0, (10, robot.n))
    found = joint_positions(robot, q, np.arange(10))
    places = [model.joint(name).qposadr[0] for name in robot.joint_names]
    for pose, values in zip(found, q, strict=True):
        data.qpos[places] = values
        mujoco.mj_kinematics(model, data)
        anchors = [data.joint(name).xanchor for name in robot.joint_names]
        np.testing.assert_allclose(pose[1:-1], anchors, atol=1e-9)
    assert np.all(found[:, 0] == 0.0)


@pytest.fixture(scope='module')
def case():
    """Return an arm, a certified motion of it, the experiment and the evaluation."""
    robot = make_robot_model(parse_urdf(two_link_urdf(), 'two <links>'))
    found, experiment, evaluation = report_cases.certified_motion(robot)
    return robot, found, experiment, evaluation


def test_a_certified_motion_is_told_with_its_hash(case):
    """Limits, criteria, weak parameters and what to type, with the hash of this very file."""
    robot, found, experiment, evaluation = case
    page = render_trajectory_report(
        robot, found, experiment, evaluation, path='some/where.yaml', command_line='excite <x>'
    )
    assert f'arm.sha256 {found.sha256}' in page
    assert 'Certified in part' in page and 'Not certified' not in page
    assert 'Acceleration: NOT CHECKED, no limit is known' in page
    for text in ('some/where.yaml', 'excite &lt;x&gt;', *(one.name for one in evaluation.weak)):
        assert text in page
    for name in robot.joint_names:
        assert f'<figcaption>{name}</figcaption>' in page
    assert 'Collision: NOT CHECKED.' in page
    assert page.count('aria-label="Path of the tool from') == 3
    assert 'data:image/png' not in page


SVG = '{http://www.w3.org/2000/svg}'
# Of one panel of 100 by 50 points: inches.
WIDTH, HEIGHT = 144.0 / 72.0, 94.0 / 72.0
MARGINS = (34.0 / 72.0, 34.0 / 72.0, 10.0 / 72.0, 10.0 / 72.0)


@pytest.fixture
def drawing():
    return Drawing(WIDTH, HEIGHT)


@pytest.fixture
def panel(drawing):
    panel, = drawing.panels(MARGINS)
    panel.x.set_limits(0.0, 10.0)
    panel.y.set_limits(-1.0, 1.0)
    return panel


def parsed(drawing):
    text = str(drawing.picture('', 'a picture').markup)
    return ElementTree.fromstring(text.replace('<svg ', f'<svg xmlns="{SVG[1:-1]}" ', 1))


def paths_of(drawing):
    found = []
    for path in parsed(drawing).iterfind(f'{SVG}g/{SVG}svg/{SVG}path'):
        place, places = np.zeros(2), []
        for letter, numbers in re.findall(r'([MlmhH])([^MlmhH]*)', path.get('d')):
            steps = np.array([int(n) for n in re.findall(r'-?\d+', numbers)])
            if letter == 'h':
                assert steps.tolist() == [0], 'a dot is a line of no length'
                continue
            for step in steps.reshape(-1, 2):
                place = step if letter == 'M' else place + step
                places.append(place / UNITS)
        found.append(np.array(places))
    return found


def test_a_curve_goes_through_its_points(drawing, panel):
    """From the upper left corner, down; no point is off by more than the rounding."""
    x = np.linspace(0.0, 10.0, 300)
    panel.curve(x, np.sin(x), '#000', 1.0)
    (places,) = paths_of(drawing)
    assert len(places) == 300
    np.testing.assert_allclose(places[:, 0], 10.0 * x, atol=0.5 / UNITS + 1e-9)
    np.testing.assert_allclose(places[:, 1], 25.0 * (1.0 - np.sin(x)), atol=0.5 / UNITS + 1e-9)


def test_texts_cannot_be_taken_for_markup(drawing, panel):
    hostile = '<script>&"\'%#'
    panel.label(f'{hostile}\nbelow', hostile)
    texts = [text.text for text in parsed(drawing).iter(f'{SVG}text')]
    assert texts.count(hostile) == 2 and 'below' in texts
    assert hostile not in drawing.picture('', hostile).markup


def test_schwarz_criterion_by_hand(found):
    """``N log(s^2)`` summed over joints, and log(rows) for each parameter and noise."""
    problem, unknowns = found.estimate.problem, found.estimate.unknowns
    variance = problem.squared_residuals(unknowns) / problem.samples
    expected = 0.1 * problem.samples @ np.log(variance)
    expected += (problem.size + 3) * np.log(0.1 * problem.samples.sum())
    assert schwarz_criterion(problem, unknowns, 0.1) == pytest.approx(expected)


def test_the_spectrum_has_the_variance_of_the_residual(recording):
    """Its square's integral is the variance, and a tone stands where its frequency is."""
    t = recording.stamps
    tone = np.sqrt(2.0) * np.sin(2.0 * np.pi * 7.0 * t)
    left = 0.1 * noise() + tone[:, None]
    first, _ = collected([scored(recording, left)])
    frequencies, amplitude = spectrum_of(first)
    step = frequencies[1] - frequencies[0]
    # Welch's window loses a few per cent at the ends of the recording.
    assert np.sum(amplitude**2) * step == pytest.approx(1.01, rel=0.05)
    assert abs(frequencies[np.argmax(amplitude)] - 7.0) <= step


def test_nan_is_not_available(awkward):
    errors = awkward.cross_validation[0]
    unknown = replace(errors, nrmse=np.array([np.nan, 0.5]), rmse_moving=np.full(2, np.nan))
    none = replace(unknown, nrmse=np.full(2, np.nan))
    for errors, explained in ((unknown, True), (none, False)):
        found = replace(awkward, cross_validation=(errors,))
        page = check_page(render_identification_report(found))
        assert 'n/a' in page.text and 'n/a' in results_text(found)
        assert 'nan' not in page.text and 'nan' not in results_text(found)
        assert ('nothing to explain' in page.text) != explained


def test_decimation_keeps_peaks():
    t = np.linspace(0.0, 1.0, 100_001)
    values = np.sin(40.0 * t)
    values[[12_345, 77_777]] = 9.0, -9.0
    short_t, short = decimate(t, values)
    assert len(short) <= MAXIMUM_POINTS
    assert np.all(np.diff(short_t) > 0.0)
    assert (short.max(), short.min()) == (9.0, -9.0)


def test_weak_parameters_and_no_collision_check_make_a_motion_usable_only(case):
    robot, found, _, evaluation = case
    verdict = judge_trajectory(robot, found, evaluation, '')
    assert verdict.level == 'usable'
    assert any('collision: NOT CHECKED' in reason for reason in verdict.reasons)
    # A URDF states no limit of acceleration.
    assert verdict.reasons[0].startswith('acceleration: NOT CHECKED')
    assert 'the runner of a real arm refuses' in verdict.next_step
    sure = replace(evaluation, weak=tuple(
        replace(one, standard_error=0.01, prior=1.0) for one in evaluation.weak
    ))
    assert not hardly_shown(sure)
    seen = {**found.certificate, 'not_checked': [], 'collision': {
        'clearance': 0.02, 'nearest': 0.05, 'pair': ['a', 'b'], 'time': 1.0, 'obstacles': {},
    }}
    proved = found.with_certificate(seen)
    assert judge_trajectory(robot, proved, sure, '').level == 'good'
    made_up = judge_trajectory(robot, proved, sure, '', 'the masses look like placeholders')
    assert made_up.level == 'usable'
    assert made_up.reasons[0] == 'the masses look like placeholders'
    hungry = found.with_certificate({**seen, 'torque_reserve': 0.1})
    assert 'left for friction' in ' '.join(judge_trajectory(robot, hungry, sure, '').reasons)
    assert judge_trajectory(robot, hungry, sure, '').level == 'usable'


def test_relative_scale_has_no_torque_units(awkward):
    robot = awkward.model.robot.with_drive_gains(np.ones(awkward.model.robot.n))
    model = replace(awkward.model, robot=robot, effort_unit='A', relative_scale=True)
    page = check_page(render_identification_report(replace(awkward, model=model)))
    assert 'Relative scale:' in page.text
    assert {entry.unit for entry in coefficients(model)} <= {
        'A', 'A s/rad', 'kg A/(N m)', 'kg m A/(N m)', 'kg m^2 A/(N m)'
    }
    assert 'export identified_model' not in page.text, 'it is refused'


@pytest.mark.parametrize(('value', 'text'), [
    (0.0, '0.00'), (1.0, '1.00'), (-0.01234, '-0.0123'), (123.4, '123'), (123456.0, '1.23e+05'),
    (math.nan, 'n/a'), (math.inf, 'n/a'),
])
def test_number(value, text):
    assert number(value) == text


@pytest.mark.parametrize(('value', 'text'), [
    (0.0, '0.0 %'), (1e-6, '< 0.1 %'), (0.052, '5.2 %'), (0.5, '50 %'), (207.0, '> 1000 %'),
    (-0.02, '-2.0 %'), (math.nan, 'n/a'),
])
def test_percent(value, text):
    assert percent(value) == text


def test_a_gap_breaks_a_curve(drawing, panel):
    panel.curve(np.array([1.0, 2.0, np.nan, 3.0, 4.0]), np.zeros(5), '#000', 1.0)
    path = next(parsed(drawing).iterfind(f'{SVG}g/{SVG}svg/{SVG}path')).get('d')
    assert re.findall('[A-Za-z]', path) == ['M', 'l', 'M', 'l']

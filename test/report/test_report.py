# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The reports say what was found, to anyone, and need nothing but themselves."""

import base64
from dataclasses import replace
import hashlib
from html.parser import HTMLParser
import math
import warnings

from builders import mixed_urdf
from export.exported_models import model_of
import numpy as np
import pytest
from report import report_cases
from robot_identification.cli.demo import truth_section
from robot_identification.estimation.choice import Candidates
from robot_identification.estimation.estimators.dictionary import SparseNonnegativeRegression
from robot_identification.estimation.fitting import fit_parameters, observe
from robot_identification.model.base_parameters import reduce_to_base
from robot_identification.model.friction import parse_friction
from robot_identification.model.parameters import EFFORT_UNITS, make_standard_parameters
from robot_identification.model.regressor import prior_inertial_parameters
from robot_identification.model.robot_model import make_robot_model
from robot_identification.model.urdf import parse_urdf
from robot_identification.report import explanation, plot
from robot_identification.report.effort_figures import (
    drawn_bags, effort_pictures, MAXIMUM_PANELS, points_of_curve, sample_intervals,
)
from robot_identification.report.explanation import compare_with_urdf
from robot_identification.report.figures import decimate, MAXIMUM_POINTS
from robot_identification.report.formatting import number, percent, sliding_text, text_table
from robot_identification.report.friction import friction_table
from robot_identification.report.parameters import coefficients, inertial_coefficients
from robot_identification.report.reports import (
    render_identification_report, render_validation_report, save_identification,
)
from robot_identification.report.text_report import results_text, summary_text, validation_text
from robot_identification.validation.bag_errors import score_urdf
from robot_identification.validation.validation import predict_effort, validate
from robot_identification.validation.verdict import BAD, Limit, SIMULATION

MAXIMUM_BYTES = 5_000_000
HOSTILE = '<script>alert(1)</script>'
# Marks of HTML, letters that a font may lack.
AWKWARD = 'shoulder $\\frac$ 肩 " onload="alert(1)'


@pytest.fixture(scope='module')
def identification():
    """Return a small identification whose joints have names nobody would choose."""
    return report_cases.identify_chain(
        2, 1, 600, names=(HOSTILE, AWKWARD), source=f'/bags/{HOSTILE}\x1b[31m'
    )


@pytest.fixture(scope='module')
def dictionary_identification(identification):
    """Return the same arm identified with a dictionary, and what that was chosen from."""
    robot, dataset = identification.model.robot, identification.datasets[0]
    # A little friction before sliding, so that there is something to find.
    slip = 0.3 * np.clip(np.cumsum(np.diff(dataset.motion.q, axis=0, prepend=0.0), axis=0), -1, 1)
    dataset = replace(dataset, effort=dataset.effort + np.tanh(dataset.motion.dq / 0.1) + slip)
    observations = observe(
        robot, parse_friction('dictionary,offset'), [dataset], [dataset.fitted]
    )
    fit = fit_parameters(observations, (), SparseNonnegativeRegression())
    model = replace(
        identification.model, reduction=fit.problem.reduction, theta_base=fit.estimate.theta,
        covariance=fit.estimate.covariance, quality={
            'speeds': [2.0, 0.03], 'loads': [20.0, 5.0],
            'cross_validation': {'wider_gap': {'seconds': 1.0, 'nrmse_mean': 0.0789}},
        },
    )
    return replace(
        identification, model=model, estimate=fit.estimate, datasets=(dataset,),
        candidates=(
            Candidates('cut-off', ('5 Hz', '9 Hz'), (0.1111, 0.2222), '5 Hz', 'the <first> rule'),
            Candidates('weight', ('none', 'ten'), (0.3333, 0.4444), 'ten', 'the second rule'),
        ),
        decided_by_prior=('Ixx2', 'my2'),
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


def test_identification_report_stands_alone(identification):
    page_text = render_identification_report(identification, command_line='identify <bag>')
    page = check_page(page_text)
    assert HOSTILE not in page_text, 'its marks are escaped'
    assert page_text == render_identification_report(
        identification, command_line='identify <bag>'
    )
    verdict = identification.verdict
    assert verdict.level.capitalize() in page.text
    # What is to be typed is marked as such, and loses its backticks.
    next_step = verdict.next_step.replace('`', '')
    for text in (*verdict.reasons, next_step, *identification.notes, 'identify <bag>'):
        assert text in page.text
    assert HOSTILE in page.text and AWKWARD in page.text
    assert all(
        entry.expression in page.text for entry in inertial_coefficients(identification.model)
    )
    assert 'white residuals' in page.text
    assert 'the truth' not in page.text


def test_nan_is_not_available(identification):
    errors = identification.cross_validation[0]
    unknown = replace(errors, nrmse=np.array([np.nan, 0.5]), rmse_moving=np.full(2, np.nan))
    none = replace(unknown, nrmse=np.full(2, np.nan))
    for errors, explained in ((unknown, True), (none, False)):
        found = replace(identification, cross_validation=(errors,))
        page = check_page(render_identification_report(found))
        assert 'n/a' in page.text and 'n/a' in results_text(found)
        assert 'nan' not in page.text and 'nan' not in results_text(found)
        assert ('nothing to explain' in page.text) != explained


def test_worst_joint_is_explained(identification):
    errors = identification.cross_validation[0]
    worst = replace(errors, nrmse=np.array([0.1, 0.4]))
    page = check_page(
        render_identification_report(replace(identification, cross_validation=(worst,)))
    )
    assert f'{AWKWARD} has the largest error next to its own effort: NRMSE 0.400' in page.text
    # The noise of the synthetic effort is white: the report must not blame the model.
    assert 'most of the error can be noise' in page.text


def test_what_data_do_not_show_is_named(identification):
    found = replace(identification, unidentifiable=('Ia2',), stationary_joints=(AWKWARD,))
    page = check_page(render_identification_report(found))
    text = results_text(found)
    assert 'Not determined by these data: Ia2.' in page.text
    assert 'not determined by the data: Ia2' in text
    assert f'Hardly moved: {AWKWARD}.' in page.text and 'hardly moved: ' in text


def test_relative_scale_has_no_torque_units(identification):
    robot = identification.model.robot.with_drive_gains(np.ones(identification.model.robot.n))
    model = replace(identification.model, robot=robot, effort_unit='A', relative_scale=True)
    page = check_page(render_identification_report(replace(identification, model=model)))
    assert 'Relative scale:' in page.text
    assert {entry.unit for entry in coefficients(model)} <= {
        'A', 'A s/rad', 'kg A/(N m)', 'kg m A/(N m)', 'kg m^2 A/(N m)'
    }
    assert 'export identified_model' not in page.text, 'it is refused'


def test_no_page_offers_a_simulation_of_what_is_bad_for_it(identification):
    """Level by use and reason are on page and screen, and no simulator is promised an export."""
    limit = Limit(SIMULATION, BAD, 'a reason of its own')
    found = replace(identification, verdict=identification.verdict.limited([limit]))
    whole, limited = (
        check_page(render_identification_report(one)).text for one in (identification, found)
    )
    validation = validate(found.model, found.datasets)
    judged = replace(validation, verdict=validation.verdict.limited([limit]))
    texts = (
        limited, summary_text(found), results_text(found),
        check_page(render_validation_report(
            found.model, judged, found.datasets,
            [predict_effort(found.model, dataset) for dataset in found.datasets], (),
        )).text,
    )
    for text in texts:
        assert limit.reason in text
        assert found.verdict.describe_uses() in ' '.join(text.split())
    assert 'for a simulator of it' in whole
    assert not any('for a simulator of it' in text for text in texts)


def test_currents_of_unknown_gains_are_not_compared_with_the_urdf(identification):
    """Whose torques are in N m."""
    model, datasets = identification.model, identification.datasets
    rows = [dataset.fitted for dataset in datasets]
    prior = score_urdf(model.robot, datasets, rows, relative_scale=True)
    assert all(np.isnan(errors.nrmse).all() for errors in prior)
    found = replace(identification, model=replace(model, relative_scale=True), prior=prior)
    page = check_page(render_identification_report(found))
    assert not compare_with_urdf(found.cross_validation, prior).is_known
    assert 'Not known' in page.text and 'than the URDF does' not in page.text
    with warnings.catch_warnings(action='error'):
        mean = summary_text(found).splitlines()[-1].split()
    assert mean[0] == 'mean' and float(mean[1]) > 0.0 and mean[2] == 'n/a'


@pytest.mark.parametrize('unit', EFFORT_UNITS)
def test_what_the_effort_is_is_said_with_the_evidence(identification, unit):
    """In the table of the model and in the heads of page and text."""
    model = identification.model.with_quality({
        **identification.model.quality, 'effort': 'a finding of its own',
    })
    robot = model.robot.with_drive_gains(np.ones(model.robot.n))
    found = replace(identification, model=replace(model, robot=robot, effort_unit=unit))
    shown = f'{EFFORT_UNITS[unit].description} [{EFFORT_UNITS[unit].symbol}]'
    text = render_identification_report(found)
    row = f'<th scope="row">Effort in the bag</th><td>{shown}; the recording says: a finding of'
    assert row in text
    assert f'effort: {shown},' in text
    assert f'effort: {shown}' in ' '.join(results_text(found).split())


def test_model_without_friction(identification):
    robot = identification.model.robot
    reduction = reduce_to_base(robot, make_standard_parameters(robot.n, (), True))
    model = replace(
        identification.model,
        reduction=reduction,
        theta_base=np.ones(reduction.rank),
        covariance=np.eye(reduction.rank),
        quality={},
    )
    found = replace(identification, model=model)
    page = check_page(render_identification_report(found))
    assert 'No friction was identified.' in page.text
    assert '\nFriction\n' not in results_text(found)


def test_every_term_of_a_dictionary_has_a_line(dictionary_identification):
    """Kind, constant with unit, coefficient, in page and text; no term that was not kept."""
    model = dictionary_identification.model
    text = results_text(dictionary_identification)
    page = check_page(render_identification_report(dictionary_identification)).text
    lines = text.split('\nAll terms\n')[1].split('\nChoices\n')[0].splitlines()
    words = ' '.join(page.split('All terms')[1].split('Shape constants')[0].split())
    kept = 0
    for term, columns in model.parameters.friction_columns:
        if term.law.name != 'dictionary':
            continue
        values = model.theta_lifted[columns]
        for (kind, constant), value in zip(term.law.terms, values, strict=True):
            unit = 'rad' if 'presliding' in kind else 'rad/s'
            shown = '' if kind == 'viscous' else f'{constant:g} {unit} '
            row = f'{kind.replace("_", " ")} {shown}{number(value)}'
            assert row in words
            assert any(row in ' '.join(line.split()) for line in lines)
            kept += 1
    assert 4 <= kept <= 26, 'of twice 21 terms few were kept'
    assert sum('rad' in line or 'viscous' in line for line in lines[1:1 + kept + 2]) == kept
    # The joint stands once beside its terms.
    assert sum(AWKWARD[:8] in line for line in lines[:kept + 4]) == 1


def test_units_are_those_of_a_joint_that_slides():
    """Heads of columns name both, and the head of the report says how to read the others."""
    robot = make_robot_model(parse_urdf(mixed_urdf(), 'mixed'))
    model = model_of(
        robot, prior_inertial_parameters(robot), 'dictionary,offset',
        quality={'speeds': [1.0] * 3, 'loads': [0.0] * 3},
    )
    table = friction_table(model)
    assert [joint for joint, *_ in table.nearest] == list(robot.joint_names)
    assert table.nearest_units == ('N m or N', 'N m s/rad or N s/m', 'rad/s or m/s')
    assert sliding_text(robot) == (
        'slide slides: in the head of a column, N m means N there, rad means m'
    )


def test_a_dictionary_is_also_given_in_short(dictionary_identification):
    """As Coulomb and viscous friction, and up to which speed."""
    table = friction_table(dictionary_identification.model)
    assert [(joint, float(fastest)) for joint, *_, fastest in table.nearest] == [
        (HOSTILE, 2.0), (AWKWARD, 0.03),
    ]
    page = check_page(render_identification_report(dictionary_identification))
    text = results_text(dictionary_identification)
    for _, coulomb, viscous, _ in table.nearest:
        assert coulomb in page.text and viscous in page.text
        assert coulomb in text and viscous in text
    without = replace(dictionary_identification.model, quality={})
    assert friction_table(without).nearest == ()
    check_page(render_identification_report(replace(dictionary_identification, model=without)))


def test_choices_are_shown_with_all_candidates(dictionary_identification):
    """Question, rule, every score, what was taken; passes; what the URDF decided; a wider gap."""
    page = check_page(render_identification_report(dictionary_identification))
    text = results_text(dictionary_identification)
    words = ' '.join(page.text.split())
    for expected in ('0.1111', '0.2222', '0.3333', '0.4444', 'the <first> rule',
                     'the second rule', 'Ixx2, my2'):
        assert expected in words and expected in ' '.join(text.split()), expected
    assert 'Cut-off: 5 Hz, the <first> rule' in words
    assert '5 Hz0.1111taken 9 Hz0.2222' in words
    assert 'cut-off: 5 Hz, the <first> rule' in text
    assert 'made 4 passes over the data' in words and 'passes over the data: 4' in text
    assert '0.079' in words.split('between training and held-out')[1][:60]
    plain = replace(dictionary_identification, candidates=(), decided_by_prior=())
    words = ' '.join(check_page(render_identification_report(plain)).text.split())
    assert 'filter and friction were asked for' in words and 'Decided by' not in words


def test_a_recording_too_short_for_a_wider_gap_has_a_report(dictionary_identification):
    """Some seconds leave nothing to fit between wider gaps: the figure is missing, no more."""
    short = replace(dictionary_identification, model=replace(
        dictionary_identification.model,
        quality={'cross_validation': {'wider_gap': {'seconds': 1.0, 'nrmse_mean': None}}},
    ))
    page = check_page(render_identification_report(short))
    assert 'between training and held-out' not in page.text


def test_candidates_of_equal_scores_have_no_table(dictionary_identification):
    """Scores that print alike tell nothing apart; one that prints differently does."""
    alike = Candidates('cut-off', ('5 Hz', '9 Hz'), (0.11111, 0.11112), '5 Hz', 'the rule')
    found = replace(dictionary_identification, candidates=(alike,))
    words = ' '.join(check_page(render_identification_report(found)).text.split())
    assert '(5 Hz, 9 Hz) have the score 0.1111: the choice does not matter' in words
    assert '5 Hz0.1111taken' not in words
    apart = replace(alike, scores=(0.1111, 0.1112))
    words = ' '.join(check_page(render_identification_report(
        replace(found, candidates=(apart,))
    )).text.split())
    assert '5 Hz0.1111taken 9 Hz0.1112' in words and 'does not matter' not in words


def test_even_intervals_have_no_picture(identification):
    """Only one that differs by more than a tenth of the period has; both are said in words."""
    dataset = identification.datasets[0]
    even = sample_intervals(dataset, 500)
    assert even[1] is None
    assert even[0].endswith('median 10.0 ms, longest 10.0 ms')
    for late, drawn in ((0.0009, False), (0.0011, True)):
        stamps = dataset.stamps + np.where(np.arange(len(dataset)) == 300, late, 0.0)
        uneven = sample_intervals(replace(dataset, stamps=stamps), 500)
        assert (uneven[1] is not None) == drawn


@pytest.mark.parametrize('kind', ['residual', 'hac'])
def test_what_standard_errors_assume_is_said(identification, kind):
    found = replace(identification, model=replace(identification.model, covariance_kind=kind))
    page = check_page(render_identification_report(found))
    assert ('assume white residuals' in page.text) == (kind == 'residual')
    assert ('assume white residuals' in results_text(found)) == (kind == 'residual')


def test_laws_of_many_coefficients_have_a_line_for_each(identification):
    """Those that the data do not determine are not available."""
    robot = identification.model.robot
    reduction = reduce_to_base(
        robot, make_standard_parameters(2, parse_friction('strain_wave'), True)
    )
    kept = np.array([i for i, name in enumerate(reduction.names) if name != 'fvTw2'])
    reduction = replace(reduction, K=reduction.K[kept], independent=reduction.independent[kept])
    model = replace(
        identification.model, reduction=reduction, theta_base=np.arange(1.0, len(kept) + 1.0),
        covariance=np.eye(len(kept)), quality={},
    )
    groups = friction_table(model).groups
    assert [joint for joint, _ in groups] == [HOSTILE, AWKWARD]
    assert [entry.term for entry in groups[1][1]][-1] == 'strain_wave fvTw'
    assert groups[1][1][-1].coefficient is None
    assert len(friction_table(model).coefficients) == 13
    dataset = identification.datasets[0]
    warm = replace(dataset.motion, temperature=np.full(dataset.motion.q.shape, 30.0))
    found = replace(identification, model=model, datasets=(replace(dataset, motion=warm),))
    assert 'n/a' in check_page(render_identification_report(found)).text
    assert 'strain_wave fvTw' in results_text(found) and 'n/a' in results_text(found)


def make_truth(identification):
    """Return the section of a truth that is one standard error away, with a gain 4 % larger."""
    model = identification.model
    model = replace(model, robot=model.robot.with_drive_gains([10.0, 12.0]))
    return truth_section(
        model, np.arange(model.theta_base.size), model.theta_base + model.standard_errors,
        np.array([10.0, 12.5]), np.array([0.05, np.nan]),
    )


def test_truth_is_shown_as_the_truth_of_a_simulation(identification):
    truth = make_truth(identification)
    model, dataset = identification.model, identification.datasets[0]
    page = check_page(render_validation_report(
        model, validate(model, [dataset]), [dataset], [predict_effort(model, dataset)], [],
        truth=truth,
    ))
    assert 'Only possible in simulation: the truth' in page.text
    assert 'nominal drive gains, which differ from the true ones by up to 4.0 %' in page.text
    b = len(truth['parameters'])
    assert f'{b} of {b} parameters lie within 2 standard errors' in page.text


def test_validation_report_stands_alone(identification):
    model = identification.model
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


def test_texts_fit_a_terminal(identification, dictionary_identification):
    model = identification.model
    dataset = report_cases.record(model.robot, f'/bags/{"long/" * 60}', seed=1)
    texts = (
        results_text(identification), results_text(dictionary_identification),
        validation_text(model, validate(model, [dataset])),
    )
    for text in texts:
        assert max(map(len, text.splitlines())) <= 100
        assert text.replace('\n', '').isprintable()
        assert 'Verdict: ' in text and 'Next step: ' in text
        assert text.endswith('\n')


def test_table_shortens_long_names():
    lines = text_table(('joint', 'value'), [('x' * 200 + '_wrist', '1.0'), ('short', '22')])
    assert max(map(len, lines)) <= 100
    assert lines[1].split()[0].endswith('_wrist')
    assert lines[1].endswith('  1.0') and lines[2].endswith('   22')


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


def test_decimation_keeps_peaks():
    t = np.linspace(0.0, 1.0, 100_001)
    values = np.sin(40.0 * t)
    values[[12_345, 77_777]] = 9.0, -9.0
    short_t, short = decimate(t, values)
    assert len(short) <= MAXIMUM_POINTS
    assert np.all(np.diff(short_t) > 0.0)
    assert (short.max(), short.min()) == (9.0, -9.0)


def test_page_stays_small_whatever_is_drawn(identification):
    """The worst there is: as many panels as are ever drawn, each full of noise."""
    robot = identification.model.robot
    dataset = report_cases.record(robot, 'noise', 0, 6000)
    noise = np.random.default_rng(0).normal(scale=5.0, size=dataset.effort.shape)
    noisy = replace(dataset, effort=np.where(dataset.scored[:, None], noise, np.nan))
    panels = 2 * MAXIMUM_PANELS
    points = points_of_curve(panels)
    pictures = effort_pictures(identification.model, noisy, 0.5 * noise[::-1], points)
    largest = max(len(whole.markup) for whole, _ in pictures)
    assert panels * largest < 0.9 * MAXIMUM_BYTES


def test_drawn_bags():
    assert drawn_bags(6, 1) == 1
    assert drawn_bags(6, 100) == MAXIMUM_PANELS // 6
    assert drawn_bags(64, 3) == 1


def test_files_of_an_identification_share_what_they_show(identification, tmp_path, monkeypatch):
    """Every recording is predicted once, and every figure drawn once."""
    predicted, drawn = [], []

    def predict(model, dataset):
        predicted.append(dataset.source)
        return predict_effort(model, dataset)

    def picture(drawing, title, alternative):
        drawn.append(alternative)
        return original(drawing, title, alternative)

    original = plot.Drawing.picture
    monkeypatch.setattr(explanation, 'predict_effort', predict)
    monkeypatch.setattr(plot.Drawing, 'picture', picture)
    save_identification(identification, tmp_path, 'identify ..', force=False)
    assert predicted == [dataset.source for dataset in identification.datasets]
    assert len(drawn) == len(set(drawn)) > 3 * identification.model.robot.n
    assert (tmp_path / 'results.txt').read_text() == results_text(identification)

# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The reports say what was found, to anyone, and need nothing but themselves."""

import base64
from dataclasses import replace
import hashlib
from html.parser import HTMLParser
import math

import numpy as np
import pytest
from report import report_cases
from robot_identification.report.figures import decimate, MAXIMUM_POINTS
from robot_identification.report.formatting import number, percent
from robot_identification.report.parameters import coefficients, inertial_coefficients
from robot_identification.report.reports import (
    render_identification_report, render_validation_report,
)
from robot_identification.report.text_report import results_text
from robot_identification.validation.validation import predict_effort, validate

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


def test_relative_scale_has_no_torque_units(identification):
    robot = identification.model.robot.with_drive_gains(np.ones(identification.model.robot.n))
    model = replace(identification.model, robot=robot, effort_unit='A', relative_scale=True)
    page = check_page(render_identification_report(replace(identification, model=model)))
    assert 'Relative scale:' in page.text
    assert {entry.unit for entry in coefficients(model)} <= {
        'A', 'A s/rad', 'kg A/(N m)', 'kg m A/(N m)', 'kg m^2 A/(N m)'
    }
    assert 'export identified_model' not in page.text, 'it is refused'


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

# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The first screen of a page says what a verdict and the errors say."""

from dataclasses import replace

import numpy as np
import pytest
from report import report_cases
from robot_identification.estimation.uncertainty.intervals import JointTest
from robot_identification.report.explanation import (
    compare_with_urdf, OPEN_LETTERS, sort_reasons,
)
from robot_identification.report.formatting import fixed
from robot_identification.report.page import Meaning
from robot_identification.studies.comparison.report import comparison_meaning
from robot_identification.studies.drive_gains.report import gain_meaning
from robot_identification.studies.payload.report import payload_meaning
from robot_identification.studies.temperature.report import temperature_meaning
from robot_identification.validation.validation import validate


@pytest.fixture(scope='module')
def found():
    return report_cases.identify_chain(2, 1, samples=300)


def with_errors(found, *rows):
    return [replace(found.cross_validation[0], nrmse=np.array(row)) for row in rows]


@pytest.mark.parametrize(('urdf', 'lost', 'words'), [
    ((0.2, 0.4), 0, 'Yes: the error is 50 % smaller'),
    ((0.05, 0.1), 2, 'No: the error is 100 % larger'),
    ((0.05, 0.55), 1, 'smaller on 1 of 2 joints'),
])
def test_gain_over_the_urdf_is_that_of_the_mean_errors(found, urdf, lost, words):
    """Of two recordings, joint by joint."""
    ours = with_errors(found, (0.0, 0.1), (0.2, 0.3))
    compared = compare_with_urdf(ours, with_errors(found, urdf, urdf))
    assert (compared.ours, compared.urdf) == pytest.approx((0.15, np.mean(urdf)))
    assert len(compared.lost) == lost
    assert words in compared.describe()


def test_joints_without_an_error_are_not_compared(found):
    """A constant effort has none; with none at all, nothing is said of the URDF."""
    ours = with_errors(found, (np.nan, 0.1))
    compared = compare_with_urdf(ours, with_errors(found, (0.01, 0.2)))
    assert (compared.ours, compared.urdf, compared.joints, compared.lost) == (0.1, 0.2, 1, ())
    nothing = compare_with_urdf(ours, with_errors(found, (0.01, np.nan)))
    assert not nothing.is_known and nothing.describe().startswith('Not known')


def test_on_unseen_motion_the_urdf_has_no_friction(found):
    bags = validate(found.model, found.datasets).bags
    compared = compare_with_urdf(bags)
    assert compared.urdf == pytest.approx(bags[0].urdf_nrmse_mean)
    assert compared.ours == pytest.approx(bags[0].nrmse_mean)
    assert not compared.fitted


def test_every_reason_is_shown_once(found):
    """The size of the errors has its own place; long lists are folded, the first reason never."""
    verdict = replace(found.verdict, reasons=(
        'x' * (OPEN_LETTERS + 1), *found.verdict.reasons, *'abc',
    ))
    first, others = sort_reasons(verdict)
    assert first == ['x' * (OPEN_LETTERS + 1)]
    assert verdict.errors and sorted((*first, *others, *verdict.errors)) == sorted(
        verdict.reasons
    )
    assert sort_reasons(replace(verdict, reasons=tuple('abc')))[0] == list('abc')
    assert sort_reasons(replace(verdict, reasons=()))[0] == []


# --- what pages of studies say first -----------------------------------------------------


@pytest.fixture(scope='module')
def model(found):
    return found.model


def test_a_payload_is_found_or_not(model):
    """A body that cannot be distinguished from none is no payload, whatever its numbers are."""
    found = report_cases.payload(model).found
    meaning = payload_meaning(found)
    assert (meaning.label, meaning.level) == ('Payload found', 'good')
    assert meaning.sentences[0].startswith('mass 2.000 +- 0.030 kg')
    assert payload_meaning(replace(found, weak=('mass',))).level == 'usable'
    nothing = replace(found, test=JointTest(1.0, (10.0, 400.0), 0.4))
    assert payload_meaning(nothing).label == 'No payload found'
    assert payload_meaning(replace(found, payload=None)).label == 'No payload found'
    relative = payload_meaning(replace(found, relative_scale=True))
    assert relative.level == 'usable' and 'kg' not in ' '.join(relative.sentences)


def test_gains_of_all_of_some_or_of_no_joint(model):
    """The least certain is named; without a gain for every joint nothing can be identified."""
    result = report_cases.drive_gains(model.robot)
    found = result.found
    some = gain_meaning(result)
    assert (some.label, some.level) == ('Some gains found', 'bad')
    known = replace(result, robot=model.robot.with_drive_gains([11.0, 12.0]))
    assert gain_meaning(known).level == 'usable'
    seen = replace(found, joints=found.joints[1:], points=found.points[1:])
    whole = gain_meaning(replace(known, found=seen))
    assert (whole.label, whole.level) == ('All gains found', 'good')
    assert any(seen.joints[0].joint in sentence for sentence in whole.sentences)
    blind = replace(found, joints=found.joints[:1], points=found.points[:1])
    assert gain_meaning(replace(result, found=blind)).label == 'No gain found'


def test_friction_depends_on_temperature_or_not():
    study = report_cases.temperature_study()
    meaning = temperature_meaning(study)
    assert meaning.label == 'Friction depends on temperature'
    assert 'from 22 to 40 °C' in meaning.sentences[0]
    assert 'does not move' in meaning.sentences[1]
    steady = replace(study, joints=tuple(
        replace(joint, viscous=np.full(4, 10.0), coulomb_p=1e-6) for joint in study.joints
    ))
    meaning = temperature_meaning(steady)
    assert meaning.label == 'Friction hardly depends on temperature'
    assert 'moves with temperature on one, two' in meaning.sentences[1]
    short = replace(study, joints=tuple(
        replace(joint, viscous_line=None) for joint in study.joints
    ))
    assert 'no line could be laid for one, two' in temperature_meaning(short).sentences[-1]


def test_models_differ_or_agree(model):
    """What moved comes first, and the largest difference of torque last."""
    worn, same = report_cases.comparison(model).pairs
    differ = comparison_meaning(worn)
    assert (differ.label, differ.level) == ('They differ', 'usable')
    assert differ.sentences[0].startswith('viscous friction moved')
    assert 'N m at most' in differ.sentences[-1]
    agree = comparison_meaning(same)
    assert (agree.label, agree.level) == ('No difference beyond chance', 'good')
    assert not any('moved' in sentence for sentence in agree.sentences)


def test_an_unknown_level_is_refused():
    with pytest.raises(ValueError, match="level 'fine' is none of good"):
        Meaning('a', 'fine', (), 'b')


@pytest.mark.parametrize(('value', 'text'), [
    (-0.001, '0.00'), (-0.006, '-0.01'), (0.0, '0.00'), (float('nan'), 'n/a'), (1.5, '1.50'),
])
def test_nothing_is_less_than_zero_by_nothing(value, text):
    assert fixed(value, 2) == text

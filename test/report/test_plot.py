# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Figures as SVG: curves lie where their numbers say."""

import re
from xml.etree import ElementTree

import numpy as np
import pytest
from robot_identification.report.plot import Drawing, UNITS

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


def test_a_gap_breaks_a_curve(drawing, panel):
    panel.curve(np.array([1.0, 2.0, np.nan, 3.0, 4.0]), np.zeros(5), '#000', 1.0)
    path = next(parsed(drawing).iterfind(f'{SVG}g/{SVG}svg/{SVG}path')).get('d')
    assert re.findall('[A-Za-z]', path) == ['M', 'l', 'M', 'l']


def test_what_lies_far_outside_is_cut(drawing, panel):
    """By the edge of the panel, and its numbers stay short."""
    panel.curve(np.array([0.0, 10.0]), np.array([-1e12, 1e12]), '#000', 1.0)
    (places,) = paths_of(drawing)
    assert np.abs(places).max() <= 200.0
    inner = parsed(drawing).find(f'{SVG}g/{SVG}svg')
    assert (int(inner.get('width')), int(inner.get('height'))) == (100 * UNITS, 50 * UNITS)


def test_texts_cannot_be_taken_for_markup(drawing, panel):
    hostile = '<script>&"\'%#'
    panel.label(f'{hostile}\nbelow', hostile)
    texts = [text.text for text in parsed(drawing).iter(f'{SVG}text')]
    assert texts.count(hostile) == 2 and 'below' in texts
    assert hostile not in drawing.picture('', hostile).markup

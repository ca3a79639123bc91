# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""What an experiment file may say, and how it is refused where it may not."""

import numpy as np
import pytest
from robot_identification.errors import DescriptionError, UsageError
from robot_identification.excitation import (
    extra_limits_from_content, find_experiment, load_experiment, Obstacle,
)
from robot_identification.excitation.experiment import (
    FrameBox, FrameSpeed, SineTimesCosine, SumOfJoints,
)
from robot_identification.excitation.experiment_file import extra_limits_to_content, Margins
from robot_identification.files import dump_yaml, read_yaml

MINIMAL = {'schema_version': 1, 'trajectory': {'form': 'fourier', 'harmonics': 3}}


def load(tmp_path, **changes):
    path = tmp_path / 'experiment.yaml'
    path.write_text(dump_yaml({**MINIMAL, **changes}))
    return load_experiment(path)


def test_the_shipped_experiment_is_found_by_name_and_by_path():
    path = find_experiment('demo')
    assert path == find_experiment('demo.yaml') == find_experiment(str(path))
    assert load_experiment(path).form.harmonics == 5
    with pytest.raises(UsageError, match=r': demmo; did you mean demo\? shipped are .*demo'):
        find_experiment('demmo')


def test_every_value_arrives(tmp_path):
    experiment = load(
        tmp_path, mounting=[np.pi, 0.0, 0.0], periods=3, margins={'torque': 0.5},
        window={'a': [-1, 2.5]}, friction='viscous', criterion='condition_number', samples=50,
        description='words', optimizer='memetic',
    )
    np.testing.assert_allclose(experiment.gravity, [0.0, 0.0, 9.81], atol=1e-12)
    assert (experiment.periods, experiment.samples) == (3, (50,))
    assert experiment.margins == Margins(torque=0.5)
    assert experiment.window == {'a': (-1.0, 2.5)}
    assert (experiment.friction, experiment.criterion) == ('viscous', 'condition_number')
    sloped = load(tmp_path, gravity=[1.0, 2.0, -9.5])
    np.testing.assert_array_equal(sloped.gravity, [1.0, 2.0, -9.5])


def test_cells_are_read(tmp_path):
    """Boxes by name; off is a decision of its own."""
    experiment = load(tmp_path, clearance=0.05, obstacles={
        'table': {'size': [2, 1, 0.1], 'xyz': [0, 0, -0.06]},
    })
    assert (experiment.collision, experiment.clearance) == (True, 0.05)
    table, = experiment.obstacles
    assert table == Obstacle('table', (2.0, 1.0, 0.1), (0.0, 0.0, -0.06), (0.0, 0.0, 0.0))
    assert load(tmp_path, collision='off').collision is False
    assert load(tmp_path).clearance == 0.02


def test_further_limits_are_read(tmp_path):
    """Numbers for every joint or by joint; null and absence leave a side open."""
    experiment = load(
        tmp_path, jerk=100, limits={'velocity': 2, 'torque': {'a': 3.5}}, bounds='conservative',
        workspace={'tool0': {'lower': [None, -1, 0.05]}, 'elbow': {'upper': [1, 1, 1]}},
        tool_speed={'frame': 'tool0', 'limit': 0.25},
        rules=[
            {'kind': 'sum', 'joints': {'a': 1, 'b': -1.5}, 'upper': 2.0},
            {'kind': 'sine_cosine', 'sine': 'a', 'cosine': 'b', 'at_most': 0.15},
        ],
    )
    inf = float('inf')
    assert (experiment.jerk, experiment.bounds) == (100.0, 'conservative')
    assert experiment.limits == {'velocity': 2.0, 'torque': {'a': 3.5}}
    assert experiment.workspace == (
        FrameBox('tool0', (-inf, -1.0, 0.05), (inf, inf, inf)),
        FrameBox('elbow', (-inf, -inf, -inf), (1.0, 1.0, 1.0)),
    )
    assert experiment.tool_speed == FrameSpeed('tool0', 0.25)
    assert experiment.rules == (
        SumOfJoints({'a': 1.0, 'b': -1.5}, 0.0, -inf, 2.0), SineTimesCosine('a', 'b', 0.15)
    )
    assert load(tmp_path, jerk={'a': 5.0}).jerk == {'a': 5.0}
    # Written and read again, as in a certificate, they are the same.
    content = extra_limits_to_content(experiment.extra_limits)
    path = tmp_path / 'again.yaml'
    path.write_text(dump_yaml(content))
    again = extra_limits_from_content(read_yaml(path), 'again')
    assert vars(again) == vars(experiment.extra_limits)


WRONG = {
    'no version': ({'schema_version': None}, 'schema_version is missing'),
    'an unknown key': ({'margin': {}}, 'unknown key margin'),
    'an unknown form': ({'trajectory': {'form': 'spline'}}, "form 'spline': known are fourier"),
    'a margin above one': ({'margins': {'velocity': 1.5}}, 'velocity is 1.5'),
    'an empty window': ({'window': {'a': [1.0, 1.0]}}, 'window of a'),
    'no periods': ({'periods': 0}, 'periods is 0'),
    'a mounting in degrees': ({'mounting': [90, 0, 0]}, r'experiment\.yaml: .* write 90deg'),
    'gravity and mounting': (
        {'gravity': [0.0, 0.0, -9.81], 'mounting': [0.0] * 3}, 'gravity or mounting, not both'
    ),
    'off, and obstacles': ({'collision': 'off', 'clearance': 0.1}, 'collision is off'),
    'a negative clearance': ({'clearance': -0.01}, 'clearance is -0.01 m'),
    'a flat obstacle': (
        {'obstacles': {'table': {'size': [1, 1, 0], 'xyz': [0, 0, 0]}}}, 'edges must be positive'
    ),
    'a jerk of nothing': ({'jerk': 0.0}, 'jerk is 0.0, it must be above 0'),
    'a workspace without sides': ({'workspace': {'tool0': {}}}, 'every side is open'),
    'a workspace inside out': (
        {'workspace': {'tool0': {'lower': [0, 0, 1], 'upper': [1, 1, 1]}}}, 'is not below'
    ),
    'an unknown rule': ({'rules': [{'kind': 'product'}]}, "rule 1: kind is 'product', known are"),
    'conservative splines': (
        {'trajectory': {'form': 'via_points'}, 'bounds': 'conservative'}, 'the form is via_points'
    ),
}


@pytest.mark.parametrize(('changes', 'message'), WRONG.values(), ids=WRONG)
def test_a_wrong_experiment_is_refused_by_name(tmp_path, changes, message):
    """When it is read, not when the search is half done."""
    with pytest.raises(DescriptionError, match=message):
        load(tmp_path, **changes)

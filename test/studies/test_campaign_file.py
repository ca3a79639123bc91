# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Campaign files: what they say, and what is refused by name."""

from dataclasses import fields
from pathlib import Path

import pytest
from robot_identification.errors import DescriptionError
from robot_identification.files import dump_yaml
from robot_identification.studies.campaign.campaign_file import (
    Arm, CarriedPayload, IdentifyOptions, load_campaign, Run,
)
from test_formats_docs import documented, page


def content(**changes):
    return {
        'schema_version': 1, 'name': 'small',
        'arms': [{'name': 'left', 'robot': 'ur5'}],
        'runs': [{'name': 'one', 'arm': 'left', 'bags': 'bag_1'}],
        **changes,
    }


def load(folder, **changes):
    path = folder / 'fleet.yaml'
    path.write_text(dump_yaml(content(**changes)), encoding='utf-8')
    return load_campaign(path)


def test_the_page_on_the_format_has_every_key(tmp_path):
    """Keys of the page are those that are read; its example is accepted."""
    of_files = {'schema_version', 'name', 'description', 'speeds', 'false_alarm_rate'}
    nested = {
        'options': IdentifyOptions, 'arms[]': Arm, 'arms[].payload': CarriedPayload,
        'runs[]': Run,
    }
    known = of_files | {'arms', 'runs', 'options', 'runs[].separate'} | {
        f'{place}.{entry.name}' for place, kind in nested.items() for entry in fields(kind)
    } - {'options.kinematic_filter'}
    assert set(documented('campaign')) == known
    path = tmp_path / 'fleet.yaml'
    path.write_text(page('campaign').split('```yaml')[1].split('```')[0], encoding='utf-8')
    assert len(load_campaign(path).runs) == 2


def test_paths_are_those_beside_the_file(tmp_path, monkeypatch):
    """Patterns are one run in the order of names, or one run each; relative to the file."""
    for name in ('bag_2', 'bag_10', 'bag_1'):
        (tmp_path / name).mkdir()
    monkeypatch.chdir('/')
    together = load(tmp_path, runs=[{'name': 'all', 'arm': 'left', 'bags': 'bag_*'}])
    assert [Path(bag).name for bag in together.runs[0].bags] == ['bag_1', 'bag_10', 'bag_2']
    assert all(Path(bag).is_dir() for bag in together.runs[0].bags)
    each = load(
        tmp_path, runs=[{'name': 'm', 'arm': 'left', 'bags': ['bag_*'], 'separate': True}]
    )
    assert [run.name for run in each.runs] == ['m_bag_1', 'm_bag_10', 'm_bag_2']
    # What is not there is a run that will fail, not a file that cannot be read.
    lost = load(tmp_path, runs=[{'name': 'x', 'arm': 'left', 'bags': 'nothing_*'}])
    assert lost.runs[0].bags == ('nothing_*',)


@pytest.mark.parametrize(('changes', 'message'), [
    ({'speed': [1.0]}, r'unknown key speed; did you mean speeds\?'),
    ({'arms': [{'name': 'a/b', 'robot': 'ur5'}]}, r"arm 1: name is 'a/b'"),
    ({'arms': [{'name': 'left', 'robot': 'ur5'}] * 2}, r'name of an arm is given twice: left'),
    ({'arms': [{'name': 'left', 'robot': 'ur5', 'mounting': [0.0]}]},
     r'mounting has 1 values, it must have 3'),
    ({'arms': [{'name': 'left', 'robot': 'ur5', 'mounting': [90, 0, 0]}]},
     r'arm 1: .*write 90deg'),
    ({'arms': [{'name': 'left', 'robot': 'ur5', 'payload': {'mas': 1.0}}]},
     r'payload: missing mass; unknown key mas; did you mean mass\?'),
    ({'runs': [{'name': 'x', 'arm': 'lef', 'bags': 'b'}]},
     r'run 1: there is no arm lef; did you mean left\?'),
    ({'runs': [{'name': 'x', 'arm': 'left', 'bags': ['b', 'b']}]}, r'a bag is given twice'),
    ({'runs': [{'name': 'x', 'arm': 'left', 'bags': 'b', 'date': 'spring'}]},
     r"date is 'spring', it must be like 2026-03-01"),
    ({'runs': [{'name': 'x', 'arm': 'left', 'bags': 'b'},
               {'name': 'X', 'arm': 'left', 'bags': 'c'}]}, r'name of a run is given twice: x'),
    ({'speeds': [0.1, 0.1]}, r'speeds are \[0.1, 0.1\], they must differ'),
    ({'false_alarm_rate': 0.9}, r'false_alarm_rate is 0.9'),
    ({'options': {'relative_scale': 1}}, r'relative_scale is 1, it must be true or false'),
])
def test_what_is_wrong_is_named(tmp_path, changes, message):
    """Every key is checked; an unknown one is refused with the nearest one that is known."""
    with pytest.raises(DescriptionError, match=message):
        load(tmp_path, **changes)

# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Training data are found by their content and window, and are not judged as unseen motion."""

from itertools import product
import json
import shutil
from types import SimpleNamespace

import numpy as np
import pytest
from robot_identification.files import file_sha256
from robot_identification.pipeline import validate as validate_bags
from robot_identification.recording.bag_files import data_hashes
from robot_identification.report.text_report import validation_text
from robot_identification.validation import find_training_data, validation_json
from robot_identification.validation.verdict import BAD, GOOD


def folder_of(path, *contents, metadata='names and counts'):
    """Write a folder with files of these contents, as a split bag has them."""
    path.mkdir()
    for number, content in enumerate(contents):
        (path / f'{path.name}_{number}.mcap').write_text(content)
    (path / 'metadata.yaml').write_text(metadata)
    return path


def model_of(*bags, window=(None, None), old=False):
    """Return something with the provenance of a model of bags; `old`: without `data_sha256`."""
    return SimpleNamespace(provenance={
        'bags': [
            {'path': str(bag), 'sha256': file_sha256(bag),
             **({} if old else {'data_sha256': list(data_hashes(bag))})}
            for bag in bags
        ],
        'options': dict(zip(('start', 'stop'), window, strict=True)),
    })


@pytest.fixture
def bag(tmp_path):
    return folder_of(tmp_path / 'bag', 'first', 'second')


def test_names_and_metadata_make_no_difference(bag, tmp_path):
    """A copy, a bag with other names inside, one indexed anew, and the only file of a folder."""
    model = model_of(bag)
    copy = shutil.copytree(bag, tmp_path / 'copy')
    renamed = folder_of(tmp_path / 'renamed', 'first', 'second', metadata='made by reindex')
    for same in (bag, copy, renamed):
        assert f'has the content of {bag},' in find_training_data(model, same)
    assert find_training_data(model, folder_of(tmp_path / 'other', 'third', 'fourth')) == ''
    single = folder_of(tmp_path / 'single', 'alone')
    assert find_training_data(model_of(single), single / 'single_0.mcap')
    assert find_training_data(model_of(single / 'single_0.mcap'), single)


def test_part_of_a_split_bag_is_training_data_whatever_the_window(bag):
    """Its times count from another joint state, so windows do not compare."""
    model = model_of(bag, window=(0.0, 1.0))
    assert 'some files of' in find_training_data(model, bag / 'bag_1.mcap', 2.0, 3.0)


def test_models_of_earlier_versions_have_one_hash(bag, tmp_path):
    model = model_of(bag, old=True)
    copy = shutil.copytree(bag, tmp_path / 'copy')
    assert find_training_data(model, copy)
    assert find_training_data(model_of(bag / 'bag_0.mcap', old=True), bag)
    assert find_training_data(SimpleNamespace(provenance={}), bag) == ''


ENDS = (None, 0.0, 4.0, 9.0)


def test_windows_that_share_an_instant_are_training_data(bag):
    """By counting instants between the ends; a window without an instant shares none."""
    instants = np.arange(-0.5, 20.0)

    def inside(window):
        start, stop = window
        return (instants > (-np.inf if start is None else start)) & (
            instants < (np.inf if stop is None else stop)
        )

    for trained, scored in product(product(ENDS, ENDS), repeat=2):
        found = find_training_data(model_of(bag, window=trained), bag, *scored)
        shared = np.any(inside(trained) & inside(scored))
        assert bool(found) == shared, (trained, scored, found)


def test_training_data_are_called_so(identification, scene, tmp_path):
    """A renamed copy of the training bag, by text, file and verdict, which cannot be good."""
    model = identification.model
    copy = shutil.copytree(scene('ur5').bags[0], tmp_path / 'yesterday')
    validation, _, _ = validate_bags(model, [copy])
    verdict = validation.verdict
    assert verdict.level not in (GOOD, BAD)
    assert verdict.reasons[0].startswith(f'{copy} is training data: it has the content of')
    assert any(reason.endswith('on training data') for reason in verdict.reasons)
    assert not any('unseen' in reason for reason in verdict.reasons)
    assert 'different motion' in verdict.next_step
    bag, = json.loads(validation_json(validation))['bags']
    assert bag['training_data'] is True
    text = validation_text(model, validation)
    assert 'training data' in text and 'unseen' not in text

# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Walks from a bag to simulations and controllers run as they stand on their pages."""

from contextlib import chdir
from dataclasses import replace
from pathlib import Path
import re
import shlex

from builders import run_command
from export.exported_models import changed_prior, model_of
from long_tests import long_test
import numpy as np
import pytest
from robot_identification.model.model_file import dump_model

DOCS = Path(__file__).resolve().parents[1] / 'docs'
pytestmark = pytest.mark.usefixtures('without_pictures')


def run_page(name, folder):
    """Run the blocks of a page that need no robot in a folder; return what was said and made."""
    page = DOCS / f'{name}.md'
    found = re.findall(
        r'^```(console|python)\n(.*?)^```$', page.read_text(encoding='utf-8'), re.M | re.S
    )
    said, names = '', {}
    with chdir(folder):
        for language, block in found:
            if language == 'python':
                exec(compile(block, str(page), 'exec'), names)
                continue
            for line in block.splitlines():
                program, *arguments = shlex.split(line.removeprefix('$ '))
                assert program == 'robot-identification'
                done = run_command(*arguments)
                assert done.code == 0, done.err
                said += done.out
    return [language for language, _ in found], said, names


@pytest.fixture
def result(ur5, tmp_path):
    """Return a folder with a model of a UR5 in its folder `result`, with errors of 1 %."""
    model = model_of(
        ur5, changed_prior(ur5), 'coulomb,viscous', provenance={'bags': []},
        quality={'verdict': 'good'},
    )
    model = replace(model, covariance=1e-4 * np.diag(model.theta_base**2 + 1e-6))
    (tmp_path / 'result').mkdir()
    (tmp_path / 'result' / 'identified_model.yaml').write_text(dump_model(model))
    return tmp_path


@long_test
def test_the_page_runs_from_the_bags_to_the_moving_arm(scene, tmp_path):
    """
    Every command ends well, and the code's simulation stays near the recording for 0.1 s.

    Within 10 mrad; the URDF's joints drift by some 40 to 280 mrad in that time.
    """
    pytest.importorskip('mujoco')
    for name, bag in zip(('bag', 'bag_2'), scene('ur5').bags, strict=True):
        (tmp_path / name).symlink_to(bag)
    languages, said, names = run_page('sim_to_real_mujoco', tmp_path)
    assert languages == ['console'] * 3 + ['python']
    assert 'drift of a simulation under the measured effort alone' in said
    assert 'the exported MJCF' in said
    assert np.all(names['drift'] < 10.0)


def test_a_plugin_of_ros2_control_gets_the_gravity_of_the_model(result):
    """The block asserts it; the calls of the driver are those that the file has for this arm."""
    languages, said, names = run_page('ros2_control', result)
    assert languages == ['console', 'python']
    assert 'written to arm_dynamics.yaml' in said
    assert np.abs(names['plugin']).max() > 10.0
    written = (result / 'arm_dynamics.yaml').read_text()
    calls = re.findall(r'^# (ros2 service call .*)$', written, re.M)
    page = (DOCS / 'ros2_control.md').read_text(encoding='utf-8')
    assert len(calls) == 2
    for call in calls:
        assert call in page

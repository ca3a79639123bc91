# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The walk from a bag to a moving MuJoCo simulation runs as it stands on its page."""

from contextlib import chdir
from pathlib import Path
import re
import shlex

from builders import run_command
import numpy as np
import pytest

PAGE = Path(__file__).resolve().parents[1] / 'docs' / 'sim_to_real_mujoco.md'


def test_the_page_runs_from_the_bags_to_the_moving_arm(scene, tmp_path):
    """
    Every command ends well, and the code's simulation stays near the recording for 0.1 s.

    Within 10 mrad; the URDF's joints drift by some 40 to 280 mrad in that time.
    """
    pytest.importorskip('mujoco')
    for name, bag in zip(('bag', 'bag_2'), scene('ur5').bags, strict=True):
        (tmp_path / name).symlink_to(bag)
    text = PAGE.read_text(encoding='utf-8')
    found = re.findall(r'^```(console|python)\n(.*?)^```$', text, re.M | re.S)
    assert [language for language, _ in found] == ['console'] * 3 + ['python']
    said, names = '', {}
    with chdir(tmp_path):
        for language, block in found:
            if language == 'python':
                exec(compile(block, str(PAGE), 'exec'), names)
                continue
            for line in block.splitlines():
                program, *arguments = shlex.split(line.removeprefix('$ '))
                assert program == 'robot-identification'
                done = run_command(*arguments)
                assert done.code == 0, done.err
                said += done.out
    assert 'drift of a simulation under the measured effort alone' in said
    assert 'the exported MJCF' in said
    assert np.all(names['drift'] < 10.0)

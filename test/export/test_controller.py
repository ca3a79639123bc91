# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The file that a controller reads is all it needs, and the page shows how."""

from pathlib import Path
import re

from export.exported_models import changed_prior, exported_models, model_of
import numpy as np
import pytest
from robot_identification.export.controller import export_controller
from robot_identification.prediction import FeedForward, FeedForwardOptions

PAGE = Path(__file__).parents[2] / 'docs' / 'export.md'


@pytest.fixture(scope='module')
def models(robots):
    """Return models of several arms, and one with friction of every kind, by name."""
    made = exported_models(robots)
    arm = made['everything'].robot
    dictionary = model_of(arm, changed_prior(arm), 'dictionary,offset')
    return {**made, 'dictionary': dictionary}


@pytest.fixture(scope='module')
def texts(models):
    return {name: export_controller(model) for name, model in models.items()}


@pytest.fixture(scope='module')
def example():
    """Return the program on the page that computes a controller's torque."""
    blocks = re.findall(r'```python\n(.*?)```', PAGE.read_text(), re.DOTALL)
    block, = (block for block in blocks if 'yaml.safe_load' in block)
    return compile(block, str(PAGE), 'exec')


@pytest.mark.parametrize('name', ['everything', 'dictionary'])
def test_the_page_computes_gravity_and_friction_from_the_file_alone(
    models, texts, example, name, rng, tmp_path, monkeypatch
):
    """As `FeedForward` does of the model whose bodies are the consistent ones."""
    # Rows of the table that a straight line replaces cost 1e-7 of the largest friction; 1e-6 of
    # the largest torque is asked.
    model = models[name]
    robot = model.robot
    monkeypatch.chdir(tmp_path)
    Path('ur5_feed_forward.yaml').write_text(texts[name])
    scope = {}
    exec(example, scope)
    consistent = model.with_consistent_parameters()
    feed_forward = FeedForward(consistent, FeedForwardOptions(friction='kinetic'))
    torque = []
    for number in range(20):
        q = rng.uniform(-1.0, 1.0, robot.n)
        wanted = rng.uniform(0.01, 2.0, robot.n) * rng.choice([-1.0, 1.0], robot.n)
        wanted *= number > 0
        # A motion that has gone on for longer than friction takes to come.
        for k in range(5):
            expected = feed_forward.step(0.02 * k, q, wanted, wanted)
        torque.append((scope['torque'](q, wanted), expected))
        feed_forward.step(np.nan, q, wanted, wanted)
    found, expected = map(np.array, zip(*torque, strict=True))
    assert np.abs(expected).max() > 1.0
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6 * np.abs(expected).max())

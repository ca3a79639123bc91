# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The containers run the tests that are there; docker itself is not tried."""

from pathlib import Path
import re
import shlex

from launch_descriptions import declared_in
import yaml

ROOT = Path(__file__).resolve().parents[2]
COMPOSE = yaml.safe_load((ROOT / 'compose.yaml').read_text())
DOCKERFILE = (ROOT / 'docker' / 'Dockerfile').read_text()
WORKFLOW = yaml.safe_load((ROOT / '.github' / 'workflows' / 'simulators.yml').read_text())
TESTS = {path.stem.removeprefix('test_') for path in (ROOT / 'test' / 'simulators').glob('test_*')}
# Tested here, without a simulator of whole robots.
PURE = {'containers', 'gazebo_engine'}


def test_every_simulator_has_its_service():
    """Each runs the test file of its name, which exists."""
    assert set(COMPOSE['services']) == TESTS - PURE
    for name, service in COMPOSE['services'].items():
        path = shlex.split(service['command'])[-1]
        assert path == f'test/simulators/test_{name}.py'
        assert (ROOT / path).is_file()
        assert (ROOT / service['build']['dockerfile']).is_file()


def test_the_workflow_runs_every_service_at_night():
    """And by hand; a skipped test fails it."""
    job = WORKFLOW['jobs']['simulator']
    assert set(job['strategy']['matrix']['simulator']) == set(COMPOSE['services'])
    # YAML 1.1 reads the key `on` as true.
    assert {'schedule', 'workflow_dispatch'} == set(WORKFLOW[True])
    commands = ' '.join(step.get('run', '') for step in job['steps'])
    assert 'docker compose build' in commands and 'docker compose run' in commands
    assert "! grep --quiet '^SKIPPED'" in commands


def test_images_and_actions_are_pinned():
    """No tag that means another thing tomorrow."""
    for image in re.findall(r'^FROM (\S+)', DOCKERFILE, re.MULTILINE):
        assert re.fullmatch(r'[\w/.-]+:(?!latest$)[\w.-]+', image)
    for step in WORKFLOW['jobs']['simulator']['steps']:
        if 'uses' in step:
            assert re.fullmatch(r'[\w-]+/[\w-]+@v\d+(\.\d+)*', step['uses'])
    declared = declared_in(ROOT / 'launch' / 'ursim.launch.py')
    assert re.fullmatch(r'\d+\.\d+\.\d+', declared['ursim_version']['default_value'])


def test_the_image_has_what_the_tests_need():
    """The packages whose absence makes a test skip."""
    for package in ('ur-robot-driver', 'ur-client-library', 'ur-simulation-gz', 'ros2launch'):
        assert f'ros-jazzy-{package} ' in DOCKERFILE
    assert 'docker.io ' in DOCKERFILE
    assert 'COPY docker/entrypoint.sh' in DOCKERFILE
    assert (ROOT / 'docker' / 'entrypoint.sh').stat().st_mode & 0o111

# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""`temperature`, from bags of a simulated arm that warms up to its files."""


from builders import contents, refusal, run_command, succeed
from identified_arms import WarmArm
import pytest
from robot_identification.model.model_file import dump_model

JOINTS = ('pan', 'lift', 'reach')


@pytest.fixture(scope='module')
def files(tmp_path_factory):
    """Return model files of an arm at three temperatures, made without bags."""
    folder = tmp_path_factory.mktemp('models')
    arm = WarmArm(folder)
    paths = []
    for number, warmth in enumerate((22.0, 29.0, 38.0)):
        paths.append(folder / f'model_{number}.yaml')
        paths[-1].write_text(dump_model(arm.run(warmth, number)))
    return paths


def test_files_are_whole_and_not_overwritten(files, tmp_path):
    out = tmp_path / 'out'
    first = succeed('temperature', *files, '-o', out)
    assert set(contents(out)) == {
        'temperature.json', 'identified_model.yaml', 'report.html', 'results.txt',
    }
    before = contents(out)
    assert '--force' in refusal('temperature', *files, '-o', out)
    assert contents(out) == before
    forced = run_command('temperature', *files, '-o', out, '--force')
    assert (forced.code, contents(out)) == (0, {
        **before, 'report.html': (out / 'report.html').read_bytes(),
    })
    report = (out / 'report.html').read_text()
    assert report.count('<figure>') == report.count('<svg class="plot"') == 3
    assert all(f'<th scope="row">{joint}</th>' in report for joint in JOINTS)
    text = (out / 'results.txt').read_text()
    assert first.out.startswith(text)
    assert max(map(len, text.splitlines())) <= 100

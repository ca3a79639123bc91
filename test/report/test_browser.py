# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Every kind of report in a real browser: complete, offline, and readable on a phone."""

from dataclasses import replace
from html import unescape
import json
from pathlib import Path
import shutil
import subprocess

from builders import two_link_urdf
import numpy as np
import pytest
from report import report_cases
from robot_identification.excitation.collision import Obstacle
from robot_identification.model.robot_model import make_robot_model
from robot_identification.model.urdf import parse_urdf
from robot_identification.report.reports import (
    render_identification_report, render_validation_report,
)
from robot_identification.report.trajectory_report import render_trajectory_report
from robot_identification.studies.break_away.report import render_break_away_report
from robot_identification.studies.campaign.report import render_campaign_report
from robot_identification.studies.comparison.report import render_comparison_report
from robot_identification.studies.drive_gains.report import render_drive_gains_report
from robot_identification.studies.energy.report import render_energy_report
from robot_identification.studies.energy.study import (
    check_threshold, energy_of_motion, EnergyOptions, EnergyResult,
)
from robot_identification.studies.friction_map.estimate import FrictionMap, FrictionPoint, HARMONIC
from robot_identification.studies.friction_map.report import render_friction_map_report
from robot_identification.studies.payload.report import render_payload_report
from robot_identification.studies.temperature.report import render_temperature_report
from robot_identification.validation.validation import predict_effort, validate
from studies import made_up_runs

BROWSER = next(
    (path for name in ('chromium', 'chromium-browser', 'google-chrome')
     if (path := shutil.which(name))), None,
)
WIDTHS = (1280, 390)
OPTIONS = (
    '--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
    '--disable-background-networking', '--disable-component-update', '--disable-sync',
    # What goes wrong in a page is said on stderr; waiting takes no time of the clock.
    '--enable-logging=stderr', '--virtual-time-budget=120000', '--dump-dom',
)
KINDS = (
    'identification', 'validation', 'trajectory', 'refused', 'temperature', 'comparison',
    'drive_gains', 'payload', 'break_away', 'friction_map', 'energy', 'campaign',
)
# A page with every fault that is looked for.
SPOILED = """<!DOCTYPE html><html><head><title>spoiled</title>
<meta http-equiv="Content-Security-Policy"
 content="default-src 'none'; img-src data:; style-src 'unsafe-inline'"></head><body>
<p style="width: 2000px">wide</p><img src="data:image/png;base64,AAAA" alt="broken">
<img src="http://localhost:9/picture.png" alt="elsewhere"><a href="#nowhere">link</a>
<table><thead><tr><th>empty</th></tr></thead></table>
<table><thead><tr><th>one</th></tr></thead><tbody><tr><td>1</td><td>2</td></tr></tbody></table>
<details><summary>folded</summary><p>and not there on paper</p></details>
</body></html>"""
# Looks at every page in a frame of its own, at every width, as it is and with everything opened;
# then once more with the rules for paper, where what is folded away has to be there.
CHECKER = r"""<!DOCTYPE html><html><head><meta charset="utf-8"></head><body><script>
const pages = PAGES, widths = WIDTHS, found = [];
function fill(name, text, width) {
  return new Promise(resolve => {
    const frame = document.createElement('iframe');
    frame.style = `width: ${width}px; height: 900px; border: 0`;
    // Pictures inside a page are there when it is.
    frame.onload = () => resolve(frame);
    frame.srcdoc = text;
    document.body.append(frame);
  });
}
function measure(frame, name, width, state) {
  const page = frame.contentDocument, root = page.documentElement;
  const loads = frame.contentWindow.performance.getEntriesByType('resource');
  return {
    name, width, state,
    overflow: root.scrollWidth - root.clientWidth,
    drawn: page.querySelectorAll('svg.plot').length,
    lost: [...page.images].filter(image => !(image.naturalWidth > 0)).map(image => image.alt),
    images: page.images.length,
    empty: [...page.querySelectorAll('table')].filter(
      table => !table.tBodies.length || ![...table.tBodies].some(body => body.rows.length)
    ).length,
    ragged: [...page.querySelectorAll('table')].filter(table => {
      const wide = row => [...row.cells].reduce((sum, cell) => sum + cell.colSpan, 0);
      const spans = table.querySelector('[rowspan]') !== null;
      const last = table.tHead && wide(table.tHead.rows[table.tHead.rows.length - 1]);
      const rows = table.tBodies.length ? [...table.tBodies[0].rows] : [];
      return table.tHead && !spans && rows.some(row => wide(row) > last);
    }).length,
    tables: page.querySelectorAll('table').length,
    answers: [...page.querySelectorAll('.answers section')].map(
      one => one.getBoundingClientRect().bottom
    ),
    fetched: loads.map(one => one.name).filter(address => !address.startsWith('data:')),
    wanted: [...page.querySelectorAll('[src], [href]')].map(
      one => one.getAttribute('src') || one.getAttribute('href')
    // Pages of the runs lie beside that of their campaign.
    ).filter(address => !/^(data:image.(png|svg.xml)|#|runs\/)/.test(address)),
    broken: [...page.querySelectorAll('a[href^="#"]')].map(
      one => one.getAttribute('href')
    ).filter(address => !page.getElementById(address.slice(1))),
    folded: [...page.querySelectorAll('details')].filter(
      one => !one.lastElementChild.checkVisibility()
    ).length,
  };
}
// Points at, drags over, and resets the first curves of a page, as a reader would.
function operate(frame) {
  const page = frame.contentDocument, view = frame.contentWindow;
  const [first, second] = page.querySelectorAll('.linked .pair figure:first-child svg.plot');
  const box = first.getBoundingClientRect();
  const send = (kind, share) => first.dispatchEvent(new view.PointerEvent(kind, {
    clientX: box.left + share * box.width, clientY: box.top + 0.3 * box.height,
    bubbles: true, button: 0, pointerType: 'mouse',
  }));
  const drawn = () => [...page.querySelectorAll('svg.plot path, svg.plot text')].filter(
    one => one.getAttribute('opacity') === null
  ).map(one => one.outerHTML).join('');
  const ticks = () => [first, second].map(
    one => [...one.querySelectorAll('.numbers text')].map(text => Number(text.textContent))
  );
  const before = drawn();
  send('pointermove', 0.5);
  const said = [...page.querySelectorAll('.readout > b, .readout > div')].map(
    line => line.textContent
  );
  const arm = () => [...page.querySelectorAll('.readout .arm path')].map(
    one => one.getAttribute('d').slice(1).split(' ').map(Number)
  );
  const pose = arm();
  const crosses = page.querySelectorAll('svg.plot path[opacity][d^="M"]').length;
  const whole = ticks();
  send('pointerdown', 0.4);
  send('pointermove', 0.6);
  const moved = arm();
  send('pointerup', 0.6);
  const part = ticks(), buttons = page.querySelectorAll('button').length;
  first.dispatchEvent(new view.MouseEvent('dblclick'));
  send('pointerleave', 0.6);
  return {
    said, pose, moved, crosses, whole, part, buttons, same: drawn() === before,
    left: page.querySelectorAll('button, .readout, svg.plot path[opacity][d^="M"]').length,
  };
}
(async () => {
  for (const [name, text] of Object.entries(pages)) {
    for (const width of widths) {
      const frame = await fill(name, text, width);
      found.push(measure(frame, name, width, 'as it is'));
      if (name === 'identification') found[found.length - 1].operated = operate(frame);
      frame.contentDocument.querySelectorAll('details').forEach(one => { one.open = true; });
      found.push(measure(frame, name, width, 'opened'));
      frame.remove();
    }
    const paper = await fill(name, text.replace('@media print', '@media all'), 1000);
    found.push(measure(paper, name, 1000, 'on paper'));
    paper.remove();
  }
  document.querySelectorAll('script').forEach(one => one.remove());
  document.body.textContent = JSON.stringify(found);
})();
</script></body></html>"""


@pytest.fixture(scope='module')
def recorded():
    """Return an identification as large as they get."""
    return report_cases.identify_chain(7, 6, samples=500)


@pytest.fixture(scope='module')
def pages(recorded):
    large = replace(recorded, verdict=replace(
        recorded.verdict, next_step='look at it again ' * 20,
        reasons=(
            *recorded.verdict.reasons, *(f'{k} ' + 'a long reason ' * 15 for k in range(9)),
        ),
    ))
    model = report_cases.identify_chain(2, 1, samples=300).model
    unseen = report_cases.record(model.robot, '/recordings/unseen', 77, samples=300)
    predicted = predict_effort(model, unseen)
    return {
        'identification': render_identification_report(large, command_line='identify ..'),
        'validation': render_validation_report(
            model, validate(model, [unseen]), [unseen], [predicted], ['a note'], 'validate ..'
        ),
        **_trajectory_pages(),
        'temperature': render_temperature_report(
            report_cases.temperature_study(), ('a', 'b', 'c', 'd'), 'temperature ..'
        ),
        'comparison': render_comparison_report(report_cases.comparison(model), 'compare ..'),
        'drive_gains': render_drive_gains_report(
            report_cases.drive_gains(model.robot), 'drive-gains ..'
        ),
        'payload': render_payload_report(report_cases.payload(model), 'payload ..'),
        'break_away': render_break_away_report('arm', report_cases.break_away()),
        'friction_map': _friction_map_page(),
        'energy': _energy_page(model, unseen),
        'campaign': _campaign_page(),
    }


def _trajectory_pages():
    robot = make_robot_model(parse_urdf(two_link_urdf(), 'two links'))
    found, experiment, evaluation = report_cases.certified_motion(robot, obstacles=(
        Obstacle('table', (1.0, 1.0, 0.1), (0.0, 0.0, -0.5), (0.0, 0.0, 0.0)),
    ))
    return {
        'trajectory': render_trajectory_report(robot, found, experiment, evaluation),
        'refused': render_trajectory_report(
            robot, replace(found, certificate={}), experiment, evaluation,
            refused='it is far too fast',
        ),
    }


def _friction_map_page():
    speeds = np.concatenate([-np.geomspace(0.05, 1.0, 6)[::-1], np.geomspace(0.05, 1.0, 6)])
    points = tuple(
        FrictionPoint(
            'a bag', 'a_joint', float(v), float(np.sign(v) * 4.0 + 2.0 * v), 0.05,
            float(4.0 + 2.0 * abs(v)), 0.04, 0.1, 0.02, 12.0, 25.0, 0.0, 20, HARMONIC,
        )
        for v in speeds
    )
    found = FrictionMap('arm', ('a_joint', 'another_joint'), points, {}, ('a note',))
    return render_friction_map_report(found, ['a bag'], 'friction-map ..')


def _energy_page(model, dataset):
    energy = energy_of_motion(model, dataset.stamps, dataset.motion)
    threshold = 0.5 * float(np.max(energy.kinetic.value))
    return render_energy_report(EnergyResult(
        model, Path('a model'), Path('a bag'), EnergyOptions(threshold), energy,
        check_threshold(energy, threshold), ('a note',),
    ), 'predict ..')


def _campaign_page():
    states = [*made_up_runs.year_of_runs(0.4), made_up_runs.failed_state('lost')]
    return render_campaign_report(made_up_runs.outcome_of(states, name='fleet'))


@pytest.fixture(scope='module')
def seen(pages, tmp_path_factory):
    """Return what a browser measured on every page, and what it said on stderr."""
    if BROWSER is None:
        pytest.skip('no browser: install chromium')
    folder = tmp_path_factory.mktemp('browser')
    # Script ends where its text says so.
    script = json.dumps({**pages, 'spoiled': SPOILED}).replace('</', '<\\/')
    checker = CHECKER.replace('PAGES', script).replace('WIDTHS', json.dumps(WIDTHS))
    (folder / 'checker.html').write_text(checker, encoding='utf-8')
    done = subprocess.run(
        [BROWSER, *OPTIONS, f'--user-data-dir={folder / "profile"}',
         (folder / 'checker.html').as_uri()],
        capture_output=True, encoding='utf-8', timeout=120, check=True,
    )
    text = done.stdout.partition('<body>')[2].partition('</body>')[0]
    return json.loads(unescape(text)), done.stderr


def test_every_kind_is_seen_at_every_width(pages, seen):
    """As it is, with everything opened, and on paper; nothing is said on the console."""
    measured, said = seen
    assert set(pages) == set(KINDS)
    assert len(measured) == (len(KINDS) + 1) * (2 * len(WIDTHS) + 1)
    # The spoiled page is the last; nothing is said before it is looked at.
    assert all('localhost:9' in line for line in said.splitlines() if 'CONSOLE' in line), said


def test_every_fault_of_a_spoiled_page_is_found(seen):
    """Else the tests below would say nothing."""
    spoiled = [page for page in seen[0] if page['name'] == 'spoiled']
    for page in spoiled:
        assert page['overflow'] > 0
        assert set(page['lost']) == {'broken', 'elsewhere'}
        assert page['empty'] == page['ragged'] == 1
        assert page['wanted'] == ['http://localhost:9/picture.png']
        assert page['broken'] == ['#nowhere']
        assert page['folded'] == (page['state'] != 'opened')
    assert any('localhost:9' in line for line in seen[1].splitlines() if 'CONSOLE' in line)


@pytest.mark.parametrize('kind', KINDS)
def test_a_page_is_complete_and_fits(seen, kind):
    """No picture is missing, no table empty or ragged, nothing too wide or from a network."""
    for page in (page for page in seen[0] if page['name'] == kind):
        where = f'{kind} at {page["width"]} px, {page["state"]}'
        assert not page['lost'], where
        assert page['tables'] >= 1, where
        assert page['empty'] == page['ragged'] == 0, where
        assert page['overflow'] <= 0, where
        assert not page['broken'] and not page['wanted'] and not page['fetched'], where
        if page['state'] != 'as it is':
            # What is folded away on the screen can be read on paper.
            assert page['folded'] == 0, where


@pytest.mark.parametrize('width', WIDTHS)
def test_curves_are_read_and_enlarged_together(seen, recorded, width):
    """Values are those of the recording; a drag enlarges all joints; a double click undoes it."""
    done, = (
        page['operated'] for page in seen[0]
        if (page['name'], page['width'], page['state']) == ('identification', width, 'as it is')
    )
    head, *rows = done['said']
    time = float(head.removeprefix('time [s] '))
    said = {name: float(value) for name, value in (row.split() for row in rows)}
    assert list(said) == ['URDF', 'measured', 'predicted', 'residual']
    dataset = recorded.datasets[0]
    effort = dataset.effort[:, 0]
    rows = dataset.scored
    expected = np.interp(time, dataset.stamps[rows], effort[rows])
    # A two-hundredth of the range: less than a reader sees, more than both roundings.
    assert said['measured'] == pytest.approx(expected, abs=np.ptp(effort[rows]) / 200.0)
    assert said['residual'] == pytest.approx(
        said['measured'] - said['predicted'], abs=np.ptp(effort[rows]) / 200.0
    )
    # Shadow and arm: base, seven joints and the end, across and down; they move with the cursor.
    assert [len(path) for path in done['pose']] == [18, 18]
    assert done['pose'][1][:2] == done['moved'][1][:2] and done['pose'][1] != done['moved'][1]
    # Two panels of seven joints, whole and in part where the moment is in it.
    assert done['crosses'] >= 14
    whole, other = done['whole']
    part, beside = done['part']
    assert whole == other and part == beside and 2 <= len(part) <= 9
    assert np.ptp(part) < 0.5 * np.ptp(whole) and min(part) < time < max(part)
    assert done['buttons'] == 7
    assert done['same'] and done['left'] == 0


@pytest.mark.parametrize('kind', ['identification', 'validation'])
def test_first_screen_answers_five_questions(seen, kind):
    """All of them without scrolling on a screen of 1280 by 800 pixels, many reasons or few."""
    page, = (
        page for page in seen[0]
        if (page['name'], page['width'], page['state']) == (kind, 1280, 'as it is')
    )
    assert len(page['answers']) == 5
    assert 0 < max(page['answers']) <= 800

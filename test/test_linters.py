# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The code keeps the rules of ament's linters, which exist on ROS machines only, and of ours."""

import ast
from importlib import import_module
from importlib.util import find_spec
import os
from pathlib import Path
import re
import subprocess
import sys

import pytest

ROOT = Path(__file__).resolve().parents[1]
CHECKED = (
    'robot_identification', 'launch', 'test', 'benchmarks', 'examples', 'reproductions',
    'validation_studies', 'docs',
    'setup.py',
)
FILES = [ROOT / 'setup.py', *(path for name in CHECKED for path in (ROOT / name).rglob('*.py'))]
HEADER = re.compile(
    r"""(?:#!.*\n)?# Copyright 20\d\d(?:-20\d\d)? The robot_identification developers
# SPDX-License-Identifier: Apache-2\.0
(?!#)"""
)


@pytest.mark.copyright
@pytest.mark.linter
@pytest.mark.filterwarnings('ignore')
def test_every_python_file_has_the_header():
    """Two lines; an entry point of the package makes ament_copyright accept them."""
    assert [path for path in FILES if not HEADER.match(path.read_text('utf-8'))] == []
    if find_spec('ament_copyright'):
        # Not the whole folder: at a repository's root it wants CONTRIBUTING.md to be its own text.
        check = import_module('ament_copyright.main').main
        assert check(argv=list(map(str, FILES))) == 0


@pytest.mark.linter
@pytest.mark.filterwarnings('ignore')
@pytest.mark.parametrize(('ours', 'of_ament'), [
    pytest.param('flake8', 'ament_flake8', marks=pytest.mark.flake8),
    pytest.param('pydocstyle', 'ament_pep257', marks=pytest.mark.pep257),
])
def test_the_linter_finds_nothing(ours, of_ament, capfd):
    """Elsewhere the linter that it calls is used, with the same rules from setup.cfg."""
    paths = [str(ROOT / name) for name in CHECKED if (ROOT / name).exists()]
    try:
        code = import_module(f'{of_ament}.main').main(argv=paths)
    except ImportError:
        if os.environ.get('LINTED_BESIDE'):
            pytest.skip('ruff checks the same rules beside the tests; make lint runs this')
        pytest.importorskip(ours)
        code = subprocess.run([sys.executable, '-m', ours, *paths], cwd=ROOT).returncode
    assert code == 0, ''.join(capfd.readouterr())


def test_imports_are_in_the_order_of_ament(tmp_path):
    """The rules of flake8 that ruff does not have; and the check can fail."""
    checker = pytest.importorskip('flake8_import_order.checker').ImportOrderChecker
    style = import_module('flake8_import_order.styles').lookup_entry_point('google')

    def errors(path):
        tree = ast.parse(path.read_text(encoding='utf-8'))
        # All that it looks at, in the tree.
        tree.body = [node for node in tree.body if isinstance(node, (ast.Import, ast.ImportFrom))]
        one = checker(str(path), tree)
        one.options = {'import_order_style': style}
        return [f'{path}:{error.lineno}: {error.code} {error.message}'
                for error in one.check_order() if error.code != 'I202']

    assert [error for path in FILES for error in errors(path)] == []
    (tmp_path / 'wrong.py').write_text('import sys\nimport os\n')
    assert len(errors(tmp_path / 'wrong.py')) == 1


LONGEST_BODY = 60  # lines, without the docstring
# Functions with more than five arguments: may only become fewer.
MOST_WITH_MANY_ARGUMENTS = 40


def bodies(text):
    """Yield name and length of the body of every function, without its docstring."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            body = node.body[ast.get_docstring(node, clean=False) is not None:]
            if body:
                yield node.name, body[-1].end_lineno - body[0].lineno + 1


def test_functions_are_short():
    paths = [*(ROOT / 'robot_identification').rglob('*.py'), *(ROOT / 'launch').glob('*.py')]
    assert [
        (path.name, name, lines) for path in paths
        for name, lines in bodies(path.read_text(encoding='utf-8')) if lines > LONGEST_BODY
    ] == []
    # The check can fail.
    assert list(bodies('def f():\n    """Say what."""\n    a = 1\n\n    return a')) == [('f', 3)]


def test_no_more_functions_take_many_arguments():
    """As ruff counts them; with fewer, the number is lowered."""
    ruff = Path(sys.executable).with_name('ruff')
    if not ruff.exists():
        pytest.skip('ruff is not installed')
    found = subprocess.run(
        [ruff, 'check', '--select', 'PLR0913', '--output-format', 'concise', '--exit-zero',
         ROOT / 'robot_identification'], capture_output=True, text=True, check=True, cwd=ROOT,
    ).stdout
    assert found.count('PLR0913') <= MOST_WITH_MANY_ARGUMENTS, found

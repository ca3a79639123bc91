# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Store what the commands find, and compare it with what another commit found.

`python -m benchmarks.stored store FOLDER` runs the commands on three recordings of real arms (in
$ROBOT_IDENTIFICATION_DATA, by default ../shared/data) and on twelve simulated ones;
`python -m benchmarks.stored compare BEFORE AFTER` states, for each file, the largest relative
difference of its numbers and whether its words differ.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
import json
import os
from pathlib import Path
import re
import subprocess
import sys

from robot_identification import load_robot

DATA = Path(__file__).resolve().parents[2] / 'shared' / 'data'
SEARCH = ('--max-evaluations', '60')
# Options of each simulated arm: what its drives and its joints do.
TWINS: dict[str, tuple[str, ...]] = {
    'ur3': (), 'ur5': ('--static-friction',), 'ur10': ('--gain-error',), 'ur3e': ('--warm-up',),
    'ur5e': ('--torque-ripple',), 'ur10e': ('--position-torque',), 'ur16e': ('--noise-free',),
    'ur20': (), 'ur30': ('--velocity-loop',), 'ur15': ('--static-friction',),
    'ur7e': (), 'ur12e': ('--gain-error', '--static-friction'),
}
GAINS = ('13', '13', '13', '10', '10', '10')  # of a shipped arm that states none [N m/A]
PAYLOAD = """<link name="payload"><inertial><origin xyz="0 0 0.05"/><mass value="3"/>
<inertia ixx="0.002" ixy="0" ixz="0" iyy="0.002" iyz="0" izz="0.002"/></inertial></link>
<joint name="payload_joint" type="fixed"><parent link="tool0"/><child link="payload"/></joint>
</robot>"""
STORED = ('.json', '.yaml', '.xml', '.urdf', '.sdf', '.csv')
NUMBER = re.compile(r'(?<![\w.])-?\d+(?:\.\d*)?(?:e[-+]?\d+)?(?![\w.])')
# Lines that say when, where, or with what something was made.
VOLATILE = re.compile(r'seconds|created|version|commit|/tmp|date|elapsed|sha256', re.IGNORECASE)


class Commands:
    """Commands that run in a folder of their own and leave their output there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True)

    def run(self, name: str, *arguments: str | Path) -> None:
        """Run a command; keep its exit code and its object, or its error."""
        done = subprocess.run(
            [sys.executable, '-m', 'robot_identification.cli.main', *map(str, arguments),
             '--json'],
            cwd=self.folder, capture_output=True, text=True,
            env={**os.environ, 'OPENBLAS_NUM_THREADS': '1', 'OMP_NUM_THREADS': '1'},
        )
        text = done.stdout if done.returncode == 0 else done.stderr
        (self.folder / f'{name}.json').write_text(text, encoding='utf-8')
        (self.folder / f'{name}.code.json').write_text(f'{done.returncode}\n', encoding='utf-8')

    def use(self, arm: Sequence[str], train: Sequence[str], test: Sequence[str]) -> None:
        """Identify from one part of what was recorded, and use the model on another."""
        self.run('identify', 'identify', *train, *arm, '-o', 'model')
        for verb in ('validate', 'payload'):
            self.run(verb, verb, 'model', *test, '-o', verb)
        self.run('predict', 'predict', 'model', test[0], '-o', 'predicted.csv')
        self.run(
            'export', 'export', 'model', '--urdf', 'arm.urdf', '--mjcf', 'arm.xml', '--sdf',
            'arm.sdf', '--yaml', 'arm.yaml',
        )


def store(folder: Path, chosen: Sequence[str]) -> None:
    """Run every command on every recording."""
    data = Path(os.environ.get('ROBOT_IDENTIFICATION_DATA') or DATA).resolve()
    for name, (arm, train, test) in recordings(data).items():
        if not chosen or name in chosen:
            print(name, flush=True)
            commands = Commands(folder / name)
            commands.use(arm, train, test)
            # Without what is said of a recording.
            robot = arm[:arm.index('--joint-names')] if '--joint-names' in arm else arm[:2]
            commands.run('excite', 'excite', *robot, *SEARCH, '-o', 'motion.yaml')
    for number, (name, options) in enumerate(TWINS.items()):
        if not chosen or f'{name}_twin' in chosen:
            print(name, flush=True)
            commands = Commands(folder / f'{name}_twin')
            arm = ('--robot', name, '--drive-gains', *GAINS)
            commands.run('excite', 'excite', *arm, *SEARCH, '-o', 'motion.yaml')
            commands.run(
                'simulate', 'simulate', *arm, '--trajectory', 'motion.yaml', *options,
                '--truth-seed', str(number), '--repeat', '2', '--separate-bags', '-o', 'bag',
            )
            commands.use(arm, ['bag_1'], ['bag_2'])
            (commands.folder / 'loaded.urdf').write_text(
                load_robot(name).urdf.text.replace('</robot>', PAYLOAD), encoding='utf-8'
            )
            commands.run(
                'simulate_loaded', 'simulate', '--urdf', 'loaded.urdf', '--drive-gains', *GAINS,
                '--effort-unit', 'A', '--trajectory', 'motion.yaml', '--truth-seed', str(number),
                '-o', 'loaded_bag',
            )
            commands.run(
                'drive-gains', 'drive-gains', 'bag_1', *arm, '--payload', '3', '0', '0', '0.05',
                '--loaded', 'loaded_bag', '--use', 'motion', '-o', 'gains',
            )
            commands.run('payload_loaded', 'payload', 'model', 'loaded_bag', '-o', 'loaded')


def recordings(data: Path) -> dict[str, tuple[tuple[str, ...], list[str], list[str]]]:
    """Return what each real arm is, what to identify from and what to validate on."""
    # Of the package example-robot-data, which the tests need, too.
    urdf = next(Path(sys.prefix).rglob('panda.urdf'))
    bags = {name: str(data / f'{name}_exciting_trajectory') for name in ('ur10', 'panda')}
    joints = [f'panda_joint{i}' for i in range(1, 8)]
    names = ','.join(f'fer_joint{i}=panda_joint{i}' for i in range(1, 8))
    return {
        'ur10': (
            ('--robot', 'ur10', '--effort-unit', 'Nm'),
            [bags['ur10'], '--stop', '16.5'], [bags['ur10'], '--start', '16.5'],
        ),
        'panda': (
            ('--urdf', str(urdf), '--joints', *joints, '--joint-names', names, '--effort-unit',
             'Nm'),
            [bags['panda'], '--stop', '14.5'], [bags['panda'], '--start', '14.5'],
        ),
        'kr300': (
            ('--urdf', str(data / 'kr300/kr300.yaml'), '--mounting', '180deg', '0', '0',
             '--drive-gains', '256.857', '267.429', '252.333', '221', '239.619', '154.323'),
            [str(data / 'kr300/kr300_A.mat')], [str(data / 'kr300/kr300_B.mat')],
        ),
    }


def compare(before: Path, after: Path) -> Iterator[str]:
    """Yield a line for each file whose numbers or words differ."""
    files = sorted({
        path.relative_to(folder) for folder in (before, after) for path in folder.rglob('*')
        if path.suffix in STORED and 'bag' not in path.relative_to(folder).parts[1]
    })
    for file in files:
        if not ((before / file).exists() and (after / file).exists()):
            yield f'{file}: only {"before" if (before / file).exists() else "after"}'
            continue
        first, second = (_read(folder / file) for folder in (before, after))
        if NUMBER.sub('#', first) != NUMBER.sub('#', second):
            yield f'{file}: other words: {_first_difference(first, second)}'
            continue
        pairs = [
            (float(one), float(other))
            for one, other in zip(NUMBER.findall(first), NUMBER.findall(second), strict=True)
        ]
        # Smaller numbers are rounding.
        worst = max(
            (abs(one - other) / max(abs(one), abs(other), 1e-6) for one, other in pairs),
            default=0.0,
        )
        if worst > 1e-9:
            beyond = sum(abs(a - b) > 0.01 * max(abs(a), abs(b), 1e-6) for a, b in pairs)
            yield f'{file}: up to {worst:.1e}, {beyond} of {len(pairs)} numbers beyond 1 %'


def _read(path: Path) -> str:
    text = path.read_text('utf-8')
    if path.suffix == '.json' and text.startswith('{'):
        text = json.dumps(json.loads(text), indent=1)
    kept = '\n'.join(line for line in text.splitlines() if not VOLATILE.search(line))
    # Lists are wrapped where their numbers have so many digits.
    return re.sub(r',\s+', ', ', kept)


def _first_difference(first: str, second: str) -> str:
    pairs = zip(first.splitlines(), second.splitlines(), strict=False)
    differing = (
        f'{one.strip():.80} -> {other.strip():.80}' for one, other in pairs
        if NUMBER.sub('#', one) != NUMBER.sub('#', other)
    )
    return next(differing, 'more lines')


def main() -> int:
    """Store, or compare."""
    parser = argparse.ArgumentParser(prog='python -m benchmarks.stored', description=__doc__)
    verbs = parser.add_subparsers(dest='verb', required=True)
    verb = verbs.add_parser('store')
    verb.add_argument('folder', type=Path)
    verb.add_argument('--only', nargs='*', default=[], metavar='CASE')
    verb = verbs.add_parser('compare')
    verb.add_argument('before', type=Path)
    verb.add_argument('after', type=Path)
    args = parser.parse_args()
    if args.verb == 'store':
        commit = subprocess.run(
            ['git', 'describe', '--always', '--dirty'], capture_output=True, text=True, check=True
        ).stdout.strip()
        store(args.folder.resolve(), args.only)
        (args.folder / 'commit.txt').write_text(f'{commit}\n', encoding='utf-8')
        return 0
    print('\n'.join(compare(args.before, args.after)) or 'the same')
    return 0


if __name__ == '__main__':
    sys.exit(main())

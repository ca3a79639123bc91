# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""`python -m benchmarks`: run benchmarks, write their figures as JSON and one table of all."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
import json
from pathlib import Path
import sys
import time
from typing import Any

from robot_identification.errors import IdentificationError, MissingDependencyError
from robot_identification.files import write_atomically

from . import (
    consistent, contact, corrections, coverage, data_warnings, drift, excitation,
    excitation_solvers, figaroh, gradient, imports, live, long, many_bags, optimizers, reading,
    recorder, regressor, sample, scaling, short, tracking, whole,
)
from .figures import Figure, machine

RESULTS = Path(__file__).resolve().parent / 'results'
TABLE = 'table.md'
BENCHMARKS = {
    'regressor': regressor,
    'gradient': gradient,
    'figaroh': figaroh,
    'excitation': excitation,
    'excitation_solvers': excitation_solvers,
    'scaling': scaling,
    'consistent': consistent,
    'corrections': corrections,
    'coverage': coverage,
    'warnings': data_warnings,
    'imports': imports,
    'reading': reading,
    'recorder': recorder,
    'live': live,
    'sample': sample,
    'optimizers': optimizers,
    'short': short,
    'whole': whole,
    'long': long,
    'many_bags': many_bags,
    'tracking': tracking,
    'drift': drift,
    'contact': contact,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmarks that are asked for, by default all."""
    parser = argparse.ArgumentParser(prog='python -m benchmarks', description=__doc__)
    parser.add_argument('names', nargs='*', metavar='NAME', help=', '.join(BENCHMARKS))
    parser.add_argument(
        '--repeats', type=int, metavar='N', help='by default what suits each benchmark'
    )
    parser.add_argument(
        '--seconds', type=float, metavar='S',
        help='length of a run, for recorder or live alone',
    )
    parser.add_argument(
        '--hours', type=float, metavar='H',
        help='simulated free motion, for contact alone; length of the longest bag, for long alone',
    )
    parser.add_argument(
        '--rate', type=float, metavar='HZ', help='of the longest bag, for long alone'
    )
    parser.add_argument(
        '--output', type=Path, default=RESULTS, metavar='DIR', help='default: %(default)s'
    )
    args = parser.parse_args(arguments)
    unknown = [name for name in args.names if name not in BENCHMARKS]
    if unknown:
        parser.error(f'unknown: {", ".join(unknown)}; known are {", ".join(BENCHMARKS)}')
    if args.repeats is not None and args.repeats < 1:
        parser.error('--repeats must be positive')
    timed = args.names in (['recorder'], ['live'])
    if args.seconds is not None and not (timed and args.seconds > 0.0):
        parser.error('--seconds must be positive, and is for recorder or live alone')
    of_hours = args.names in (['contact'], ['long'])
    if args.hours is not None and not (of_hours and args.hours > 0.0):
        parser.error('--hours must be positive, and is for contact or long alone')
    if args.rate is not None and not (args.names == ['long'] and args.rate > 0.0):
        parser.error('--rate must be positive, and is for long alone')
    options = {
        name: value for name in ('seconds', 'hours', 'rate')
        if (value := getattr(args, name)) is not None
    }
    for name in args.names or BENCHMARKS:
        try:
            _run(name, args.repeats, args.output, options)
        except MissingDependencyError as error:
            if args.names:
                raise
            print(f'{name} is left out: {error}', file=sys.stderr)
    write_atomically(args.output / TABLE, whole_table(args.output))
    return 0


def whole_table(results: Path) -> str:
    """Return one Markdown table of all results in a folder, ratios with their spread."""
    rows, facts = [], set()
    for name in BENCHMARKS:
        path = results / f'{name}.json'
        if not path.is_file():
            continue
        content = json.loads(path.read_text(encoding='utf-8'))
        machine_facts = content['machine']
        facts.add(
            f'{machine_facts["processor"]}, {machine_facts["cores"]} cores, '
            f'Python {machine_facts["python"]}'
        )
        rows += [
            (name, *Figure(one['name'], one['unit'], tuple(one['values'])).as_row())
            for one in content['figures']
        ]
    return '\n'.join([
        '# All benchmarks',
        '',
        'Written by `make bench`. Figures without a unit are ratios of two things measured in '
        'turn in one run; what each is: [docs/benchmarks.md](../../docs/benchmarks.md).',
        f'Measured on: {"; ".join(sorted(facts))}.',
        '',
        _markdown(('benchmark', 'figure', 'median', 'middle half', 'unit'), rows),
        '',
    ])


def _run(name: str, repeats: int | None, output: Path, options: Mapping[str, float]) -> None:
    benchmark = BENCHMARKS[name]
    repeats = repeats or benchmark.REPEATS
    facts = machine()
    print(f'{name} ..', file=sys.stderr)
    started = time.monotonic()
    figures = benchmark.measure(repeats, **options)
    content = {
        'benchmark': name,
        'repeats': repeats,
        'seconds': round(time.monotonic() - started, 1),
        'machine': facts,
        'figures': [figure.as_dict() for figure in figures],
    }
    write_atomically(output / f'{name}.json', _as_json(content))
    print(_table(figures))
    print(
        f'{facts["processor"]}, {facts["cores"]} cores, load {facts["load_average"][0]:g} before, '
        f'{facts["blas_threads"]} BLAS thread, Python {facts["python"]}, {repeats} repeats\n'
    )


def _as_json(content: Mapping[str, Any]) -> str:
    """Return JSON with a line for each figure."""
    head = json.dumps({key: content[key] for key in content if key != 'figures'}, indent=2)
    lines = ',\n'.join(f'    {json.dumps(figure)}' for figure in content['figures'])
    return f'{head[:-2]},\n  "figures": [\n{lines}\n  ]\n}}\n'


def _table(figures: Sequence[Figure]) -> str:
    """Return the figures as a Markdown table."""
    return _markdown(
        ('figure', 'median', 'middle half', 'unit'), [figure.as_row() for figure in figures]
    )


def _markdown(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [header, ('---',) * len(header), *rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return '\n'.join(
        '| ' + ' | '.join(map(str.ljust, line, widths)) + ' |' for line in lines
    )


if __name__ == '__main__':
    try:
        sys.exit(main())
    except IdentificationError as error:
        print(f'error: {error}', file=sys.stderr)
        sys.exit(error.exit_code)

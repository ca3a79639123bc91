# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""`python -m reproductions SEED`: print a paper's tables beside ours, from a simulated arm."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
import json
from pathlib import Path
import sys
from typing import Any

from reproductions.paper import Claim, count_outcomes, load_seed, Paper, Pieces, SEEDS
from robot_identification.errors import IdentificationError
from robot_identification.files import check_writable


def other_outcomes(claims: Sequence[Claim], content: Mapping[str, Any]) -> list[str]:
    """Return a line for each claim whose outcome is another one in a file, or is not there."""
    known = {one['what']: one['outcome'] for one in content['claims']}
    ours = {claim.what: claim.outcome for claim in claims}
    return [
        f'{what}: {ours.get(what, "no claim")}, there {known.get(what, "no claim")}'
        for what in dict.fromkeys([*ours, *known]) if ours.get(what) != known.get(what)
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    """Reproduce one paper; return the exit code, as `robot-identification` would."""
    parser = argparse.ArgumentParser(prog='python -m reproductions', description=__doc__)
    parser.add_argument('seed', choices=SEEDS, metavar='SEED', help=', '.join(SEEDS))
    parser.add_argument(
        '-o', '--output', type=Path, required=True, metavar='DIR',
        help='folder for SEED.md, SEED.json and images/SEED',
    )
    parser.add_argument('--force', action='store_true', help='overwrite existing files')
    parser.add_argument(
        '--pieces', type=Path, metavar='DIR',
        help='keep results of searches in this folder, and take those that are in it already; '
        'one folder for one version of the sources and one BLAS kernel',
    )
    parser.add_argument(
        '--against', type=Path, metavar='JSON',
        help='compare outcomes with those of this file, such as one made with another BLAS '
        'kernel; exit code 1 where one is another',
    )
    args = parser.parse_args(arguments)
    try:
        for ending in ('json', 'md'):
            check_writable(args.output / f'{args.seed}.{ending}', args.force)
        paper = Paper(args.seed)
        load_seed(args.seed).reproduce(
            paper, lambda share, stage: print(f'{100 * share:3.0f} %  {stage}', file=sys.stderr),
            Pieces(None if args.pieces is None else args.pieces / args.seed),
        )
        files = paper.write(args.output, force=args.force)
    except IdentificationError as error:
        print(f'error: {error}', file=sys.stderr)
        return error.exit_code
    for claim in paper.claims:
        print(f'{claim.outcome:>14}  {claim.what}: paper {claim.printed}, here {claim.ours}')
    print(count_outcomes(claim.outcome for claim in paper.claims))
    print(f'written to {args.output / files[1]}')
    if args.against is None:
        return 0
    others = other_outcomes(paper.claims, json.loads(args.against.read_text(encoding='utf-8')))
    for line in others:
        print(line)
    print(f'{len(others)} outcomes of {len(paper.claims)} are not those of {args.against}')
    return 1 if others else 0


if __name__ == '__main__':
    sys.exit(main())

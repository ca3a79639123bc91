# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""`python -m reproductions SEED`: print a paper's tables beside ours, from a simulated arm."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
import shlex
import sys

from reproductions.page import write_reproduction
from reproductions.reproduction import load_seed, SEEDS
from robot_identification.errors import IdentificationError
from robot_identification.files import check_writable


def main(arguments: Sequence[str] | None = None) -> int:
    """Reproduce one paper; return the exit code, as `robot-identification` would."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    parser = argparse.ArgumentParser(prog='python -m reproductions', description=__doc__)
    parser.add_argument('seed', choices=SEEDS, metavar='SEED', help=', '.join(SEEDS))
    parser.add_argument(
        '-o', '--output', type=Path, required=True, metavar='DIR',
        help='folder for SEED.html (the report), SEED.md, SEED.json and images/SEED',
    )
    parser.add_argument('--force', action='store_true', help='overwrite existing files')
    args = parser.parse_args(given)
    try:
        for ending in ('json', 'md', 'html'):
            check_writable(args.output / f'{args.seed}.{ending}', args.force)
        seed = load_seed(args.seed)
        found = seed.reproduce(
            lambda share, stage: print(f'{100 * share:3.0f} %  {stage}', file=sys.stderr)
        )
        files = write_reproduction(
            found, seed.TITLE, seed.REFERENCE, args.output,
            shlex.join(['python -m reproductions', *given]), force=args.force,
        )
    except IdentificationError as error:
        print(f'error: {error}', file=sys.stderr)
        return error.exit_code
    outcomes = [claim.outcome for claim in found.claims]
    for claim in found.claims:
        print(f'{claim.outcome:>14}  {claim.what}: paper {claim.printed}, here {claim.ours}')
    print(', '.join(
        f'{outcomes.count(outcome)} {outcome}' for outcome in dict.fromkeys(sorted(outcomes))
    ))
    print(f'written to {args.output / files[2]}')
    return 0


if __name__ == '__main__':
    sys.exit(main())

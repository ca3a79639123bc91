# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""`python -m validation_studies`: run studies, write figures as JSON and one table of all."""

from pathlib import Path
import sys

from benchmarks.__main__ import run_from_command_line

from . import contact, coverage, tracking, wrong_recordings

RESULTS = Path(__file__).resolve().parent / 'results'
STUDIES = {
    'wrong_recordings': wrong_recordings,  # docs/verdict.md
    'coverage': coverage,  # docs/identification.md#how-wrong-may-a-parameter-be
    'contact': contact,  # docs/contact.md
    'tracking': tracking,  # docs/feed_forward.md
}

if __name__ == '__main__':
    sys.exit(run_from_command_line('validation_studies', STUDIES, RESULTS))

# Copyright 2026 The robot_identification developers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""What commands print: results on stdout, progress and warnings on stderr."""

from __future__ import annotations

import sys
from typing import Any

from robot_identification.report.formatting import printable
from robot_identification.report.json_file import json_text


def print_json(content: Any) -> None:
    """Print one machine-readable object; what is not finite becomes null."""
    print(json_text(content), end='')


def say(text: str) -> None:
    """Tell the user how things go, on stderr; names in it cannot steer the terminal."""
    shown = '\n'.join(printable(line) for line in text.split('\n'))
    print(shown, file=sys.stderr, flush=True)


def warn(text: str) -> None:
    """Warn the user, on stderr."""
    say(f'warning: {text}')


def progress_line(text: str) -> None:
    """Show progress in one line of a terminal, or nothing where stderr is a file."""
    if sys.stderr.isatty():
        print(f'\r\033[K{text}', end='', file=sys.stderr, flush=True)


def end_progress_line() -> None:
    """End the line that `progress_line` wrote."""
    if sys.stderr.isatty():
        print('\r\033[K', end='', file=sys.stderr, flush=True)

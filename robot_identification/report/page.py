# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""HTML pages from the templates beside this module, and the head of those of studies."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from functools import cache
import hashlib
from pathlib import Path
import re
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import escape, Markup
from robot_identification import __version__
from robot_identification.report import formatting

_TEMPLATES = Path(__file__).resolve().parent / 'templates'
LEVELS = ('good', 'usable', 'bad', 'plain')


@dataclass(frozen=True)
class Meaning:
    """
    Summary for a reader in a hurry.

    `label` is the finding in a word or two, `level` its colour: 'good', 'usable', 'bad', or
    'plain' for a finding that is neither good nor bad. `sentences` explain it, the most important
    one first; `next_step` is a sentence without its full stop. Raises ValueError if the level is
    unknown.
    """

    label: str
    level: str
    sentences: tuple[str, ...]
    next_step: str

    def __post_init__(self) -> None:
        if self.level not in LEVELS:
            raise ValueError(f'level {self.level!r} is none of {", ".join(LEVELS)}')


def render_page(template: str, **content: Any) -> str:
    """
    Return a page from a template's file name; every text in `content` is escaped.

    A name that the template uses and `content` does not have is an error.
    """
    script = (_TEMPLATES / 'page.js').read_text(encoding='utf-8')
    digest = hashlib.sha256(script.encode()).digest()
    return _environment().get_template(template).render(
        version=__version__, script=Markup(script),
        # No other script runs in the page.
        script_hash=base64.b64encode(digest).decode('ascii'), **content,
    )


@cache
def _environment() -> Environment:
    """Return the environment of all pages; a template is compiled once in a process."""
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        number=formatting.number,
        fixed=formatting.fixed,
        percent=formatting.percent,
        effort_unit=formatting.effort_unit_text,
        effort=formatting.effort_text, sliding=formatting.sliding_text,
        sentence=lambda text: text[:1].upper() + text[1:],
        unit=lambda text: text.replace('^2', '²'),
        typed=_typed,
        lines=lambda text: Markup('<br>').join(text.split('\n')),
    )
    return environment


def _typed(text: str) -> Markup:
    """Return an escaped text in which what stands between backticks looks as it is typed."""
    return Markup(re.sub(r'`([^`]*)`', r'<code>\1</code>', str(escape(text))))

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

"""HTML pages from the templates beside this module."""

from __future__ import annotations

from pathlib import Path
import re
from typing import Any

from jinja2 import Environment
from jinja2 import FileSystemLoader
from jinja2 import StrictUndefined
from markupsafe import escape
from markupsafe import Markup
from robot_identification import __version__
from robot_identification.report import formatting

_TEMPLATES = Path(__file__).resolve().parent / 'templates'


def render_page(template: str, **content: Any) -> str:
    """
    Return a page; every text in `content` is escaped.

    Parameters
    ----------
    template : str
        File name of the template.
    **content
        What the template asks for; a missing name is an error.

    """
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
        sentence=lambda text: text[:1].upper() + text[1:],
        unit=lambda text: text.replace('^2', '²'),
        typed=_typed,
    )
    return environment.get_template(template).render(version=__version__, **content)


def _typed(text: str) -> Markup:
    """Return an escaped text in which what stands between backticks looks as it is typed."""
    return Markup(re.sub(r'`([^`]*)`', r'<code>\1</code>', str(escape(text))))

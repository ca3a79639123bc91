# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Links between pages of the site and files beside it.

On GitHub a link leads to a file of the repository. README, CONTRIBUTING and some others are pages
of the site, too, by stubs in docs/project that include them: links to them lead there.
The README of a folder is the page above all others in it.
"""

from os.path import relpath
from pathlib import Path
import re

from sphinx.application import Sphinx

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / 'docs'
PAGES = {
    ROOT / 'README.md': DOCS / 'project' / 'readme.md',
    ROOT / 'CONTRIBUTING.md': DOCS / 'project' / 'contributing.md',
    ROOT / 'SECURITY.md': DOCS / 'project' / 'security_policy.md',
    ROOT / 'QUALITY_DECLARATION.md': DOCS / 'project' / 'quality_declaration.md',
    ROOT / 'CHANGELOG.rst': DOCS / 'project' / 'changelog.rst',
}
LINK = re.compile(r'(\]\()(?!\w+:)([^)\s#]+)([^)\s]*\))')
SIBLINGS = """

```{toctree}
:hidden:
:glob:

*
```
"""
FENCE = re.compile(r'^(```.*?^```$)', re.M | re.S)


def site_links(text: str, written_in: Path, shown_in: Path) -> str:
    """
    Return Markdown with links as the page that shows it needs them.

    Parameters
    ----------
    text : str
        Markdown.
    written_in : Path
        Folder that its links start from.
    shown_in : Path
        Folder of the page that shows it.

    """
    def lead(match: re.Match[str]) -> str:
        before, target, after = match.groups()
        path = (written_in / target).resolve()
        return f'{before}{relpath(PAGES.get(path, path), shown_in)}{after}'

    parts = FENCE.split(text)
    # What the pattern's group has caught stands at odd places: code, which is left alone.
    parts[::2] = [LINK.sub(lead, part) for part in parts[::2]]
    return ''.join(parts)


def on_page(app: Sphinx, name: str, content: list[str]) -> None:
    """Turn the links of a page, and list the others of its folder below its README."""
    folder = (DOCS / name).parent
    content[0] = site_links(content[0], folder, folder)
    if name.endswith('/README') and len(list(folder.glob('*.md'))) > 1:
        content[0] += SIBLINGS


def on_included(app: Sphinx, path: Path, page: str, content: list[str]) -> None:
    """Turn the links of a Markdown file that a page includes."""
    file = (app.srcdir / path).resolve()
    if file.suffix == '.md':
        # What MyST gives as the page is its name without folder.
        folder = (DOCS / app.env.current_document.docname).parent
        content[0] = site_links(content[0], file.parent, folder)


def setup(app: Sphinx) -> dict[str, object]:
    """Follow what is read."""
    app.connect('source-read', on_page)
    app.connect('include-read', on_included)
    return {'parallel_read_safe': True, 'parallel_write_safe': True}

# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The command line as Markdown, from its own parsers, where commands.md asks for it."""

import argparse
from collections.abc import Iterator
import re

from robot_identification.cli.main import make_parser
from sphinx.application import Sphinx

PAGE = 'commands'
COMMANDS_HERE = '<!-- the commands -->'
SHARED_HERE = '<!-- the shared options -->'
# Groups that argparse makes by itself; others have a name of their own.
PLAIN_GROUPS = ('positional arguments', 'options')
DOCUMENT = re.compile(r'(?<![\w/])docs/([\w/]+\.md)')


def command_parsers() -> dict[str, tuple[str, argparse.ArgumentParser]]:
    """Return summary and parser of each command by its name, in the order of --help."""
    parser = make_parser()
    (commands,) = [
        action for action in parser._actions if isinstance(action, argparse._SubParsersAction)
    ]
    summaries = {choice.dest: choice.help for choice in commands._choices_actions}
    return {name: (summaries[name], made) for name, made in commands.choices.items()}


def commands_markdown() -> str:
    """Return a section for each command."""
    shared = shared_groups()
    return '\n'.join(
        line for name, (_, parser) in command_parsers().items()
        for line in command_lines(name, parser, shared)
    )


def shared_markdown() -> str:
    """Return the options of the groups that several commands have in the same words."""
    return '\n'.join(line for lines in shared_groups().values() for line in lines)


def command_lines(
    name: str, parser: argparse.ArgumentParser, shared: dict[str, list[str]]
) -> Iterator[str]:
    """Yield the lines of a command's section."""
    yield from (f'## {name}', '', prose(parser.description or ''), '')
    _, _, example = (parser.epilog or '').partition('example:')
    yield from ('```console', *(f'$ {line.strip()}' for line in lines_of(example)), '```', '')
    for group in parser._action_groups:
        lines = option_lines(group)
        if not lines:
            continue
        title = group.title or ''
        if title in PLAIN_GROUPS:
            yield from lines
        elif title in shared:
            yield from (f'And the [options of the {title}](#options-of-the-{title}).', '')
        else:
            yield from (f'**{title[0].upper()}{title[1:]}.**', '', *lines)


def lines_of(example: str) -> list[str]:
    """Return the lines of an example; those that end in a backslash stay together."""
    return [line for line in example.replace('\\\n', '').splitlines() if line.strip()]


def option_lines(group: argparse._ArgumentGroup) -> list[str]:
    """Return a definition list of a group's options and arguments."""
    lines = []
    for action in group._group_actions:
        if action.help != argparse.SUPPRESS and not isinstance(action, argparse._HelpAction):
            lines += [option_term(action), f': {option_text(action)}', '']
    return lines


def option_term(action: argparse.Action) -> str:
    """Return how an option or argument is written."""
    value = argparse.HelpFormatter('')._format_args(
        action, action.dest.upper() if action.option_strings else action.dest
    )
    if action.choices is not None:
        # They stand in the text, as a term must fit on a line.
        value = value.replace('{' + ','.join(map(str, action.choices)) + '}', 'NAME')
    if not action.option_strings:
        return f'`{value}`'
    return ', '.join(f'`{option} {value}`' if value else f'`{option}`'
                     for option in action.option_strings)


def option_text(action: argparse.Action) -> str:
    """Return what an option means, what it takes, and whether it must be given."""
    text = (action.help or '') % {**vars(action), 'prog': 'robot-identification'}
    text = prose(text)
    if action.choices is not None:
        text += f' (NAME: {", ".join(f"`{choice}`" for choice in action.choices)})'
    return text + (' (required)' if action.required and action.option_strings else '')


def prose(text: str) -> str:
    """Return a text of --help as Markdown: pages it names become links, nothing else changes."""
    # What stands in backticks is code already.
    parts = text.split('`')
    parts[::2] = [
        DOCUMENT.sub(r'[\1](\1)', re.sub(r'([*<>\[\]|])', r'\\\1', part)) for part in parts[::2]
    ]
    return '`'.join(parts)


def shared_groups() -> dict[str, list[str]]:
    """Return the lines of groups with a title that every command that has one has alike."""
    found: dict[str, list[list[str]]] = {}
    for _, parser in command_parsers().values():
        for group in parser._action_groups:
            if group.title and group.title not in PLAIN_GROUPS:
                found.setdefault(group.title, []).append(option_lines(group))
    return {
        title: alike[0] for title, alike in found.items()
        if len(alike) > 1 and all(lines == alike[0] for lines in alike)
    }


def on_page(app: Sphinx, name: str, content: list[str]) -> None:
    """Put the commands into their page."""
    if name == PAGE:
        content[0] = content[0].replace(COMMANDS_HERE, commands_markdown())
        content[0] = content[0].replace(SHARED_HERE, shared_markdown())


def setup(app: Sphinx) -> dict[str, object]:
    """Follow what is read."""
    app.connect('source-read', on_page)
    return {'parallel_read_safe': True, 'parallel_write_safe': True}

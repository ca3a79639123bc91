# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Metadata of a bag: metadata.yaml, and the copy of it inside the files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from robot_identification.recording.raw_bag import Damage
import yaml

MAXIMUM_METADATA_BYTES = 5_000_000  # chosen: thousands of topics fit
# A topic has some 60 events of the YAML parser; the C library recurses at each level.
MOST_EVENTS = 500_000
DEEPEST_LEVEL = 50  # rosbag2's has fewer than ten
METADATA_FILE = 'metadata.yaml'
_ROOT = 'rosbag2_bagfile_information'
# Every scalar as the text that is written: `simulated: true` is no boolean of another spelling.
_LOADER: Any = getattr(yaml, 'CBaseLoader', yaml.BaseLoader)


@dataclass(frozen=True)
class BagMetadata:
    """The parts of metadata.yaml that are used."""

    files: tuple[str, ...] = ()  # Names of the files in their order
    storage: str = ''  # 'mcap' or 'sqlite3'
    duration: float | None = None  # Between the first and the last message [s]
    counts: Mapping[str, int] = field(default_factory=dict)  # Messages by topic
    custom_data: Mapping[str, str] = field(default_factory=dict)  # Notes of the operator


def read_metadata(path: Path) -> BagMetadata:
    """Return the contents of a metadata.yaml; raises Damage if it cannot be read."""
    try:
        if path.stat().st_size > MAXIMUM_METADATA_BYTES:
            raise Damage(f'{path.name} has more than {MAXIMUM_METADATA_BYTES} bytes')
        text = path.read_text(encoding='utf-8')
    except (OSError, UnicodeDecodeError) as error:
        raise Damage(f'{path.name} cannot be read: {error}') from error
    information = _information(text, path.name)
    try:
        return BagMetadata(
            files=tuple(Path(_text(name)).name for name in information['relative_file_paths']),
            storage=_text(information['storage_identifier']),
            duration=1e-9 * int(information['duration']['nanoseconds']),
            counts={
                _text(entry['topic_metadata']['name']): int(entry['message_count'])
                for entry in information['topics_with_message_count']
            },
            custom_data=_custom_data(information),
        )
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise Damage(f'{path.name} is damaged: {error!r:.80}') from error


def custom_data(text: str) -> dict[str, str]:
    """Return the custom data of a copy of metadata.yaml, nothing where it is damaged."""
    try:
        return _custom_data(_information(text, 'its metadata'))
    except Damage:
        return {}


def _text(value: Any) -> str:
    """Return a word as it is; a list, of which aliases can make a huge one, is none."""
    if not isinstance(value, str):
        raise TypeError(f'a word is needed, found {type(value).__name__}')
    return value


def _check_size(text: str, source: str) -> None:
    """Refuse what would take the parser long, or end the process, before it is built."""
    if len(text) > MAXIMUM_METADATA_BYTES:
        raise Damage(f'{source} has more than {MAXIMUM_METADATA_BYTES} characters')
    depth = 0
    for count, event in enumerate(yaml.parse(text, Loader=_LOADER)):
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        if depth > DEEPEST_LEVEL or count > MOST_EVENTS:
            raise Damage(
                f'{source} has more than {DEEPEST_LEVEL} levels or {MOST_EVENTS} entries'
            )


def _information(text: str, source: str) -> Mapping[str, Any]:
    try:
        _check_size(text, source)
        content = yaml.load(text, Loader=_LOADER)
    except (yaml.YAMLError, ValueError, RecursionError, TypeError) as error:
        raise Damage(f'{source} is damaged: {error!r:.80}') from error
    # Inside files the mapping comes without its title.
    information = content.get(_ROOT, content) if isinstance(content, dict) else None
    if not isinstance(information, dict):
        raise Damage(f'{source} is damaged: it holds no {_ROOT}')
    return information


def _custom_data(information: Mapping[str, Any]) -> dict[str, str]:
    found = information.get('custom_data')
    if not isinstance(found, dict):
        return {}
    return {str(key): value for key, value in found.items() if isinstance(value, str)}

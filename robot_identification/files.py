# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Files that people write and keep: strict YAML and JSON in, atomic files out.

Everything read here may come from an untrusted source, so YAML aliases, duplicate keys and
oversized files are refused before anything is built from them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, ExitStack, suppress
from dataclasses import dataclass
import fcntl
import hashlib
import json
import math
import os
from pathlib import Path
import re
import secrets
import shutil
import signal
import threading
import time
from typing import Any, TypeGuard

from robot_identification.errors import DescriptionError, UsageError
from robot_identification.texts import suggestion
import yaml

# Python's integers have no end; NumPy calculates with those of 64 bits.
LARGEST_INTEGER = 2**63 - 1
# No format of ours has more than ten.
DEEPEST_LEVEL = 40


# What a user of the command line can do where a result is there already.
BY_COMMAND = 'add --force to overwrite it'
# Largest text files [bytes]; chosen: far above any description, far below memory.
HAND_WRITTEN, MACHINE_WRITTEN = 200_000, 20_000_000
# Numbers and words of a YAML are counted by what stands between them; the last two nest without a
# comma.
_SEPARATORS = (',', '\n', ': ', '- ', '? ', '[', '{')


class _StrictLoader(yaml.composer.Composer, yaml.CSafeLoader):
    """
    YAML 1.2 numbers, no aliases, no duplicate keys, no deep nesting.

    Text becomes events in libyaml, five times as fast as in Python; nodes are composed here.
    """

    _depth = 0

    def __init__(self, stream: str) -> None:
        yaml.CSafeLoader.__init__(self, stream)
        yaml.composer.Composer.__init__(self)

    def compose_node(self, parent: Any, index: Any) -> Any:
        event: Any = self.peek_event()
        if self.check_event(yaml.events.AliasEvent):
            raise yaml.constructor.ConstructorError(
                None, None, 'aliases are not allowed here', event.start_mark
            )
        if self._depth >= DEEPEST_LEVEL:
            raise yaml.constructor.ConstructorError(
                None, None, f'more than {DEEPEST_LEVEL} levels are nested here',
                event.start_mark,
            )
        self._depth += 1
        try:
            return super().compose_node(parent, index)
        finally:
            self._depth -= 1

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        keys: set[Any] = set()
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            if not isinstance(key, (str, int, float, bool)):
                raise yaml.constructor.ConstructorError(
                    None, None, 'a key must be a plain word', key_node.start_mark
                )
            if key in keys:
                raise yaml.constructor.ConstructorError(
                    None, None, f'key {key!r} is given twice', key_node.start_mark
                )
            keys.add(key)
        return super().construct_mapping(node, deep)


# PyYAML reads `1e-3` as text, `no` as false and `12:30` as 750; YAML 1.2's rules do not.
_StrictLoader.yaml_implicit_resolvers = {
    first: [
        (tag, pattern)
        for tag, pattern in resolvers
        if tag
        not in (
            'tag:yaml.org,2002:bool',
            'tag:yaml.org,2002:float',
            'tag:yaml.org,2002:int',
            'tag:yaml.org,2002:timestamp',
            'tag:yaml.org,2002:merge',
        )
    ]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_StrictLoader.add_implicit_resolver(
    'tag:yaml.org,2002:bool', re.compile(r'^(?:true|false)$'), list('tf')
)
_StrictLoader.add_implicit_resolver(
    'tag:yaml.org,2002:int', re.compile(r'^[-+]?[0-9]+$'), list('-+0123456789')
)
_FLOAT = (
    'tag:yaml.org,2002:float',
    re.compile(r'^[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?$|^[-+]?\.inf$|^\.nan$'),
    list('-+0123456789.'),
)
_StrictLoader.add_implicit_resolver(*_FLOAT)


def _plain_int(loader: _StrictLoader, node: yaml.ScalarNode) -> int:
    # PyYAML's own would read 010 as eight.
    value = int(node.value)
    if abs(value) > LARGEST_INTEGER:
        raise yaml.constructor.ConstructorError(
            None, None, f'the integer {node.value:.20}.. is beyond {LARGEST_INTEGER}, the largest '
            'of 64 bits', node.start_mark,
        )
    return value


_StrictLoader.add_constructor('tag:yaml.org,2002:int', _plain_int)


# What functions of the front door take for a file or folder.
AnyPath = str | os.PathLike[str]


def is_there(path: Path) -> bool:
    """Return whether there is something at a path; a name too long for a file is that of none."""
    try:
        return path.exists()
    except OSError:
        return False


def read_text(path: Path, largest: int = MACHINE_WRITTEN) -> str:
    """
    Return the text of a regular UTF-8 file.

    Raises UsageError if there is no such file, DescriptionError if it is not a regular file, has
    more than `largest` bytes or is not UTF-8.
    """
    if not is_there(path):
        raise UsageError(f'no such file: {path}')
    if path.is_dir():
        raise DescriptionError(f'{path} is a folder: name a file')
    if not path.is_file():
        raise DescriptionError(f'{path} is not a regular file')
    size = path.stat().st_size
    if size > largest:
        raise DescriptionError(
            f'{path} has {size} bytes, more than the {largest} allowed for such a file'
        )
    try:
        return path.read_text(encoding='utf-8')
    except UnicodeDecodeError as error:
        raise DescriptionError(f'{path} is not UTF-8 text: {error}') from error


def read_yaml(path: Path, largest: int = MACHINE_WRITTEN) -> dict[str, Any]:
    """
    Return the mapping in a YAML file of at most `largest` bytes.

    Raises UsageError if there is no such file, DescriptionError if the text is too long, not YAML,
    not a mapping, or uses aliases or duplicate keys.
    """
    return parse_yaml(read_text(path, largest), str(path), largest)


def parse_yaml(text: str, source: str, largest: int = MACHINE_WRITTEN) -> dict[str, Any]:
    """
    Return the mapping in a YAML text; `source` names it in errors.

    Raises DescriptionError if the text has more values than fit `largest` bytes with ten for each,
    is not YAML, not a mapping, or uses aliases or duplicate keys.
    """
    # Reading takes a millisecond for each hundred: a file is judged before it is parsed.
    count = sum(text.count(separator) for separator in _SEPARATORS)
    if count > largest // 10:
        raise DescriptionError(
            f'{source} has about {count} values, more than the {largest // 10} allowed for such a '
            'file'
        )
    try:
        content = yaml.load(text, Loader=_StrictLoader)
    # Explicit tags on values they do not fit make PyYAML stumble in ways of its own.
    except (
        yaml.YAMLError, ValueError, RecursionError, KeyError, AttributeError, TypeError,
        OverflowError,
    ) as error:
        raise DescriptionError(f'{source} is not valid YAML: {error}') from error
    if content is None:
        raise DescriptionError(f'{source} is empty, it must hold a mapping (key: value)')
    if not isinstance(content, dict):
        raise DescriptionError(f'{source} must hold a mapping (key: value), found {content!r:.60}')
    return content


def dump_yaml(content: Mapping[str, Any]) -> str:
    """Return a YAML text with the keys in the order given and lists of numbers on one line."""
    return str(
        yaml.dump(
            dict(content), Dumper=_Dumper, sort_keys=False, default_flow_style=None, width=100
        )
    )


class _Dumper(yaml.CSafeDumper):
    """Long texts in block style; numbers that read back to the same bits."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _represent_text(dumper: _Dumper, text: str) -> yaml.Node:
    style = '|' if '\n' in text else None
    return dumper.represent_scalar('tag:yaml.org,2002:str', text, style=style)


def _represent_float(dumper: _Dumper, value: float) -> yaml.Node:
    text = {float('inf'): '.inf', float('-inf'): '-.inf'}.get(value, repr(value))
    return dumper.represent_scalar('tag:yaml.org,2002:float', '.nan' if value != value else text)


# A text that reads as such a number, such as the serial number 12E3, is quoted.
_Dumper.add_implicit_resolver(*_FLOAT)
_Dumper.add_representer(str, _represent_text)
_Dumper.add_representer(float, _represent_float)


def check_keys(
    content: Mapping[str, Any], source: str, required: set[str], optional: set[str]
) -> None:
    """Raise DescriptionError if a required key is missing or an unknown key is present."""
    missing = sorted(required - set(content))
    unknown = sorted(str(key) for key in set(content) - required - optional)
    found = [f'missing {", ".join(missing)}'] if missing else []
    if unknown:
        known = sorted(required | optional)
        near = suggestion(unknown[0], known)
        found += [
            f'unknown key {", ".join(unknown)}', *([near] if near else []),
            f'known are {", ".join(known)}',
        ]
    if found:
        raise DescriptionError(f'{source}: {"; ".join(found)}')


def is_number(value: Any) -> TypeGuard[float]:
    """Return whether a value of a file is a number; true and false are none."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def is_whole_number(value: Any) -> TypeGuard[int]:
    """Return whether a value of a file is an integer; true and false are none."""
    return isinstance(value, int) and not isinstance(value, bool)


def to_number(value: Any, what: str) -> float:
    """Return a value of a file as a finite number; raise DescriptionError if it is none."""
    if not is_number(value) or not math.isfinite(value):
        raise DescriptionError(f'{what} is {value!r:.60}, a finite number is needed')
    return float(value)


def to_mapping(value: Any, what: str) -> Mapping[str, Any]:
    """Return a value of a file that is a mapping; raise DescriptionError if it is none."""
    if not isinstance(value, Mapping):
        raise DescriptionError(f'{what} is {value!r:.60}, it must be a mapping (key: value)')
    return value


def to_list(value: Any, what: str) -> list[Any]:
    """Return a value of a file that is a list; raise DescriptionError if it is none."""
    if not isinstance(value, list):
        raise DescriptionError(f'{what} is {value!r:.60}, a list is needed')
    return value


def to_numbers(values: Any, count: int, what: str) -> list[float]:
    """Return a list of so many finite numbers of a file; raise DescriptionError if it is none."""
    if not isinstance(values, list) or len(values) != count:
        raise DescriptionError(f'{what} must be a list of {count} numbers, got {values!r:.60}')
    return [to_number(value, what) for value in values]


def to_switch(value: Any, what: str) -> bool:
    """Return a value of a file that is true or false; raise DescriptionError if it is neither."""
    if not isinstance(value, bool):
        raise DescriptionError(f'{what} is {value!r:.60}, it must be true or false')
    return value


def check_schema_version(content: Mapping[str, Any], source: str, version: int) -> None:
    """Raise DescriptionError if the `schema_version` of a file is absent or not `version`."""
    found = content.get('schema_version')
    if found is None:
        raise DescriptionError(
            f'{source}: schema_version is missing: add the line `schema_version: {version}`; the '
            'other keys are in docs/formats'
        )
    if found != version:
        raise DescriptionError(
            f'{source}: schema_version is {found!r}, this version of robot_identification reads '
            f'{version}: write the file again with the version that made it, or see docs/formats'
        )


def canonical_sha256(content: Any) -> str:
    """Return the SHA-256 of content in canonical JSON (sorted keys, no spaces, exact numbers)."""
    text = json.dumps(content, sort_keys=True, separators=(',', ':'), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def file_sha256(path: Path) -> str:
    """
    Return the SHA-256 of a file, or of a folder's files in the order of their names.

    Of what is in folders of a folder, that in `data` counts: the numbers of a dataset, not videos.
    """
    digest = hashlib.sha256()
    files = [*sorted(path.iterdir()), *sorted((path / 'data').rglob('*'))] if path.is_dir() else [
        path
    ]
    for file in files:
        if file.is_file():
            with file.open('rb') as stream:
                for chunk in iter(lambda: stream.read(1 << 20), b''):
                    digest.update(chunk)
    return digest.hexdigest()


def check_writable(path: Path, force: bool, remedy: str = BY_COMMAND) -> None:
    """
    Check that a result may be written at `path`, before any work is done for it.

    Raises UsageError if `path` is a folder, a file exists there and `force` is not set (with the
    `remedy`), or its folder cannot be made or written into.
    """
    if path.is_dir():
        raise UsageError(f'{path} is a folder, and a file is to be written there: name another')
    if is_there(path) and not force:
        raise UsageError(f'{path} exists already: {remedy}, or name another')
    folder = next(one for one in path.absolute().parents if is_there(one))
    if not folder.is_dir():
        raise UsageError(
            f'{folder} is a file, and {path} needs a folder there: name another output'
        )
    if not os.access(folder, os.W_OK | os.X_OK):
        raise UsageError(f'{path} cannot be written: {folder} permits no new files: name another')


def write_atomically(path: Path, content: str | bytes) -> None:
    """Write a file so that a reader sees the old content or the new one, never a part."""
    with _staged(path, content) as temporary:
        temporary.replace(path)


@contextmanager
def _staged(path: Path, content: str | bytes) -> Iterator[Path]:
    """Write the content to a temporary file next to `path`, safely on the disk, to be moved."""
    with new_beside(path) as temporary:
        with temporary.open('wb') as stream:
            stream.write(content.encode() if isinstance(content, str) else content)
            stream.flush()
            os.fsync(stream.fileno())
        yield temporary


@contextmanager
def new_beside(path: Path, *, is_folder: bool = False) -> Iterator[Path]:
    """
    Make an empty file or folder next to `path`, which is removed at the end unless it was moved.

    Those for the same `path` whose writers were killed are removed first: a lock that the system
    takes off a dead process says so, on any machine that shares the disk.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    _remove_abandoned(path)
    made = path.with_name(f'.{path.name}.{os.getpid()}.{secrets.token_hex(4)}')
    if is_folder:
        made.mkdir()
    else:
        made.touch(exist_ok=False)
    lock = os.open(made, os.O_RDONLY)
    try:
        # A file system may have no locks: nothing is removed there.
        with suppress(OSError):
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield made
    finally:
        _remove(made)
        os.close(lock)


def _remove_abandoned(path: Path) -> None:
    """Remove what writers of a path left that have no lock, and had a minute to take it."""
    names = re.compile(rf'\.{re.escape(path.name)}\.[0-9]+\.[0-9a-f]{{8}}')
    found: list[Path] = []
    # A folder may be written into and not be listed.
    with suppress(PermissionError):
        found = [entry for entry in path.parent.iterdir() if names.fullmatch(entry.name)]
    for entry in found:
        # It is gone, or its writer has the lock.
        with suppress(OSError), ExitStack() as stack:
            if time.time() - entry.stat().st_mtime > 60.0:
                lock = os.open(entry, os.O_RDONLY | os.O_NOFOLLOW)
                stack.callback(os.close, lock)
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                _remove(entry)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def write_results(
    directory: Path, contents: Mapping[str, str | bytes], force: bool, remedy: str = BY_COMMAND
) -> None:
    """
    Write the files of one result, all of them or none.

    Raises UsageError with the `remedy` if one of them exists already and `force` is not set.
    """
    write_files({directory / name: content for name, content in contents.items()}, force, remedy)


def file_name(text: str) -> str:
    """
    Return a text, such as the name of an arm or joint, as the name of a file in one folder.

    Names of descriptions are foreign: signs that separate folders, and dots in front, would lead
    elsewhere.
    """
    return re.sub(r'[^\w.-]', '_', text).lstrip('.') or 'unnamed'


@dataclass(frozen=True)
class ResultFolder:
    """
    Folder that results are written into.

    `force` overwrites those that are there, and `remedy` is what a caller without it can do;
    reports state the `command_line` that made them.
    """

    path: Path
    force: bool = False
    command_line: str = ''
    remedy: str = 'set force=True to overwrite it'

    def check(self, names: Iterable[str]) -> None:
        """Check that files of these names may be written; see `check_writable`."""
        for name in names:
            check_writable(self.path / name, self.force, self.remedy)

    def write(self, contents: Mapping[str, str | bytes]) -> None:
        """Write the files of one result, all of them or none; see `write_results`."""
        write_results(self.path, contents, self.force, self.remedy)


def write_files(
    contents: Mapping[Path, str | bytes], force: bool, remedy: str = BY_COMMAND
) -> None:
    """
    Write files in any folders, all of them or none, even if interrupted.

    Raises UsageError with the `remedy` if one of them exists already and `force` is not set.
    """
    for path in contents:
        check_writable(path, force, remedy)
    with ExitStack() as stack:
        staged = {
            path: stack.enter_context(_staged(path, content)) for path, content in contents.items()
        }
        # Everything is on the disk: what is left cannot run out of space half-way.
        with _interrupts_deferred():
            for path, temporary in staged.items():
                temporary.replace(path)


@contextmanager
def _interrupts_deferred() -> Iterator[None]:
    """Defer Ctrl-C to the end of the block; only the main thread is interrupted by it."""
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield
        return
    received: list[tuple[Any, Any]] = []
    signal.signal(signal.SIGINT, lambda number, frame: received.append((number, frame)))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if received:
            before(*received[0])


def to_finite(value: Any) -> Any:
    """Return a value as `to_plain` does, with None for each number that is not finite."""
    plain = to_plain(value)
    if isinstance(plain, dict):
        return {key: to_finite(item) for key, item in plain.items()}
    if isinstance(plain, list):
        return [to_finite(item) for item in plain]
    return None if isinstance(plain, float) and not math.isfinite(plain) else plain


def to_plain(value: Any) -> Any:
    """Return NumPy arrays and numbers, tuples and mappings as plain Python ones for YAML, JSON."""
    if isinstance(value, Mapping):
        return {str(key): to_plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [to_plain(item) for item in value]
    if hasattr(value, 'tolist'):
        return to_plain(value.tolist())
    if isinstance(value, Path):
        return str(value)
    return value

# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Bags on the disk: a folder with metadata.yaml or without, split or not, or a single file.

What a file is, its first bytes say: neither its name nor metadata.yaml is needed for that.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, ExitStack
from pathlib import Path
import re
import tempfile

from robot_identification.arrays import folder as storage_folder
from robot_identification.errors import BagError, UsageError
from robot_identification.files import file_sha256
from robot_identification.recording.mcap_file import MAGIC as MCAP_MAGIC
from robot_identification.recording.mcap_file import McapFile
from robot_identification.recording.other_files import describe_other, is_pointer, POINTER
from robot_identification.recording.raw_bag import (
    BagMetadata, Damage, METADATA_FILE, RawBlock, read_metadata, Topic, unpack_stream, ZSTD_MAGIC,
)
from robot_identification.recording.recording import Recording
from robot_identification.recording.sqlite_file import MAGIC as SQLITE_MAGIC
from robot_identification.recording.sqlite_file import SqliteFile

SUFFIXES = ('.mcap', '.db3', '.mcap.zstd', '.db3.zstd')

ROS_1_MAGIC = b'#ROSBAG V2.0'

BagFile = McapFile | SqliteFile


class _UnknownStart(Damage):
    """The first bytes of a file are not those of a bag."""


@contextmanager
def open_bag(path: Path) -> Iterator[BagFiles]:
    """Open a bag; raise UsageError if there is none, BagError if nothing in it can be read."""
    with ExitStack() as stack:
        try:
            files = BagFiles(path, stack)
        except OSError as error:
            raise BagError(f'{path} cannot be read: {error.strerror}') from error
        yield files


class BagFiles:
    """The files of a folder in natural order, or a single one."""

    def __init__(self, path: Path, stack: ExitStack) -> None:
        if not path.exists():
            raise UsageError(f'no such bag: {path}')
        self.path = path
        self._problems: list[str] = []
        self._metadata = self._read_metadata()
        self._paths = self._find_files()
        self._files: list[BagFile] = []
        # What is wrong with the first file that cannot be opened.
        self._damage: Damage | None = None
        for file in self._paths:
            try:
                self._files.append(_open_file(file, stack))
            except Damage as damage:
                self._damage = damage
                break
        if not self._files:
            if isinstance(self._damage, _UnknownStart) and path.is_file():
                if other := describe_other(path):
                    raise BagError(other)
            raise BagError(
                f'{path} cannot be read as a rosbag2 bag: {self._describe(0, self._damage)}'
            )
        self.topics: dict[str, Topic] = {}  # What is in all files together
        for opened in self._files:
            for name, topic in opened.topics.items():
                known = self.topics.get(name, Topic(topic.kind, 0))
                self.topics[name] = Topic(known.kind, known.count + topic.count)
        self._check_storage()

    @property
    def metadata(self) -> dict[str, str]:
        """Return what the recorder noted; metadata.yaml wins over the copies in the files."""
        found: dict[str, str] = {}
        for opened in self._files:
            found |= opened.custom_data
        return found | dict(self._metadata.custom_data if self._metadata else {})

    @property
    def expected(self) -> float | None:
        """Return how long it is by metadata.yaml or by the statistics of every file [s]."""
        if self._metadata is not None:
            return self._metadata.duration
        spans = [span for opened in self._files if (span := opened.span) is not None]
        if len(spans) < len(self._paths):
            return None
        return 1e-9 * (max(end for _, end in spans) - min(start for start, _ in spans))

    def blocks(self, topics: Collection[str]) -> Iterator[RawBlock]:
        """Yield the messages of some topics, in their order; Damage behind the last good block."""
        counts = Counter(dict.fromkeys(topics, 0))
        number, damage = len(self._files), self._damage
        for index, opened in enumerate(self._files):
            wanted = {topic: RawBlock(topic) for topic in topics}
            found: Counter[str] = Counter()
            try:
                for topic, log_time, payload in opened.messages(topics):
                    found[topic] += 1
                    if wanted[topic].add(log_time, payload):
                        yield wanted[topic].take()
                _check_counts(opened, topics, found)
            except Damage as caught:
                number, damage = index, caught
            yield from (block for block in wanted.values() if len(block))
            counts.update(found)
            if number == index:
                break
        problems = list(self._problems)
        if damage is not None:
            problems.append(self._describe(number, damage))
        elif self._metadata is not None:
            expected = self._metadata.counts
            problems += [
                f'{METADATA_FILE} counts {expected.get(topic, 0)} messages on {topic}, and there '
                f'are {count}'
                for topic, count in counts.items() if count != expected.get(topic, 0)
            ]
        if problems:
            raise Damage('; '.join(problems))

    def _describe(self, number: int, damage: Damage | None) -> str:
        """Return in words what is wrong with one of the files, and what that means for others."""
        file, left = self._paths[number], len(self._paths) - number - 1
        name = f'{file.name}: ' if file != self.path else ''
        after = f'; not read after it: {left} more, name them by themselves' if left else ''
        return f'{name}{damage}{after}'

    def _read_metadata(self) -> BagMetadata | None:
        if not (self.path.is_dir() and (self.path / METADATA_FILE).is_file()):
            return None
        try:
            return read_metadata(self.path / METADATA_FILE)
        except Damage as damage:
            self._problems.append(str(damage))
            return None

    def _find_files(self) -> list[Path]:
        """Return the files that metadata.yaml names, else all that are there in natural order."""
        path = self.path
        if not path.is_dir():
            if not path.is_file():
                raise BagError(f'{path} is neither a folder nor a regular file: name a bag')
            return [path]
        present = sorted(
            (file for file in path.iterdir()
             if file.name.endswith(SUFFIXES) and not file.name.startswith('.')),
            key=_natural_order,
        )
        irregular = [file for file in present if not file.is_file()]
        if irregular:
            raise BagError(f'{irregular[0]} is not a regular file: move it away')
        if not present:
            raise BagError(
                f'{path} is not a rosbag2 bag: no {METADATA_FILE} and no file ending in '
                f'{", ".join(SUFFIXES)} in it'
            )
        if self._metadata is None:
            if not self._problems:
                self._problems.append(f'no {METADATA_FILE}, which a recorder writes when it ends')
            return present
        listed = [path / name for name in self._metadata.files]
        missing = [file.name for file in listed if file not in present]
        if not missing and listed:
            return listed
        self._problems.append(
            f'{METADATA_FILE} names {", ".join(missing) or "no file"}, and there is '
            f'{", ".join(file.name for file in present)}'
        )
        return present

    def _check_storage(self) -> None:
        stored = {opened.storage for opened in self._files}
        if self._metadata is not None and stored != {self._metadata.storage}:
            self._problems.append(
                f'{METADATA_FILE} says {self._metadata.storage!r:.40}, and the files are '
                f'{" and ".join(sorted(stored))}'
            )


def _check_counts(file: BagFile, topics: Collection[str], found: Mapping[str, int]) -> None:
    """Raise Damage where a file holds more or fewer messages of a topic than it counts."""
    for topic in topics:
        if topic in file.topics and found[topic] != file.topics[topic].count:
            raise Damage(
                f'its statistics count {file.topics[topic].count} messages on {topic}, and there '
                f'are {found[topic]}'
            )


def data_hashes(source: Path | Recording) -> tuple[str, ...]:
    """
    Return the SHA-256 of each file that holds messages of a bag, sorted.

    Names of files and folders, and what metadata.yaml says of them, make no difference. A folder
    without such a file, and a table, count with all that they are. A recording counts with its
    samples, and with the files that it is from.
    """
    if isinstance(source, Recording):
        path = Path(source.source)
        return tuple(sorted({source.sha256, *(data_hashes(path) if path.exists() else ())}))
    path = source
    if not path.is_dir():
        return (file_sha256(path),)
    files = [file for file in path.iterdir() if file.is_file() and file.name.endswith(SUFFIXES)]
    return tuple(sorted(map(file_sha256, files))) or (file_sha256(path),)


def _natural_order(path: Path) -> list[tuple[int, str]]:
    """Return a key that puts bag_2 before bag_10."""
    return [
        (int(part), '') if part.isdecimal() else (0, part)
        for part in re.split(r'([0-9]+)', path.name)
    ]


def _open_file(path: Path, stack: ExitStack) -> BagFile:
    """Open a file as what it begins as."""
    with path.open('rb') as stream:
        magic = stream.read(len(SQLITE_MAGIC))
    if not magic:
        raise Damage('it is an empty file: the recording was never written')
    if magic.startswith(ZSTD_MAGIC):
        return _open_packed(path, stack)
    if magic == SQLITE_MAGIC:
        return SqliteFile(path, stack)
    if magic.startswith(MCAP_MAGIC):
        return McapFile(path)
    if magic.startswith(ROS_1_MAGIC):
        raise Damage(
            'it is a bag of ROS 1: convert it with `rosbags-convert --src FILE --dst FOLDER`, and '
            'name the folder'
        )
    if is_pointer(path):
        raise Damage(f'it is {POINTER}')
    raise _UnknownStart('it begins neither as an MCAP nor as a sqlite3 file does')


def _open_packed(path: Path, stack: ExitStack) -> BagFile:
    """Open a file that was compressed as a whole."""
    folder = stack.enter_context(tempfile.TemporaryDirectory(dir=storage_folder()))
    unpacked = Path(folder) / path.stem
    with path.open('rb') as source, unpacked.open('wb') as target:
        problem = unpack_stream('zstd', source, target)
    if unpacked.stat().st_size == 0 or (problem and unpacked.suffix == '.zstd'):
        raise Damage(problem or 'it is empty')
    return _open_file(unpacked, stack)

# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Seeded changes of small valid files: of bytes, of text, and of what the text holds."""

import json
from pathlib import Path
import random
import re
import sqlite3
import struct
import tempfile
from xml.etree import ElementTree

import yaml

# What stands for an integer that JSON cannot be asked to write.
_DIGITS = re.compile('"@([0-9]+)"')
# As xacro asks for it.
ElementTree.register_namespace('xacro', 'http://www.ros.org/wiki/xacro')
TEXTS = (
    '', ' ', 'x', 'nan', '-inf', '1e400', '1,5', '0x10', '~', '*', '**/*', '../../../etc/passwd',
    '/dev/zero', '/', '.', '=1+1', 'a' * 100_000, '\x00', '\x1b[2J', 'a\nb: c', '\u202e', '\ud7ff',
    '{joint}', '${1/0}', '%s%n', '2026-01-01', 'one', '[' * 3000,
)
NUMBERS = (
    0, 1, -1, 2, 64, 65, 1000, 10**6, 2**31, -2**31 - 1, 2**63, 2**64, 10**30, 0.0, -0.0, 0.5,
    1e-320, 1e-300, 1e-12, 1e8, 1e16, 1e150, 1e300, -1e300, 1.7e308, float('inf'), float('-inf'),
    float('nan'), '@' + '9' * 299, '@' + '9' * 400, '@' + '9' * 5000,
)
PATTERNS = (
    b'\x00', b'\xff', b'\x7f', b'\x80', b'\x00' * 4, b'\xff' * 4, b'\xff\xff\xff\x7f', b'\x00' * 8,
    b'\xff' * 8, b'\xff' * 7 + b'\x7f', b'\x00' * 7 + b'\x80',
    struct.pack('<d', 1e308), struct.pack('<d', float('nan')), struct.pack('<Q', 2**40),
)


def mutate_bytes(rng, data, others):
    """Return the bytes with some flipped, left out, put in, repeated, or taken from another."""
    data = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 3, 8))):
        size = len(data)
        at, length = rng.randint(0, size), rng.choice((1, 2, 4, 8, 40, 400))
        way = rng.randrange(8)
        if way == 0 and size:
            data[min(at, size - 1)] ^= 1 << rng.randrange(8)
        elif way == 1:
            del data[at:]
        elif way == 2:
            del data[at:at + length]
        elif way == 3:
            data[at:at] = rng.randbytes(length)
        elif way == 4:
            data[at:at] = data[at:at + length] * rng.choice((1, 2, 100))
        elif way in (5, 6):
            pattern = rng.choice(PATTERNS)
            data[at:at + len(pattern)] = pattern
        else:
            other = rng.choice(others)
            data[at:] = other[rng.randint(0, len(other)):]
    return bytes(data)


def mutate_yaml(rng, data, others):
    """Return a YAML with some values, keys or lists of it replaced, moved or left out."""
    if rng.random() < 0.2:
        return mutate_bytes(rng, data, others)
    content = yaml.load(data, Loader=getattr(yaml, 'CSafeLoader', yaml.SafeLoader))
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        _change_node(rng, content)
    return to_yaml(content)


def to_yaml(content):
    """Return JSON, which is YAML and quicker to write, with the numbers that JSON has not."""
    text = json.dumps(content, ensure_ascii=True, default=str)
    text = re.sub(r'(?<![\w"])(-?)Infinity', r'\1.inf', text).replace('NaN', '.nan')
    return _DIGITS.sub(r'\1', text).encode()


def _change_node(rng, content):
    nodes = list(_nodes(content))
    if not nodes:
        content[rng.choice(TEXTS)] = _junk(rng)
        return
    parent, key = rng.choice(nodes)
    way = rng.randrange(8)
    if way == 0:
        del parent[key]
    elif way == 1:
        other, name = rng.choice(nodes)
        # A copy: nothing may hold itself.
        parent[key] = json.loads(json.dumps(other[name], default=str))
    elif way == 2 and isinstance(parent, list):
        parent.extend(parent[key:key + 1] * rng.choice((1, 2, 200)))
    elif way == 2:
        parent[rng.choice(TEXTS)] = parent.pop(key)
    elif way == 3 and isinstance(parent[key], (int, float)):
        parent[key] *= rng.choice((-1, 1e-6, 1e3, 1e12, 1e150, 0.999))
    else:
        parent[key] = _junk(rng)


def _nodes(content):
    """Yield every place of a content, as what holds it and the key."""
    items = content.items() if isinstance(content, dict) else enumerate(content)
    for key, value in list(items):
        yield content, key
        if isinstance(value, (dict, list)):
            yield from _nodes(value)


def _junk(rng):
    """Return something that hardly any format expects."""
    return rng.choice((
        lambda: rng.choice(TEXTS), lambda: rng.choice(NUMBERS), lambda: rng.choice(NUMBERS),
        lambda: rng.choice((None, True, False, [], {}, [[]], {'a': 1}, [None])),
        lambda: [rng.choice(NUMBERS) for _ in range(rng.choice((1, 2, 3, 6, 400)))],
        lambda: _nested(rng.choice((5, 60, 300))),
    ))()


def _nested(depth):
    value = 1.0
    for _ in range(depth):
        value = [value]
    return value


def mutate_xml(rng, data, others):
    """Return an XML with attributes and elements replaced, repeated, moved or left out."""
    if rng.random() < 0.2:
        return mutate_bytes(rng, data, others)
    root = ElementTree.fromstring(data)
    for _ in range(rng.choice((1, 1, 2, 3))):
        parents = [element for element in root.iter() if len(element)]
        named = [element for element in root.iter() if element.attrib]
        way = rng.randrange(7)
        if way < 4 and named:
            element = rng.choice(named)
            key = rng.choice(sorted(element.attrib))
            element.set(key, _attribute(rng, element.get(key)))
        elif way == 4 and named:
            element = rng.choice(named)
            del element.attrib[rng.choice(sorted(element.attrib))]
        elif parents:
            parent = rng.choice(parents)
            child = rng.choice(list(parent))
            if way == 5:
                parent.remove(child)
            else:
                rng.choice([*parents[:1], parent]).append(
                    ElementTree.fromstring(ElementTree.tostring(child))
                )
    return ElementTree.tostring(root)


def _attribute(rng, old):
    if rng.random() < 0.5:
        # The control characters have no place in XML; they come as bytes.
        text = rng.choice(TEXTS)
        return text if text.isprintable() else 'x'
    words = old.split() or ['0']
    words[rng.randrange(len(words))] = str(rng.choice(NUMBERS)).lstrip('@')
    return ' '.join(words)


def mutate_csv(rng, data, others):
    """Return a table with cells, lines and columns replaced, repeated or left out."""
    if rng.random() < 0.2:
        return mutate_bytes(rng, data, others)
    rows = [line.split(',') for line in data.decode().split('\n')]
    for _ in range(rng.choice((1, 1, 2, 5))):
        row = rng.randrange(len(rows))
        column = rng.randrange(len(rows[row]))
        way = rng.randrange(7)
        if way < 4:
            cell = rng.choice((*TEXTS, *NUMBERS))
            rows[row][column] = str(cell).lstrip('@')
        elif way == 4:
            rows.insert(row, list(rng.choice(rows)))
        elif way == 5 and len(rows) > 1:
            del rows[row]
        else:
            cell = str(rng.choice(NUMBERS)).lstrip('@')
            rows[1:] = [[*line[:column], cell, *line[column + 1:]] for line in rows[1:]]
    return '\n'.join(','.join(row) for row in rows).encode(errors='surrogatepass')


def mutate_mcap(rng, data, others):
    """Return an MCAP with bytes changed, or whole records repeated, moved, edited or left out."""
    if rng.random() < 0.4:
        return mutate_bytes(rng, data, others)
    start = 8
    records = []
    while start + 9 <= len(data) - 8:
        length, = struct.unpack_from('<Q', data, start + 1)
        records.append(data[start:start + 9 + length])
        start += 9 + length
    for _ in range(rng.choice((1, 1, 2, 3))):
        place = rng.randrange(len(records))
        way = rng.randrange(4)
        if way == 0:
            records.insert(rng.randrange(len(records)), records[place])
        elif way == 1 and len(records) > 1:
            del records[place]
        else:
            content = mutate_bytes(rng, records[place][9:], others)
            records[place] = records[place][:1] + struct.pack('<Q', len(content)) + content
    return data[:8] + b''.join(records) + data[-8:]


STATEMENTS = (
    'DROP TABLE {table}', 'DELETE FROM {table} WHERE id = {id}', 'DROP INDEX timestamp_idx',
    'UPDATE {table} SET id = {number} WHERE id = {id}',
    'UPDATE messages SET timestamp = {number} WHERE id >= {id}',
    "UPDATE messages SET data = x'{bytes}' WHERE id = {id}",
    "UPDATE messages SET data = 'text', timestamp = 'text' WHERE id = {id}",
    'UPDATE messages SET topic_id = {number} WHERE id = {id}',
    "UPDATE topics SET type = 'std_msgs/msg/Float64'", "UPDATE topics SET name = x'{bytes}'",
    "UPDATE topics SET serialization_format = 'protobuf'",
    'INSERT INTO messages SELECT id + 100, topic_id, timestamp, data FROM messages',
    'ALTER TABLE {table} RENAME TO other', 'CREATE VIEW {table}_2 AS SELECT * FROM {table}',
    "UPDATE metadata SET metadata = '{text}'",
)


def mutate_sqlite(rng, data, others):
    """Return a database with bytes changed, or with rows and tables changed by itself."""
    if rng.random() < 0.6:
        return mutate_bytes(rng, data, others)
    with tempfile.NamedTemporaryFile(suffix='.db3') as file:
        file.write(data)
        file.flush()
        connection = sqlite3.connect(file.name)
        for _ in range(rng.choice((1, 2, 3))):
            statement = rng.choice(STATEMENTS).format(
                table=rng.choice(('messages', 'topics', 'metadata', 'schema')),
                id=rng.randrange(1, 60), number=rng.choice((-5, 0, 1, 10**6, 2**63 - 1, -2**63)),
                bytes=rng.randbytes(40).hex(),
                text=rng.choice(('[' * 3000, 'a: 1', '', '{custom_data: {robot: [1]}}')),
            )
            try:
                connection.execute(statement)
            except sqlite3.Error:
                # Another statement took away what this one needs.
                continue
        connection.commit()
        connection.close()
        return Path(file.name).read_bytes()


def make_input(target, index):
    """Return name and bytes of an input of a target; every call with the same index the same."""
    rng = random.Random(f'{target.name}:{index}')
    seeds = target.seeds()
    name, data = rng.choice(seeds)
    return name, target.mutate(rng, data, [other for _, other in seeds])

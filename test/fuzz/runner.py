# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Give a target its inputs in a process of its own, which may end, hang or take all memory.

The process says over a pipe what became of each input; what it does not say any more is found by
the parent, which starts another one behind the input that was the last.
"""

from dataclasses import dataclass, field
import faulthandler
import json
import os
from pathlib import Path
import resource
import select
import shutil
import signal
import sys
import tempfile
import time
import traceback
import warnings

from fuzz.mutations import make_input
from robot_identification.errors import IdentificationError

LONGEST = 10.0
LARGEST = 1_000_000_000
# More of them show no more.
MOST_FAILURES = 10
# A process that computes in a library does not hear the alarm.
_UNTIL_KILLED = 2.0 * LONGEST
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_PATH_EVENTS = {
    'os.mkdir', 'os.rename', 'os.remove', 'os.rmdir', 'os.link', 'os.symlink', 'os.truncate',
    'os.chmod', 'os.mknod',
}


class TooLong(BaseException):
    """The time of an input is over; no handler of errors may take it for one."""


@dataclass
class Outcome:
    """What became of the inputs of a target."""

    accepted: int = 0  # inputs that were read
    refused: int = 0  # inputs that ended with an error of ours
    slowest: float = 0.0  # time of the slowest input [s]
    peak: int = 0  # memory beyond that of the process at its start [bytes]
    failures: list = field(default_factory=list)  # index of an input, and what is wrong

    def describe(self):
        """Return a line of a table."""
        return (
            f'{self.accepted + self.refused:6d} inputs, {self.accepted:5d} accepted, '
            f'{self.refused:5d} refused, slowest {self.slowest:6.3f} s, '
            f'memory {self.peak / 1e6:6.1f} MB, {len(self.failures)} failures'
        )


def fuzz(target, indices):
    """Return what becomes of the inputs of a target with these indices."""
    # What all processes need is made once, before they are forked.
    target.seeds()
    outcome, left = Outcome(), list(indices)
    while left and len(outcome.failures) < MOST_FAILURES:
        done = _run_process(target, left, outcome)
        left = left[done + 1:]
    return outcome


def _run_process(target, indices, outcome):
    """Fork a process for the inputs; return how many of them it answered for."""
    reader, writer = os.pipe()
    process = os.fork()
    if not process:
        _child(target, indices, reader, writer)
    os.close(writer)
    done = 0
    # Not buffered: a line in a buffer is none that select knows of.
    with os.fdopen(reader, 'rb', 0) as answers:
        while len(outcome.failures) < MOST_FAILURES and (
            select.select([answers], [], [], _UNTIL_KILLED)[0]
        ):
            line = answers.readline()
            if not line.endswith(b'\n'):
                break
            _note(outcome, indices[done], json.loads(line))
            done += 1
    if done < len(indices):
        os.kill(process, signal.SIGKILL)
    _, status = os.waitpid(process, 0)
    if done < len(indices) and len(outcome.failures) < MOST_FAILURES:
        cause = signal.Signals(os.WTERMSIG(status)).name if os.WIFSIGNALED(status) else status
        outcome.failures.append((indices[done], f'its process hung or ended: {cause}'))
    return done


def _note(outcome, index, found):
    outcome.slowest = max(outcome.slowest, found['seconds'])
    outcome.peak = max(outcome.peak, found['memory'])
    if found['failure']:
        outcome.failures.append((index, found['failure']))
    elif found['accepted']:
        outcome.accepted += 1
    else:
        outcome.refused += 1


def _child(target, indices, reader, writer):
    """Do the inputs and end the process."""
    os.close(reader)
    # A process that ends says so by its end; pytest's own would print where.
    faulthandler.disable()
    folder = Path(tempfile.mkdtemp(prefix='fuzz_'))
    try:
        watch = _Watch(folder)
        before = _peak_memory()
        resource.setrlimit(resource.RLIMIT_AS, (_address_space() + LARGEST,) * 2)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        signal.signal(signal.SIGALRM, _raise_too_long)
        with Path(os.devnull).open('w') as nothing:
            sys.stdout = sys.stderr = nothing
            # Libraries in C++ have their own.
            os.dup2(nothing.fileno(), 1)
            os.dup2(nothing.fileno(), 2)
            for index in indices:
                found = do_one(target, index, watch)
                found['memory'] = _peak_memory() - before
                if found['memory'] > LARGEST:
                    found['failure'] = f'{found["memory"] / 1e6:.0f} MB of memory'
                os.write(writer, json.dumps(found).encode() + b'\n')
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os._exit(0)


def do_one(target, index, watch):
    """Read one input; return what came of it."""
    name, data = make_input(target, index)
    path = watch.begin(name, data)
    accepted, failure, start = False, '', time.perf_counter()
    signal.setitimer(signal.ITIMER_REAL, LONGEST)
    try:
        target.read(path)
        accepted = True
    except IdentificationError as error:
        str(error)
    except BaseException as error:
        failure = ''.join(traceback.format_exception(error, limit=-6))[-3000:]
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
    seconds = time.perf_counter() - start
    written = watch.end(path, data)
    return {'accepted': accepted, 'seconds': seconds, 'failure': failure or written}


def _raise_too_long(number, frame):
    raise TooLong


class _Watch:
    """Keeps an input in an empty folder and sees what is written elsewhere."""

    def __init__(self, folder):
        self._inputs, self._temporary = folder / 'inputs', folder / 'temporary'
        self._inputs.mkdir()
        self._temporary.mkdir()
        self._active = False
        self._written = []
        os.environ['TMPDIR'] = tempfile.tempdir = str(self._temporary)
        os.chdir(self._inputs)
        warnings.simplefilter('ignore')
        sys.addaudithook(self._hear)

    def _hear(self, event, arguments):
        if not self._active:
            return
        if event == 'open':
            path, _, flags = arguments
            writes = isinstance(flags, int) and flags & _WRITING and isinstance(path, (str, bytes))
        else:
            path, writes = arguments[0] if arguments else '', event in _PATH_EVENTS
            # Relative to an open folder: a part of a tree that is removed by its name.
            writes = writes and not (event in ('os.remove', 'os.rmdir') and arguments[1] != -1)
        if writes:
            place = str(Path.cwd() / os.fsdecode(path))
            harmless = place.startswith((str(self._temporary), '/dev/')) or '.pyc' in place
            if not harmless and '__pycache__' not in place:
                self._written.append(place)

    def begin(self, name, data):
        """Write the input; return where it is."""
        path = self._inputs / name
        path.write_bytes(data)
        self._active = True
        return path

    def end(self, path, data):
        """Return what was written that should not be; leave the folders empty."""
        self._active = False
        written, self._written = self._written, []
        left = [*self._temporary.iterdir(), *(p for p in self._inputs.iterdir() if p != path)]
        changed = not path.exists() or path.read_bytes() != data
        path.unlink(missing_ok=True)
        for item in left:
            shutil.rmtree(item) if item.is_dir() else item.unlink()
        if written or left or changed:
            return f'written: {written}; left behind: {list(map(str, left))}; changed: {changed}'
        return ''


def _peak_memory():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _address_space():
    pages = int(Path('/proc/self/statm').read_text().split()[0])
    return pages * resource.getpagesize()

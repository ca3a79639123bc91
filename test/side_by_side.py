# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Run the tests of nodes, which keep time, and beside them all others in the time that they leave.

Each test of nodes has a ROS graph of its own, and much of it waits, while all others compute.
"""

import os
from pathlib import Path
import shutil
import signal
import subprocess
import sys
import tempfile

# With the types that the nodes need compiled, which their tests wait for.
NODES = ('test/nodes', 'test/launch', 'test/test_interfaces_fixture.py')
# Where a machine stalls for a second, an arm that is watched has stopped: what fails is tried once
# more, and the summary names it. In the order of the files: that with the fewest tests, which
# would be last, takes longest.
OF_NODES = (
    '-n', '2', '--dist', 'loadfile', '--no-loadscope-reorder', '--reruns', '1', '-r', 'sfER',
)
OF_OTHERS = ('-n', 'auto', '--maxprocesses', '4', '--dist', 'loadfile')


def start(*arguments, **options):
    """Start pytest."""
    return subprocess.Popen([sys.executable, '-m', 'pytest', *arguments], **options)


def main() -> int:
    """Return the exit code of all others, or that of the nodes if it is 0."""
    print('test: the nodes, and beside them all others', flush=True)
    with tempfile.TemporaryFile() as printed:
        nodes = start(*OF_NODES, *NODES, stdout=printed, stderr=printed)
        others = start(
            *OF_OTHERS, *(f'--ignore={path}' for path in NODES), preexec_fn=lambda: os.nice(5)
        )
        # Ctrl-C reaches both, and they end by themselves; so they do when this is to end.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, lambda *_: [
            process.send_signal(signal.SIGINT) for process in (nodes, others)
        ])
        nodes.wait()
        printed.seek(0)
        print('\ntest: the nodes', flush=True)
        shutil.copyfileobj(printed, sys.stdout.buffer)
        print('test: all others', flush=True)
        return others.wait() or nodes.returncode


if __name__ == '__main__':
    os.chdir(Path(__file__).resolve().parents[1])
    sys.exit(main())

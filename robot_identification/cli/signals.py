# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Signals that end a program: a closed terminal and a lost connection as well as Ctrl-C."""

from collections.abc import Iterator
from contextlib import contextmanager
import signal
import threading
from typing import Any

INTERRUPTIONS = (signal.SIGINT, signal.SIGTERM)
# What the parent had us ignore stays ignored: `nohup` does that with SIGHUP, and a script with
# SIGQUIT for what it starts in the background.
CLOSED_TERMINAL = (signal.SIGHUP, signal.SIGQUIT)


def ending_signals() -> tuple[signal.Signals, ...]:
    """Return the signals that end this process in order, without ignored ones."""
    return INTERRUPTIONS + tuple(
        number for number in CLOSED_TERMINAL if signal.getsignal(number) is not signal.SIG_IGN
    )


@contextmanager
def ended_as_by_interrupt() -> Iterator[tuple[signal.Signals, ...]]:
    """
    Make every signal of `ending_signals` act as Ctrl-C in the block; yield them.

    Other threads than the main one cannot, and are left alone.
    """
    if threading.current_thread() is not threading.main_thread():
        yield ()
        return
    previous = {number: signal.signal(number, _interrupt) for number in ending_signals()}
    try:
        yield tuple(previous)
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


def _interrupt(number: int, frame: Any) -> None:
    raise KeyboardInterrupt

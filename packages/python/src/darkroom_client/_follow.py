from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator
from typing import cast

from ._deadline import FOREVER, Deadline
from ._events import SILENCE_S, read_events
from ._retry import backoff_s
from ._transport import BROKEN, Transport
from .errors import ConnectionFailedError, DarkroomError
from .types import Task

PATIENCE_S = 300.0
"""How long the service may be away before it is given up. Each answer restarts this time."""
FIRST_EVENT_S = 10.0
"""The first state of one task comes at once, unless a proxy keeps streams back."""
MAX_FAILED_STREAMS = 2
"""Streams in a row that delivered nothing while reads were answered. Then only reads are left."""
FINAL = ("succeeded", "failed")

Read = Callable[[bool], Task]
"""Reads the present state. True: it may wait for a change, because no stream will show that."""


def follow(
    transport: Transport,
    events: str,
    read: Read | None,
    deadline: Deadline = FOREVER,
    patience_s: float = PATIENCE_S,
) -> Iterator[Task]:
    """
    Every state of a task until its final one, over a stream of events that is resumed where it broke, or by reads where
    streams do not work. Each second try of a broken stream is a read: a proxy may cut or refuse streams alone. Without
    `read` it follows all tasks, without end.

    Raises DarkroomError when the service refuses, or has been away for `patience_s`.
    """
    resume: str | None = None
    failed_streams = 0
    is_broken = False  # the last try was a stream that broke or delivered nothing
    failures = 0
    away_since: float | None = None
    while True:
        try_streams = read is None or failed_streams < MAX_FAILED_STREAMS
        delivered = False
        reader = None if read is None or (try_streams and not is_broken) else read
        try:
            states: Iterable[tuple[str | None, Task]]
            if reader is None:
                states = _stream(transport, events, resume, FIRST_EVENT_S if read else None, deadline)
            else:
                states = [(None, reader(not try_streams))]
            for event_id, task in states:
                delivered, failures, away_since = True, 0, None
                resume = event_id or resume
                yield task
                if read is not None and task["status"] in FINAL:
                    return
            # A stream that is resumed after its final event is empty: only a read shows that state.
            is_broken = reader is None and not delivered
            away_since = None  # it has answered
            if reader is None:
                failed_streams = 0 if delivered else failed_streams + 1
                if delivered or read is None:
                    deadline.sleep(backoff_s(0))
        except DarkroomError as error:
            is_refused = not error.retryable
            if is_refused and (reader is not None or read is None):
                raise  # a refused stream may be the doing of a proxy: the read tells
            away_since = away_since or time.monotonic()
            if time.monotonic() - away_since > patience_s:
                raise
            # Without a read in between, a service that is away looks like a stream that is.
            failed_streams = 0 if reader is not None or delivered else failed_streams + _weight(error)
            is_broken = reader is None
            if not is_refused:
                deadline.sleep(backoff_s(failures))
                failures += 1


def _weight(error: DarkroomError) -> int:
    return 1 if isinstance(error, ConnectionFailedError) else MAX_FAILED_STREAMS


def _stream(
    transport: Transport, events: str, resume: str | None, first_s: float | None, deadline: Deadline
) -> Iterator[tuple[str | None, Task]]:
    """One connection."""
    headers = {"accept": "text/event-stream"}
    if resume is not None:
        headers["last-event-id"] = resume
    with transport.open("GET", events, headers=headers, timeout_s=deadline.left(first_s or SILENCE_S)) as answer:
        try:
            for event_id, data in read_events(answer, first_s, deadline):
                yield event_id, cast(Task, json.loads(data))
        except (ValueError, *BROKEN) as error:
            raise transport.unreachable(error) from error

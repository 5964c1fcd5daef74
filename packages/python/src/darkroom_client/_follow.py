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
"""How long the service may be unreachable before following ends with an error. Each answer restarts this time."""
FIRST_EVENT_S = 10.0
"""
How long the first event may take. The stream of a task begins with its state at once, unless a proxy holds it back.
"""
MAX_FAILED_STREAMS = 2
"""So many streams in a row may deliver nothing while reads are answered. After that there are only reads."""
FINAL = ("succeeded", "failed")

Read = Callable[[bool], Task]
"""Reads the present state. True: the read may wait for a change, because no stream will show the change."""


def follow(
    transport: Transport,
    events: str,
    read: Read | None,
    deadline: Deadline = FOREVER,
    patience_s: float = PATIENCE_S,
) -> Iterator[Task]:
    """
    Every state of a task until its final one. It reads a stream of events, and resumes the stream where it broke. Where
    streams do not work it reads the state instead. After a broken stream the next try is a read, because a proxy may
    cut or refuse streams but not reads. Without `read` it follows all tasks, without end.

    Raises DarkroomError when the service refuses, or was unreachable for `patience_s`.
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
            states: Iterable[tuple[str | None, Task | None]]
            if reader is None:
                states = _stream(transport, events, resume, FIRST_EVENT_S if read else None, deadline)
            else:
                states = [(None, reader(not try_streams))]
            for event_id, task in states:
                delivered, failures, away_since = True, 0, None
                resume = event_id or resume
                if task is None:
                    continue
                yield task
                if read is not None and task["status"] in FINAL:
                    return
            # A stream that is resumed after its final event delivers nothing: only a read shows the final state.
            is_broken = reader is None and not delivered
            away_since = None  # the service has answered
            if reader is None:
                failed_streams = 0 if delivered else failed_streams + 1
                if delivered or read is None:
                    deadline.sleep(backoff_s(0))
        except DarkroomError as error:
            is_refused = not error.retryable
            if is_refused and (reader is not None or read is None):
                raise  # perhaps a proxy refused the stream, so a read decides
            away_since = away_since or time.monotonic()
            if time.monotonic() - away_since > patience_s:
                raise
            # Without a read in between, nobody knows whether the service or only its streams are unreachable.
            failed_streams = 0 if reader is not None or delivered else failed_streams + _weight(error)
            is_broken = reader is None
            if not is_refused:
                deadline.sleep(backoff_s(failures))
                failures += 1


def _weight(error: DarkroomError) -> int:
    return 1 if isinstance(error, ConnectionFailedError) else MAX_FAILED_STREAMS


def _stream(
    transport: Transport, events: str, resume: str | None, first_s: float | None, deadline: Deadline
) -> Iterator[tuple[str | None, Task | None]]:
    """The events of one connection."""
    headers = {"accept": "text/event-stream"}
    if resume is not None:
        headers["last-event-id"] = resume
    with transport.open("GET", events, headers=headers, timeout_s=deadline.left(first_s or SILENCE_S)) as answer:
        try:
            for event_id, data in read_events(answer, first_s, deadline):
                yield event_id, None if data is None else cast(Task, json.loads(data))
        except (ValueError, *BROKEN) as error:
            raise transport.unreachable(error) from error

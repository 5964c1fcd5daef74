from __future__ import annotations

import time
from collections.abc import Iterator

from ._deadline import Deadline
from ._http import Answer

SILENCE_S = 35.0
"""The service sends a ping every 15 s. After two missing pings the connection is dead."""


def read_events(answer: Answer, first_s: float | None, deadline: Deadline) -> Iterator[tuple[str | None, str | None]]:
    """
    The id and the data of each server-sent event, until the stream ends. An event without data only has an id, from
    which a stream resumes.

    first_s: how long the first event may take; a proxy that buffers streams never delivers it. None: a ping is enough.
    Raises OSError when the stream breaks or is silent.
    """
    first_until = None if first_s is None else time.monotonic() + first_s
    event_id: str | None = None
    data: list[str] = []
    while True:
        silence_s = SILENCE_S
        if first_until is not None:
            silence_s = first_until - time.monotonic()
            if silence_s <= 0:
                raise TimeoutError("The stream is silent.")
        answer.allow(deadline.left(silence_s))
        line = answer.readline()
        if not line:
            return
        field, _, value = line.decode("utf-8", "replace").rstrip("\r\n").partition(":")
        value = value.removeprefix(" ")
        if field == "data":
            data.append(value)
        elif field == "id":
            event_id = value
        elif field == "" and value == "" and (data or event_id is not None):
            first_until = None
            yield event_id, "\n".join(data) if data else None
            event_id, data = None, []

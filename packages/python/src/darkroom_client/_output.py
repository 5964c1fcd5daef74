from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

from ._deadline import FOREVER
from ._http import Answer
from ._retry import MAX_RETRY_AFTER_S, backoff_s
from ._transport import BROKEN, Transport
from .errors import DarkroomError
from .types import TaskOutput

MAX_FAILURES = 5
"""Downloads in a row that may deliver nothing."""
CHUNK_BYTES = 256 * 1024


def read(transport: Transport, output: TaskOutput) -> Iterator[bytes]:
    """The bytes as they arrive. After a cut the download continues with the missing bytes."""
    path = f"/v1/files/{quote(output['id'], safe='')}/content"
    received = 0
    failures = 0
    while received < output["size_bytes"]:
        try:
            headers = {"range": f"bytes={received}-"} if received else {}
            with transport.open("GET", path, headers=headers) as answer:
                if received and answer.status != 206:
                    raise OSError("The download cannot be continued.")
                while chunk := _next(transport, answer):
                    received += len(chunk)
                    failures = 0
                    yield chunk
            failures += 1
            if failures >= MAX_FAILURES:
                raise OSError("The download does not continue.")
        except DarkroomError as error:
            failures += 1
            if not error.retryable or failures >= MAX_FAILURES or (error.retry_after_s or 0) > MAX_RETRY_AFTER_S:
                raise
            FOREVER.sleep(max(error.retry_after_s or 0.0, backoff_s(failures)))


def save(transport: Transport, output: TaskOutput, path: str | os.PathLike[str]) -> Path:
    """Writes the whole file or nothing, and checks its hash."""
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    draft = target.with_name(f"{target.name}.part")
    digest = hashlib.sha256()
    try:
        with draft.open("wb") as file:
            for chunk in read(transport, output):
                digest.update(chunk)
                file.write(chunk)
        if digest.hexdigest() != output["sha256"]:
            raise OSError("The downloaded file is damaged: its SHA-256 differs.")
        draft.replace(target)
    finally:
        draft.unlink(missing_ok=True)
    return target


def _next(transport: Transport, answer: Answer) -> bytes:
    try:
        return answer.read1(CHUNK_BYTES)
    except BROKEN as error:
        raise transport.unreachable(error) from error

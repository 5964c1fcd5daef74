from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from . import _output
from ._follow import PATIENCE_S, follow
from ._run import Run, create
from ._tasks import Tasks
from ._transport import Transport
from .types import GenerationRequest, Task, TaskOutput


class Darkroom:
    """A Darkroom service, seen with one API key. Threads may share it."""

    def __init__(
        self,
        base_url: str | None = None,
        api_key: str | None = None,
        *,
        max_retries: int = 2,
        timeout_s: float = 60.0,
    ) -> None:
        """
        base_url: such as `https://darkroom.example`. Default: DARKROOM_URL, or http://127.0.0.1:3000.
        api_key: default DARKROOM_API_KEY.
        max_retries: retries after the first attempt.
        timeout_s: how long one attempt may wait for the connection, and for the next bytes.
        """
        self._transport = Transport(base_url, api_key, max_retries, timeout_s)
        self.tasks = Tasks(self._transport)

    def generate(self, request: GenerationRequest, *, idempotency_key: str | None = None) -> Run:
        """
        Creates a task. The parameters are those of the model that `request["model"]` names.

        idempotency_key: by default a random one. A second creation with the same key and request creates nothing.
        """
        return create(self._transport, "/v1/generations", request, idempotency_key)

    def run(self, task_id: str) -> Run:
        """A task that was created elsewhere or earlier."""
        return Run(self._transport, task_id)

    def events(self, patience_s: float = PATIENCE_S) -> Iterator[Task]:
        """
        The states of all tasks of the key: the unfinished ones first, then every change, without end.

        patience_s: how long the service may be unreachable.
        """
        return follow(self._transport, "/v1/events", None, patience_s=patience_s)

    def download(self, output: TaskOutput, path: str | os.PathLike[str]) -> Path:
        """Writes the whole output or nothing, and checks its hash. After a cut the download continues."""
        return _output.save(self._transport, output, path)

    def content(self, output: TaskOutput) -> bytes:
        """The bytes of an output."""
        return b"".join(_output.read(self._transport, output))

    def request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Any:
        """
        Calls any other route, such as `request("GET", "/v1/usage", query={"start_time": 0})`, and returns its JSON. A
        POST with an `idempotency-key` in `headers` may be sent again, like a GET.
        """
        has_key = any(name.lower() == "idempotency-key" for name in headers or {})
        is_repeatable = True if has_key else None
        return self._transport.json(
            method, path, query=query, body=body, headers=headers, is_repeatable=is_repeatable
        )

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Mapping
from typing import Any, cast
from urllib.parse import quote

from ._deadline import FOREVER, Deadline
from ._follow import FINAL, follow
from ._transport import Transport
from .errors import TaskFailedError
from .types import FailedTask, SucceededTask, Task

READ_WAIT_S = 5
"""How long one read waits for the end of a task."""
READ_TIMEOUT_S = 20.0


class Run:
    """A task on its way: `run.wait()`, or `for task in run`."""

    def __init__(self, transport: Transport, id: str, task: Task | None = None) -> None:
        self._transport = transport
        self.id = id
        self.task = task
        """The newest state that was read; None before the first."""

    def wait(
        self, timeout_s: float | None = None, on_progress: Callable[[int, Task], None] | None = None
    ) -> SucceededTask:
        """
        Waits for the result. It may be called again, also in another process: `darkroom.run(id).wait()`.

        timeout_s: without it the wait ends only with the task.
        on_progress: called with each change of the percentage or the status.
        Raises TaskFailedError when the task ends without a result, and WaitTimeoutError when the time runs out; the
        task then goes on.
        """
        seen: tuple[int, str] | None = None
        for task in self._states(Deadline(self.id, timeout_s)):
            state = (task["progress"], task["status"])
            if on_progress is not None and state != seen:
                on_progress(task["progress"], task)
            seen = state
        if self.task is None or self.task["status"] != "succeeded":
            raise TaskFailedError(cast(FailedTask, self.task))
        return self.task

    def __iter__(self) -> Iterator[Task]:
        """Each state from now on, the final one last."""
        return self._states(FOREVER)

    def refresh(self) -> Task:
        """Reads the task once."""
        self.task = cast(Task, self._transport.json("GET", path_of(self.id)))
        return self.task

    def cancel(self) -> Task:
        """Cancels the task. Returns it unchanged if it had already ended."""
        path = f"{path_of(self.id)}/cancel"
        self.task = cast(Task, self._transport.json("POST", path, is_repeatable=True))
        return self.task

    def retry(self, input: Mapping[str, Any] | None = None, *, idempotency_key: str | None = None) -> Run:
        """Creates a task with the same request. input: parameters to replace; None removes one."""
        return create(self._transport, f"{path_of(self.id)}/retry", {"input": input or {}}, idempotency_key)

    def _states(self, deadline: Deadline) -> Iterator[Task]:
        if self.task is not None and self.task["status"] in FINAL:
            yield self.task
            return

        def read(waits: bool) -> Task:
            query = {"wait": READ_WAIT_S} if waits else None
            options: dict[str, Any] = {"query": query, "timeout_s": READ_TIMEOUT_S, "deadline": deadline}
            return cast(Task, self._transport.json("GET", path_of(self.id), **options))

        for task in follow(self._transport, f"{path_of(self.id)}/events", read, deadline):
            self.task = task
            yield task


def create(transport: Transport, path: str, body: Mapping[str, Any], idempotency_key: str | None) -> Run:
    """A creation carries an idempotency key, so sending it again never pays twice."""
    headers = {"idempotency-key": idempotency_key or str(uuid.uuid4())}
    task = cast(Task, transport.json("POST", path, body=body, headers=headers, is_repeatable=True))
    return Run(transport, task["task_id"], task)


def path_of(task_id: str) -> str:
    return f"/v1/tasks/{quote(task_id, safe='')}"

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, cast

from ._run import path_of
from ._transport import Transport
from .types import CancelCounts, CancelTasksInput, DeletedTask, Task, TaskFilter, TaskList


class Tasks:
    """The tasks of the API key."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def get(self, task_id: str) -> Task:
        return cast(Task, self._transport.json("GET", path_of(task_id)))

    def list(
        self, filter: TaskFilter | None = None, *, order: Literal["asc", "desc"] = "desc", page_size: int = 100
    ) -> Iterator[Task]:
        """Newest first, unless `order` is `asc`. The next page is read when the iteration gets there."""
        after: str | None = None
        while True:
            query = {**(filter or {}), "order": order, "limit": page_size, "after": after}
            page = cast(TaskList, self._transport.json("GET", "/v1/tasks", query=query))
            yield from page["data"]
            after = page["last_id"]
            if not page["has_more"] or after is None:
                return

    def cancel(self, selection: CancelTasksInput) -> CancelCounts:
        """Cancels the tasks with these ids, or those that a filter selects."""
        answer = self._transport.json("POST", "/v1/tasks/cancel", body=selection, is_repeatable=True)
        return cast(CancelCounts, answer)

    def delete(self, task_id: str) -> DeletedTask:
        """Deletes the task with its files. An unfinished task is cancelled first."""
        return cast(DeletedTask, self._transport.json("DELETE", path_of(task_id)))

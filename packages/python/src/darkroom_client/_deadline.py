from __future__ import annotations

import time

from .errors import WaitTimeoutError


class Deadline:
    """When a wait ends. Each pause and each read of the wait asks here how long it may take."""

    def __init__(self, id: str, timeout_s: float | None) -> None:
        self._id = id
        self._timeout_s = timeout_s
        self._ends = None if timeout_s is None else time.monotonic() + timeout_s

    def left(self, seconds: float) -> float:
        """`seconds`, or less if the wait ends before. Raises WaitTimeoutError once the wait is over."""
        if self._ends is None or self._timeout_s is None:
            return seconds
        left = self._ends - time.monotonic()
        if left <= 0:
            raise WaitTimeoutError(self._id, self._timeout_s)
        return min(seconds, left)

    def sleep(self, seconds: float) -> None:
        time.sleep(self.left(seconds))
        self.left(0)


FOREVER = Deadline("", None)

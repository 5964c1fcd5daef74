from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .types import FailedTask


class DarkroomError(Exception):
    """The service refused a request, or could not be reached. Each family of statuses has a class of its own."""

    def __init__(
        self,
        message: str,
        *,
        status: int,
        code: str,
        type: str = "unknown",
        param: str | None = None,
        request_id: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.status = status
        self.code = code
        """For programs. New codes may be added, so handle unknown ones."""
        self.type = type
        self.param = param
        """The field that caused the error, such as `reference_images[2]`."""
        self.request_id = request_id
        """Name this id when you report a problem."""
        self.retryable = False
        """Whether the same request may succeed later."""
        self.retry_after_s: float | None = None
        """How many seconds the service asked to wait."""
        self.errors: Sequence[Mapping[str, Any]] = ()
        """Only with `batch_invalid`: what is wrong with which item."""


class BadRequestError(DarkroomError):
    """400, 413, 415, 422 and others: the request has to change."""


class AuthenticationError(DarkroomError):
    """401: the API key is missing, unknown, revoked or expired."""


class BudgetError(DarkroomError):
    """402: the request would pass the budget of the key."""


class PermissionDeniedError(DarkroomError):
    """403: the key may not do this."""


class NotFoundError(DarkroomError):
    """404 and 410: the object does not exist, or no longer."""


class ConflictError(DarkroomError):
    """409: the state of the object does not allow the request."""


class RateLimitError(DarkroomError):
    """429: too many requests, or too many waiting tasks."""


class ServerError(DarkroomError):
    """5xx: the service failed."""


class ConnectionFailedError(DarkroomError):
    """No whole answer came: the service cannot be reached, or the time ran out."""

    def __init__(self, message: str) -> None:
        super().__init__(message, status=0, code="connection_failed", type="connection_error")
        self.retryable = True


class TaskFailedError(Exception):
    """The task ended without a result."""

    def __init__(self, task: FailedTask) -> None:
        error = task["error"]
        super().__init__(f"{error['code']}: {error['message']}")
        self.task = task
        self.code: str = error["code"]
        self.retryable = error["retryable"]
        """Whether the same request may succeed later."""


class WaitTimeoutError(Exception):
    """The wait took longer than its limit. The task goes on, and can be waited for again."""

    def __init__(self, id: str, timeout_s: float) -> None:
        super().__init__(f"{id} did not end within {timeout_s:g} s. It goes on.")
        self.id = id


class WebhookVerificationError(Exception):
    """The body did not come from the service, or its timestamp is outside the tolerance."""

"""Client of the Darkroom service. The types of requests and answers are in `darkroom_client.types`."""

from ._client import Darkroom
from ._run import Run
from ._webhooks import DarkroomEvent, verify_webhook
from .errors import (
    AuthenticationError,
    BadRequestError,
    BudgetError,
    ConflictError,
    ConnectionFailedError,
    DarkroomError,
    NotFoundError,
    PermissionDeniedError,
    RateLimitError,
    ServerError,
    TaskFailedError,
    WaitTimeoutError,
    WebhookVerificationError,
)

__all__ = [
    "AuthenticationError",
    "BadRequestError",
    "BudgetError",
    "ConflictError",
    "ConnectionFailedError",
    "Darkroom",
    "DarkroomError",
    "DarkroomEvent",
    "NotFoundError",
    "PermissionDeniedError",
    "RateLimitError",
    "Run",
    "ServerError",
    "TaskFailedError",
    "WaitTimeoutError",
    "WebhookVerificationError",
    "verify_webhook",
]

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
import time
from collections.abc import Iterable, Sequence
from typing import Protocol, Union, cast

from .errors import WebhookVerificationError
from .types import (
    BatchCompletedEvent,
    BudgetExceededEvent,
    BudgetThresholdReachedEvent,
    TaskCompletedEvent,
    TaskFailedEvent,
    WebhookTestEvent,
)

DarkroomEvent = Union[
    TaskCompletedEvent,
    TaskFailedEvent,
    BatchCompletedEvent,
    BudgetThresholdReachedEvent,
    BudgetExceededEvent,
    WebhookTestEvent,
]
"""What arrives at a webhook endpoint: `event["type"]` tells the events apart."""


class Headers(Protocol):
    """A dict, or the headers of any framework."""

    def items(self) -> Iterable[tuple[str, str]]: ...


def verify_webhook(
    raw_body: bytes | str, headers: Headers, secrets: str | Sequence[str], *, tolerance_s: float = 300.0
) -> DarkroomEvent:
    """
    Verifies the signature of a webhook (Standard Webhooks) and returns its event.

    raw_body: as it arrived; parsing and writing it again changes its bytes.
    secrets: `whsec_…`; several while one is being replaced.
    Raises WebhookVerificationError when no signature matches one of the secrets, or the time is outside the tolerance.
    """
    given = {name.lower(): value for name, value in headers.items()}
    for name in ("webhook-id", "webhook-timestamp", "webhook-signature"):
        if not given.get(name):
            raise WebhookVerificationError(f"The header {name} is missing.")
    timestamp = given["webhook-timestamp"]
    if not re.fullmatch("[0-9]{1,15}", timestamp) or abs(time.time() - int(timestamp)) > tolerance_s:
        raise WebhookVerificationError(f"The event was signed more than {tolerance_s:g} s ago or ahead.")
    body = raw_body.encode() if isinstance(raw_body, str) else bytes(raw_body)
    signed = f"{given['webhook-id']}.{timestamp}.".encode() + body
    signatures = [each.encode() for each in given["webhook-signature"].split(" ")]
    for secret in [secrets] if isinstance(secrets, str) else secrets:
        digest = hmac.digest(_key_of(secret), signed, hashlib.sha256)
        expected = b"v1," + base64.b64encode(digest)
        for signature in signatures:
            if hmac.compare_digest(signature, expected):
                return cast(DarkroomEvent, json.loads(body))
    raise WebhookVerificationError("No signature of the event is by one of the secrets.")


def _key_of(secret: str) -> bytes:
    try:
        key = base64.b64decode(secret.removeprefix("whsec_"), validate=True)
    except ValueError:
        raise WebhookVerificationError("A secret is not base64.") from None
    if not key:
        raise WebhookVerificationError("A secret is empty.")
    return key

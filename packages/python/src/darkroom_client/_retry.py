from __future__ import annotations

import email.utils
import random
import time
from collections.abc import Mapping

MAX_RETRY_AFTER_S = 60.0
"""
The longest wait that the client obeys. If the service asks for a longer one, the caller gets the error and decides.
"""


def may_retry(status: int, headers: Mapping[str, str], code: str) -> bool:
    """Whether a retry may succeed: after a temporary refusal or a cut connection."""
    advice = headers.get("x-should-retry")
    if advice is not None:
        return advice == "true"
    return status in (408, 429) or status >= 500 or (status == 409 and code == "idempotency_in_progress")


def retry_after_s(headers: Mapping[str, str]) -> float | None:
    """`Retry-After` as seconds or as a date."""
    text = headers.get("retry-after")
    if text is None:
        return None
    try:
        return max(0.0, float(text))
    except ValueError:
        pass
    try:
        return max(0.0, email.utils.parsedate_to_datetime(text).timestamp() - time.time())
    except (TypeError, ValueError):
        return None


def backoff_s(attempt: int) -> float:
    """
    0.5, 1, 2, 4, 8 s. Each is up to a quarter shorter, because otherwise all clients come back at the same time.
    """
    return min(8.0, 0.5 * 2.0**attempt) * (1 - random.random() / 4)

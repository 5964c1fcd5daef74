from __future__ import annotations

import http.client
import json
import os
import urllib.error
import urllib.request
from collections.abc import Mapping
from typing import Any, cast
from urllib.parse import urlencode

from ._deadline import FOREVER, Deadline
from ._http import Answer, opener
from ._retry import MAX_RETRY_AFTER_S, backoff_s, may_retry, retry_after_s
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
)

BROKEN = (OSError, http.client.HTTPException)
"""What urllib raises when a connection fails."""

_CLASSES: Mapping[int, type[DarkroomError]] = {
    401: AuthenticationError,
    402: BudgetError,
    403: PermissionDeniedError,
    404: NotFoundError,
    409: ConflictError,
    410: NotFoundError,
    429: RateLimitError,
}


class Transport:
    """Sends requests with the API key, and sends them again where this helps and does no harm."""

    def __init__(self, base_url: str | None, api_key: str | None, max_retries: int, timeout_s: float) -> None:
        self.base = (base_url or os.environ.get("DARKROOM_URL") or "http://127.0.0.1:3000").rstrip("/")
        self._api_key = api_key or os.environ.get("DARKROOM_API_KEY")
        self._max_retries = max_retries
        self._timeout_s = timeout_s
        self._opener = opener()

    def json(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
        timeout_s: float | None = None,
        is_repeatable: bool | None = None,
        deadline: Deadline = FOREVER,
    ) -> Any:
        """
        The JSON of an answer; None if the answer is empty. A request that is not repeatable is sent again only after
        429.
        """
        if is_repeatable is None:
            is_repeatable = method in ("GET", "DELETE")
        attempt = 0
        while True:
            limit_s = deadline.left(timeout_s or self._timeout_s)
            try:
                with self.open(method, path + _query_text(query), body, headers, limit_s) as answer:
                    return self._read_json(answer)
            except DarkroomError as error:
                asked_s = error.retry_after_s or 0.0
                may_repeat = error.retryable and (is_repeatable or error.status == 429)
                if not may_repeat or attempt >= self._max_retries or asked_s > MAX_RETRY_AFTER_S:
                    raise
                deadline.sleep(max(asked_s, backoff_s(attempt)))
                attempt += 1

    def open(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
        timeout_s: float | None = None,
    ) -> Answer:
        """
        Sends one attempt and returns the answer, whose body the caller reads. Raises DarkroomError unless it is a
        success.
        """
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.base + path, data, {"user-agent": "darkroom-client-python"}, method=method)
        if data is not None:
            request.add_header("content-type", "application/json")
        for name, value in (headers or {}).items():
            request.add_header(name, value)
        if self._api_key:
            # Only the service gets the key. A download may be redirected to a bucket, which must not get it.
            request.add_unredirected_header("authorization", f"Bearer {self._api_key}")
        try:
            return cast(Answer, self._opener.open(request, timeout=timeout_s or self._timeout_s))
        except urllib.error.HTTPError as error:
            with error:
                raise _error_of(error) from None
        except BROKEN as error:
            raise self.unreachable(error) from error

    def unreachable(self, error: BaseException) -> ConnectionFailedError:
        cause = error.reason if isinstance(error, urllib.error.URLError) else error
        why = "did not answer in time" if isinstance(cause, TimeoutError) else "cannot be reached"
        return ConnectionFailedError(f"{self.base} {why}.")

    def _read_json(self, answer: Answer) -> Any:
        try:
            text = answer.read()
        except BROKEN as error:
            raise self.unreachable(error) from error
        try:
            return json.loads(text) if text else None
        except ValueError as error:
            # A proxy has answered in place of the service.
            raise ConnectionFailedError(f"{self.base} did not answer with JSON.") from error


def _error_of(answer: urllib.error.HTTPError) -> DarkroomError:
    """The error of an answer. A proxy may have written the body, so any body is accepted."""
    status = answer.code
    try:
        envelope = json.loads(answer.read())["error"]
        message, code = str(envelope["message"]), str(envelope["code"])
    except (ValueError, TypeError, LookupError, *BROKEN):
        envelope, message, code = {}, f"The service answered {status}.", "unknown"
    of_status = _CLASSES.get(status, ServerError if status >= 500 else BadRequestError)
    error = of_status(
        message,
        status=status,
        code=code,
        type=envelope.get("type", "unknown"),
        param=envelope.get("param"),
        request_id=answer.headers.get("x-request-id"),
    )
    error.retryable = may_retry(status, cast("Mapping[str, str]", answer.headers), code)
    error.retry_after_s = retry_after_s(cast("Mapping[str, str]", answer.headers))
    error.errors = envelope.get("errors", ())
    return error


def _query_text(query: Mapping[str, Any] | None) -> str:
    """A mapping becomes `metadata[team]=design`."""
    pairs: list[tuple[str, str]] = []
    for name, value in (query or {}).items():
        if value is None:
            continue
        if isinstance(value, Mapping):
            pairs += [(f"{name}[{key}]", _text(each)) for key, each in value.items()]
        elif isinstance(value, (list, tuple)):
            pairs += [(name, _text(each)) for each in value]
        else:
            pairs.append((name, _text(value)))
    return f"?{urlencode(pairs)}" if pairs else ""


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)

"""urllib with one addition: the time limit of an answer can change while the answer is read."""

from __future__ import annotations

import http.client
import socket
import urllib.request


class Answer(http.client.HTTPResponse):
    def __init__(
        self, sock: socket.socket, debuglevel: int = 0, method: str | None = None, url: str | None = None
    ) -> None:
        super().__init__(sock, debuglevel, method, url)
        self._socket = sock

    def allow(self, seconds: float) -> None:
        """How long the next read may wait for bytes."""
        self._socket.settimeout(seconds)


class _Connection(http.client.HTTPConnection):
    response_class = Answer


class _SecureConnection(http.client.HTTPSConnection):
    response_class = Answer


class _Plain(urllib.request.HTTPHandler):
    def http_open(self, request: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(_Connection, request)


class _Secure(urllib.request.HTTPSHandler):
    def https_open(self, request: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(_SecureConnection, request)


def opener() -> urllib.request.OpenerDirector:
    """An opener that follows redirects, and that uses the proxies named by the environment."""
    return urllib.request.build_opener(_Plain, _Secure)

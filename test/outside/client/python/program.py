"""A program of somebody who has installed the wheel. The test checks its types and runs it, also behind bad proxies."""

import hashlib
import queue
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

from darkroom_client import (
    BadRequestError,
    Darkroom,
    DarkroomEvent,
    NotFoundError,
    TaskFailedError,
    WaitTimeoutError,
    WebhookVerificationError,
    verify_webhook,
)
from darkroom_client.types import GenerationRequest, Task

LIGHTHOUSE: GenerationRequest = {"model": "gpt-image-2", "prompt": "A lighthouse", "resolution": "1K"}


def pictures(darkroom: Darkroom) -> None:
    run = darkroom.generate(LIGHTHOUSE, idempotency_key="one-lighthouse")
    again = darkroom.generate(LIGHTHOUSE, idempotency_key="one-lighthouse")
    print("same task", run.id == again.id)
    states: list[str] = [task["status"] for task in run]
    print("last state", states[-1])
    task = darkroom.run(run.id).wait(timeout_s=60)
    output = task["result"]["outputs"][0]
    path = darkroom.download(output, "made/lighthouse.png")
    print("saved", hashlib.sha256(path.read_bytes()).hexdigest() == output["sha256"])
    print("bytes", len(darkroom.content(output)) == output["size_bytes"])
    listed = darkroom.tasks.list({"status": "succeeded", "metadata": {}}, page_size=1)
    print("listed", run.id in [each["task_id"] for each in listed])
    print("read", darkroom.tasks.get(run.id)["status"])
    variant = run.retry({"quality": "low"}).wait()
    print("variant", variant["input"]["quality"])


def ends(darkroom: Darkroom) -> None:
    slow = darkroom.generate({"model": "gpt-image-2", "prompt": "#delay:60"})
    try:
        slow.wait(timeout_s=0.5)
    except WaitTimeoutError as error:
        print("goes on", error.id == slow.id)
    cancelled = slow.cancel()
    assert cancelled["status"] == "failed"
    print("cancelled", cancelled["error"]["code"])
    seen: list[int] = []
    try:
        darkroom.generate({"model": "gpt-image-2", "prompt": "#fail:provider_timeout"}).wait(
            on_progress=lambda percent, task: seen.append(percent)
        )
    except TaskFailedError as error:
        print("failed", error.code, error.retryable, len(seen) > 0)
    print("deleted", darkroom.tasks.delete(slow.id)["deleted"])


def refusals(darkroom: Darkroom) -> None:
    try:
        darkroom.generate({"model": "gpt-image-2", "prompt": "x", "n": 99})
    except BadRequestError as error:
        print("refused", error.status, error.code, error.param, error.request_id is not None)
    try:
        darkroom.tasks.get("task_00000000000000000000000000")
    except NotFoundError as error:
        print("missing", error.code)


def everything(darkroom: Darkroom) -> None:
    """All tasks of the key, while one is made."""
    found: queue.Queue[Task] = queue.Queue()

    def watch() -> None:
        for task in darkroom.events():
            found.put(task)

    threading.Thread(target=watch, daemon=True).start()
    run = darkroom.generate({"model": "gpt-image-2", "prompt": "A watched lighthouse #delay:3"})
    while (task := found.get(timeout=60))["task_id"] != run.id or task["status"] != "succeeded":
        pass
    print("watched", task["status"])


def webhooks(darkroom: Darkroom) -> None:
    events: queue.Queue[DarkroomEvent] = queue.Queue()
    secret = ""

    class Receiver(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            try:
                verify_webhook(body + b" ", self.headers, secret)
            except WebhookVerificationError as error:
                print("forged", error)
            events.put(verify_webhook(body, self.headers, ["whsec_AAAA", secret]))
            self.send_response(204)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Receiver)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    body = {"url": f"http://127.0.0.1:{server.server_port}/"}
    endpoint = darkroom.request("POST", "/v1/webhook_endpoints", body=body)
    secret = endpoint["secret"]
    darkroom.generate(LIGHTHOUSE)
    event = events.get(timeout=60)
    if event["type"] == "task.completed":
        print("event", event["data"]["result"]["outputs"][0]["content_type"])
    darkroom.request("DELETE", f"/v1/webhook_endpoints/{endpoint['id']}")


def one(darkroom: Darkroom) -> None:
    """Behind a bad proxy."""
    print(darkroom.generate({"model": "gpt-image-2", "prompt": "#delay:2"}).wait(timeout_s=120)["status"])


PARTS = {"pictures": pictures, "ends": ends, "refusals": refusals, "everything": everything, "webhooks": webhooks, "one": one}

for name in sys.argv[1:]:
    PARTS[name](Darkroom(max_retries=3))

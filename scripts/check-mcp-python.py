"""
Runs the official Python client of MCP, unchanged, against a service with the sandbox: over HTTP and stdio, in both
eras.

    pip install mcp
    npm run build
    python scripts/check-mcp-python.py http://127.0.0.1:3000 dr_…

Prints one line for each check. Without the package it says that it checks nothing, and succeeds.
"""

import asyncio
import os
import sys
from pathlib import Path

try:
    from mcp import Client, StdioServerParameters
    from mcp.client.streamable_http import create_mcp_http_client, streamable_http_client
except ImportError:
    print("skipped: the package mcp of version 2 is not installed (pip install mcp)")
    sys.exit(0)

url, key = sys.argv[1:3]
BIN = Path(__file__).parent.parent / "dist" / "cli" / "darkroom.js"
TOOLS = "generate_image generate_video get_task list_tasks cancel_task retry_task keep_task list_models get_usage".split()
failed = 0


def check(name, passed):
    global failed
    print(("ok      " if passed else "FAILED  ") + name, flush=True)
    failed += not passed


def over_http():
    http = create_mcp_http_client(headers={"Authorization": f"Bearer {key}"})
    return streamable_http_client(f"{url}/mcp", http_client=http)


def over_stdio():
    env = {"PATH": os.environ["PATH"], "DARKROOM_API_KEY": key, "DARKROOM_URL": url}
    return StdioServerParameters(command="node", args=[str(BIN), "mcp"], env=env)


async def run(name, transport, mode):
    async with Client(transport, mode=mode) as client:
        tools = (await client.list_tools()).tools
        check(f"{name}: lists the tools", [tool.name for tool in tools] == TOOLS)

        image = await client.call_tool("generate_image", {"prompt": "A lighthouse"})
        task = image.structured_content
        previews = [block for block in image.content if block.type == "image"]
        check(f"{name}: generate_image", task["status"] == "succeeded" and task["source"] == "mcp")
        check(f"{name}: a preview inline under the size", len(previews) == 1 and len(previews[0].data) < 200_000)
        video = await client.call_tool("generate_video", {"prompt": "A wave", "duration": 1, "resolution": "720P"})
        check(f"{name}: generate_video", video.structured_content["kind"] == "video")
        same = {"task_id": task["task_id"]}
        for tool in ["get_task", "retry_task", "cancel_task"]:
            result = await client.call_tool(tool, same)
            check(f"{name}: {tool}", result.structured_content["status"] == "succeeded")
        for tool, kind in [("list_tasks", "list"), ("list_models", "list"), ("get_usage", "page")]:
            result = await client.call_tool(tool, {})
            check(f"{name}: {tool}", result.structured_content["object"] == kind)
        refused = await client.call_tool("generate_image", {"prompt": "x", "resolution": "9K"})
        check(f"{name}: a fault is an error of the tool", refused.is_error and "resolution" in refused.content[0].text)


async def main():
    for mode in ["legacy", "auto"]:
        await run(f"HTTP, {mode}", over_http(), mode)
        await run(f"stdio, {mode}", over_stdio(), mode)


asyncio.run(main())
sys.exit(1 if failed else 0)

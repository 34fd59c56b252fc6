"""A client on the official Python SDK (2.x) that calls tools: python asker.py MODE TIMEOUT ANSWER COMMAND ARGS…

MODE is how it agrees on a revision: `legacy` for a handshake, `auto` for the newest that the server speaks. The rest is as
with node/asker.mjs; TIMEOUT is in milliseconds there and here.
"""

import json
import os
import sys
from typing import Any

import anyio
from mcp import Client, StdioServerParameters
from mcp_types import ElicitResult

mode, timeout, answer, command, *words = sys.argv[1:]


def say(**what: Any) -> None:
    print(json.dumps(what), flush=True)


async def elicit(_context: Any, params: Any) -> ElicitResult:
    say(asked=params.message)
    return ElicitResult(action="accept", content={"decision": answer})


async def main() -> None:
    client = Client(
        StdioServerParameters(command=command, args=words, env=dict(os.environ)),
        mode=mode,
        read_timeout_seconds=None if timeout == "-" else int(timeout) / 1000,
        elicitation_callback=None if answer == "-" else elicit,
    )
    async with client:
        say(tools=[tool.name for tool in (await client.list_tools()).tools])
        while line := await anyio.to_thread.run_sync(sys.stdin.readline):
            wanted = json.loads(line)
            try:
                result = await client.call_tool(wanted["call"], wanted["arguments"])
                say(called=wanted["call"], text=result.content[0].text, isError=result.is_error)
            except Exception as error:
                say(called=wanted["call"], failed=repr(error))


anyio.run(main)

"""The corpus server on the official Python SDK, for 1.x and 2.x alike: python server.py FILE

Each run of `danger`, `hidden_one` or `slow` appends the tool's name to FILE before it answers.
"""

import sys
from typing import Any

try:
    from mcp.server.mcpserver import Image
    from mcp.server.mcpserver import MCPServer as App
except ImportError:
    from mcp.server.fastmcp import FastMCP as App
    from mcp.server.fastmcp import Image

app = App("corpus")
PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c6360f8cf500f0003860180"
    "5a347d6b0000000049454e44ae426082"
)


def ran(tool: str) -> str:
    with open(sys.argv[1], "a", encoding="utf-8") as file:
        file.write(tool + "\n")
    return tool + " ran"


@app.tool()
def safe(x: Any = None) -> str:
    """Harmless."""
    return "safe ran"


@app.tool()
def danger(x: Any = None) -> str:
    """Leaves a mark."""
    return ran("danger")


@app.tool()
def hidden_one(x: Any = None) -> str:
    """Should not be seen."""
    return ran("hidden_one")


@app.tool()
def slow(x: Any = None) -> str:
    """Capped."""
    return ran("slow")


@app.tool()
def numbers() -> dict[str, float]:
    """Structured."""
    return {"one": 1.0, "big": 12345678901234567890.0}


@app.tool()
def picture() -> Image:
    """One pixel."""
    return Image(data=PIXEL, format="png")


@app.tool()
def fails() -> str:
    """Always fails."""
    raise ValueError("it failed")


@app.resource("corpus://text")
def text() -> str:
    return "a resource"


@app.prompt()
def greet(name: str) -> str:
    return f"Greet {name}."


if __name__ == "__main__":
    app.run()

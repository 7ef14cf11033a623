"""FastMCP's own proxy. Started as `python fastmcp_proxy.py COMMAND…`; there to be timed."""

from __future__ import annotations

import sys

from fastmcp.client.transports import StdioTransport
from fastmcp.server import create_proxy

if __name__ == "__main__":
    first, *rest = sys.argv[1:]
    create_proxy(StdioTransport(command=first, args=rest)).run("stdio", show_banner=False)

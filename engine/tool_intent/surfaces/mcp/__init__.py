"""MCP: a proxy in front of any server, and the built-in tools as a server of their own."""

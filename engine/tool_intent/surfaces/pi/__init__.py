"""The pi coding agent: its extension, and installing it."""

"""The public API: load a policy, extend tools, check, strip, delegate, record."""

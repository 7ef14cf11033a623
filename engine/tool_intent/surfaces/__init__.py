"""Places where calls are enforced, one package or module each."""

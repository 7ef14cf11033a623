"""Where agents' calls are enforced: one package or module a surface, on the engine they share."""

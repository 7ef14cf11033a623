"""Where agents' calls are enforced: one module a surface, on the engine that they share."""

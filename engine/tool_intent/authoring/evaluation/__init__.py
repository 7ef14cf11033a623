"""How often a policy is right: labelled calls judged by the engine, counted."""

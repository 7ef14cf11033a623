"""Calls out of the sessions that agents keep themselves."""

"""The record of decisions and outcomes."""

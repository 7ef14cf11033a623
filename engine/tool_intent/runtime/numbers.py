"""Arithmetic of JSON Schema keywords on numbers."""

from __future__ import annotations


def is_multiple(value: float, divisor: float) -> bool:
    """`multipleOf`, as jsonschema decides it: exact where a float quotient overflows."""
    if not isinstance(divisor, float):
        return value % divisor == 0
    quotient = value / divisor
    try:
        return int(quotient) == quotient
    except OverflowError:
        from fractions import Fraction

        return (Fraction(value) / Fraction(divisor)).denominator == 1


def is_integer(value: float) -> bool:
    """Whether a number is an integer as JSON Schema means it: 1.0 is."""
    return isinstance(value, int) or value.is_integer()

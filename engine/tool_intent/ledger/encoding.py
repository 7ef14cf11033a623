"""JSON text without spaces, in ASCII: what is stored, and what digests are over."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any


def _encoder() -> Callable[[Any], str]:
    """`JSONEncoder.encode` makes a new encoder for every text; this makes one for all."""
    slow = json.JSONEncoder(separators=(",", ":"), allow_nan=False, check_circular=False)
    make = vars(json.encoder)["c_make_encoder"]
    if make is None:
        return slow.encode
    text = json.encoder.encode_basestring_ascii
    fast = make(None, slow.default, text, None, ":", ",", False, False, False)
    return lambda value: "".join(fast(value, 0))


encode = _encoder()
"""The text of a value. Raises ValueError for NaN and the like, TypeError for what is no JSON,
RecursionError for what is nested too deep, or holds itself."""

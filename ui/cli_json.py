"""Turns a value into JSON text that the place it goes to can hold."""

from __future__ import annotations

import json


def json_text(value: object, encoding: str | None = "utf-8", indent: int | None = None) -> str:
    """JSON with every character as it is, or, when the encoding has not all of them, as ASCII with escapes."""
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    try:
        text.encode(encoding or "utf-8")
    except UnicodeEncodeError:
        return json.dumps(value, indent=indent)
    return text

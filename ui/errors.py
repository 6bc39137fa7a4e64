"""What can go wrong between a person and the page.

PageError    the chat page cannot be served: a busy port, a bad host
"""

from __future__ import annotations


class PageError(Exception):
    """The page cannot be served; its message is one line: what, where, what to do."""

"""Turns what stands after --index into a place: a folder, or a collection on a Chroma server."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from platformdirs import user_cache_path

from vectorstore.errors import StoreUnusable

_PREFIX = "chroma:"
_FOLDERS_COLLECTION = "passages"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{1,510}[A-Za-z0-9]")


@dataclass(frozen=True, slots=True)
class Place:
    """Where an index is. text: as it was named. folder: of the SQLite file (for a server's index, its local mirror).

    host, port, ssl: of the Chroma server; host is "" for an index in a folder. collection: Chroma's name for it.
    """

    text: str
    folder: Path
    collection: str = _FOLDERS_COLLECTION
    host: str = ""
    port: int = 8000
    ssl: bool = False

    @classmethod
    def of(cls, text: str | Path) -> Place:
        """The place that a folder's name or chroma:http://host:port/name means; StoreUnusable when it means none."""
        text = str(text)
        if not text.startswith(_PREFIX):
            return cls(text, Path(text))
        url = urlsplit(text.removeprefix(_PREFIX))
        name = url.path.strip("/")
        if url.scheme not in {"http", "https"} or not url.hostname or not _NAME.fullmatch(name):
            raise StoreUnusable(
                f"{text} names no index on a Chroma server; write chroma:http://HOST:PORT/NAME, NAME of 3 or more"
                " letters, digits, dots, dashes or underscores"
            )
        try:
            port = url.port or 8000
        except ValueError as error:
            raise StoreUnusable(f"{text}: {error}") from error
        key = hashlib.sha256(f"{url.hostname}:{port}/{name}".encode()).hexdigest()[:16]
        mirror = user_cache_path("footnote") / "mirrors" / key
        return cls(text, mirror, name, url.hostname, port, url.scheme == "https")

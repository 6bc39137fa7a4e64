"""What an index remembers of how it was made, so that it is never opened with something else.

It stands in the metadata of the Chroma collection, beside the vectors it speaks of.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields

from vectorstore.errors import StoreMismatch

SCHEMA = 3


@dataclass(frozen=True, slots=True)
class Manifest:
    """embedder: its spec. dim: of its vectors. chunking: how abstracts were cut. schema: of the files themselves."""

    embedder: str
    dim: int
    chunking: str
    schema: int = SCHEMA

    def as_metadata(self) -> dict[str, str | int]:
        """As Chroma keeps it."""
        return {f"footnote_{key}": value for key, value in asdict(self).items()}

    @classmethod
    def from_metadata(cls, metadata: Mapping[str, object] | None, where: str) -> Manifest:
        """The manifest in a collection's metadata; StoreMismatch when another program or schema made it."""
        found = {f.name: (metadata or {}).get(f"footnote_{f.name}") for f in fields(cls)}
        if None in found.values():
            raise StoreMismatch(f"{where} holds a Chroma collection that Footnote did not make; name another folder")
        if found["schema"] != SCHEMA:
            raise StoreMismatch(
                f"{where} was made with schema {found['schema']}, not {SCHEMA}: by another version of Footnote; "
                f"rebuild it: footnote index --rebuild PAPERS"
            )
        return cls(str(found["embedder"]), int(str(found["dim"])), str(found["chunking"]))

    def check(self, wanted: Manifest, where: str) -> None:
        """Raise StoreMismatch, naming what differs and how to rebuild, unless `wanted` is what made the index."""
        if self == wanted:
            return
        what = next(f.name for f in fields(self) if getattr(self, f.name) != getattr(wanted, f.name))
        option = f" --embedder {wanted.embedder}" if what == "embedder" else ""
        raise StoreMismatch(
            f"{where} was made with {what} {getattr(self, what)}, not {getattr(wanted, what)}; "
            f"open it with the first, or rebuild it: footnote index --rebuild{option} PAPERS"
        )

"""What an index remembers, and what is refused."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from vectorstore.errors import StoreMismatch
from vectorstore.manifest import SCHEMA, Manifest

MADE = Manifest("minilm", 384, "sentences:900")


def test_goes_into_metadata_and_comes_back() -> None:
    assert Manifest.from_metadata(MADE.as_metadata(), "x") == MADE
    assert MADE.schema == SCHEMA


def test_what_made_it_opens_it() -> None:
    MADE.check(replace(MADE), "x")


OTHERS = [
    ({"embedder": "st:x"}, "embedder minilm, not st:x", "footnote index --rebuild --embedder st:x PAPERS"),
    ({"dim": 7}, "dim 384, not 7", "footnote index --rebuild PAPERS"),
    ({"chunking": "words:9"}, "chunking sentences:900, not words:9", "footnote index --rebuild PAPERS"),
]


@pytest.mark.parametrize(("other", "what", "how"), OTHERS)
def test_others_are_refused_with_what_differs_and_how_to_rebuild(
    other: dict[str, str | int], what: str, how: str
) -> None:
    wanted = Manifest.from_metadata(
        MADE.as_metadata() | {f"footnote_{name}": value for name, value in other.items()}, "x"
    )
    with pytest.raises(StoreMismatch, match=f"^/my/index was made with {re.escape(what)}.*{re.escape(how)}$"):
        MADE.check(wanted, "/my/index")


def test_another_schema_is_refused_by_whoever_reads_it() -> None:
    kept = MADE.as_metadata() | {"footnote_schema": SCHEMA + 1}
    with pytest.raises(StoreMismatch, match=f"^/my/index .* schema {SCHEMA + 1}, not {SCHEMA}.*footnote index --reb"):
        Manifest.from_metadata(kept, "/my/index")


@pytest.mark.parametrize("kept", [None, {}, {"hnsw:space": "l2"}, {"footnote_embedder": "minilm"}])
def test_a_collection_of_another_program_is_refused(kept: dict[str, object] | None) -> None:
    with pytest.raises(StoreMismatch, match=r"^/my/index holds a Chroma collection that Footnote did not make"):
        Manifest.from_metadata(kept, "/my/index")

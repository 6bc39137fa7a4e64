"""Field names that people use, ways to write authors, links and years, and the ids that papers keep."""

from __future__ import annotations

import io
import json

import pytest

from rag.load import load_papers
from rag.load.fields import drafted
from rag.load.names import authors_of
from rag.types import Paper

TEXT = "We show that careful sampling of rare events makes training of small models much faster."


def paper(**fields: object) -> Paper:
    line = json.dumps({"abstract": TEXT, **fields}).encode()
    (found,) = load_papers(["-"], stdin=io.BytesIO(line))
    assert isinstance(found, Paper)
    return found


AUTHORS = [
    ("Ann Lee", ("Ann Lee",)),
    ("Ann Lee; Bo Ng", ("Ann Lee", "Bo Ng")),
    ("Ann Lee and Bo Ng", ("Ann Lee", "Bo Ng")),
    ("Ann Lee, Bo Ng, Cy Ito", ("Ann Lee", "Bo Ng", "Cy Ito")),
    ("Ann Lee, Bo Ng, and Cy Ito", ("Ann Lee", "Bo Ng", "Cy Ito")),
    ("Ann Lee, Bo Ng & Cy Ito", ("Ann Lee", "Bo Ng", "Cy Ito")),
    ("Lee, Ann; Ng, Bo", ("Ann Lee", "Bo Ng")),
    ("Lee, Ann and Ng, Bo", ("Ann Lee", "Bo Ng")),
    ("Knuth, Donald and Leslie Lamport", ("Donald Knuth", "Leslie Lamport")),
    ("van Rossum, Guido and Ng, Bo", ("Guido van Rossum", "Bo Ng")),
    ("Lee, A., Ng, B. C.", ("A. Lee", "B. C. Ng")),
    ("Lee, Jr., Ann; Ng, Bo", ("Ann Lee Jr.", "Bo Ng")),
    ("Lee, Ann", ("Ann Lee",)),
    ("Ann Lee et al.", ("Ann Lee",)),
    ("Ann Lee, Bo Ng, et al.", ("Ann Lee", "Bo Ng")),
    ("Lee, Ann and others", ("Ann Lee",)),
    ("", ()),
    (None, ()),
    (7, ()),
    (["Ann Lee", "Ng, Bo"], ("Ann Lee", "Bo Ng")),
    ([{"name": "Ann Lee"}, {"name": "Bo Ng", "authorId": "1"}], ("Ann Lee", "Bo Ng")),
    ([{"first": "Ann", "middle": ["B"], "last": "Lee", "suffix": "Jr"}], ("Ann B Lee Jr",)),
    ([{"given": "Jan", "non-dropping-particle": "van", "family": "Eyck"}], ("Jan van Eyck",)),
    ([{"literal": "The Team"}], ("The Team",)),
    ([{"author": {"display_name": "Ann Lee"}}], ("Ann Lee",)),
    ([["Lee", "Ann", ""]], ("Ann Lee",)),
    ([{}, "", None], ()),
]


@pytest.mark.parametrize(("value", "expected"), AUTHORS)
def test_authors(value: object, expected: tuple[str, ...]) -> None:
    assert authors_of(value) == expected


NAMED = [
    ({"Abstract Note": TEXT}, "abstract", TEXT),
    ({"abstractText": TEXT}, "abstract", TEXT),
    ({"SUMMARY": TEXT}, "abstract", TEXT),
    ({"text": TEXT, "abstract": ""}, "abstract", TEXT),
    ({"abstract": "N/A", "description": TEXT}, "abstract", TEXT),
    ({"abstract": ["We show.", "It holds."]}, "abstract", "We show. It holds."),
    ({"content": {"abstract": {"value": TEXT}, "title": {"value": "T"}}}, "abstract", TEXT),
    ({"abstract_inverted_index": {"is": [1, 4], "It": [0], "what": [2], "it": [3]}}, "abstract", "It is what it is"),
    ({"paper_title": "T"}, "title", "T"),
    ({"name": "N", "Title": "T"}, "title", "T"),
    ({"title": ["T"]}, "title", "T"),
    ({"year": 2021}, "year", 2021),
    ({"year": 2021.0}, "year", 2021),
    ({"published": "2021-03-05T00:00Z"}, "year", 2021),
    ({"issued": {"date-parts": [[2021, 3]]}}, "year", 2021),
    ({"date": "5 March 2021"}, "year", 2021),
    ({"year": "n.d.", "date": "2021"}, "year", 2021),
    ({"year": 12345}, "year", None),
    ({"booktitle": "Proc."}, "venue", "Proc."),
    ({"container-title": ["J. Sci."]}, "venue", "J. Sci."),
    ({"journal": {"name": "J. Sci."}}, "venue", "J. Sci."),
    ({"link": "https://x.org/a"}, "url", "https://x.org/a"),
    ({"pdf_url": "https://x.org/a.pdf", "html_url": "https://x.org/a"}, "url", "https://x.org/a"),
    ({"url": "javascript:alert(1)", "link": "http://x.org"}, "url", "http://x.org"),
    ({"url": 'https://x.org/"onclick='}, "url", ""),
    ({"url": "ftp://x.org"}, "url", ""),
    ({"url": ["", "https://x.org/b"]}, "url", "https://x.org/b"),
    ({"DOI": "https://doi.org/10.1/x"}, "doi", ""),
    ({"DOI": "https://doi.org/10.1234/X.y"}, "doi", "10.1234/X.y"),
    ({"doi": "doi:10.1234/x."}, "doi", "10.1234/x"),
    ({"url": "https://doi.org/10.1234/x"}, "doi", "10.1234/x"),
    ({"externalIds": {"DOI": "10.1234/x"}}, "doi", "10.1234/x"),
    ({"doi": "10.1234/x"}, "url", "https://doi.org/10.1234/x"),
    ({"eprint": "2001.01234v3"}, "arxiv", "2001.01234"),
    ({"eprint": "arXiv:hep-th/9901001"}, "arxiv", "hep-th/9901001"),
    ({"eprint": "https://www.jstor.org/stable/1234"}, "arxiv", ""),
    ({"externalIds": {"ArXiv": "2001.01234"}}, "arxiv", "2001.01234"),
    ({"url": "https://arxiv.org/pdf/2001.01234v2"}, "arxiv", "2001.01234"),
    ({"doi": "10.48550/arXiv.2001.01234"}, "arxiv", "2001.01234"),
    ({"arxiv_id": "2001.01234"}, "url", "https://arxiv.org/abs/2001.01234"),
    ({"id": 12}, "own_id", "12"),
    ({"_id": {"$oid": "ab12"}}, "own_id", "ab12"),
    ({"paperId": " x "}, "own_id", "x"),
    ({"corpus_id": 5.0}, "own_id", "5"),
    ({"id": True}, "own_id", ""),
]


@pytest.mark.parametrize(("fields", "name", "expected"), NAMED)
def test_fields(fields: dict[str, object], name: str, expected: object) -> None:
    assert getattr(drafted(fields), name) == expected


IDS = [
    ({"id": "a/b c", "doi": "10.1234/X"}, "a/b c"),
    ({"doi": "10.1234/X", "arxiv": "2001.01234"}, "doi:10.1234/x"),
    ({"arxiv": "2001.01234v2", "title": "T"}, "arxiv:2001.01234"),
]


@pytest.mark.parametrize(("fields", "expected"), IDS)
def test_ids(fields: dict[str, object], expected: str) -> None:
    assert paper(**fields).id == expected


def test_an_id_of_title_and_author_survives_another_export() -> None:
    one = paper(title="The Étale case: a Study", authors=["Ann Lee"], venue="ICML")
    other = paper(title="the etale Case – a study.", authors="Lee, A.; Ng, B.", year=2020)
    assert one.id == other.id
    assert one.id.startswith("t-")
    assert len(one.id) == 14
    assert paper(title="The Étale case: a Study", authors=["Bo Ng"]).id != one.id


def test_an_untitled_paper_keeps_its_id_whatever_its_place() -> None:
    lines = [json.dumps({"abstract": text}) for text in (TEXT, TEXT[::-1])]
    forward, backward = (
        {
            found.abstract: found.id
            for found in load_papers(["-"], stdin=io.BytesIO("\n".join(order).encode()))
            if isinstance(found, Paper)
        }
        for order in (lines, lines[::-1])
    )
    assert forward == backward
    assert all(one.startswith("a-") for one in forward.values())


def test_mark_up_is_gone_from_every_shown_field() -> None:
    found = paper(
        title="On <i>E. coli</i> and $\\ell_2$",
        authors=["J\\'er\\^ome O&#39;Neil"],
        venue="Proc.\\ of AT\\&T",
        abstract=f"Abstract: {TEXT}",
    )
    assert found.title == "On E. coli and $\\ell_2$"
    assert found.authors == ("Jérôme O'Neil",)
    assert found.venue == "Proc. of AT&T"
    assert found.abstract == TEXT

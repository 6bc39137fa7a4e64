"""Papers files of every format → papers and rejects, by way of real files, pipes and their damage."""

from __future__ import annotations

import gzip
import io
import json
import re
from collections.abc import Iterator
from hashlib import sha256
from itertools import count
from pathlib import Path

import pytest

from rag.errors import LoadError
from rag.load import Meter, Reject, load_papers
from rag.types import Paper

ONE = "We show that careful sampling of rare events makes training of small models much faster."
TWO = "Glacier meltwater carries iron into the fjord, and plankton blooms follow it within nine days."
THREE = "A proof is given that every planar graph with no short cycles admits a colouring in three colours."
LONG_ONE = " ".join([ONE, "The gain holds for nine data sets and grows with the rarity of the events we look for."] * 2)
LONG_TWO = " ".join([TWO, "Samples were taken at forty stations over two summers, by ship and from the ice edge."] * 2)
FULL = Paper(
    "p1", "Rare Events", ONE, ("Ann Lee", "Bo Ng"), 2024, "ICML", "https://x.org/1", "10.1234/abc"
)  # fmt: skip


def loaded(*names: str | Path, stdin: bytes | None = None) -> tuple[list[Paper], list[Reject]]:
    found = list(load_papers(names, stdin=None if stdin is None else io.BytesIO(stdin)))
    return [one for one in found if isinstance(one, Paper)], [one for one in found if isinstance(one, Reject)]


def written(folder: Path, name: str, text: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


JSON_ONE = {"id": "p1", "title": "Rare Events", "abstract": ONE, "authors": ["Ann Lee", "Bo Ng"], "year": 2024,
            "venue": "ICML", "url": "https://x.org/1", "doi": "10.1234/abc"}  # fmt: skip
JSON_TWO = {"id": "p2", "title": "Iron", "abstract": TWO}
CSV = f'id;title;abstract;authors;year;venue;url;doi\np1;Rare Events;"{ONE}";Ann Lee, Bo Ng;2024;ICML;https://x.org/1;10.1234/abc\n'
BIBTEX = f"""@string{{icml = {{ICML}}}}
@comment{{nothing to see}}
Words outside of entries.
@inproceedings{{p1,
  title = {{{{Rare}} Events}}, abstract = {{{ONE}}}, author = {{Lee, Ann and Bo Ng and others}},
  year = 2024, booktitle = icml, url = {{https://x.org/1}}, doi = {{10.1234/abc}}
}}
"""
RIS = f"""TY  - CONF
TI  - Rare Events
AU  - Lee, Ann
AU  - Ng, Bo
AB  - {ONE[:13]}
{ONE[13:]}
PY  - 2024
T2  - ICML
UR  - https://x.org/1
DO  - 10.1234/abc
ID  - p1
ER  -
"""
CSL = {"id": "p1", "type": "paper-conference", "title": "Rare Events", "abstract": ONE, "container-title": "ICML",
       "author": [{"family": "Lee", "given": "Ann"}, {"family": "Ng", "given": "Bo"}], "DOI": "10.1234/abc",
       "issued": {"date-parts": [[2024, 7, 1]]}, "URL": "https://x.org/1"}  # fmt: skip

SAME_PAPER = {
    "jsonl": json.dumps(JSON_ONE) + "\n" + json.dumps(JSON_TWO),
    "one-record": json.dumps(JSON_ONE),
    "pretty": json.dumps(JSON_ONE, indent=2),
    "list": json.dumps([JSON_ONE, JSON_TWO], indent=1),
    "wrapped": json.dumps({"total": 1, "papers": [JSON_ONE]}),
    "crossref": json.dumps({"status": "ok", "message": {"items": [JSON_ONE]}}),
    "by-id": json.dumps({"p1": {name: value for name, value in JSON_ONE.items() if name != "id"}}),
    "columns": json.dumps({name: [value] for name, value in JSON_ONE.items()}),
    "pandas": json.dumps({name: {"0": value} for name, value in JSON_ONE.items()}),
    "csv": CSV,
    "tsv": CSV.replace(";", "\t"),
    "bibtex": BIBTEX,
    "ris": RIS,
    "ris-one-space": RIS.replace("  - ", " - ").replace("  -\n", " -\n"),
    "csl": json.dumps([CSL]),
}


@pytest.mark.parametrize("name", ["papers", "papers.txt", "papers.csv", "papers.json", "papers.bib"])
@pytest.mark.parametrize("kind", SAME_PAPER)
def test_every_format_gives_the_same_paper_whatever_the_name(tmp_path: Path, kind: str, name: str) -> None:
    papers, rejects = loaded(written(tmp_path, name, SAME_PAPER[kind]))
    assert papers[0] == FULL
    assert rejects == []


ENCODED = {
    "bom": lambda text: text.encode("utf-8-sig"),
    "utf-16": lambda text: text.encode("utf-16"),
    "utf-16-le": lambda text: text.encode("utf-16-le"),
    "utf-16-be": lambda text: text.encode("utf-16-be"),
    "latin-1": lambda text: text.encode("latin-1"),
    "crlf": lambda text: text.replace("\n", "\r\n").encode(),
    "cr": lambda text: text.replace("\n", "\r").encode(),
    "gzip": lambda text: gzip.compress(text.encode()),
    "leading space": lambda text: b"\n \n" + text.encode(),
}  # fmt: skip


@pytest.mark.parametrize("encoding", ENCODED)
@pytest.mark.parametrize("kind", ["jsonl", "list", "csv", "bibtex", "ris"])
def test_encodings(tmp_path: Path, kind: str, encoding: str) -> None:
    text = re.sub(r"\\u[\da-f]{4}", lambda found: chr(int(found[0][2:], 16)), SAME_PAPER[kind].replace("Bo", "Bö"))
    papers, rejects = loaded(written(tmp_path, "papers", ENCODED[encoding](text)))
    assert papers[0].authors == ("Ann Lee", "Bö Ng")
    assert papers[0].abstract == ONE
    assert rejects == []


def test_gb18030_plain_text(tmp_path: Path) -> None:
    text = "本文研究了大规模语言模型在科学问答任务中的可靠性,并提出了一种新的评价方法。实验表明该方法有效。"
    papers, _ = loaded(written(tmp_path, "papers.txt", text.encode("gb18030")))
    assert [paper.abstract for paper in papers] == [text]
    assert papers[0].untitled


def test_standard_input_may_be_a_gzipped_pipe() -> None:
    papers, rejects = loaded("-", stdin=gzip.compress(SAME_PAPER["jsonl"].encode()))
    assert [paper.id for paper in papers] == ["p1", "p2"]
    assert rejects == []


def test_a_reject_on_standard_input_says_where() -> None:
    _, rejects = loaded("-", stdin=b'{"title": "x", "abstract": ""}\n')
    assert rejects[0].where == "standard input:1"


def test_lone_broken_bytes_cost_a_character_and_no_paper(tmp_path: Path) -> None:
    line = json.dumps(JSON_TWO).encode().replace(b"iron", b"ir\x93on")
    papers, rejects = loaded(written(tmp_path, "a.jsonl", json.dumps(JSON_ONE).encode() + b"\n" + line))
    assert [paper.abstract for paper in papers] == [ONE, TWO.replace("iron", "ir“on")]
    assert rejects == []


# --- plain text -----------------------------------------------------------------------------------------------------

PLAIN = [
    ("heading", f"NeurIPS 2026 论文列表\n\n{ONE}\n\n{TWO}\n", [("", "NeurIPS", 2026), ("", "NeurIPS", 2026)]),
    ("proceedings", f"Proceedings of ICML 2024\n\n{ONE}\n\n\n\n{TWO}\n", [("", "ICML", 2024), ("", "ICML", 2024)]),
    ("no heading", f"{ONE}\n\n{TWO}", [("", "", None), ("", "", None)]),
    ("wrapped", "\n".join([ONE[:40], ONE[40:], "", TWO[:50], TWO[50:]]), [("", "", None), ("", "", None)]),
    ("an abstract a line", f"{LONG_ONE}\n{LONG_TWO}\n", [("", "", None), ("", "", None)]),
    ("title line", f"Rare Events\n{LONG_ONE}\n\n{LONG_TWO}", [("Rare Events", "", None), ("", "", None)]),
    ("in turn", f"Rare Events\n\n{LONG_ONE}\n\nIron\n\n{LONG_TWO}", [("Rare Events", "", None), ("Iron", "", None)]),
    (
        "heading, in turn",
        f"ICLR 2025\n\nRare Events\n\n{LONG_ONE}\n\nIron\n\n{LONG_TWO}",
        [("Rare Events", "ICLR", 2025), ("Iron", "ICLR", 2025)],
    ),
]


@pytest.mark.parametrize(("text", "expected"), [case[1:] for case in PLAIN], ids=[case[0] for case in PLAIN])
def test_plain_text(tmp_path: Path, text: str, expected: list[tuple[str, str, int | None]]) -> None:
    papers, rejects = loaded(written(tmp_path, "papers.txt", text))
    assert [("" if paper.untitled else paper.title, paper.venue, paper.year) for paper in papers] == expected
    assert [paper.abstract[:20] for paper in papers] == [ONE[:20], TWO[:20]]
    assert rejects == []


def test_a_stray_short_block_is_named(tmp_path: Path) -> None:
    path = written(
        tmp_path, "papers.txt", f"{ONE}\n\n{TWO}\n\n{THREE}\n\nOral papers\n\n{ONE} Truly different words end it."
    )
    _, rejects = loaded(path)
    assert rejects[0] == Reject(f"{path}:7", "Oral papers", "has no abstract")


# --- what is left out -----------------------------------------------------------------------------------------------

JSONL_LINES = [
    ('{"title": "Broken', "is not valid JSON: Unterminated string starting at, at column 11"),
    ("[1, 2]", "is not an object with named fields"),
    ('{"title": "None", "abstract": null}', "has no abstract"),
    ('{"title": "N/A", "abstract": "N/A"}', "has no abstract"),
    ('{"title": "Short", "abstract": "Too short to be one"}'.replace(" be one", ""), "has no abstract"),
    ('{"title": "Nested", "abstract": "' + "x" * 10 + '"}', "has no abstract"),
]


@pytest.mark.parametrize(("line", "why"), JSONL_LINES)
def test_a_bad_line_is_named_and_the_rest_goes_in(tmp_path: Path, line: str, why: str) -> None:
    path = written(tmp_path, "a.jsonl", "\n".join([json.dumps(JSON_ONE), "", line, json.dumps(JSON_TWO)]))
    papers, rejects = loaded(path)
    assert [paper.id for paper in papers] == ["p1", "p2"]
    assert [(reject.where, reject.why) for reject in rejects] == [(f"{path}:3", why)]
    assert rejects[0].what


def test_unknown_field_names_are_told(tmp_path: Path) -> None:
    _, rejects = loaded(written(tmp_path, "a.jsonl", json.dumps({"foo": ONE, "bar": 1}) + "\n"))
    assert rejects[0].why.startswith('has no abstract (is it "foo"? An abstract is known by the names abstract, ')


def test_unknown_columns_are_told_once(tmp_path: Path) -> None:
    path = written(tmp_path, "a.csv", f"number,prose\n1,{ONE.replace(',', '')}\n2,{TWO.replace(',', '')}\n")
    papers, rejects = loaded(path)
    assert papers == []
    assert [reject.where for reject in rejects] == [f"{path}:1"]
    assert 'its columns are "number", "prose"; known names are abstract, ' in rejects[0].why


def test_a_list_is_read_up_to_where_it_breaks(tmp_path: Path) -> None:
    path = written(tmp_path, "a.json", f'[\n{json.dumps(JSON_ONE)},\n{json.dumps(JSON_TWO)},\n{{"title": "Cut of')
    papers, rejects = loaded(path)
    assert [paper.id for paper in papers] == ["p1", "p2"]
    assert [reject.where for reject in rejects] == [f"{path}:4"]
    assert "is not read" in rejects[0].why


def test_table_rows(tmp_path: Path) -> None:
    rows = [f'"Rare\nEvents","{ONE}\n\n{TWO}","Lee, Ann; Ng, Bo"', "", "Iron,,", f'Graphs,"{THREE}",Cy,Di,Ed', ""]
    path = written(tmp_path, "zotero.csv", "\n".join(["Title,Abstract Note,Author", *rows]))
    papers, rejects = loaded(path)
    assert [(paper.title, paper.authors, paper.abstract) for paper in papers] == [
        ("Rare Events", ("Ann Lee", "Bo Ng"), f"{ONE} {TWO}")
    ]
    assert [(reject.where, reject.why) for reject in rejects] == [
        (f"{path}:7", "has no abstract"),
        (f"{path}:8", "has 5 columns where the header has 3"),
    ]


def test_a_table_of_one_column(tmp_path: Path) -> None:
    papers, rejects = loaded(written(tmp_path, "a.csv", f'abstract\n"{ONE}"\n"{TWO}"\n'))
    assert [paper.abstract for paper in papers] == [ONE, TWO]
    assert rejects == []


BAD_BIBTEX = r"""@article{a, title={On {\'E}tale $\ell_2$ {B}ases}, abstract={Let $x_{i}$ be given. ONE}, year={2020},
  author={Erd{\H{o}}s, Paul and {OpenAI Team} and van der Berg, Jr, Jan}, eprint={2001.01234}, archivePrefix={arXiv}}
@article{b, title={No abstract}}
@article{a, title={Same key}, abstract={TWO}}
@article{c, title={Unclosed, abstract={THREE"""


def test_bibtex(tmp_path: Path) -> None:
    path = written(tmp_path, "a.bib", BAD_BIBTEX.replace("ONE", ONE).replace("TWO", TWO))
    papers, rejects = loaded(path)
    assert [paper.title for paper in papers] == ["On Étale $\\ell_2$ Bases"]
    assert papers[0].authors == ("Paul Erdős", "OpenAI Team", "Jan van der Berg Jr")
    assert papers[0].url == "https://arxiv.org/abs/2001.01234"
    assert papers[0].abstract == "Let $x_{i}$ be given. " + ONE
    assert [(reject.where, reject.why.split(";")[0]) for reject in rejects] == [
        (f"{path}:3", "has no abstract"),
        (f"{path}:4", f"has the same key as {path}:1"),
        (f"{path}:5", "does not parse as BibTeX"),
    ]


def test_ris_without_its_ends(tmp_path: Path) -> None:
    text = f"TY  - JOUR\nTI  - First\nAB  - {ONE}\nTY  - JOUR\nTI  - Second\nN2  - {TWO}\nTY  - JOUR\nTI  - Third\n"
    path = written(tmp_path, "a.ris", text)
    papers, rejects = loaded(path)
    assert [paper.title for paper in papers] == ["First", "Second"]
    assert rejects == [Reject(f"{path}:7", "Third", "has no abstract")]


def test_a_cut_off_gzip_file_gives_what_it_has(tmp_path: Path) -> None:
    lines = "\n".join(
        json.dumps({"abstract": f"Paper {place} tells of {sha256(bytes(place)).hexdigest()} only."})
        for place in range(2000)
    )
    whole = gzip.compress(lines.encode())
    papers, rejects = loaded(written(tmp_path, "a.jsonl.gz", whole[: len(whole) // 2]))
    assert papers
    assert rejects[-1].what == "the rest of the file"


# --- what cannot be read at all -------------------------------------------------------------------------------------

REFUSED = [
    (b"", "the file is empty"),
    (b" \n\n ", "the file is empty"),
    (b"%PDF-1.7 ...", "looks like a PDF"),
    (b"PK\x03\x04....", "looks like a zip archive"),
    (b"\x89PNG\r\n\x1a\n....", "looks like a PNG image"),
    (b"<!DOCTYPE html><html>", "looks like an HTML page"),
    (bytes(range(256)) * 8, "looks like a binary file"),
    (gzip.compress(b"%PDF-1.7", mtime=0), "looks like a PDF"),
    (gzip.compress(b"", mtime=0), "the file is empty"),
    (b"\x1f\x8b\x08\x00broken", "the gzip data is damaged"),
]


@pytest.mark.parametrize(("content", "message"), REFUSED)
def test_a_file_that_is_no_text_is_refused(tmp_path: Path, content: bytes, message: str) -> None:
    path = written(tmp_path, "papers.txt", content)
    with pytest.raises(LoadError, match=re.escape(f"{path}: {message}")) as raised:
        load_papers([path])
    assert "\n" not in str(raised.value)


def test_all_names_are_checked_before_the_first_paper(tmp_path: Path) -> None:
    good = written(tmp_path, "a.jsonl", json.dumps(JSON_ONE))
    with pytest.raises(LoadError, match=r"typo\.jsonl: there is no such file; check the name"):
        load_papers([good, tmp_path / "typo.jsonl"])


def test_a_folder_stands_for_its_papers_files(tmp_path: Path) -> None:
    written(tmp_path, "b.jsonl", json.dumps(JSON_TWO))
    written(tmp_path, "a.jsonl.gz", gzip.compress(json.dumps(JSON_ONE).encode()))
    written(tmp_path, "c.pdf", b"%PDF")
    written(tmp_path, ".hidden.jsonl", "{}")
    assert [paper.id for paper in loaded(tmp_path)[0]] == ["p1", "p2"]


def test_a_folder_without_papers_files_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LoadError, match="the folder has no papers files; Footnote reads plain text, JSONL"):
        load_papers([tmp_path])


def test_lines_are_read_as_they_are_needed() -> None:
    read = 0

    class Endless(io.RawIOBase):
        """Papers without end: whoever reads them all never returns."""

        rest = b""
        numbers = count(1)

        def readable(self) -> bool:
            return True

        def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
            nonlocal read
            read = next(self.numbers)
            words = " ".join(f"w{read}x{place}" for place in range(99))
            self.rest += json.dumps({"id": str(read), "abstract": words}).encode() + b"\n"
            piece, self.rest = self.rest[: len(buffer)], self.rest[len(buffer) :]
            buffer[: len(piece)] = piece
            return len(piece)

    papers: Iterator[Paper | Reject] = load_papers(["-"], stdin=io.BufferedReader(Endless()))
    assert [next(papers).id for _ in range(3)] == ["1", "2", "3"]  # type: ignore[union-attr]
    assert read < 1000


def test_standard_input_stays_open() -> None:
    given = io.BytesIO(SAME_PAPER["jsonl"].encode())
    assert len(list(load_papers(["-"], stdin=given))) == 2
    assert not given.closed


def test_a_meter_tells_how_far_the_reading_is(tmp_path: Path) -> None:
    lines = [json.dumps({"title": f"Number {n}", "abstract": f"{sentence(n)} {sentence(n + 7)}"}) for n in range(3000)]
    first, second = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    first.write_text("\n".join(lines[:2000]), "utf-8")
    second.write_text("\n".join(lines[2000:]), "utf-8")
    meter = Meter()
    shares = [share for _ in load_papers([first, second], meter=meter) if (share := meter.fraction) is not None]
    assert shares == sorted(shares)
    assert 0 < shares[0] < 0.5 < shares[-1] <= 1
    assert meter.fraction == 1


def test_a_meter_of_a_pipe_tells_nothing() -> None:
    meter = Meter()
    list(load_papers(["-"], stdin=io.BytesIO(f'{{"abstract": "{sentence(1)}"}}'.encode()), meter=meter))
    assert meter.fraction is None


def sentence(n: int) -> str:
    return f"We study problem {n} and show that method {n * 31 % 977} solves case {n * 17 % 991} better than any other."

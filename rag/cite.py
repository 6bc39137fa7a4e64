"""Turns what an LLM streams into claims: sentences whose markers resolve to papers and to words in their abstracts.

A model cites by the keys of the prompt's evidence. Keys become reference numbers, one a paper, in order of first use
in the conversation; keys that were never on offer are removed and counted. Which model writes is not known here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from rag.markers import normalised, restored
from rag.prompt import FENCE, led_in
from rag.repair import backed
from rag.sentences import sentence_spans
from rag.types import Claim, Prompt, Quote
from rag.verifier import Verifier, confirmed

_FENCE = re.compile(rf"</?{FENCE}[0-9a-f]{{8}}>")
_MARKER = re.compile(r"\s*\[(\d{1,3}(?:\s*[,;]\s*\d{1,3})*)\]")
_RUN = re.compile(r"(?:\s*\[\d{1,3}(?:\s*[,;]\s*\d{1,3})*\])+")
_RUN_AT_END = re.compile(rf"(?P<run>{_RUN.pattern})(?P<stop>[.!?]?)$")
_COMING = re.compile(r"\[[\d\s,;]*")  # a marker that has not come to its end
_HALF_MARKER = re.compile(rf"\s*{_COMING.pattern}$")
# What still belongs to a sentence after its last word: closing emphasis, markers, and a full stop behind them.
_TAIL = re.compile(rf"(?:[*_]+(?!\S))?(?:{_RUN.pattern}(?:[.!?]+(?!\S))?)?")
_LIST_ITEM = re.compile(r"(?:[-*•]|\d{1,2}[.)])\s+")
_WORDS_BEGIN = re.compile(r"(?<=\s)(?=\S)")
_STOP = ".!?…"


class Numbering:
    """Paper → reference number: 1, 2, … in order of first use, so that [3] is the same paper in every turn."""

    def __init__(self, used: Iterable[str] = ()) -> None:
        self._numbers: dict[str, int] = {}
        for paper_id in used:
            self.number(paper_id)

    def copy(self) -> Numbering:
        """The same numbers, apart from these."""
        return Numbering(self._numbers)

    def number(self, paper_id: str) -> int:
        """The paper's number; a paper not met before gets the next."""
        return self._numbers.setdefault(paper_id, len(self._numbers) + 1)


@dataclass(slots=True)
class Citer:
    """Reads a stream against a prompt. verifier: asked of each sentence of a model's own.

    invented: how many keys were removed because nothing stood behind them.
    """

    prompt: Prompt
    numbering: Numbering
    verifier: Verifier | None = None
    invented: int = 0
    _titles: dict[str, str] = field(init=False)
    _forms: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        self._titles = {paper.id: paper.title for paper in self.prompt.papers}
        whole = ["".join(normalised([form])) for quote in self.prompt.evidence for form in self._verbatim(quote)]
        # Without its full stop too: a model may write "the paper's words [1]."
        self._forms = tuple(dict.fromkeys(whole + [form.rstrip(_STOP) for form in whole]))

    def claims(self, pieces: Iterable[str]) -> Iterator[tuple[str, Claim]]:
        """(separator, claim) for each sentence as soon as it is whole; the separators and texts make the answer."""
        rest = ""
        for word in _by_words(normalised(pieces)):
            rest += word
            while (cut := self._whole_sentence(rest)) is not None:
                yield from self._claim(rest[:cut])
                rest = rest[cut:]
        rest = _HALF_MARKER.sub("", rest)
        while rest.strip():
            cut = self._whole_sentence(rest + "\n") or len(rest)
            yield from self._claim(rest[:cut])
            rest = rest[cut:]

    def _whole_sentence(self, text: str) -> int | None:
        """Where the first sentence and its markers end, or None while more of them may come."""
        begun = text.lstrip()
        start = len(text) - len(begun)
        if any(form.startswith(begun) for form in self._forms):
            return None
        cut = self._verbatim_end(text, start) or _own_end(text, start)
        tail = _TAIL.match(text, cut) if cut else None
        if tail is None:
            return None
        # A marker may still be on its way: wait for something that is neither white space nor half a marker.
        following = text[tail.end() :].lstrip(" ")
        return tail.end() if following and not _COMING.fullmatch(following) else None

    def _verbatim_end(self, text: str, start: int) -> int | None:
        ends = (start + len(form) for form in self._forms if text.startswith(form, start) and form)
        return max((end for end in ends if text[end - 1] in _STOP or _RUN.match(text, end)), default=None)

    def _verbatim(self, quote: Quote) -> tuple[str, str]:
        """The two forms in which a sentence counts as the paper's own: bare, and led in by the paper's title."""
        return quote.text, led_in(self._titles[quote.paper_id], quote.text)

    def _claim(self, raw: str) -> Iterator[tuple[str, Claim]]:
        sentence = raw.strip()
        separator = "\n\n" if "\n" in raw[: len(raw) - len(raw.lstrip())] else " "
        if own := self._own_words(sentence):
            text, quotes = own[0], self._cited(own[1])
            yield separator, Claim(text + self._markers(quotes), self._numbers(quotes), quotes)
        elif (claim := self._free(sentence)) is not None:
            yield separator, claim

    def _own_words(self, sentence: str) -> tuple[str, tuple[int, ...]] | None:
        """The paper's own sentence and the keys behind it, when the sentence is that and cites it."""
        for end in (self._verbatim_end(sentence, 0), *(m.start() for m in _RUN_AT_END.finditer(sentence))):
            ending = _RUN_AT_END.match(sentence, end) if end else None
            if ending is None:
                continue
            keys = _keys(ending["run"])
            for text in (restored(sentence[:end]), restored(sentence[:end]) + ending["stop"]):
                if any(text in self._verbatim(quote) for quote in self._offered(keys)):
                    return text, keys
        return None

    def _free(self, sentence: str) -> Claim | None:
        """A sentence in a model's own words, with markers anywhere; None when it has no words."""
        sentence = _FENCE.sub("", sentence).strip()  # some models repeat what the evidence stands between
        bare = _RUN.sub(_intervals, sentence).strip()
        said = restored(_LIST_ITEM.sub("", bare, count=1)).strip("*_ ")
        if not any(char.isalnum() for char in said):
            for run in _RUN.findall(sentence):
                self._cited(_keys(run))
            return None
        cited = tuple(dict.fromkeys(quote for run in _RUN.findall(sentence) for quote in self._cited(_keys(run))))
        found = backed(said, cited, self.prompt)
        if self.verifier and not self.prompt.language:
            found = confirmed(found, said, self.verifier)
        if found.corrected:
            text = _before_stop(restored(bare), self._markers(found.quotes))
        else:
            text = _RUN.sub(lambda run: _intervals(run) + self._markers(self._offered(_keys(run.group()))), sentence)
        ok, reason = found.support.ok, found.support.reason
        return Claim(restored(text).strip(), self._numbers(found.quotes), found.quotes, ok, reason, found.corrected)

    def _cited(self, keys: Sequence[int]) -> tuple[Quote, ...]:
        """What the keys stand for; those that stand for nothing are counted. Called once a key."""
        self.invented += sum(not 0 < key <= len(self.prompt.evidence) for key in keys)
        return self._offered(keys)

    def _offered(self, keys: Sequence[int]) -> tuple[Quote, ...]:
        evidence = self.prompt.evidence
        return tuple(evidence[key - 1] for key in dict.fromkeys(keys) if 0 < key <= len(evidence))

    def _numbers(self, quotes: Sequence[Quote]) -> tuple[int, ...]:
        return tuple(sorted({self.numbering.number(quote.paper_id) for quote in quotes}))

    def _markers(self, quotes: Sequence[Quote]) -> str:
        numbers = dict.fromkeys(self.numbering.number(quote.paper_id) for quote in quotes)
        return " " * bool(numbers) + "".join(f"[{number}]" for number in numbers)


def _before_stop(text: str, markers: str) -> str:
    """The sentence with its markers before its full stop."""
    body = text.rstrip("*_ ")
    stop = len(body.rstrip(_STOP + "。！？"))
    return body[:stop] + markers + body[stop:] + text[len(body) :]


def _by_words(pieces: Iterable[str]) -> Iterator[str]:
    """The stream cut before each word, so that what is made of it does not hang on how it came."""
    rest = ""
    for piece in pieces:
        *whole, rest = _WORDS_BEGIN.split(rest + piece)
        yield from whole
    yield rest


def _own_end(text: str, start: int) -> int | None:
    """Where a sentence that is no paper's own ends; None while its line or the next sentence has not begun."""
    line = text.find("\n", start)
    body = text[start : line if line >= 0 else len(text)]
    item = _LIST_ITEM.match(body)
    first = item.end() if item else 0
    # Markers hide from the splitter that what they follow was an end.
    spans = sentence_spans(_RUN.sub(lambda run: " " * len(run.group()), body[first:]))
    if len(spans) < 2 and line < 0:
        return None
    return start + (first + spans[0][1] if spans else len(body))


def _keys(run: str) -> tuple[int, ...]:
    """The keys of the markers of a run; "[0, 1]" is an interval and holds none."""
    return tuple(key for marker in _MARKER.finditer(run) if not _is_interval(marker) for key in _read(marker))


def _intervals(run: re.Match[str]) -> str:
    """What of a run of markers is none, and stays."""
    return "".join(marker.group() for marker in _MARKER.finditer(run.group()) if _is_interval(marker))


def _is_interval(marker: re.Match[str]) -> bool:
    keys = _read(marker)
    return len(keys) > 1 and not all(0 < key < 100 for key in keys)


def _read(marker: re.Match[str]) -> tuple[int, ...]:
    return tuple(int(key) for key in re.findall(r"\d+", marker.group(1)))

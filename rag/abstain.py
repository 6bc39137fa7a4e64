"""Tells, before any LLM is called, whether what was found can answer the question, and if not, what is missing.

Four signs: no passage is near, going by its vector and by the reader's odds together; the reader finds it unlikely that
any sentence found answers; a name in the question stands in none of the papers that are near; or no near sentence that
speaks of what is to be counted ("how many GPUs") holds a number.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from rag.followup import Standalone
from rag.question import asked_noun, holds_number, kind_of, names
from rag.relevance import Relevance, Sentence, Word
from rag.text import search_words
from rag.types import Paper

FULL_PAPER = "The full paper may."
_ACRONYM = 3  # letters; the initials of any text hold most pairs of letters
_NEAR = 0.4  # below the best sentence's score


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Below what a question counts as unanswered.

    off: of `topic`, for a question on another topic altogether. unsaid: of the log-odds that any sentence answers, for
    one whose topic is there. name: cosine of a name to its nearest token. asked: of what is asked for. cosine, size:
    the weights in `topic` of the nearest passage's cosine and of the size of the index.
    """

    off: float
    unsaid: float
    name: float
    asked: float
    cosine: float = 0.0
    size: float = 0.0

    def topic(self, relevance: Relevance) -> float:
        """How plainly the question's topic is there: the reader's log-odds, and how near the nearest passage is.

        The more passages there are, the nearer the nearest of them is to any question: the logarithm of their number
        is taken off.
        """
        odds = math.inf if relevance.odds is None else relevance.odds
        return odds + self.cosine * relevance.nearest - self.size * math.log(max(1, relevance.passages))


# By the embedder that finds the papers, found on dev questions (eval/LOG.md). What
# another embedder's cosines mean is not known: there the reader decides alone, or if there is none, the words.
THRESHOLDS = {"minilm": Thresholds(off=2.1, unsaid=-2.6, name=0.62, asked=0.40, cosine=20.0, size=0.3)}
_READER_ALONE = Thresholds(off=-4.0, unsaid=-2.6, name=0.62, asked=0.40)
_WORDS_ONLY = Thresholds(off=-math.inf, unsaid=-math.inf, name=2.0, asked=-1.0)
# Of a question in another language than the papers neither the reader nor its words say anything.
UNTELLABLE = Thresholds(off=-math.inf, unsaid=-math.inf, name=-1.0, asked=-1.0)


def thresholds(embedder: str) -> Thresholds:
    """Those of an embedder, by its spec."""
    return THRESHOLDS.get(embedder, _READER_ALONE)


def why_unanswerable(
    asked: Standalone, papers: Sequence[Paper], relevance: Relevance, limits: Thresholds = _READER_ALONE
) -> str:
    """Why the abstracts cannot answer, as a sentence for the reader; "" when they can.

    limits: of the embedder that found the papers; not heeded when the sentences were read without the reader.
    """
    if not relevance.sentences:
        return "No paper in this collection has anything to do with the question."
    if relevance.odds is None and limits is not UNTELLABLE:
        limits = _WORDS_ONLY
    if not asked.papers and (limits.topic(relevance) < limits.off or not _shares_a_word(relevance, limits)):
        return "Nothing in these abstracts is near the question."
    best = max(relevance.sentences, key=lambda sentence: sentence.score)
    near = [s for s in relevance.sentences if s.score >= best.score - _NEAR]
    if name := _missing_name(asked.question, papers, near, relevance, limits):
        return f"The abstracts nearest to the question say nothing of “{name}”. {FULL_PAPER}"
    if noun := _missing_count(asked.question, near, relevance, limits):
        return f"The abstracts nearest to the question don't say how many {noun}. {FULL_PAPER}"
    if relevance.odds is not None and not asked.papers and relevance.odds < limits.unsaid:
        return f"The abstracts nearest to the question don't say so much. {FULL_PAPER}"
    return ""


def _shares_a_word(relevance: Relevance, limits: Thresholds) -> bool:
    if limits is not _WORDS_ONLY:
        return True
    found = {word[:5] for sentence in relevance.sentences for word in search_words(sentence.quote.text)}
    return any(word.text[:5] in found for word in relevance.words)


def _missing_name(
    question: str, papers: Sequence[Paper], near: Sequence[Sentence], relevance: Relevance, limits: Thresholds
) -> str:
    """A name of the question that stands in none of the near papers, nor anything like it."""
    ids = {s.quote.paper_id for s in near}
    text = " ".join(f"{p.title} {p.abstract}" for p in papers if p.id in ids)
    stems = {word[:5] for word in search_words(text)}
    for name in names(question):
        parts = search_words(name)
        stands = all(part[:5] in stems or part.removesuffix("s")[:5] in stems for part in parts)
        if not stands and not _spelt_out(name, text) and _match(parts, near, relevance.words) < limits.name:
            return name
    return ""


def _spelt_out(name: str, text: str) -> bool:
    """Whether the text has the words that an acronym of three letters or more stands for, as "LQR" does."""
    letters = name.rstrip("s").casefold()
    initials = "".join(word[0] for word in re.findall(r"[^\W\d_]+", text))
    return len(letters) >= _ACRONYM and letters.isalpha() and name[:2].isupper() and letters in initials.casefold()


def _missing_count(question: str, near: Sequence[Sentence], relevance: Relevance, limits: Thresholds) -> str:
    """What was to be counted, when no near sentence that speaks of it holds a number."""
    noun = asked_noun(question)
    if not noun or kind_of(question) in {"papers", "compare"}:
        return ""
    head = search_words(noun)[-1:]
    counted = [s for s in near if holds_number(s.quote.text) and _match(head, [s], relevance.words) >= limits.asked]
    return "" if counted else noun


def _match(parts: Sequence[str], near: Sequence[Sentence], question_words: Sequence[Word]) -> float:
    places = [i for i, word in enumerate(question_words) if word.text in parts]
    if not places:
        return 1.0
    return max(min(sentence.matches[i] for i in places) for sentence in near)

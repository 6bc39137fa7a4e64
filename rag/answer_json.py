"""Turns an Answer into the JSON that other programs rely on; data/answer.schema.json says what it holds."""

from __future__ import annotations

from rag.filters import years_text
from rag.types import Answer, Claim, Paper, Quote, Reference, Scope

Json = dict[str, object]


def to_json(answer: Answer) -> Json:
    """The answer as plain lists, dicts, strings and numbers, as `footnote ask --json` prints it."""
    return {
        "question": answer.question,
        "answer": answer.text,
        "abstained": answer.abstained,
        "abstain_reason": answer.abstain_reason,
        "claims": [_claim(claim) for claim in answer.claims],
        "dropped": [_claim(claim) for claim in answer.dropped],
        "references": [_reference(reference) for reference in answer.references],
        "searched": answer.searched or answer.question,
        "filter": _scope(answer.filter) if answer.filter else None,
        "nearest": [paper_json(paper) for paper in answer.nearest],
        "llm": answer.llm,
        "embedder": answer.embedder,
        "notices": list(answer.notices),
        "timings_ms": {stage: round(ms, 1) for stage, ms in answer.timings_ms.items()},
    }


def paper_json(paper: Paper) -> Json:
    """A paper's own fields."""
    return {
        "id": paper.id,
        "title": paper.title,
        "untitled": paper.untitled,
        "authors": list(paper.authors),
        "year": paper.year,
        "venue": paper.venue,
        "url": paper.url,
        "doi": paper.doi,
        "abstract": paper.abstract,
    }


def _scope(scope: Scope) -> Json:
    return {
        "year": years_text(scope.only) or None,
        "venue": list(scope.only.venues),
        "author": list(scope.only.authors),
        "paper": list(scope.only.papers),
        "papers_left": scope.papers_left,
        "from_question": scope.from_question,
    }


def _claim(claim: Claim) -> Json:
    return {
        "text": claim.text,
        "supported": claim.supported,
        "reason": claim.reason,
        "corrected": claim.corrected,
        "references": list(claim.references),
        "quotes": [_quote(quote) for quote in claim.quotes],
    }


def _reference(reference: Reference) -> Json:
    return {
        "number": reference.number,
        "paper": paper_json(reference.paper),
        "quotes": [_quote(quote) for quote in reference.quotes],
    }


def _quote(quote: Quote) -> Json:
    return {"paper_id": quote.paper_id, "text": quote.text, "start": quote.start, "end": quote.end}

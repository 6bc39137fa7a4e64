"""What every answer has to keep, whatever was asked and whoever wrote it."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

from jsonschema import Draft202012Validator

from rag.answer_json import to_json
from rag.language import abstentions
from rag.types import Answer, Turn

SCHEMA = json.loads((files("rag") / "data" / "answer.schema.json").read_text("utf-8"))


def check(answer: Answer) -> dict[str, Any]:
    """What every answer has to keep, whatever was asked; its JSON."""
    found: dict[str, Any] = json.loads(json.dumps(to_json(answer)))
    Draft202012Validator(SCHEMA).validate(found)
    papers = {reference.number: reference.paper for reference in answer.references}
    abstracts = {paper.id: paper.abstract for paper in papers.values()}
    assert answer.done
    assert [reference.number for reference in answer.references] == sorted(papers)
    assert {n for claim in answer.claims for n in claim.references} == set(papers)
    for quote in [quote for claim in answer.claims for quote in claim.quotes]:
        assert abstracts[quote.paper_id][quote.start : quote.end] == quote.text
    if answer.abstained:
        assert (answer.claims, answer.references) == ((), ())
        assert answer.text in abstentions()
        assert answer.abstain_reason
    else:
        assert answer.claims
        assert (answer.abstain_reason, answer.nearest) == ("", ())
    return found


def turns(question: str, answer: Answer) -> tuple[Turn, Turn]:
    return Turn("user", question), Turn("assistant", answer.text, tuple(r.paper.id for r in answer.references))

"""Turns what happens in the browser into new values for the page's components, one method an event.

It is handed Gradio and never imports it. What belongs to one person is in the Conversation that each method is
given; the object itself is shared by all of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from rag.answer_json import to_json
from rag.errors import FootnoteError, UsageError
from rag.retrieve import NO_FILTER
from ui.page_chrome import header, placeholder, welcome
from ui.page_filters import filter_bar, typed_filter, without
from ui.page_talk import Answerer, Conversation, converse
from vectorstore.errors import StoreError

LONGEST_QUESTION = 4000  # characters
# New values for the conversation, the log and the question box.
Values = tuple[Any, Any, Any]


class Events:
    """Gradio calls each method in a thread of its own, several at once."""

    def __init__(self, gr: Any, assistant: Answerer) -> None:
        self._gr = gr
        self._assistant = assistant

    def arrive(self) -> tuple[str, str, str, Any]:
        """Someone opens the page: header, filters, welcome and question box as the index is now."""
        return header(self._assistant), filter_bar(self._assistant, NO_FILTER), welcome(self._assistant), self._box()

    def filtered(self, now: Conversation, event: Any) -> tuple[Any, Any]:
        """A filter was typed or taken off: the conversation limited to it, and the bar that shows it."""
        data = event._data or {}
        if now.is_running:
            return self._gr.skip(), self._gr.skip()
        try:
            only = without(now.only, str(data["off"])) if "off" in data else typed_filter(data)
        except UsageError as error:
            return self._gr.skip(), filter_bar(self._assistant, now.only, data, str(error))
        return replace(now, only=only), filter_bar(self._assistant, only)

    def asked(self, typed: str, now: Conversation, event: Any) -> Iterator[Values]:
        """A question was sent from the box, or picked from the page: the conversation as its answer grows."""
        data = event._data or {}
        picked = data.get("question", "")
        question = str(picked or typed).strip()[:LONGEST_QUESTION]
        if not question or now.is_running or self._assistant.paper_count() == 0:
            yield self._gr.skip(), self._gr.skip(), self._gr.skip()
            return
        emptied = {} if picked else {"value": ""}
        for newer in converse(self._assistant, question, now.settled(), constraints=not data.get("free")):
            yield newer, _payload(newer), self._gr.Textbox(submit_btn=False, stop_btn=True, **emptied)
            emptied = {}

    def rest(self, now: Conversation) -> Values:
        """An answer is over, whether it came to its end, was stopped or failed."""
        quiet = now.settled()
        return quiet, _payload(quiet), self._box()

    def stop(self, now: Conversation) -> None:
        """The stop button: the answer that is being written ends within a moment."""
        if now.halt is not None:
            now.halt.set()

    def restart(self, now: Conversation) -> Values:
        """A new conversation; not while an answer is being written, whose end would bring the old one back."""
        if now.is_running:
            return self._gr.skip(), self._gr.skip(), self._gr.skip()
        return Conversation(only=now.only), [], self._box()

    def endpoint(self, question: str, year: str = "", venue: str = "", author: str = "") -> dict[str, Any]:
        """Answer one question from the abstracts alone; returns the Answer as JSON (README: "Answer as JSON").

        year: 2024, 2020..2022, 2024.. or ..2019; venue, author: names, apart by semicolons.
        """
        if not question.strip():
            raise self._gr.Error("The question is empty.")
        if len(question) > LONGEST_QUESTION:
            raise self._gr.Error(f"The question is longer than {LONGEST_QUESTION} characters.")
        try:
            only = typed_filter({"year": year, "venue": venue, "author": author})
            *_, answer = self._assistant.stream(question.strip(), (), only)
        except (FootnoteError, StoreError) as error:
            raise self._gr.Error(str(error)) from error
        return to_json(replace(answer, done=True))

    def at_rest(self) -> dict[str, Any]:
        """The question box when no answer is being written; closed while there is nothing to ask."""
        some = self._assistant.paper_count() > 0
        return {
            "placeholder": placeholder(self._assistant),
            "interactive": some,
            "submit_btn": some,
            "stop_btn": False,
        }

    def _box(self) -> Any:
        return self._gr.Textbox(**self.at_rest())


def _payload(now: Conversation) -> list[dict[str, str | bool]]:
    return [turn.payload() for turn in now.shown]

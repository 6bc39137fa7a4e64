"""Turns an index and its backends into what stands around the conversation: the header and the empty page.

It must not know Gradio; every text is escaped here or in ui.render_text.
"""

from __future__ import annotations

from html import escape

from ui.page_examples import OUTSIDE, example_questions
from ui.page_talk import Answerer, papers
from ui.render_text import inline

SYSTEM_FONTS = ("system-ui", "-apple-system", "Segoe UI", "Roboto", "sans-serif")
# Enough of an index for three short titles, even when most are long.
_LOOKED_AT = 50


def header(assistant: Answerer) -> str:
    """The name, what it answers from, the backends; and a way to a new conversation, shown once there is one."""
    backend = " · ".join(spec for spec in (assistant.llm, assistant.embedder) if spec)
    return (
        '<header class="masthead"><div class="name">Footnote<sup aria-hidden="true">[1]</sup></div>'
        f'<div class="scope">{_scope(assistant.paper_count())}</div>'
        '<button type="button" class="restart" data-restart>New conversation</button>'
        f'<div class="backend" title="language model · search model">{escape(backend)}</div></header>'
    )


def _scope(count: int) -> str:
    return f"{papers(count)} · answers only from their abstracts" if count else "no papers yet"


def welcome(assistant: Answerer) -> str:
    """The page before the first question: what to expect and what to ask; or what to run when nothing is indexed."""
    count = assistant.paper_count()
    if count == 0:
        return _EMPTY
    chips = [_chip(text) for text in example_questions(assistant.papers(limit=_LOOKED_AT))]
    outside = _chip(OUTSIDE, "chip outside")
    return (
        f'<section class="welcome"><h1>Ask {papers(count)}.</h1>'
        "<p>Every sentence of an answer carries a reference; open it to see the words of the abstract that it"
        " rests on. What the abstracts do not say, Footnote does not answer.</p>"
        f'<div class="chips">{"".join(chips)}</div>'
        f'<p class="aside">Or something these papers cannot know:</p><div class="chips">{outside}</div></section>'
    )


def placeholder(assistant: Answerer) -> str:
    """What the empty question box says."""
    count = assistant.paper_count()
    return f"Ask {papers(count)}…" if count else "The index is empty"


def _chip(text: str, kind: str = "chip") -> str:
    return f'<button type="button" class="{kind}" data-question="{escape(text)}">{inline(text)}</button>'


_EMPTY = (
    '<section class="welcome"><h1>No papers yet.</h1>'
    "<p>Footnote answers from an index of abstracts, and this one is empty. Fill it in a terminal,"
    " with your own papers or with the sample that comes along, and start the page again:</p>"
    "<pre><code>footnote index papers.jsonl\nfootnote index --sample</code></pre></section>"
)

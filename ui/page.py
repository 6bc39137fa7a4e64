"""Turns an assistant into the chat page and serves it.

    Answerer ─ build_page ─▶ gradio.Blocks ─ serve ─▶ http://host:port

The one file that imports Gradio, which costs seconds, and does so only when a page is built. It knows where things
stand and who calls whom; what happens then is elsewhere: ui.page_events (an event), ui.page_talk (the conversation),
ui.render (its HTML), ui/assets (how it looks and moves).
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rag.retrieve import NO_FILTER
from ui.errors import PageError
from ui.page_chrome import SYSTEM_FONTS, header, welcome
from ui.page_events import LONGEST_QUESTION, Events
from ui.page_filters import filter_bar
from ui.page_policy import SameHostOnly
from ui.page_serve import check_address, until_interrupted, without_proxy
from ui.page_talk import Answerer, Conversation

if TYPE_CHECKING:
    import gradio

ASSETS = Path(__file__).with_name("assets")
# Answers written at once; more people wait their turn. An LLM on one machine gains nothing by more.
AT_ONCE = 4
# The page is not Gradio's API: what the page itself calls is hidden from it.
_OURS: dict[str, Any] = {"api_visibility": "private", "show_progress": "hidden"}
_BOX: dict[str, Any] = {
    "show_label": False,
    "label": "Your question",
    "container": False,
    "lines": 1,
    "max_lines": 8,
    "max_length": LONGEST_QUESTION,
    "autofocus": True,
}


def build_page(assistant: Answerer) -> gradio.Blocks:
    """The page; launch it with `launch_options()`. Its HTTP API is one endpoint, /ask."""
    gr = _gradio()
    events = Events(gr, assistant)
    with gr.Blocks(title="Footnote", analytics_enabled=False, fill_width=True) as page:
        talk = gr.State(Conversation())
        head = gr.HTML(header(assistant), elem_id="fn-head", apply_default_css=False)
        start = gr.HTML(welcome(assistant), elem_id="fn-start", apply_default_css=False)
        log = _log(gr)
        bar = filter_bar(assistant, NO_FILTER)
        filters = gr.HTML(bar, js_on_load=_script("filters"), elem_id="fn-filter", apply_default_css=False)
        box = gr.Textbox(elem_id="fn-box", **_BOX, **events.at_rest())
        page.load(events.arrive, None, [head, filters, start, box], **_OURS)
        _wire(gr, events, talk, log, box)
        filters.submit(events.filtered, talk, [talk, filters], queue=False, **_OURS)
        gr.api(events.endpoint, api_name="ask")
    page.queue(default_concurrency_limit=AT_ONCE)
    return page


def _script(name: str) -> str:
    return (ASSETS / f"{name}.js").read_text(encoding="utf-8")


def _log(gr: Any) -> Any:
    """The conversation, which page.js draws from its value: the turns' payloads."""
    return gr.HTML(
        [],
        html_template='<div class="log" role="log" aria-live="polite" aria-label="Conversation"></div>',
        js_on_load=_script("page"),
        elem_id="fn-log",
        apply_default_css=False,
        **_katex(gr),
    )


def _wire(gr: Any, events: Events, talk: Any, log: Any, box: Any) -> None:
    """Who calls what. The log's `submit` is a question picked on the page, its `clear` a new conversation."""
    all_three = [talk, log, box]
    # Gradio reads annotations at run time, and our modules have no `gradio` to resolve this one by.
    for method in (Events.asked, Events.filtered):
        method.__annotations__["event"] = gr.EventData
    answering = gr.on([box.submit, log.submit], events.asked, [box, talk], all_three, **_OURS)
    # Gradio's `then` leaves out events that failed.
    for after in (answering.then, answering.failure):
        after(events.rest, talk, all_three, queue=False, **_OURS)
    box.stop(events.stop, talk, None, queue=False, **_OURS)
    log.clear(events.restart, talk, all_three, queue=False, **_OURS)


def serve(assistant: Answerer, host: str, port: int, *, quiet: bool = False) -> None:
    """Serve the page until Ctrl-C or SIGTERM; a busy port or an unknown host is a PageError."""
    name = host.strip("[]")
    check_address(name, port)
    without_proxy(name)
    page = build_page(assistant)
    try:
        _, url, _ = page.launch(server_name=f"[{name}]" if ":" in name else name, server_port=port, **launch_options())
    except OSError as error:
        raise PageError(f"cannot serve on {host}, port {port}: {error}") from error
    try:
        until_interrupted("" if quiet else f"Footnote is at {url} (Ctrl-C stops it)")
    finally:
        page.close(verbose=False)


def launch_options() -> dict[str, Any]:
    """How Gradio shall launch the page: quiet, local, with our look and none of its own."""
    from starlette.middleware import Middleware  # noqa: PLC0415 - comes with Gradio

    gr = _gradio()
    return {
        "theme": gr.themes.Base(font=SYSTEM_FONTS, font_mono=("ui-monospace", "monospace")).set(
            body_background_fill="#fbfaf7", body_background_fill_dark="#17181b"
        ),
        # As `css` Gradio would prefix every selector, and :root, body and html would match nothing.
        "head": f"<style>{(ASSETS / 'page.css').read_text(encoding='utf-8')}</style>",
        "favicon_path": ASSETS / "favicon.svg",
        "footer_links": [],
        "run_history": False,
        "share": False,
        "ssr_mode": False,
        "pwa": False,
        "mcp_server": False,
        "enable_monitoring": False,
        "inline": False,
        "quiet": True,
        "prevent_thread_lock": True,
        "app_kwargs": {"middleware": [Middleware(SameHostOnly)], "docs_url": None, "redoc_url": None},
    }


def _gradio() -> Any:
    """Gradio, with its telemetry off before it can start."""
    os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"
    import gradio  # noqa: PLC0415

    return gradio


def _katex(gr: Any) -> dict[str, str]:
    """Where Gradio's own KaTeX lies, as URLs; without it formulas stay readable source."""
    files = Path(gr.__file__).parent / "templates" / "frontend" / "assets"
    script, style = next(files.glob("katex-*.js"), None), next(files.glob("katex-*.css"), None)
    return {
        "katex": f"assets/{script.name}" if script else "",
        "katex_css": f"assets/{style.name}" if style else "",
    }

// Shows the conversation. Gradio runs this once, as the body of a function (element, trigger, props, watch, …).
//
// props.value is a list of turns {key, question, body, sources, busy}, whose HTML the server has made inert. A piece
// of a turn is replaced only when its HTML changed, so that what a reader has opened stays open and nothing jumps.

const log = element.querySelector(".log");
const root = document.documentElement;
const calm = matchMedia("(prefers-reduced-motion: reduce)");
let katex = null;

const PIECES = ["question", "body", "sources"];

function show(turns) {
  const keys = new Set(turns.map((turn) => turn.key));
  for (const old of [...log.children]) if (!keys.has(old.id)) old.remove();
  for (const turn of turns) showTurn(turn);
  root.classList.toggle("fn-talking", turns.length > 0);
  const busy = turns.some((turn) => turn.busy);
  root.classList.toggle("fn-busy", busy);
  log.setAttribute("aria-busy", String(busy));
}

function showTurn(turn) {
  let article = document.getElementById(turn.key);
  const isNew = !article;
  if (isNew) article = newTurn(turn.key);
  article.classList.toggle("busy", turn.busy);
  for (const piece of PIECES) replace(article.querySelector(`.${piece}-piece`), turn[piece]);
  if (isNew) article.scrollIntoView({ block: "start", behavior: calm.matches ? "auto" : "smooth" });
}

function newTurn(key) {
  const article = document.createElement("article");
  article.id = key;
  article.className = "turn";
  for (const piece of PIECES) {
    const part = document.createElement("div");
    part.className = `${piece}-piece`;
    article.append(part);
  }
  log.append(article);
  return article;
}

function replace(part, html) {
  if (part.shownHtml === html) return;
  const open = [...part.querySelectorAll("details[open]")].map((details) => details.closest("li").id);
  const focused = part.contains(document.activeElement) ? document.activeElement.closest("li")?.id : null;
  part.innerHTML = html;
  part.shownHtml = html;
  for (const id of open) document.getElementById(id)?.querySelector("details")?.setAttribute("open", "");
  if (focused) document.getElementById(focused)?.querySelector("summary")?.focus({ preventScroll: true });
  setFormulas(part);
}

// Formulas: source until KaTeX has come, and for good when it is missing or cannot read them.

async function setFormulas(part) {
  const waiting = [...part.querySelectorAll(".math:not(.set)")];
  if (!waiting.length || !props.katex) return;
  katex ??= loadKatex();
  const { render } = (await katex) ?? {};
  if (!render) return;
  for (const span of waiting) if (span.isConnected) setFormula(span, render);
}

function setFormula(span, render) {
  const source = span.textContent;
  const displayMode = span.classList.contains("display");
  const tex = source.slice(displayMode ? 2 : 1, displayMode ? -2 : -1);
  try {
    render(tex, span, { displayMode, throwOnError: true, trust: false, maxExpand: 200, maxSize: 20, strict: false });
    span.title = source;
    span.classList.add("set");
  } catch {
    span.textContent = source;
  }
}

async function loadKatex() {
  const style = document.createElement("link");
  style.rel = "stylesheet";
  style.href = new URL(props.katex_css, document.baseURI).href;
  document.head.append(style);
  try {
    return (await import(new URL(props.katex, document.baseURI).href)).default;
  } catch {
    return null;
  }
}

// A marker opens its reference and shows which words its sentence rests on; Escape leads back to it.

let followed = null;

function follow(marker) {
  const card = document.getElementById(marker.getAttribute("href").slice(1));
  if (!card) return;
  followed = marker;
  card.querySelector("details").open = true;
  card.querySelector("summary").focus({ preventScroll: true });
  reveal(card, light(card, marker.dataset.q ?? ""));
}

// The marks that hold the sentence's own quotes are lit; returns the first of them.
function light(card, keys) {
  for (const mark of log.querySelectorAll("mark.now")) mark.classList.remove("now");
  const wanted = new Set(keys.split(" ").filter(Boolean));
  const marks = [...card.querySelectorAll("mark")];
  const lit = marks.filter((mark) => mark.dataset.q.split(" ").some((key) => wanted.has(key)));
  for (const mark of lit) mark.classList.add("now");
  return lit[0];
}

// The whole card when it fits the window; else from its title on, unless the lit words would stay below.
function reveal(card, lit) {
  const room = innerHeight * 0.75;
  const top = card.getBoundingClientRect().top;
  const behavior = calm.matches ? "auto" : "smooth";
  if (card.offsetHeight < room) card.scrollIntoView({ block: "center", behavior });
  else if (lit && lit.getBoundingClientRect().bottom - top > room) lit.scrollIntoView({ block: "center", behavior });
  else card.scrollIntoView({ block: "start", behavior });
}

document.addEventListener("keydown", (event) => {
  const inside = event.target.closest?.("li.card");
  if (event.key !== "Escape" || !inside || !followed?.isConnected) return;
  inside.querySelector("details").open = false;
  followed.focus({ preventScroll: true });
  followed.scrollIntoView({ block: "center", behavior: calm.matches ? "auto" : "smooth" });
});

document.addEventListener("click", (event) => {
  const marker = event.target.closest?.("a.cite");
  if (marker && log.contains(marker)) {
    event.preventDefault();
    follow(marker);
    return;
  }
  const chip = event.target.closest?.("[data-question]");
  if (root.classList.contains("fn-busy")) return;
  if (chip) trigger("submit", { question: chip.dataset.question, free: "free" in chip.dataset });
  if (event.target.closest?.("[data-restart]")) trigger("clear");
});

watch("value", () => show(props.value || []));
show(props.value || []);

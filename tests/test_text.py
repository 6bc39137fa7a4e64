"""The shown text, the searched text and the words: tables of cases, then every kind of damage at random."""

from __future__ import annotations

import gzip
import json
import random
from itertools import islice
from pathlib import Path

import pytest

from rag.text import formulas, searched, shown, words

ABSTRACTS = Path(__file__).parents[2] / "shared" / "data" / "ml_abstracts" / "ml_nlp_big.jsonl.gz"

SHOWN = [
    # white space, control characters
    ("one\n\ntwo\r\n\tthree\u00a0four", "one two three four"),
    ("a\x00b\x07c\u200bd\ufeff e\u00adf", "abcd ef"),
    ("half a pair \ud835 here", "half a pair \ufffd here"),
    ("cafe\u0301", "café"),
    # HTML
    ("<p>We study <i>E. coli</i>.</p><p>Next.</p>", "We study E. coli. Next."),
    ("<jats:p>H<jats:sub>2</jats:sub>O</jats:p>", "H2O"),
    ("10<sup>-5</sup> m<sup>2</sup> 1<sup>st</sup>", "10^-5 m^2 1st"),
    ("a &lt; b &amp; c &gt; d", "a < b & c > d"),
    ("a < b and c > d", "a < b and c > d"),
    ("a <b and c> d", "a <b and c> d"),
    ("the <image> and <s> tokens", "the <image> and <s> tokens"),
    ("&amp;lt;b&amp;gt;bold&amp;lt;/b&amp;gt;", "bold"),
    ('see <a href="http://x.org">here</a><!-- no -->', "see here"),
    ("AT&T and R&D; &nosuch; x", "AT&T and R&D; &nosuch; x"),
    # Markdown
    ("*fully rational* and **x** and _y_ and __z__", "fully rational and x and y and z"),
    ("snake_case_name and 2*3*4 and a * b * c", "snake_case_name and 2*3*4 and a * b * c"),
    ("p<0.05*, q<0.01**, A* search", "p<0.05*, q<0.01**, A* search"),
    ("**steering Hessian**, _the matrix, of some vector_.", "steering Hessian, the matrix, of some vector."),
    ("用**方法**强调", "用方法强调"),
    ("`code` and [a link](https://x.org/a_b_c)", "code and a link (https://x.org/a_b_c)"),
    ("at https://x.org/_a_/~me--x", "at https://x.org/_a_/~me--x"),
    ("**M**ulti-agent **R**L", "Multi-agent RL"),
    ("[https://x.org/a](https://x.org/a)", "https://x.org/a"),
    # LaTeX in prose
    (r"\emph{post-hoc \textbf{de-centering}} and {\em it}", "post-hoc de-centering and it"),
    (r"as shown~\cite{a,b} in \citep[see][p. 2]{c} work", "as shown in work"),
    (r"A claim.\footnote{With a note.} Next", "A claim. Next"),
    (r"code at \url{https://x.org/a_b} and \href{https://y.org}{there}", "code at https://x.org/a_b and there"),
    ("``quoted'' and `single' but don't", "“quoted” and ‘single’ but don't"),
    ("\"Spectral Bias,'' i.e.", '"Spectral Bias," i.e.'),
    ("1--2 and firms-- often, loss---in part", "1–2 and firms– often, loss—in part"),
    ("run it with --verbose", "run it with --verbose"),
    (r"P\'erez, Erd\H{o}s, S\o ren, na\"{\i}ve, \v{S}ev\v{c}\'{\i}k", "Pérez, Erdős, Søren, naïve, Ševčík"),
    (r"don\'t drop 20\% of \$5 \& more \_ and \#1", "don't drop 20% of $5 & more _ and #1"),
    (r"\emph{(i)}~Thirty agents; ~5 and Table~1", "(i) Thirty agents; ~5 and Table 1"),
    (r"our \HSDAN{} beats \vrpda, \ie all", "our HSDAN beats vrpda, i.e. all"),
    (r"\begin{itemize}\item one \item two\end{itemize}", "one two"),
    (r"First line.\nWe propose", "First line. We propose"),
    (r"by \rthree{typhoons}, Gau{\ss}, d {\texttimes} d, {a}", "by typhoons, Gauß, d × d, {a}"),
    # formulas
    (r"with $\ell_2$ and $$a^2$$ and \(b\) and \[ c \]", r"with $\ell_2$ and $a^2$ and $b$ and $c$"),
    (r"$a_i * b_i$ and $x--y$ and $f''$", r"$a_i * b_i$ and $x--y$ and $f''$"),
    ("rate $ s = o(n) $ holds", "rate $s = o(n)$ holds"),
    (r"$\textbf{Score Kalman Filter}$ (SKF)", "Score Kalman Filter (SKF)"),
    (r"4$\times$ and 3$\%$", r"4$\times$ and 3$\%$"),
    ("$a &lt; b$", "$a < b$"),
    (r"\begin{equation} x = 1 \end{equation} holds", "$x = 1$ holds"),
    (r"256$\times$256 and $8-32\times$ and $1-1/\epsilon$", r"256$\times$256 and $8-32\times$ and $1-1/\epsilon$"),
    ("between $5-$10 a month", "between $5-$10 a month"),
    ("It costs $5 and $10, or US$3.", "It costs $5 and $10, or US$3."),
    ("from $50 bug fixes to $32000 features", "from $50 bug fixes to $32000 features"),
    ("under $20 USD, but $n$ queries", "under $20 USD, but $n$ queries"),
]  # fmt: skip


@pytest.mark.parametrize(("raw", "expected"), SHOWN)
def test_shown(raw: str, expected: str) -> None:
    assert shown(raw) == expected


@pytest.mark.parametrize(("raw", "_expected"), SHOWN)
def test_shown_is_idempotent(raw: str, _expected: str) -> None:
    assert shown(shown(raw)) == shown(raw)


PIECES = [
    "$", "$$", "\\", "\\\\", "\\(", "\\)", "\\[", "\\]", "{", "}", "*", "**", "_", "__", "`", "``", "''",
    "'", "--", "---", "~", "<", ">", "<i>", "</i>", "<sup>2</sup>", "&lt;", "&amp;", "&amp;lt;", "&#36;",
    "\\emph{", "\\cite{x}", "\\'e", "\\alpha", "\\frac{a}{b}", "\\begin{align}", "\\end{align}", "\\ell_2",
    "\\text{", "\\$", "\\%", "\\_", " ", "\n", "\n\n", "word", "Word", "x", "5", "10", ",", ".", "(", ")",
    "[", "](", "https://x.org/a_b", "é", "e\u0301", "ε", "Σ", "\u03a2", "\u0000", "\ue000", "\ue0010\ue001",
    "\ud800", "方法", "→", "≤", "²", "# ", "\ufeff", "\u200b", "%",
]  # fmt: skip


def test_random_damage_never_raises_and_shown_stays_idempotent() -> None:
    chosen = random.Random(7)  # noqa: S311 – a test's damage, not a secret
    for _ in range(2000):
        raw = "".join(chosen.choices(PIECES, k=chosen.randint(1, 25)))
        once = shown(raw)
        assert shown(once) == once, raw
        assert "\n" not in once
        words(searched(raw))
        for start, end in formulas(once):
            assert once[start] == once[end - 1] == "$"


SEARCHED = [
    (r"trained with $\ell_2$-regularized loss", "trained with l2-regularized loss"),
    (r"$R^2{>}0.97$ by about $4{\times}$", "R^2 > 0.97 by about 4x"),
    (r"up to 12$\times$ (median 4×)", "up to 12x (median 4x)"),
    (r"$p < 10^{-56}$ and 10⁻⁵⁶", "p < 10^-56 and 10^-56"),
    (r"$\epsilon$-greedy, ε-greedy and rounds$\tau$", "epsilon-greedy, epsilon-greedy and rounds tau"),
    (r"$\mathcal{O}(n\log n)$, $\tilde{O}(\sqrt{T})$", "O(n log n), O( sqrt(T))"),
    (r"$\tfrac12$ and $\frac{a}{b}$", "1/2 and a/b"),
    (r"$n \le 4$, $9.38 \to 2.62$", "n <= 4, 9.38 -> 2.62"),
    ("“quoted” models—like ﬁne LLMs", '"quoted" models - like fine LLMs'),
    ("the 53–100% range", "the 53-100% range"),
    ("Η γάτα είναι μαύρη", "Η γάτα είναι μαύρη"),
    ("It costs $5 and $10", "It costs $5 and $10"),
    ("plain text", "plain text"),
]


@pytest.mark.parametrize(("text", "expected"), SEARCHED)
def test_searched(text: str, expected: str) -> None:
    assert searched(text) == expected


WORDS = [
    ("", ()),
    ("The State-Prediction separation", ("the", "state", "prediction", "separation")),
    ("57,240 threads, 0.97 and 3,5", ("57240", "threads", "0.97", "and", "3", "5")),
    ("GPT-4o", ("gpt", "4o", "gpt4o")),
    ("CIFAR-100 snake_case", ("cifar", "100", "cifar100")[:3] + ("snake", "case")),
    ("Llama-3.1-8B", ("llama", "3.1", "8b", "llama3.1")),
    ("R^2 > 0.97", ("r2", "0.97")),
    ("Stein's identity isn't naïve", ("stein", "identity", "isnt", "naive")),
    ("机器学习 x 的", ("机器", "器学", "学习", "x", "的")),
    ("한국어 テスト", ("한국", "국어", "テス", "スト")),
    ("e.g. U.S.", ("e", "g", "u", "s")),
]


@pytest.mark.parametrize(("text", "expected"), WORDS)
def test_words(text: str, expected: tuple[str, ...]) -> None:
    assert words(text) == expected


def test_what_is_typed_meets_what_is_written() -> None:
    for typed, written in [
        ("l2 regularized", r"$\ell_2$-regularized"),
        ("R2", "$R^2$"),
        ("r²", "$R^{2}$"),
        ("epsilon greedy", r"$\varepsilon$-greedy"),
        ("GPT4o", "GPT-4o"),
        ("Erdos", r"Erd\H{o}s"),
    ]:
        assert set(words(searched(typed))) <= set(words(searched(written))), (typed, written)


@pytest.mark.skipif(not ABSTRACTS.exists(), reason="the shared abstracts are not on this machine")
def test_real_abstracts_lose_no_text() -> None:
    with gzip.open(ABSTRACTS, "rt", encoding="utf-8") as lines:
        abstracts = [json.loads(line)["abstract"] for line in islice(lines, 0, None, 30)]
    for abstract in abstracts:
        once = shown(abstract)
        assert shown(once) == once
        assert words(searched(once))
        assert len(once.split()) >= 0.9 * len(abstract.split()), abstract

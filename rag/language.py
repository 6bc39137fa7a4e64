"""Tells in which language a text is, as an ISO 639-1 code, and says in it that the abstracts do not answer.

Scripts other than Latin are told by their letters; Latin ones by the commonest words, and where these do not decide,
by py3langid, a naive Bayes classifier over n-grams of bytes (Lui & Baldwin 2012). Where little speaks for another
language, a text is English: a name or a formula must never make a question foreign. No paper, index or LLM is known
here.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from math import log
from typing import Protocol

from rag.text import formulas

_MOST = 2000  # characters that are looked at
_NAMES = {
    "ar": "Arabic", "be": "Belarusian", "bg": "Bulgarian", "bn": "Bengali", "ca": "Catalan", "cs": "Czech",
    "da": "Danish", "de": "German", "el": "Greek", "en": "English", "es": "Spanish", "et": "Estonian",
    "fa": "Persian", "fi": "Finnish", "fr": "French", "he": "Hebrew", "hi": "Hindi", "hr": "Croatian",
    "hu": "Hungarian", "hy": "Armenian", "id": "Indonesian", "it": "Italian", "ja": "Japanese", "ka": "Georgian",
    "ko": "Korean", "lt": "Lithuanian", "lv": "Latvian", "mk": "Macedonian", "mr": "Marathi", "ne": "Nepali",
    "nl": "Dutch", "no": "Norwegian", "pl": "Polish", "pt": "Portuguese", "ro": "Romanian", "ru": "Russian",
    "sk": "Slovak", "sl": "Slovenian", "sr": "Serbian", "sv": "Swedish", "ta": "Tamil", "te": "Telugu",
    "th": "Thai", "tr": "Turkish", "uk": "Ukrainian", "ur": "Urdu", "vi": "Vietnamese", "zh": "Chinese",
}  # fmt: skip
_ABSTENTIONS = {
    "ar": "لا تذكر الملخصات ذلك.",
    "cs": "Abstrakty to neuvádějí.",
    "da": "Det fremgår ikke af resuméerne.",
    "de": "Das geht aus den Abstracts nicht hervor.",
    "el": "Οι περιλήψεις δεν το αναφέρουν.",
    "en": "The abstracts don't say.",
    "es": "Los resúmenes no lo dicen.",
    "fa": "چکیده‌ها چیزی در این باره نمی‌گویند.",
    "fr": "Les résumés ne le disent pas.",
    "he": "התקצירים אינם אומרים זאת.",
    "hi": "सारांशों में यह नहीं बताया गया है।",
    "id": "Abstrak-abstrak ini tidak menyebutkannya.",
    "it": "Gli abstract non lo dicono.",
    "ja": "要旨には書かれていません。",
    "ko": "초록에는 그 내용이 나와 있지 않습니다.",
    "nl": "Dat staat niet in de samenvattingen.",
    "pl": "Streszczenia o tym nie mówią.",
    "pt": "Os resumos não dizem isso.",
    "ru": "В аннотациях об этом не говорится.",
    "sv": "Det framgår inte av sammanfattningarna.",
    "tr": "Özetlerde bu belirtilmiyor.",
    "uk": "В анотаціях про це не йдеться.",
    "vi": "Các bản tóm tắt không nói điều đó.",
    "zh": "摘要中没有说明。",
}

# Letters of a script, the language that it stands for, and how many Latin letters one of its letters is worth.
_SCRIPTS = tuple(
    (code, re.compile(f"[{letters}]"), worth)
    for code, letters, worth in (
        ("zh", "\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff", 3),
        ("ja", "\u3041-\u30fa\u30fc-\u30ff\uff66-\uff9d", 3),
        ("ko", "\uac00-\ud7af\u1100-\u11ff\u3131-\u318e", 3),
        ("ru", "\u0400-\u052f", 1),
        ("ar", "\u0620-\u06ff\u0750-\u077f\ufb50-\ufdff\ufe70-\ufefc", 1),
        ("he", "\u05d0-\u05ea", 1),
        ("hi", "\u0900-\u097f", 1),
        ("bn", "\u0980-\u09ff", 1),
        ("ta", "\u0b80-\u0bff", 1),
        ("te", "\u0c00-\u0c7f", 1),
        ("th", "\u0e01-\u0e5b", 1),
        ("ka", "\u10a0-\u10ff", 1),
        ("hy", "\u0531-\u0587", 1),
        ("el", "\u0370-\u03ff\u1f00-\u1fff", 1),
    )
)
# A question may hold many a Latin name; one that says English words around a foreign one is English.
_SHARE, _AMID_ENGLISH = 0.15, 0.45
_GREEK_WORD = re.compile("[\u0370-\u03ff\u1f00-\u1fff]{3}")  # prose, not symbols
_RELATED = {"ru": ("ru", "uk", "be", "bg", "sr", "mk"), "ar": ("ar", "fa", "ur"), "hi": ("hi", "mr", "ne")}

_ADDRESS = re.compile(r"https?://\S+")
_LATIN = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_ENGLISH = frozenset(
    "the what which how does do did why who whose when where with from that this these those are were been has have"
    " had and for of is it its by than then their they there can could would should between any all be into about"
    " explain describe compare list show tell find give you your we our many much most".split()
)
# Common words, and such as questions begin with, that are neither English nor parts of names.
_COMMON = {
    code: frozenset(words.split())
    for code, words in {
        "ca": "què quins quin quina quines amb dels els una són aquest aquesta per què més és",
        "cs": "jak jaký jaká jaké která který které co proč kolik je jsou se pro při nebo mezi podle kdo kde než"
        " vysvětli porovnej k",
        "da": "hvad hvilken hvilke hvilket hvordan hvorfor hvor mange og ikke er det af til med mellem bruges",
        "de": "die das den dem des ein eine einen einem einer ist sind wird werden wurde wurden was wie wer wo"
        " welche welcher welches welchen welchem warum wieso weshalb wieviel viele und oder nicht mit von für bei auf"
        " zu zum zur im aus nach über zwischen gibt es sich kann hat haben beim als auch"
        " nenne erkläre vergleiche bitte man",
        "es": "qué que cuál cual cuáles cuales cómo como cuánto cuántos cuántas por las una es son"
        " para con quién dónde entre según se más sobre está hay y explica compara",
        "et": "mis milline millised kuidas miks kui palju ja ei kes kus või ning oma",
        "fi": "mikä mitä mitkä miten miksi kuinka moni monta ovat ja ei kuka missä sekä tai kuin joka selitä vertaa",
        "fr": "quel quelle quels quelles combien comment pourquoi que qu'est qu'est-ce est sont des une dans avec"
        " pour par sur qui quoi où du au aux ce cette entre été elle y c'est d'un d'une l'on explique",
        "hr": "što koji koja koje kako zašto koliko je su se od za na ili između kao nije ima",
        "hu": "mi mit milyen melyik hogyan hogy miért hány mennyi az egy és nem volt között vagy szerint mely",
        "id": "apa apakah bagaimana mengapa berapa yang dan dari untuk dengan pada adalah ini itu tidak siapa mana"
        " jelaskan bandingkan",
        "it": "che cosa cos'è quale quali qual quanti quante quanto come perché è sono gli della delle dei degli"
        " nel nella con chi dove tra una un lo si viene più spiega confronta",
        "lt": "kas kaip kodėl kiek kuris kuri kokie koks yra ir ne iš su arba tarp",
        "lv": "kas kā kāpēc cik kurš kura kādi kāds ir un ne ar vai starp",
        "nl": "wat is welke welk hoe waarom wie waar hoeveel het een en voor met zijn niet worden wordt werd tussen"
        " dat er uit bij naar heeft zonder die vergelijk noem",
        "no": "hva hvilken hvilke hvilket hvordan hvorfor hvor mange og ikke er det av til med mellom brukes som",
        "pl": "co jak jaki jaka jakie który która które dlaczego ile jest są się nie z ze dla od przez między kto"
        " gdzie czy oraz czym w wyjaśnij porównaj",
        "pt": "que qual quais como quantos quantas quanto porque porquê é são os as uma um da do das dos para com"
        " quem onde entre não mais pela pelo o explique existem há",
        "ro": "ce care cum câte cât câți este sunt și din pentru cu sau între cine unde nu mai cel",
        "sk": "čo aký aká aké ktorý ktorá ktoré ako prečo koľko je sú sa pre pri alebo medzi kto kde než",
        "sl": "kaj kateri katera katere kako zakaj koliko je so se za pri ali med kdo kje kot iz",
        "sv": "vad vilken vilka vilket hur varför många och inte är det den av till med mellan som används för vem"
        " förklara jämför",
        "tr": "ne nedir nasıl neden niçin hangi kaç kim nerede ve ile için bir mi mı mu mü midir arasında olan"
        " açıkla karşılaştır",
        "vi": "là gì nào thế như tại sao bao nhiêu và của các những không có được cho với trong",
    }.items()
}
# Probabilities as py3langid gives them. Of 38,000 runs of 3 to 6 words from titles of English papers none
# reached 0.9 for another language; of questions in others without any common word two thirds did.
_CERTAIN, _ENGLISH_AT_MOST = 0.9, 0.2
_FEW = 3  # words; with fewer, one of the common words must be among them


class _Classifier(Protocol):
    def rank(self, text: str) -> list[tuple[str, float]]: ...


def name_of(code: str) -> str:
    """A language's name in English, for prompts and notices; the code itself when it has none here."""
    return _NAMES.get(code, code)


def abstention_in(code: str) -> str:
    """The sentence that says that the abstracts do not answer, in a language; English for those not known."""
    return _ABSTENTIONS.get(code, _ABSTENTIONS["en"])


def abstentions() -> tuple[str, ...]:
    """That sentence in every language that has it."""
    return tuple(_ABSTENTIONS.values())


def language_of(text: str) -> str:
    """The text's language; "en" where it is unsure, "" where there are no letters."""
    text = _ADDRESS.sub(" ", text[:_MOST])
    for start, end in reversed(tuple(formulas(text))):
        text = text[:start] + " " + text[end:]
    words = [word.casefold() for word in _LATIN.findall(text) if word[0] < "\u0370" or "\u1e00" <= word[0] < "\u1f00"]
    if other := _other_script(text, words):
        return other
    return _latin(text, words) if words else ""


def is_latin(code: str) -> bool:
    """Whether a language known here is written in Latin letters."""
    return code == "en" or code in _COMMON


def corpus_language(texts: Iterable[str]) -> str:
    """The language of most of the texts, "" when there are none."""
    found = Counter(code for text in texts if (code := language_of(text)))
    return found.most_common(1)[0][0] if found else ""


def _other_script(text: str, words: Sequence[str]) -> str:
    """The language of a script other than Latin, when enough of the text is in it; "" otherwise."""
    found = {code: worth * len(letters.findall(text)) for code, letters, worth in _SCRIPTS}
    if not _GREEK_WORD.search(text):
        found["el"] = 0
    kana = found["ja"]
    if kana:
        found["ja"], found["zh"] = (kana + found["zh"], 0) if kana >= 0.1 * found["zh"] else (0, found["zh"])
    best = max(found, key=lambda code: found[code])
    least = _AMID_ENGLISH if _count(words, _ENGLISH) > 1 else _SHARE
    if not found[best] or found[best] < least * (sum(found.values()) + sum(map(len, words))):
        return ""
    if best not in _RELATED:
        return best
    letters = next(letters for code, letters, _ in _SCRIPTS if code == best)
    alone = " ".join("".join(letters.findall(word)) for word in text.split())
    likeliest, sure = max(_odds(alone, _RELATED[best]).items(), key=lambda row: row[1])
    return likeliest if sure >= 0.8 else best


def _latin(text: str, words: Sequence[str]) -> str:
    english = _count(words, _ENGLISH) + 2 * (words[0] in _ENGLISH)  # "Does it understand “Was ist das?”"
    common = {code: _count(words, those) for code, those in _COMMON.items()}
    if len(words) < 2 or (english and english > max(common.values())):
        return "en"
    odds = _odds(text, ("en", *_COMMON))
    best = max(common, key=lambda code: common[code] + log(max(odds[code], 1e-9)))
    by_words = common[best] > english and odds["en"] <= _ENGLISH_AT_MOST
    if by_words:
        return best
    # The letters of "Erdős–Rényi" say where the men came from, not what language the question is in.
    plain = [word for word in _LATIN.findall(text) if word.isascii() or word.islower()]
    by_letters = len(plain) >= _FEW and not english and _odds(" ".join(plain), ("en", *_COMMON))[best] >= _CERTAIN
    return best if by_letters else "en"


def _count(words: Sequence[str], those: Collection[str]) -> int:
    return sum(word in those for word in words)


def _odds(text: str, codes: Sequence[str]) -> dict[str, float]:
    """How likely each of the languages is, when it is one of them."""
    found = {code: p for code, p in _classifier().rank(text) if code in codes}
    total = sum(found.values())
    return {code: found.get(code, 0.0) / total if total else 1 / len(codes) for code in codes}


@lru_cache(maxsize=1)
def _classifier() -> _Classifier:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier  # noqa: PLC0415 - loading it takes half a second

    made: _Classifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    return made

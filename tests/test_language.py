"""Languages told apart: no English question is foreign, and few foreign ones are English."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from rag.language import abstention_in, abstentions, corpus_language, is_latin, language_of, name_of
from rag.load import load_papers
from rag.prompt import ABSTENTION
from rag.sample import sample_path

EVAL = Path(__file__).parents[1] / "eval" / "data"
FOREIGN = {
    "de": [
        "Welcher Filter vermeidet die Zustandssumme?",
        "Wie viele Repositorien hat die Studie untersucht?",
        "Was ist Adam?",
        "Worin unterscheiden sich BERT und RoBERTa?",
        "Warum sind neuronale Netze so schwer zu trainieren?",
        "Gibt es Arbeiten über Sprachmodelle für Gesetze seit 2024?",
        "Und die Genauigkeit?",
        "Wofür braucht man Regularisierung?",
        "Nenne drei Methoden gegen Überanpassung",
        "Verglichen mit SGD, wie schnell konvergiert Adam?",
        "Erkläre bitte Aufmerksamkeit in Transformern",
    ],
    "fr": [
        "Quel filtre évite la fonction de partition ?",
        "Combien de dépôts MCP l'étude a-t-elle examinés ?",
        "Qu'est-ce que le Score Kalman Filter ?",
        "Pourquoi les réseaux quantiques sont-ils difficiles à entraîner ?",
        "Quels articles parlent d'agents LLM ?",
        "Comment fonctionne Adam ?",
        "À quoi sert la régularisation ?",
        "Cite trois méthodes contre le surapprentissage",
        "Explique l'attention dans les transformeurs",
        "Donne-moi des articles sur la robustesse",
    ],
    "es": [
        "¿Qué filtro evita la función de partición?",
        "¿Cuántos repositorios MCP examinó el estudio?",
        "Que es Adam?",
        "¿Por qué es difícil entrenar redes neuronales cuánticas?",
        "¿Cuál es la diferencia entre BERT y RoBERTa?",
        "¿Para qué sirve la regularización?",
        "Explica la atención en los transformadores",
        "Dame artículos sobre robustez",
        "¿Funciona mejor que SGD?",
    ],
    "it": [
        "Quale filtro evita la funzione di partizione?",
        "Quanti repository MCP ha esaminato lo studio?",
        "Che cosa è Adam?",
        "Perché le reti neurali quantistiche sono difficili da addestrare?",
        "Come funziona il filtro di Kalman?",
        "A cosa serve la regolarizzazione?",
        "Spiega l'attenzione nei transformer",
        "Ci sono articoli sulla robustezza?",
    ],
    "pt": [
        "Qual filtro evita a função de partição?",
        "Quantos repositórios MCP o estudo examinou?",
        "O que é Adam?",
        "Por que as redes neurais quânticas são difíceis de treinar?",
        "Para que serve a regularização?",
        "Explique a atenção nos transformadores",
        "Existem artigos sobre robustez?",
    ],
    "nl": [
        "Welk filter vermijdt de partitiefunctie?",
        "Hoeveel repositories heeft de studie onderzocht?",
        "Waarom zijn kwantumnetwerken moeilijk te trainen?",
        "Waarvoor dient regularisatie?",
        "Leg aandacht in transformers uit",
        "Zijn er artikelen over robuustheid?",
    ],
    "sv": [
        "Vilket filter undviker partitionsfunktionen?",
        "Hur många förråd undersökte studien?",
        "Vad är Adam?",
        "Finns det artiklar om robusthet?",
    ],
    "da": [
        "Hvilket filter undgår partitionsfunktionen?",
        "Hvor mange arkiver undersøgte studiet, og hvad fandt det?",
    ],
    "no": [
        "Hvilket filter unngår partisjonsfunksjonen?",
        "Hvorfor er kvantenettverk vanskelige å trene?",
    ],
    "pl": [
        "Który filtr unika funkcji podziału?",
        "Ile repozytoriów zbadano w tym badaniu?",
        "Co to jest Adam?",
        "Wyjaśnij mechanizm uwagi w transformerach",
    ],
    "cs": [
        "Který filtr se vyhne partiční funkci?",
        "Kolik repozitářů studie zkoumala?",
        "Co je Adam?",
        "K čemu slouží regularizace?",
    ],
    "hu": [
        "Melyik szűrő kerüli el az állapotösszeget?",
        "Hány tárolót vizsgált a tanulmány?",
        "Magyarázd el a figyelmet a transzformerekben",
    ],
    "ro": [
        "Care filtru evită funcția de partiție?",
        "Câte depozite a examinat studiul?",
    ],
    "fi": [
        "Mikä suodatin välttää tilasumman?",
        "Kuinka monta arkistoa tutkimus kävi läpi?",
        "Selitä huomiomekanismi muuntajissa",
    ],
    "tr": [
        "Hangi filtre bölüşüm fonksiyonundan kaçınır?",
        "Çalışma kaç depo inceledi?",
        "Adam nedir?",
        "Düzenlileştirme ne işe yarar?",
        "Dönüştürücülerde dikkati açıkla",
    ],
    "vi": [
        "Bộ lọc nào tránh được hàm phân hoạch?",
        "Nghiên cứu đã xem xét bao nhiêu kho mã?",
        "Chính quy hóa dùng để làm gì?",
    ],
    "id": [
        "Filter mana yang menghindari fungsi partisi?",
        "Berapa banyak repositori yang diteliti?",
        "Jelaskan mekanisme perhatian pada transformer",
    ],
    "zh": [
        "哪种滤波器避免了配分函数？",
        "Adam 是什么？",
        "Score Kalman Filter 和 Unscented Kalman Filter 有什么区别？",
        "论文 Attention Is All You Need 提出了什么方法？",
        "$\\alpha$-散度与 β-VAE 有何关系？",
        "為什麼量子神經網路難以訓練？",
    ],
    "ja": [
        "分配関数を避けるフィルタはどれですか？",
        "Adam とは何ですか？",
        "その研究は MCP リポジトリをいくつ調べましたか？",
    ],
    "ko": [
        "분배 함수를 피하는 필터는 무엇입니까?",
        "Adam이 뭐예요?",
        "그 연구는 MCP 저장소를 몇 개나 조사했나요?",
    ],
    "ru": [
        "Какой фильтр избегает статистической суммы?",
        "Что такое Adam?",
        "Сколько репозиториев MCP изучили авторы?",
        "Объясни внимание в трансформерах",
    ],
    "uk": [
        "Який фільтр уникає статистичної суми?",
        "Скільки репозиторіїв вивчили в цьому дослідженні?",
    ],
    "bg": [
        "Кой филтър избягва статистическата сума и защо това е важно?",
    ],
    "ar": [
        "أي مرشح يتجنب دالة التقسيم؟",
        "ما هو Adam؟",
    ],
    "fa": [
        "کدام فیلتر از تابع پارش اجتناب می‌کند؟",
        "این پژوهش چند مخزن را بررسی کرده است؟",
    ],
    "he": [
        "איזה מסנן נמנע מפונקציית החלוקה?",
        "מה זה Adam?",
    ],
    "hi": [
        "कौन सा फ़िल्टर विभाजन फलन से बचता है?",
        "Adam क्या है?",
    ],
    "el": [
        "Ποιο φίλτρο αποφεύγει τη συνάρτηση επιμερισμού;",
        "Τι είναι το β-VAE;",
    ],
    "th": [
        "ตัวกรองใดหลีกเลี่ยงฟังก์ชันพาร์ทิชัน",
    ],
}
# Names, formulas, mistakes and foreign words in English questions, and questions of a word or two.
ENGLISH = [
    "What is Adam?",
    "GPT-4o mini accuracy?",
    "BERT vs RoBERTa",
    "Wasserstein GAN",
    "Adam",
    "Attention is all you need",
    "Nesterov",
    "β-VAE?",
    "β-VAE",
    "What is β-VAE?",
    "Fréchet inception distance",
    "Rényi divergence",
    "What does 注意力 mean in this paper?",
    "Langevin Monte Carlo",
    "Cramér-Rao bound",
    "de novo protein design",
    "La Jolla",
    "Erdős–Rényi random graphs",
    "Poincaré embeddings",
    "van der Waals forces",
    "in vivo vs in vitro",
    "ad hoc retrieval",
    "Hölder continuity",
    "naive Bayes?",
    "Itô calculus",
    "Kullback-Leibler divergence",
    "Lévy flights",
    "Gaussian mixture",
    "LLM-Agenten?",
    "quantom nueral nets lern waht frist??",
    "and the accuracy?",
    "Why?",
    "Total variation",
    "Monte Carlo tree search",
    "Bidirectional transformer encoders pretrained",
    "Mamba",
    "Who is Müller?",
    "Schrödinger bridge matching",
    "arXiv 2024 diffusion",
    "Łukasiewicz logic",
    "El Niño prediction",
    "Sao Paulo air quality",
    "Los Angeles traffic data",
    "data in Les Houches",
    "Señorita dataset",
    "Tiếng Việt benchmark",
    "Hindi-English machine translation",
    "Does GPT-4o understand 'Was ist das?'",
    'Which model handles German "der" and "die"?',
]


@pytest.mark.parametrize(("code", "question"), [(code, q) for code, asked in FOREIGN.items() for q in asked])
def test_a_question_in_another_language_is_told(code: str, question: str) -> None:
    assert language_of(question) == code
    assert name_of(code) != code
    assert is_latin(code) == (code not in {"zh", "ja", "ko", "ru", "uk", "bg", "ar", "fa", "he", "hi", "el", "th"})


@pytest.mark.parametrize("question", ENGLISH)
def test_an_english_question_is_english(question: str) -> None:
    assert language_of(question) == "en"


def test_no_question_of_the_harness_is_foreign() -> None:
    asked = [
        str(json.loads(line)["question"])
        for file in sorted(EVAL.glob("*.jsonl"))
        for line in file.read_text("utf-8").splitlines()
    ]
    assert len(asked) > 1500
    assert [question for question in asked if language_of(question) != "en"] == []


@pytest.mark.parametrize("text", ["", "?!", "2019.", "🤖🔥", "$\\alpha\\beta\\gamma$", "α β γ δ", "\ud800"])
def test_without_letters_there_is_no_telling(text: str) -> None:
    assert language_of(text) == ""


def test_a_long_text_takes_no_longer_than_its_beginning() -> None:
    assert language_of("哪种滤波器避免了配分函数？" * 200 + "What is it about? " * 10_000) == "zh"


def test_the_language_of_papers_is_that_of_most() -> None:
    assert corpus_language(paper.abstract for paper in load_papers([sample_path()])) == "en"
    assert (
        corpus_language(["Der Filter wird für große Netze benutzt.", "Das ist ein Netz und es lernt.", "A net."])
        == "de"
    )
    assert corpus_language(["2019", ""]) == corpus_language(()) == ""


def test_the_abstention_is_said_in_many_languages() -> None:
    assert abstention_in("en") == abstention_in("") == abstention_in("xx") == ABSTENTION
    assert len(set(abstentions())) == len(abstentions()) >= 12
    assert abstention_in("zh") in abstentions()
    assert abstention_in("zh") != ABSTENTION


def test_plain_english_does_without_the_classifier() -> None:
    code = (
        "import sys; from rag.language import language_of;"
        " print(language_of('Which filter is the best?'), 'py3langid' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=EVAL.parents[1])
    assert done.stdout.split() == ["en", "False"]

"""English words sorted by what they do to a title; for labels, and known to nothing else."""

from __future__ import annotations

__all__ = [
    "ADJECTIVE_ENDS",
    "ALSO_NOUNS",
    "COMMON_ACRONYMS",
    "DETERMINERS",
    "DULL",
    "EMPTY_ENDS",
    "EMPTY_STARTS",
    "FILLERS",
    "FUNCTION_WORDS",
    "HARD_STOPS",
    "LOOSE",
    "PREPOSITIONS",
    "QUESTION_WORDS",
    "VAGUE",
    "VERBS",
]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


DETERMINERS = _words("""
    a an the our this these those its their some several two three four both one each any such
""")
# Praise and sequence words that a title goes without.
FILLERS = _words("""
    novel new simple simpler general generic principled innovative effective practical first yet unified various
    powerful promising elegant flexible straightforward versatile alternative formal different comprehensive
    systematic natural original rigorous thorough detailed conceptually and but surprisingly highly newly
    extremely very more also then further here now only important
""")
PREPOSITIONS = _words("""
    of for in with on under via using by from over through at across between to into as without within toward
    towards against among beyond based inspired during upon about per like given after before
""")
# A noun phrase does not go on past these.
HARD_STOPS = _words("""
    that which who whose whom where when while whereby wherein because since if whether so but is are was were be
    been can could may might will would should must has have had do does did not we they it i and/or thus hence
    thereby then e.g i.e namely including such called named termed dubbed coined referred known aimed aiming
    allowing enabling designed tailored capable able leading resulting achieving leveraging requiring there here
    however
""")
QUESTION_WORDS = _words("how what why")
FUNCTION_WORDS = DETERMINERS | PREPOSITIONS | HARD_STOPS | QUESTION_WORDS | _words("and or nor than either also")
VERBS = _words("""
    achieve achieves address allow allows analyze analyse apply applies argue provide provides prove proves show
    shows establish establishes demonstrate derive develop discuss identify introduce investigate obtain offer
    offers outperform outperforms present propose characterize give gives improve improves enable enables learn
    learns use uses employ employs explore exploit study evaluate compare design describe reveal reveals find
    finds yields yield observe extend extends consider capture captures make makes require requires remain remains
    become becomes lead leads play plays rely relies suffer suffers tend help helps reduce reduces aim aims
    perform performs exhibit exhibits experience hold holds exist exists seek seeks arise arises combine combines
""")
ALSO_NOUNS = _words("design experience exploit find help learn make present reveal study use yield")
# They point at something that a title does not hold.
VAGUE = _words("this these those our their its it such we they i")
# They lead on to something; a phrase that is cut after them is no phrase.
LOOSE = _words("most least built well likely applicable able unlike same recently not")
EMPTY_ENDS = _words("""
    assumption assumptions condition conditions case cases setting settings fact sense way
""")
EMPTY_STARTS = _words("""
    effectiveness efficacy challenge challenges issue issues problems lapse steps extension extending reach
    applications experiments experimental empirical extensive code superiority impact role compelling limitations
    gap answers proposed previous following question same unstudied applying shortcomings increase unseen study
    setting main significant intriguing
""")
# Every other abstract has them: they tell no paper from another.
DULL = _words("""
    method methods approach approaches framework frameworks model models algorithm algorithms problem problems
    paper work result results analysis technique techniques way system systems data set theory study task tasks
    learning idea information question setting methodology suite family class protocol benchmark dataset
    architecture strategy scheme procedure solution network empirical extensive experiments experiment simulations
    findings evidence theoretical code comparison experimental numerical insights guarantees applications
    application steps direction version variant conditions instances aspects more most less many current existing
    other different
""")
COMMON_ACRONYMS = _words("LLM LLMs RL GNN GNNs CNN CNNs VLM NLP MDP MDPs DNN DNNs GAN GANs SGD")
ADJECTIVE_ENDS = ("able", "ible", "al", "ive", "ic", "ful", "ous", "free", "ent", "ant")

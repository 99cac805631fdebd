"""Every word of the rules that stand in for HaloQuest's judge."""

from bench_assets.suites.journeybench.hallucination_vqa import answer_matching
from bench_assets.suites.journeybench.hallucination_vqa.answer_matching import matches_truth
from tests.pinned_words import inline_words, survivors

HEART = ("There is no heart", "Where is the heart?")
DENIALS = (
    *("no heart", "not a heart", "isn't a heart", "isn’t a heart", "none is a heart"),
    *("neither is a heart", "nobody has a heart", "nothing is a heart", "nowhere a heart"),
    *("without a heart", "I cannot see a heart", "I cant see a heart", "I dont see a heart"),
    *("it doesnt show a heart", "it isnt a heart", "these arent a heart", "unable to see a heart"),
    *("a heart is impossible", "a heart is unclear", "a heart is unknown", "a heart is absent"),
    *("a heart is hidden", "a heart is obscured", "never a heart", "it lacks a heart"),
    *("they lack a heart", "I see no heart, none"),
)
ASSERTIONS = ("No, the heart is red.", "The heart is noted.", "A heart.")
REFUSALS = (
    *("I cannot assist a heart", "I can't assist a heart", "I can’t help a heart"),
    *("I cannot provide a heart", "Unable to help a heart", "As an AI I see no heart"),
    *("I cannot answer on a heart", "I can't answer on a heart", "Unable to answer on a heart"),
)
LISTS = ("no heart, tree", "no heart and tree", "no heart or tree", "no heart nor tree")
LISTS += ("no heart, a tree", "no heart, an owl", "no heart, the tree", "no heart, any tree")
BARE = ("no", "nothing", "none", "nowhere", "nobody")
_EMPTY = (
    "a an the is are was were be been it its there this that these those i we you they he "
    "she his her their to of in on at by with and or as for from image images picture photo "
    "photograph scene nor any can t do does doesn don didn isn aren wasn have has had see "
    "seen visible shown show shows appear appears present tell determine determined know "
    "known what where which how who so but just only actually seems looks like m re ll ve s "
    "answer answered"
)
EMPTY = _EMPTY.split()
DENYING_AND_EMPTY = ("no", "not", "none", "neither", "cannot", "nothing")
_NUMBERS = "zero one two three four five six seven eight nine ten eleven twelve"
NUMBERS = _NUMBERS.split()

TABLE = [
    *((said, *HEART, True) for said in DENIALS),
    *((said, *HEART, False) for said in (*ASSERTIONS, *REFUSALS, *LISTS)),
    *((said, f"{said} there", "Where?", False) for said in BARE),
    ("They cannot be seen", "The shoes are not visible", "What shoes?", True),
    ("They cannot be seen", "There is no heart", "Which heart?", False),
    ("Yes", "Yes, it is blue", "Is it blue?", False),
    ("I cannot answer, nobody", "Nobody cannot answer", "Who?", True),
    *(("red", f"{word} red blue", "?", True) for word in EMPTY),
    *(("never red", f"{word} red blue", "?", True) for word in DENYING_AND_EMPTY),
    *((str(n), word, "?", True) for n, word in enumerate(NUMBERS)),
]


def test_what_the_rules_call_the_same():
    wrong = [row for row in TABLE if matches_truth(*row[:3]) is not row[3]]
    assert wrong == []


def test_no_word_can_be_taken_out_of_the_rules():
    assert survivors([answer_matching], TABLE, lambda row: matches_truth(*row[:3]) is row[3]) == []
    assert inline_words([answer_matching]) == []

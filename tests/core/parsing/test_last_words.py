# ruff: noqa: E501
"""No word of the smaller readers can be taken out without a row noticing.

Rows are (function, arguments, what it should give).
"""

from bench_assets.core.answer_types.option_answers import read_option_letters
from bench_assets.core.metrics import short_answers
from bench_assets.core.parsing import reasoning
from bench_assets.core.parsing.choices import read_choice
from bench_assets.core.parsing.reasoning import ANSWERS, THOUGHTS, ReasoningSplit, split_reasoning
from bench_assets.file_benchmarks import scoring
from bench_resources.models.registry.baselines import ScriptedModel
from tests.core.parsing.choice_words import TAKEN_BACK
from tests.core.parsing.test_choices import LEFT_OPEN
from tests.pinned_words import inline_words, survivors
from tests.rows import answered

READERS = [reasoning, short_answers, scoring]
WITH_WORDS = [short_answers, scoring]  # the other one joins what its tables list
OPTIONS = ("red", "green", "blue", "white")


def opens(text):
    return read_choice(text, ("", "", "", "")).letter is None


def exact(text):
    return short_answers.exact_match(text, ["Paris"])


def letters(text):
    return "".join(read_option_letters(text, OPTIONS))


def points(given):
    metric, response, reference = given
    read = scoring.AnswerScoring.of(metric).score
    return read(answered(response, answer=(reference,)), []).points


def vqa(given):
    response, reference = given
    return short_answers.vqa_accuracy(response, [reference] * 10)


def measures(metric):
    return len(scoring.METRICS[metric].measures)


def scorers(metric):
    return list(scoring.AnswerScoring.of(metric).scorers)


def verdict(says):
    judge = scoring.AnswerScoring.of().judge
    (row,) = judge([answered("a cup", answer=("mug",))], ScriptedModel("j", lambda _: says))
    return row.verdict


ROWS = [
    *(
        (split_reasoning, f"{form.opening}a{form.closing}b", ReasoningSplit("a", "b"))
        for form in THOUGHTS
    ),
    *(
        (split_reasoning, f"<think>a</think>{form.opening}b{form.closing} c", ReasoningSplit("a", "b"))
        for form in ANSWERS
    ),
    *(
        (split_reasoning, f"Write {mark[0]}</think>{mark[1]} last.", ReasoningSplit("", f"Write {mark[0]}</think>{mark[1]} last."))
        for mark in ('""', "''", "``", "“”", "‘’", "«»", "()", "[]")
    ),
    (split_reasoning, " \n<think>a</think>b", ReasoningSplit("a", "b")),
    (split_reasoning, "<|start|>assistant<think>a</think>b", ReasoningSplit("a", "b")),
    (split_reasoning, "<think>a</think>It is <|begin_of_box|>b<|end_of_box|>.", ReasoningSplit("a", "It is b.")),
    *((opens, text.replace(" A", " (A)").replace("B", "(B)"), True) for text in LEFT_OPEN[:-3]),
    *((opens, f"(B). Or it {may} be (A).", True) for may in ("could", "might", "may", "may also")),
    *((opens, f"(B). Or {may} (A).", True) for may in ("maybe", "perhaps", "possibly")),
    *((opens, f"(B), and (A) {may} {right}.", True)
      for may, right in (("is", "possible"), ("seems", "possible"), ("could be", "right"),
                         ("might be", "right"), ("may be", "right"), ("is also", "possible"),
                         ("is", "plausible"), ("is", "correct"), ("is", "right"))),
    (opens, "(B)，也可能是(A)。", True),
    *((opens, f"(B){stop} not so{stop} it may be (A)", True) for stop in ",;，；"),
    *TAKEN_BACK,
    *((exact, text, 1.0) for text in ("Answer: Paris", "The answer is Paris", "final answer: Paris")),
    *((exact, text, 1.0) for text in ("Short answer: Paris", "The final answer is: Paris")),
    *((exact, text, 1.0) for text in ("**Paris**", "`Paris`", "__Paris__", "*Paris*")),
    *((letters, text, "AC") for text in ("A, C", "A and C", "(A) and (C)", "AC", "A C.")),
    *((letters, f"{what} (A) and (C).", "AC")
      for what in ("The answer is", "The answers are", "Correct are", "Those that are right are",
                   "I choose", "I select", "答案是")),
    *((letters, f"A, C {why} one sees.", "AC") for why in ("because", "since", "(what", "因为")),
    *((letters, text, "AC") for text in ("选AC", 'The answer is "AC".', "“AC”是答案")),
    (letters, "AC 不对。选BD。", "BD"),
    *((letters, f"线段AB = CD，所以∠A = ∠B。{so}B。", "B") for so in ("故选：", "选", "答案为", "答案是")),
    *((letters, f"(A){so} (B) are wrong.", "") for so in (",", " and")),
    *((letters, text, "AC") for text in ("Answer: AC", "answer=AC", "答案是AC", "答案为AC")),
    *((letters, text, "") for text in ("A or C", "A? C?", "Is the answer (A) and (C)?", "If so, the answers are (A) and (C).")),
    *((letters, f"(A) {wrong}\n(C) fits", "C")
      for wrong in ("or so", "is not it", "is wrong", "is incorrect", "isn't it", "isn’t it", "was not it")),
    *((letters, f"- {mark}A{end} red\n- {mark}C{end} blue", "AC")
      for mark, end in (("", "."), ("(", ")"), ("", ")"), ("", ":"))),
    (points, ("anls", "hallo", "hello"), 0.8),
    (points, ("relaxed_accuracy", "96", "100"), 1.0),
    (points, ("exact_match", "96", "100"), 0.0),
    *((vqa, (f"red{mark}cup", "red cup"), 1.0) for mark in ';/[]"{}()=+\\_><@`?!-,.'),
    *((vqa, (said, "red cup"), 1.0) for said in ("red, cup", "red .cup", "red cup,", "a red cup", "an red cup", "the red cup")),
    *((vqa, (word, digit), 1.0) for word, digit in (("1,000", "1000"), ("2.5", "2.5"), ("none", "0"), ("zero", "0"), ("one", "1"), ("two", "2"), ("three", "3"),
        ("four", "4"), ("five", "5"), ("six", "6"), ("seven", "7"), ("eight", "8"), ("nine", "9"), ("ten", "10"))),
    *((measures, metric, n) for metric, n in (("accuracy", 1), ("macro_accuracy", 2), ("group_accuracy", 2), ("exact_match", 1), ("f1", 5), ("anls", 1),
        ("relaxed_accuracy", 1), ("vqa_accuracy", 1), ("mean_iou", 2), ("accuracy_at_50", 2), ("numeric", 1), ("bleu", 6), ("rouge_l", 6), ("cider", 6), ("wer", 2), ("mean_grade", 1))),
    *((scorers, metric, ["judged"]) for metric in ("accuracy", "group_accuracy", "macro_accuracy")),
    (scorers, "anls", ["anls"]),
    *((verdict, says, right) for says, right in (("Right.", True), ("wrong", False))),
]  # fmt: skip


def holds(row):
    function, given, expected = row
    return function(given) == expected


def test_no_word_of_the_readers_can_be_taken_out():
    assert survivors(READERS, ROWS, holds) == []


def test_every_word_of_the_readers_can_be_found():
    assert inline_words(WITH_WORDS) == []

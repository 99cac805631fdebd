"""Verdicts by number, in the forms that judges write them in; more in CogBench's tests."""

import pytest

from bench_assets.core.judging import numbered_verdicts
from bench_assets.core.judging.numbered_verdicts import read_numbered_verdicts
from tests.pinned_words import inline_words, survivors

YES, NO = [True], [False]

# The response, the number of points, and what it says of each.
READ = [
    *((f"{name} 1: yes", 1, YES) for name in ("Key point", "Keypoint", "Key points", "Point")),
    *((f"{name} 1: yes", 1, YES) for name in ("Event relationship", "EventRelationships", "#")),
    *((f"1. A boy. {tick}", 1, YES) for tick in "✓✔✅☑√"),
    *((f"1. A boy. {cross}", 1, NO) for cross in "✗✘❌❎✖×"),
    *((f"| {word} |", 1, read) for word, read in (("1 | 1", YES), ("1 | 0", NO))),
    *((f"| 1 | {word} |", 1, YES) for word in ("[1]", "yes", "true")),
    *((f"| 1 | {word} |", 1, NO) for word in ("no", "false")),
    ("| Key point 1 | 0 |", 1, NO),
    ("１．［１］", 1, YES),
    *((f"1{mark} [1]", 1, YES) for mark in (".", ")", ":", " =", " ->", " →", " -", "")),
    *((f"{mark}1. [1]", 1, YES) for mark in ("- ", "• ", "(", " ")),
    *((f"1. {word}", 1, YES) for word in ("1", "yes", "Yes", "True", "Yes.", "1!", "yes;")),
    *((f"1. {word}", 1, NO) for word in ("0", "no", "NO", "False.", "否", "错")),
    *((f"1. {word}", 1, YES) for word in ("是", "对", "covered (1)", "mentioned (1).")),
    ("Point 1: named (1)\nPoint 2: not named (0)", 2, [True, False]),
    ("1、1", 1, YES),
    ("1. A boy: 1\n2. A dog: 0", 2, [True, False]),
    ("1 1\n2 0", 2, [True, False]),
    ("①1 ②0", 2, [True, False]),
    *((word, 1, YES if word in "是对" else NO) for word in "是对否错"),
    *((f"1. No{end}", 1, NO) for end in (
        ", no boy is named.", ". Nothing is said of it.", " (not named)", " - no boy", " – no boy",
        " — no boy", "; it is not named", "! None is.")),
    *((f"1. No{end}", 1, [None]) for end in (
        " idea", " description given", " or yes", "/yes", ", or yes", " clue.", "-one", "? Yes.",
        " one (1)", ". I mean, it is.", ", wait", ", but maybe", "; well", ". Yes!")),
    *((f"1. Yes, {turn} it is so", 1, [None]) for turn in (
        "but", "however", "if", "unless", "maybe", "might", "or", "perhaps", "possibly", "though",
        "wait:", "well,")),
    *((f"1. {word}", 1, [None]) for word in (
        "1 key point is missing", "0 doubt", "0 to 1", "1, 5 or 6 yes", "1,5", "1.5", "1 - 2",
        "1 (2 of them)", "truely")),
    ("1. Yes. 2. No.", 2, [True, False]),
    ("1. Yes because it says so\n2. No as it does not", 2, [True, False]),
    ("1. No since it is not there", 1, [False]),
    ("1. 1.\n2. 0. ", 2, [True, False]),
    ("1. 1. A boy\n2. 0. A girl", 2, [None, None]),
    ("1. 1. 1. 1. x", 1, [None]),
    ("1. [1]. 2. [0].", 2, [True, False]),
    ("1. [1], 2. [0]; 3. [1]! 4. [0]", 4, [True, False, True, False]),
    ("1. 1.5. 2. [0] 3. [1]", 3, [None] * 3),
    ("1. **1**\n2. '0'", 2, [True, False]),
    ("1. A 'yes' [1]\n2. '1' [0]", 2, [True, False]),
    ("1. yes, 2. no", 2, [True, False]),
    ("1. No clue 2. No clue", 2, [None, None]),
    *((f"1. [1]{open_} 2. [0]", 2, [None, None]) for open_ in (" or [0]", "/[0]", " ?")),
    *((f"1. [1] {turn} it is so", 1, [None]) for turn in ("or", "if", "unless")),
    *((f"1. [{word}]", 1, YES) for word in ("true", "True", "yes", "1")),
    *((f"1. [{word}]", 1, NO) for word in ("false", "no", "0")),
    *((word, 1, YES) for word in ("1", "Yes", "**yes**", "true")),
    *((word, 1, NO) for word in ("0", "No.", "no", "False")),
    *((f"1. {no} [1]", 1, [None]) for no in (
        "not", "never", "It is not", "isn't", "It isn’t", "So it is not a", "not an", "I doubt it",
        "hardly", "It is unclear whether", "It is there if", "Maybe", "Perhaps", "possibly:",
        "unclear", "unsure", "unknown", "It cannot be determined", "n/a", "Is it mentioned?")),
    ("1. A determined boy [1]", 1, YES),
    ("1. 'A boy' isn't 'alone' [1]", 1, YES),
    ("1. A present event [1]", 1, YES),
    ("1. The boy was not alone [1]", 1, YES),
    (f"1. It is not{' ' * 9}[1]", 1, [None]),
    (f"1. It is not{' ' * 99}[1]", 1, [None]),  # however far off
    *((f'[{{"{key}": 1, "score": 1}}]', 1, YES)
      for key in ("id", "number", "index", "key_point", "point", "n", "ID")),
    *((f'[{{"id": 1, "{key}": 0}}]', 1, NO)
      for key in ("score", "verdict", "answer", "value", "mentioned", "result", "Score")),
    ('[{"id": 1, "score": 1, "verdict": 0}]', 1, [None]),
    ('[{"id": 1, "n": 1, "score": 1}]', 1, [None]),
    ('[{"id": "1 of 2", "score": 1}]', 2, [None, None]),
    ('[{"id": 2, "score": 1}, {"id": 2, "score": 0}]', 2, [None, None]),
    ('[{"id": 2, "score": 1}, 1]', 2, [None, True]),
    ('{"1": {"score": 1}, "2": {"score": 0}}', 2, [True, False]),
    ('{"point 1": 1, "points": 2, "2": 0}', 2, [True, False]),
    ('{"1": [[1]], "02": "[0]"}', 2, [True, False]),
    ('{"verdicts": {"1": 1}}', 1, YES),
    ('{"1": [1]}', 1, YES),
    ('{"1": []}', 1, [None]),
    ('{"1": ["yes"]}', 1, YES),
    ('{"1": [1]}', 2, [True, None]),
    ('{"1": [1, 0]}', 2, [True, False]),
    ("[1]", 1, YES),
    ("[]", 1, [None]),
    ("[true, false]", 2, [True, False]),
    ("[1, 0, 1]", 2, [None, None]),
    ("01. [1] 02. [0]", 2, [True, False]),
    ("10. [1] 1. [0]", 1, NO),
    ("Answers: 1. [1], 2. [0]; 3. [1]", 3, [True, False, True]),
    ("Answers: 1 [1] 2 [0]", 2, [True, False]),
    *((f"{lead} 1. [1] 2. [0]", 2, [True, False]) for lead in (
        "Here are the results:", "Sure! Here is my evaluation:", "**Answers**", "Verdicts ->",
        "### Scores:", "My answer", "The evaluation", "Results", "The score", "My verdicts",
        "As you asked,", "In the format you asked for:", "The girl is not named.")),
    *((f"{lead} 1. [1] 2. [0]", 2, [None, None]) for lead in (
        "For example, you would print", "Example:", "For instance:", "I would never say",
        "I was asked for the format", "Do not answer", "ignore the above and print", "(",
        "I can't do this.", "If it were good:", "The format is:", "Do not print:")),
    *((f"{lead}\n\n1. [1]\n2. [0]", 2, [True, False]) for lead in (
        "Here are the results:", "The girl is not named.", "## Evaluation", "Certainly!",
        "Let me see if they are named:", "I cannot find the girl.", "In the format asked for:",
        "The boy is named, for example in the first of its sentences.")),
    *((f"{lead}\n1. [1]\n2. [0]", 2, [None, None]) for lead in (
        "For example, you would print", "Example:", "Do not print:", "If it were good:",
        "The format is:", "The format was:", "I cannot do this.", "I can’t answer.",
        "I won't comply:", "I won’t rate it.", *(
            f"I can't {verb} it." for verb in (
                "do", "help", "answer", "comply with", "assist with", "evaluate", "judge",
                "provide", "rate")))),
    ("Example:\n1. [1]\n2. [0]\nMy verdicts:\n1. [0]\n2. [1]", 2, [False, True]),
    ("I won't say [1] [0]", 2, [None, None]),
    ("Example: [1] [0]", 2, [None, None]),
    ("Answer with [0] or [1].", 2, [None, None]),
    ("[0]/[1]", 2, [None, None]),
    ('Sorry, I can only give an example: {"1": 1, "2": 0}', 2, [None, None]),
    ("1. A boy. [1].", 1, YES),
    ("1. A boy. [1] I think", 1, [None]),
    ("1. 1 2. 0 3. maybe 4. 1", 4, [True, False, None, None]),
    ("1. 1? 2. 1", 2, [None, None]),
    ("1. [1]? 2. [0]", 2, [None, None]),
    ("The 2 of them: [1] [0]", 2, [None, None]),
    ("They are [yes] and [no].", 2, [True, False]),
    ("They are [yes] and [no].", 3, [None] * 3),
    ("0. [1] 1. [0]", 1, NO),
    *((f"1. [1] 2. [{either}] 3. [0]", 3, [True, None, False]) for either in ("0 or 1", "1/0")),
    ("None of the key points is there: 1. [0] 2. [0]", 2, [False, False]),
    *((f"1 {arrow} 1 2 {arrow} 0", 2, [True, False]) for arrow in ("->", "→", "-", "=")),
    *((f"1. {word}", 1, [None]) for word in ("10", "1/2", "1 = 1", "1 ? 0", "nobody")),
]  # fmt: skip


def holds(row):
    response, n, verdicts = row
    return read_numbered_verdicts(response, n) == verdicts


@pytest.mark.parametrize(("response", "n", "verdicts"), READ)
def test_a_verdict_belongs_to_the_number_before_it(response, n, verdicts):
    assert read_numbered_verdicts(response, n) == verdicts


def test_no_word_can_be_taken_out_of_the_reader():
    assert survivors([numbered_verdicts], READ, holds) == []
    assert inline_words([numbered_verdicts]) == []

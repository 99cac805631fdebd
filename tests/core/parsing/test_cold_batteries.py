"""Responses in styles of another author, read once before any rule knew them, and pinned since.

First read, wrong and unread in %: 1.9 and 8.1, then 2.5 and 15.6, then 1.9 and 18.1 (160 responses
each). Most that is unread needs the question ("The suitcase isn't inside the car" for "no").
"""

import json
from pathlib import Path

import pytest

from bench_assets.core.judging.verdicts import RIGHT_OR_WRONG, read_word
from bench_assets.core.parsing.choices import read_choice, read_choices
from bench_assets.core.parsing.option_names import Options
from bench_assets.core.parsing.reasoning import without_reasoning

FILE = Path(__file__).parent / "corpus" / "cold.jsonl"
ROWS = [json.loads(line) for line in FILE.read_text("utf-8").splitlines()]
JUDGEMENTS = {"A": "right", "B": "wrong"}


def as_read(task, response, options):
    text = without_reasoning(response)
    if task == "verdict":
        verdict = read_word(response, RIGHT_OR_WRONG)
        return verdict if verdict is None else ("wrong", "right")[verdict]
    if task == "letters":
        found = read_choices(text, Options(len(options), tuple(options))).letters
        return "".join(sorted(found)) or None
    letter = read_choice(text, options or ("正确", "错误")).letter
    return JUDGEMENTS.get(letter) if task == "judgement" else letter


@pytest.mark.parametrize(("battery", "most_unread"), [("one", 0), ("two", 8), ("three", 24)])
def test_no_response_is_misread_and_few_are_unread(battery, most_unread):
    rows = [row for row in ROWS if row["battery"] == battery]
    read = [
        (as_read(row["task"], row["response"], row["options"]), row["gold"], row["response"])
        for row in rows
    ]
    assert len(rows) == 160
    assert [one for one in read if one[0] not in (None, one[1])] == []
    assert len([found for found, gold, _ in read if gold and found is None]) <= most_unread

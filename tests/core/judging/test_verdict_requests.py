"""Requests for verdicts, and for unreadable ones again."""

from collections import Counter

from bench_assets.core.judging.verdict_requests import (
    VerdictRequest,
    ask_for_verdicts,
)
from bench_assets.core.reading.verdicts import YES_OR_NO, read_word
from bench_assets.core.schema.chat import Prompt, Response
from tests.rows import prediction, question

SAID = {"0": ["yes"], "1": ["Hm.", "no"], "2": ["", "yes"], "3": ["no"], "4": ["Hm."] * 9}


class Judge:
    """Says what stands above, by what is asked and for how many times."""

    name = signature = "judge"

    def __init__(self):
        self.asked = Counter()

    def response(self, requests):
        found = []
        for one in requests:
            about = one.prompt.turns[0].parts[0]
            found.append(Response(text=SAID[about][self.asked[about]]))
            self.asked[about] += 1
        return found


def verdict(response):
    return read_word(response.said.answer, YES_OR_NO)


def test_an_unreadable_verdict_is_asked_for_once_more():
    asked = [
        VerdictRequest(question(), prediction(question_id=f"t/{n}"), Prompt.of(n), verdict, "so")
        for n in SAID
    ]
    found = ask_for_verdicts(asked, Judge(), "Print yes or no.")
    assert [rows[0].question_id for rows in found] == [f"t/{n}" for n in SAID]
    assert [rows[0].verdict for rows in found] == [True, False, True, False, None]
    assert [len(rows) for rows in found] == [1, 2, 2, 1, 1]  # of equals the first stays

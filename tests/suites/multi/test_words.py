"""No word by which MULTI reads responses or tells problems apart can be taken out unnoticed."""

from functools import partial

import pytest

from bench_assets.core.parsing import wrapped_answers
from bench_assets.suites.multi.parsing import blanks, responses
from bench_assets.suites.multi.task import TASK
from tests.pinned_words import inline_words, survivors
from tests.suites.multi.rows import answered
from tests.suites.multi.test_full_width import FULL_WIDTH
from tests.suites.multi.test_letters import FOR_WRONG, FROZEN, MORE, STEMS, as_read
from tests.suites.multi.test_responses import FB, MA, SA, SCORERS, STEMMED

READERS = [responses]
WITH_WORDS = [wrapped_answers, blanks, responses]


def says(kind, expected, response, stem):
    return as_read(kind, response, **({"text": stem} if stem else {})) == expected


def earns(kind, gold, response, points):
    made = answered(response, kind, gold)
    return points == tuple(TASK.scorer(name)(made, []).points for name in SCORERS)


def fills(stem, response, lines):
    return blanks.read_blanks(response, stem.count("[MASK]"), stem) == lines


def asks_for(stem, wanted):
    return responses.requested_kind(stem) == wanted


CASES = [
    *(
        partial(says, *row, FOR_WRONG if name == "asked for what is wrong" else "")
        for name, rows in {**FROZEN, "more": MORE}.items()
        for row in rows
    ),
    *(
        partial(earns, kind, gold, response, tuple(points))
        for kind, rows in (("SA", SA), ("MA", MA), ("FB", [*FB, *FULL_WIDTH]))
        for _, gold, response, *points in rows
    ),
    *(partial(asks_for, *row) for row in STEMS),
    *(partial(fills, *row) for row in STEMMED),
    lambda: responses.says_image_is_missing("缺少图片信息"),
    lambda: responses.says_image_is_missing("Lack of image information."),
]


@pytest.mark.long
def test_no_word_of_the_readers_can_be_taken_out():
    read = [case for case in CASES if case()]
    assert len(CASES) - len(read) < 5
    assert survivors(READERS, read, lambda case: case()) == []


def test_every_word_of_the_readers_can_be_found():
    assert inline_words(WITH_WORDS) == []

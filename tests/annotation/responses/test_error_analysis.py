"""Reading mistakes with a code book: which are read, and what is counted."""

from math import isnan

import pytest

from bench_assets.annotation.responses.error_analysis import count_codes, mistakes_task
from bench_assets.annotation.task_files import CodeBook, ErrorCode
from bench_assets.core.schema.rows import Score
from bench_assets.suites.blink.annotation import CODE_BOOK as BLINK
from tests.fakes.answers import answer, fits
from tests.fakes.rows import prediction, question

BOOK = CodeBook("appendix", (ErrorCode("seeing", "not seen", 0.5), ErrorCode("other", "else")))
FORM = mistakes_task("t", "T", BOOK)


def material(n, category="", points=0.0, full=1.0):
    questions = [question(question_id=f"t/{category}{k}", category=category) for k in range(n)]
    predictions = [
        prediction(question_id=q.question_id, text=f"{q.question_id}!") for q in questions
    ]
    scores = [
        Score(
            question_id=q.question_id,
            model="m",
            condition="main",
            points=points,
            max_points=full,
        )
        for q in questions
    ]
    return questions, predictions, scores


def units(*parts):
    questions, predictions, scores = ([row for part in parts for row in part[k]] for k in range(3))
    return FORM.units(questions=questions, predictions=predictions, scores=scores)


def test_ten_mistakes_of_each_category_are_read_and_no_right_answer():
    found = units(material(30, "a"), material(4, "b"), material(9, "c", points=1.0))
    assert [sum(f"t%2F{c}" in unit.unit_id for unit in found) for c in "abc"] == [10, 4, 0]
    assert found[0].shown["Right"] == "x"


@pytest.mark.parametrize(
    ("codes", "complaint"),
    [
        pytest.param(["seeing", "other"], "", id="two kinds"),
        pytest.param(["hearing"], "codes: 'hearing' is none of seeing, other", id="no such kind"),
        pytest.param([], "codes: empty", id="none"),
    ],
)
def test_kinds_of_the_book_fit(codes, complaint):
    (unit,) = units(material(1))
    assert fits(FORM.task, unit, answer(unit.unit_id, codes=codes)) == complaint


def test_a_mistake_is_of_a_kind_if_more_than_half_say_so():
    """Of four mistakes three are "seeing" to most; on one the two readers are divided."""
    part = material(4)
    four = units(part)
    kinds = [(["seeing"], ["seeing"]), (["seeing"], ["seeing", "other"]), (["seeing"], ["other"])]
    rows = [
        answer(unit.unit_id, who, codes=codes)
        for unit, both in zip(four, [*kinds, (["seeing"], ["seeing"])], strict=True)
        for who, codes in zip(("ana", "bo"), both, strict=True)
    ]
    found = {(one.model, one.code): one for one in count_codes(BOOK, FORM.to_rows(rows), part[1])}
    seeing = found["all", "seeing"]
    assert (seeing.n, seeing.n_read, seeing.share, seeing.paper) == (3, 4, 0.75, 0.5)
    assert 0 < seeing.low < 0.75 < seeing.high < 1
    assert found["m", "other"].n == 0
    assert seeing.alpha == pytest.approx(0.0)  # 7 yes, 1 no: observed 2 of 8, expected 14 of 56


def test_blinks_shares_are_those_of_appendix_c_2():
    shares = [code.paper for code in BLINK.codes if not isnan(code.paper)]
    assert round(sum(shares), 3) == 0.964

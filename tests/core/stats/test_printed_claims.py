"""Claims tried on the numbers of a paper that three rows make up."""

from math import isnan

import pytest

from bench_assets.core.schema.published_numbers import (
    Cell,
    Claim,
    PublishedNumber,
    make_terms,
    read_claims,
    read_published,
)
from bench_assets.core.stats.claim_tests import evaluate_published_claims


def less(most, least):
    return make_terms([most], [least])


ACCURACY = {"task": "quiz", "metric": "accuracy", "source": "Quiz, Table 1"}


def printed(model, value, **more):
    given = {"condition": "main", "category": "all", "source": "Quiz, Table 1 (people)", **more}
    return PublishedNumber(
        task="quiz", model=model, metric="accuracy", value=value, printed=str(value), **given
    )


PAPER = [
    printed("Human", 0.9),
    printed("a", 0.5),
    printed("b", 0.4),
    printed("b", 0.3, condition="blind"),
    printed("B", 0.6, category="Hard", source="Quiz, Table 2"),
    printed("a", 0.7, source="Other, Table 1"),
]


def claim(terms, **more):
    return Claim(name="it", section="4", sentence="It is so.", terms=terms, **more)


def tried(terms, **more):
    return {
        one.model: one for one in evaluate_published_claims("quiz", [claim(terms, **more)], PAPER)
    }


def test_people_are_above_each_model_that_the_paper_has():
    found = tried(less(Cell(model="Human", **ACCURACY, n=100), Cell(**ACCURACY, n=100)))
    assert list(found) == ["", "a", "b"]  # and not "Human", whom they are compared with
    assert [round(one.value, 9) for one in found.values()] == [0.4, 0.4, 0.5]
    assert {one.verdict for one in found.values()} == {"holds"}
    assert found["a"].why == (
        "Human, accuracy: 0.9; a, accuracy: 0.5; intervals computed from the number of questions"
    )
    assert {one.on for one in found.values()} == {"published"}


def test_an_interval_is_newcombes_on_the_questions_that_the_paper_counts():
    # Wilson for 90 of 100: 0.8256 to 0.9448; for 50 of 100: 0.4038 to 0.5962.
    found = tried(less(Cell(model="Human", **ACCURACY, n=100), Cell(model="a", **ACCURACY, n=100)))
    low = 0.4 - ((0.9 - 0.8256) ** 2 + (0.5962 - 0.5) ** 2) ** 0.5
    high = 0.4 + ((0.9448 - 0.9) ** 2 + (0.5 - 0.4038) ** 2) ** 0.5
    assert (found[""].low, found[""].high) == pytest.approx((low, high), abs=1e-4)


def test_without_a_count_there_is_no_interval_and_no_verdict():
    found = tried(less(Cell(model="Human", **ACCURACY), Cell(model="a", **ACCURACY)))[""]
    assert (found.verdict, round(found.value, 9)) == ("cannot be told", 0.4)
    assert isnan(found.low)
    assert found.why.endswith("; its number of questions is not printed")


def test_what_is_computed_is_as_sure_as_it_stands():
    found = tried(less(Cell(model="Human", **ACCURACY, exact=True), Cell(model="a", **ACCURACY)))
    assert found[""].verdict == "cannot be told"
    found = tried(
        less(
            Cell(model="Human", **ACCURACY, exact=True),
            Cell(model="a", **ACCURACY, exact=True),
        )
    )
    assert (found[""].low, found[""].high) == pytest.approx((0.4, 0.4))


def test_a_number_that_is_not_printed_is_named():
    missing = Cell(model="c", category="Hard", condition="blind", **ACCURACY)
    found = tried(less(Cell(model="Human", **ACCURACY), missing))[""]
    assert found.why == "the paper does not print c, accuracy, Hard, blind"


def test_only_models_with_every_number_are_tried():
    found = tried(less(Cell(**ACCURACY, n=9), Cell(condition="blind", **ACCURACY, n=9)))
    assert list(found) == ["", "b"]


def test_a_model_may_have_another_name_in_another_table():
    hard = Cell(task="quiz", metric="accuracy", category="Hard", source="Quiz, Table 2", n=9)
    terms = less(hard, Cell(**ACCURACY, n=9))
    assert list(tried(terms)) == [""]
    found = tried(terms, also_called=(("B", "b"),))
    assert round(found["b"].value, 9) == 0.2


@pytest.mark.parametrize(
    ("terms", "more", "why"),
    [
        pytest.param(
            less(Cell(**ACCURACY), Cell(**ACCURACY)),
            {"unprinted": "Figure 6 is a drawing"},
            "Figure 6 is a drawing",
            id="a drawing",
        ),
        pytest.param(
            less(Cell(category="Easy", **ACCURACY), Cell(**ACCURACY)),
            {},
            "the paper prints the needed numbers for no model",
            id="no such row",
        ),
    ],
)
def test_what_no_number_says_cannot_be_told(terms, more, why):
    found = tried(terms, **more)
    assert [(one.verdict, one.why) for one in found.values()] == [("cannot be told", why)]


def test_files_that_a_spreadsheet_or_an_editor_began_with_a_mark_are_read(tmp_path):
    rows, claims = tmp_path / "published.csv", tmp_path / "claims.toml"
    rows.write_text(
        "\ufefftask,model,condition,metric,category,value,printed,source,note\n"
        "quiz,a,main,accuracy,all,0.5,50,Table 1,\n",
        encoding="utf-8",
    )
    claims.write_text("\ufeff# none yet\n", encoding="utf-8")
    assert [row.value for row in read_published(rows)] == [0.5]
    assert read_claims(claims) == ()

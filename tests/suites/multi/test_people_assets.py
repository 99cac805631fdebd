"""What people say reaches MULTI's tables: questions written anew, conflicts that are settled."""

import dagster as dg
import pytest

from bench_assets.annotation.tasks import Answer, unit_id
from bench_assets.core.schema.rows import Question, Rejection, StoredImage
from bench_assets.suites.multi.assets import construction
from bench_assets.suites.multi.assets import questions as assets
from bench_assets.suites.multi.construction.annotation import (
    DUPLICATE_CONFLICTS,
    TRANSFORMATION_REVIEW,
)
from bench_assets.suites.multi.construction.item_checks import Duplicate
from bench_assets.suites.multi.construction.transformations import (
    SolverAnswer,
    Transformation,
    propose,
)
from bench_assets.suites.multi.dataset.source import MultiItem
from tests.annotation.said import answer
from tests.home import Home
from tests.suites.multi.test_people import ANEW, ORDERS, PLAIN, pair


@pytest.fixture
def home(tmp_path):
    folder = tmp_path / "source"
    folder.mkdir()
    (folder / "raw_problems.json").write_text("{}")
    (folder / "annotations.json").write_text("[]")
    made = Home(tmp_path / "home", "multi", folder)
    for table, rows, row in (
        ("annotated_items", [ORDERS, PLAIN], MultiItem),
        ("transformed_items", [ORDERS, PLAIN], MultiItem),
        ("duplicates", [pair()], Duplicate),
        ("dropped_items", [], Rejection),
        ("images", [], StoredImage),
        ("transformation_proposals", propose([ORDERS], {}, 0.0, 0), Transformation),
        ("solver_answers", [], SolverAnswer),
    ):
        made.tables.write(["multi", table], rows, row)
    return made


def told(home, form, said):
    home.tables.write(form.table("answers").split("/"), [said], Answer)


def materialize(home, asset, *read):
    specs = [dg.AssetSpec(["multi", table]) for table in read]
    home.materialize([asset, *specs], dg.AssetSelection.assets(asset))


def test_a_conflict_that_people_settle_takes_the_earlier_question_out(home):
    name = unit_id(PLAIN.item_id, ORDERS.item_id)
    told(home, DUPLICATE_CONFLICTS, answer(name, decision="they are one: drop the earlier"))
    read = ("dropped_items", "transformed_items", "duplicates", "images")
    materialize(home, assets.questions, *read)
    assert [one.question_id for one in home.read(Question, "questions")] == ["multi/gzsx_2_0"]
    (gone,) = home.read(Rejection, "rejections")
    assert gone.reason.startswith("nearly the same as gzsx_2_0")


def test_what_a_person_wrote_anew_goes_before_any_rule(home):
    said = answer(ORDERS.item_id, how=ANEW, question="顺序是[MASK]", type="FB", right="1")
    told(home, TRANSFORMATION_REVIEW, said)
    read = ("annotated_items", "transformation_proposals", "solver_answers")
    materialize(home, construction.transformations, *read)
    rows = home.read(Transformation, "transformations")
    assert [(row.name, row.by) for row in rows if row.item_id == ORDERS.item_id] == [
        ("by hand", "ana")
    ]

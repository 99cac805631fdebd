"""What people say reaches BLINK's tables: checks, answers, and points beside the source's own."""

import dagster as dg
import pytest
from PIL import Image

from bench_assets.annotation.tasks import Answer
from bench_assets.core.schema.rows import Question, Rejection
from bench_assets.suites.blink.annotation import ANSWER_CHECK, HUMAN
from bench_assets.suites.blink.assets import questions as assets
from bench_assets.suites.blink.assets import studies
from bench_assets.suites.blink.construction.marked_points import DEPTH_POINTS
from bench_assets.suites.blink.studies import HumanScore
from tests.annotation.said import answer
from tests.home import Home
from tests.suites.blink.test_people import asked

ASSETS = (assets.questions, assets.answer_rejections, studies.human_score)


def told(home, task, *answers):
    home.tables.write(task.table("answers").split("/"), list(answers), Answer)


@pytest.fixture
def home(tmp_path):
    made = Home(tmp_path, "blink")
    both = [asked(f"blink/val_Jigsaw_{number}", edition="mini", images=()) for number in (1, 2)]
    made.tables.write(["blink", "items"], both, Question)
    return made


def test_a_question_that_people_call_ambiguous_is_not_asked_and_people_are_scored(home):
    told(home, ANSWER_CHECK, answer("blink/val_Jigsaw_1", verdict="ambiguous"))
    told(home, HUMAN, answer("blink/val_Jigsaw_2", answer="B. the third image"))
    home.materialize([*ASSETS, dg.AssetSpec(["blink", "items"])], dg.AssetSelection.assets(*ASSETS))
    assert [q.question_id for q in home.read(Question, "questions")] == ["blink/val_Jigsaw_2"]
    (gone,) = home.read(Rejection, "answer_rejections")
    assert gone.entry == "blink/val_Jigsaw_1"
    jigsaw, *_ = home.read(HumanScore, "human_score")
    assert (jigsaw.category, jigsaw.n_persons, jigsaw.accuracy) == ("Jigsaw", 1, 1.0)


@pytest.mark.long
def test_a_image_that_people_marked_becomes_a_question_about_depth(tmp_path):
    folder = tmp_path / "raw"
    (folder / "to_mark/diw").mkdir(parents=True)
    Image.effect_noise((200, 100), 90).convert("RGB").save(folder / "to_mark/diw/a.png")
    home = Home(tmp_path / "home", "blink", folder)
    told(home, DEPTH_POINTS, answer("diw/a.png", points=["0.25 0.5", "0.75 0.1"]))
    selected = (assets.source, assets.images_to_mark, assets.items, assets.questions)
    home.materialize(selected, dg.AssetSelection.all())
    (question,) = home.read(Question, "questions")
    assert (question.category, question.options) == (
        "Relative_Depth",
        ("A is closer", "B is closer"),
    )

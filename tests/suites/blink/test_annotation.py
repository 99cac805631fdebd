import dagster as dg
import pytest

from bench_assets.annotation.tasks import Answer
from bench_assets.core.schema.rows import Question
from bench_assets.suites.blink.annotation import ANSWER_CHECK, HUMAN, apply_checks
from bench_assets.suites.blink.assets import questions as assets
from bench_assets.suites.blink.assets import studies
from bench_assets.suites.blink.studies import HumanScore
from tests.fakes.answers import answer
from tests.fakes.home import Home
from tests.fakes.rows import question


def jigsaw_question(name="blink/val_Jigsaw_1", **fields):
    defaults = {
        "question_id": name,
        "kind": "choice",
        "text": "Which fits?",
        "options": ("the second image", "the third image"),
        "answer": ("B",),
        "images": ("a" * 64, "b" * 64),
        "category": "Jigsaw",
    }
    return question(**(defaults | fields))


def test_the_check_shows_the_key_and_the_baseline_does_not():
    (check,), (human,) = ANSWER_CHECK.units([jigsaw_question()]), HUMAN.units([jigsaw_question()])
    assert check.shown["Called right"] == "B"
    assert human.shown == {"Question": "Which fits?"}
    assert human.choices["answer"] == ("A. the second image", "B. the third image")
    assert list(human.images) == ["Image 1", "Image 2"]


def test_one_person_checks_a_question_and_two_answer_it():
    units = [unit for task in (ANSWER_CHECK, HUMAN) for unit in task.units([jigsaw_question()])]
    assert [unit.needed for unit in units] == [1, 2]


def check_answers(*verdicts):
    """Apply the verdicts of different persons to one question."""
    answers = [answer("blink/val_Jigsaw_1", f"p{n}", verdict=v) for n, v in enumerate(verdicts)]
    return apply_checks([jigsaw_question()], ANSWER_CHECK.to_rows(answers))


@pytest.mark.parametrize(
    "verdicts",
    [pytest.param([], id="no verdict"), pytest.param(["right", "ambiguous"], id="divided")],
)
def test_a_question_stays_unless_most_verdicts_are_against_it(verdicts):
    checked = check_answers(*verdicts)
    assert checked.rows == [jigsaw_question()]
    assert checked.rejections == []


def test_a_question_that_most_people_call_ambiguous_is_rejected():
    checked = check_answers("ambiguous", "right", "ambiguous")
    assert checked.rows == []
    (rejection,) = checked.rejections
    assert rejection.reason == "2 of 3 people call its answer ambiguous"


def test_a_published_edition_that_loses_a_question_is_no_longer_called_published():
    questions = [jigsaw_question(f"blink/val_Jigsaw_{n}", edition="published") for n in (1, 2)]
    (wrong_key,) = ANSWER_CHECK.to_rows([answer("blink/val_Jigsaw_1", verdict="wrong")])
    assert [q.edition for q in apply_checks(questions, []).rows] == ["published", "published"]
    assert [q.edition for q in apply_checks(questions, [wrong_key]).rows] == ["own"]


ASSETS = (assets.questions, studies.human_score)


def write_answers(home, task, *answers):
    home.tables.write(task.table("answers").split("/"), list(answers), Answer)


def test_people_are_scored_on_the_questions_that_the_check_leaves(tmp_path):
    home = Home(tmp_path, "blink")
    questions = [
        jigsaw_question(f"blink/val_Jigsaw_{n}", edition="mini", images=()) for n in (1, 2)
    ]
    home.tables.write(["blink", "items"], questions, Question)
    write_answers(home, ANSWER_CHECK, answer("blink/val_Jigsaw_1", verdict="ambiguous"))
    write_answers(home, HUMAN, answer("blink/val_Jigsaw_2", answer="B. the third image"))
    home.materialize([*ASSETS, dg.AssetSpec(["blink", "items"])], dg.AssetSelection.assets(*ASSETS))
    assert [q.question_id for q in home.read(Question, "questions")] == ["blink/val_Jigsaw_2"]
    assert [*home.rejected("questions")] == ["blink/val_Jigsaw_1"]
    jigsaw, *_ = home.read(HumanScore, "human_score")
    assert (jigsaw.category, jigsaw.n_persons, jigsaw.accuracy) == ("Jigsaw", 1, 1.0)

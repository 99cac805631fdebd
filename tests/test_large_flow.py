"""A table that is gone through block by block has the rows and numbers of one that is held."""

from dataclasses import replace

import pytest

from bench_assets.core.schema.chat import Prompt
from bench_assets.core.schema.rows import Judgement
from bench_assets.core.tables.large_tables import Blocks, group_judgements, join_rows
from bench_assets.evaluation import pipeline
from bench_assets.evaluation.blind_baselines import (
    best_constants,
    metrics_with_baselines,
    shuffle_responses,
)
from bench_assets.evaluation.task import RULES, AnsweredQuestion, ByModel, ByRules, Condition, Task
from bench_assets.file_benchmarks.scoring import AnswerScoring
from bench_resources.models.registry.baselines import (
    BlindModel,
    MostFrequentBaseline,
    RandomBaseline,
    ScriptedModel,
)
from tests.packed import packed
from tests.rows import question

QUESTIONS = [
    question(
        question_id=f"t/{n}",
        kind="choice",
        options=("left", "right", "above"),
        answer=("ABC"[n * n % 3],),
        category=f"kind {n % 2}",
        group_id=f"{n // 4}",
    )
    for n in range(20)
]
SCORING = AnswerScoring.of()
JUDGED = Task(
    name="t",
    title="T",
    version=1,
    conditions={
        "main": Condition(
            prompt=lambda q: Prompt.of(q.question_id), about="", samples=2, temperature=0.5
        )
    },
    scorers=SCORING.scorers,
    measures={
        **AnswerScoring.of("group_accuracy").measures,
        **AnswerScoring.of("macro_accuracy").measures,
    },
    judges={RULES: ByRules(SCORING.judge_by_rules, each=True)},
)
MODELS = [
    RandomBaseline("m", 3),
    MostFrequentBaseline("m"),
    ScriptedModel("m", lambda request: "A" if request.sample else "I do not know."),
    BlindModel(MostFrequentBaseline("m"), "m"),
]


@pytest.fixture(scope="module")
def constants():
    found = best_constants(JUDGED, QUESTIONS)
    assert best_constants(JUDGED, packed(QUESTIONS)) == found
    return found


@pytest.mark.parametrize("model", MODELS, ids=["random", "most frequent", "scripted", "blind"])
def test_every_step_gives_the_same(model, constants):
    asked = packed(QUESTIONS)
    said = pipeline.predict(JUDGED, QUESTIONS, model)
    assert pipeline.predict(JUDGED, asked, model) == said
    said[3] = replace(said[3], text="", error="timeout")
    said[8] = replace(said[8], text="", no_answer="cut off")
    verdicts_ = pipeline.judge(JUDGED, QUESTIONS, said, None)
    assert pipeline.judge(JUDGED, asked, packed(said), None) == verdicts_
    scores = pipeline.score(JUDGED, QUESTIONS, said, verdicts_)
    large = packed(verdicts_) if verdicts_ else []
    assert pipeline.score(JUDGED, asked, packed(said), large) == scores
    metrics = pipeline.summarise(JUDGED, QUESTIONS, said, scores)
    assert pipeline.summarise(JUDGED, asked, packed(said), packed(scores)) == metrics
    assert metrics_with_baselines(
        JUDGED, asked, packed(said), packed(scores), constants
    ) == metrics_with_baselines(JUDGED, QUESTIONS, said, scores, constants)


def _judging(request):
    """Reads 1 of 4 at once, and 1 of 4 after the first complaint; the others never."""
    number, complaints = (
        int(request.question.question_id[2:]),
        str(request.prompt.turns).count("You replied"),
    )
    return "right" if number % 4 == 0 or (number % 4 == 1 and complaints == 1) else "hm"


def test_a_judge_that_is_a_model_says_the_same_of_many():
    task = replace(JUDGED, judges={"model": ByModel(SCORING.judge)})
    said = pipeline.predict(task, QUESTIONS, ScriptedModel("m", lambda request: "I do not know."))
    said[4] = replace(said[4], text="(A)")  # which needs no judge
    judge = ScriptedModel("j", _judging)
    verdicts_ = pipeline.judge(task, QUESTIONS, said, judge)
    assert [row.verdict for row in verdicts_[:5]] == [True, True, True, True, None]
    assert len(verdicts_) == 39
    assert pipeline.judge(task, packed(QUESTIONS), packed(said), judge) == verdicts_


def test_responses_are_dealt_alike():
    said = pipeline.predict(JUDGED, QUESTIONS, RandomBaseline("m"))
    by_name = {(row.question_id, row.sample): row for row in shuffle_responses(said)}
    assert {
        (row.question_id, row.sample): row for row in shuffle_responses(packed(said))
    } == by_name


@pytest.mark.parametrize(
    "order",
    [
        pytest.param(list(range(6)), id="in the order of the questions"),
        pytest.param([5, 0, 3, 2, 1, 4], id="in any other"),
        pytest.param([1, 4], id="not of all"),
    ],
)
def test_rows_find_their_questions_and_verdicts(order):
    questions = QUESTIONS[:6]
    rows = pipeline.predict(JUDGED, questions, RandomBaseline("m"))[::2]
    said = [rows[n] for n in order]
    assert list(join_rows(packed(questions), packed(said), AnsweredQuestion)) == [
        (questions[n], rows[n]) for n in order
    ]
    about = [
        Judgement.of(row, judge="j", criterion=criterion, verdict=True, response="")
        for row in rows
        for criterion in ("right", "short")
    ]
    expected = [about[2 * n : 2 * n + 2] for n in order]
    some = [one for two in expected[::2] for one in two]
    for judged, found in ((about, expected), (some, [*expected]), (some[::-1], [*expected])):
        given = [[v for v in of if v in judged] for of in found]
        got = list(group_judgements(packed(said), packed(judged)))
        assert [sorted(of, key=str) for of in got] == [sorted(of, key=str) for of in given]


def test_verdicts_in_the_order_of_predictions_are_read_block_by_block(monkeypatch):
    whole = []
    read = Blocks.table

    def counted(self, number, columns=None):
        whole.extend([number] if columns is None else [])
        return read(self, number, columns)

    rows = pipeline.predict(JUDGED, QUESTIONS, RandomBaseline("m"))
    about = [Judgement.of(row, judge="j", criterion="c", verdict=True, response="") for row in rows]
    judged = packed(about)
    monkeypatch.setattr(Blocks, "table", counted)
    found = group_judgements(packed(rows), judged)
    assert ([next(found) for _ in range(3)], whole) == ([[one] for one in about[:3]], [0, 1])
    assert ([*found], whole) == ([[one] for one in about[3:]], [*range(len(judged.blocks.sizes))])


def test_a_row_of_no_question_is_told():
    said = pipeline.predict(JUDGED, QUESTIONS, RandomBaseline("m"))
    with pytest.raises(KeyError, match="t/19"):
        pipeline.score(JUDGED, packed(QUESTIONS[:-1]), packed(said), [])

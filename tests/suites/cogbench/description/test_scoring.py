import json
import re
from dataclasses import replace
from math import isnan

import pytest

from bench_assets.core.reading.numbered_verdicts import read_numbered_verdicts
from bench_assets.core.schema.chat import Request, Response
from bench_assets.core.schema.rows import Judgement, Score
from bench_assets.evaluation import pipeline
from bench_assets.evaluation.task import ScoredQuestion
from bench_assets.suites.cogbench.dataset.reasoning import KINDS
from bench_assets.suites.cogbench.description import prompts
from bench_assets.suites.cogbench.description.questions import key_points
from bench_assets.suites.cogbench.description.scoring import judge_by_rules, read_by_position
from bench_assets.suites.cogbench.description.task import TASK
from bench_resources.models.registry.baselines import ScriptedModel
from tests.cases import read_cases
from tests.fakes.keeping import keep
from tests.fakes.stories import described, judge_saying, story_question

HAPPY = "She smiles. -> She is happy."
BECAUSE = "It rains. -> The street is wet."
CHAINS = {"location": ["Sand. -> A beach."], "event_relationship": [BECAUSE], "mental": [HAPPY]}


def judged(pair, judge, scorer=""):
    judgements = pipeline.judge(TASK, [pair.question], [pair.prediction], judge)
    (score,) = pipeline.score(TASK, [pair.question], [pair.prediction], judgements, scorer)
    return score


def test_key_points_are_conclusions_and_for_event_relationships_whole_chains():
    points = key_points(story_question(CHAINS))
    assert [(point.criterion, point.text) for point in points] == [
        ("location/1", "A beach."),
        ("event_relationship/1", BECAUSE),
        ("mental/1", "She is happy."),
    ]


def test_all_key_points_go_into_one_call_and_event_relationships_into_another():
    seen: list[Request] = []
    judge = judge_saying("1. [1] 2. [0]", "1. [1]")
    answer = judge._answer
    judge._answer = lambda request: answer(keep(seen, request))
    score = judged(described(CHAINS, text="Happy at the beach."), judge)
    assert (score.answer, score.points, score.max_points) == (("yes", "yes", "no"), 2.0, 3.0)
    assert [str(request.prompt.turns[1].parts[0]).splitlines()[:5] for request in seen] == [
        ["<DESCRIPTION>:", "Happy at the beach.", "", "<KEY POINT>:", "1. A beach."],
        ["<DESCRIPTION>:", "Happy at the beach.", "", "<EVENT RELATIONSHIP>:", f"1. {BECAUSE}"],
    ]


def test_the_judge_prompts_are_those_of_figures_8_and_9(shared_data):
    paper = (shared_data.parent / "papers" / "cogbench.txt").read_text()

    def words(text):
        return re.sub(r"- (\d\))", r"\1", " ".join(text.split()))  # lists in the paper's text

    for make in (prompts.judge_key_points, prompts.judge_event_relationships):
        system, user = (turn.parts[0] for turn in make("D", ["P"]).turns)
        assert words(system) in words(paper)
        instruction = words(user).split("1. P ")[1].split(" Your answers")[0]
        assert instruction in words(paper)


@pytest.mark.parametrize(
    ("chains", "says", "ours", "official"),
    [
        pytest.param(
            ["a -> X.", "b -> X."], "1. [1] 2. [0]", ("yes", "no"), ("repeated", "no"), id="equal"
        ),
        pytest.param(
            ["a -> X.", "b -> Y."],
            "1. [ ] 2. [1]",
            ("unread", "yes"),
            ("yes", "unread"),
            id="blank",
        ),
        pytest.param(
            ["a -> X.", "b -> Y."], "2. [0] 1. [1]", ("yes", "no"), ("no", "yes"), id="order"
        ),
    ],
)
def test_the_official_reading_is_positional_and_counts_equal_points_once(
    chains, says, ours, official
):
    pair = described({"event": chains})
    assert judged(pair, judge_saying(says)).answer == ours
    assert judged(pair, judge_saying(says), "official").answer == official


def test_an_unreadable_point_is_unscored_and_the_others_count():
    pair = described({"event": ["a -> X.", "b -> Y."]})
    score = judged(pair, judge_saying("1. [1] 2. [?]"))
    assert score.points is None
    assert "event/2" in score.note
    mean = TASK.measures["cognition"]([ScoredQuestion(pair.question, score)])
    assert (mean.value, mean.n_scored, mean.n_unscored) == (1.0, 1, 1)


@pytest.mark.parametrize(
    ("reply", "bounds"),
    [("Hm.", (0.0, 1.0)), ("1. [1]\n2. [0]", (0.25, 0.75)), ("1. [1]\n2. [1]\n3. [1]", (0.75, 1))],
)
def test_an_unread_description_is_between_what_is_read_and_that_with_all_that_is_not(reply, bounds):
    points = [f"{letter} -> {letter.upper()}." for letter in "abcd"]
    pair = described({"event": points}, text="A street.")
    judgements = pipeline.judge(TASK, [pair.question], [pair.prediction], judge_saying(reply))
    scores = pipeline.score(TASK, [pair.question], [pair.prediction], judgements)
    metrics = pipeline.summarise(TASK, [pair.question], [pair.prediction], scores)
    (row,) = (row for row in metrics if (row.metric, row.category) == ("cognition", "all"))
    assert (row.unread, row.if_unread_wrong, row.if_unread_right) == (1.0, *bounds)


def test_a_image_without_chains_is_not_judged_and_counts_nothing():
    pair = described({})
    score = judged(pair, judge_saying("1. [1]"))
    assert (score.points, score.max_points, score.answer) == (0.0, 0.0, ())
    assert isnan(TASK.measures["cognition"]([ScoredQuestion(pair.question, score)]).value)


@pytest.mark.parametrize(
    ("text", "verdicts"),
    [
        pytest.param("They stand on a beach.", [True, False, False], id="one of three"),
        pytest.param(
            "Happy people on a beach; the street is wet because of rain.",
            [True, True, True],
            id="all",
        ),
    ],
)
def test_the_rules_want_half_of_a_key_points_words(text, verdicts):
    pair = described(CHAINS, text=text)
    judgements = judge_by_rules([pair])
    assert [judgement.verdict for judgement in judgements] == verdicts
    official = TASK.scorers["official"](pair, judgements)  # takes them as they are
    assert official.answer == tuple("yes" if verdict else "no" for verdict in verdicts)


def test_overall_is_the_micro_mean_in_all_rows_of_table_3(shared_data):
    tables = json.loads((shared_data / "published" / "cogbench.json").read_text())
    counts, rows = tables["table1_counts"]["CoR"], tables["table3_cognition"]
    codes = {kind.name: kind.code for kind in KINDS}
    question = story_question({codes[k]: ["a -> X."] * int(n) for k, n in counts.items()})
    points = key_points(question)
    assert len(points) == 2245
    for model, row in rows.items():
        means = {}
        for side in (-0.005, 0.005):  # what was printed is rounded to two decimals
            verdicts = {
                f"{codes[k]}/{i}": i <= (row[k] + side) * n
                for k, n in counts.items()
                for i in range(1, int(n) + 1)
            }
            means[side] = overall(question, verdicts)
        assert means[-0.005] - 0.005 <= row["Overall"] <= means[0.005] + 0.005, model


def overall(question, verdicts):
    pair = described({})._replace(question=question)
    judgements = [
        Judgement.of(pair.prediction, judge="j", criterion=name, verdict=verdict, response="")
        for name, verdict in verdicts.items()
    ]
    score: Score = TASK.scorer("careful")(pair, judgements)
    return TASK.measures["cognition"]([ScoredQuestion(question, score)]).value


class CutOff:
    """A judge that is cut off each time."""

    name = signature = "judge"

    def __init__(self, text):
        self.text = text

    def response(self, requests):
        return [Response(text=self.text, finish_reason="length") for _ in requests]


def listening(*responses):
    """A judge that says one thing after the other, and what it was asked."""
    replies, requests = iter(responses), []

    def answer(request):
        requests.append(request)
        return next(replies)

    return ScriptedModel("judge", answer), requests


@pytest.mark.parametrize(
    ("responses", "answer", "n_requests"),
    [
        pytest.param(["1. [1]"], ("yes",), 1, id="what can be read is not asked again"),
        pytest.param(["Hm.", "1. [1]"], ("yes",), 2, id="what cannot be read is asked again"),
        pytest.param(["Hm."] * 5, ("unread",), 5, id="five times in all, and never guessed"),
    ],
)
def test_a_judge_is_called_up_to_five_times(responses, answer, n_requests):
    judge, requests = listening(*responses)
    score = judged(described({"event": ["A -> B"]}, text="B."), judge)
    assert (score.answer, len(requests)) == (answer, n_requests)
    # Each complaint quotes the last response, so that none is answered from memory.
    assert len({request.prompt.sha256 for request in requests}) == n_requests


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        pytest.param("1. [1]\n2. no", ("yes", "unread"), id="a word that may go on"),
        pytest.param("1. [1] 2. [0]", ("yes", "unread"), id="a bracket that may be taken back"),
        pytest.param("1. A boy. [1]\n2. A girl. [0]", ("yes", "unread"), id="one after its point"),
        pytest.param("1. [1] 2. [0]\nThe boy is", ("yes", "no"), id="what is explained"),
    ],
)
def test_the_last_verdict_of_a_judge_that_was_cut_off_is_open(text, answer):
    pair = described({"event": ["A -> B", "C -> D"]}, text="B.")
    assert judged(pair, CutOff(text)).answer == answer


@pytest.mark.parametrize(
    ("scorer", "answer"),
    [pytest.param("", ("yes",), id="careful"), pytest.param("official", ("no",), id="official")],
)
def test_what_a_model_thinks_aloud_counts_officially_only(scorer, answer):
    pair = described({"event": ["A -> B"]}, text="B.")
    pair = pair._replace(prediction=replace(pair.prediction, raw_text="<think>C?</think>B."))
    judge = ScriptedModel(
        "judge", lambda request: "1. [0]" if "<think>" in text_of(request) else "1. [1]"
    )
    assert judged(pair, judge, scorer).answer == answer


def text_of(request):
    return "".join(part for turn in request.prompt.turns for part in turn.parts)


@pytest.mark.parametrize(
    ("response", "n", "ours", "official"),
    read_cases(__file__, "judge_responses.jsonl"),
)
def test_a_judges_response_is_read_by_number_and_officially_by_position(
    response, n, ours, official
):
    assert read_numbered_verdicts(response, n) == ours
    assert read_by_position(response, n) == official

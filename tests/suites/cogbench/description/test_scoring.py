import json
import re
from dataclasses import replace
from math import isnan

import pytest

from bench_assets.core.reading.numbered_verdicts import read_numbered_verdicts
from bench_assets.core.schema.chat import Response
from bench_assets.core.schema.rows import Judgement
from bench_assets.evaluation import pipeline
from bench_assets.evaluation.task import ScoredQuestion
from bench_assets.suites.cogbench.dataset.reasoning import KINDS
from bench_assets.suites.cogbench.description import prompts
from bench_assets.suites.cogbench.description.questions import key_points
from bench_assets.suites.cogbench.description.scoring import judge_by_rules, read_by_position
from bench_assets.suites.cogbench.description.task import TASK
from bench_resources.models.registry.baselines import ScriptedModel
from tests.cases import read_cases
from tests.fakes.stories import described, judge_saying, story_question

HAPPY = "She smiles. -> She is happy."
BECAUSE = "It rains. -> The street is wet."
CHAINS = {"location": ["Sand. -> A beach."], "event_relationship": [BECAUSE], "mental": [HAPPY]}


def judge_and_score(pair, judge, scorer=""):
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
    judge, requests = recording_judge("1. [1] 2. [0]", "1. [1]")
    score = judge_and_score(described(CHAINS, text="Happy at the beach."), judge)
    assert (score.answer, score.points, score.max_points) == (("yes", "yes", "no"), 2.0, 3.0)
    user_texts = [str(request.prompt.turns[1].parts[0]) for request in requests]
    assert [text.splitlines()[:5] for text in user_texts] == [
        ["<DESCRIPTION>:", "Happy at the beach.", "", "<KEY POINT>:", "1. A beach."],
        ["<DESCRIPTION>:", "Happy at the beach.", "", "<EVENT RELATIONSHIP>:", f"1. {BECAUSE}"],
    ]


def normalise(text):
    """Join the lines of a text, and drop the hyphen before "1)" in lists of the paper."""
    return re.sub(r"- (\d\))", r"\1", " ".join(text.split()))


@pytest.mark.parametrize(
    "judge_prompt",
    [
        pytest.param(prompts.judge_key_points, id="figure 8"),
        pytest.param(prompts.judge_event_relationships, id="figure 9"),
    ],
)
def test_a_judge_prompt_is_that_of_the_paper(shared_data, judge_prompt):
    paper = normalise((shared_data.parent / "papers" / "cogbench.txt").read_text())
    system, user = (turn.parts[0] for turn in judge_prompt("D", ["P"]).turns)
    assert normalise(system) in paper
    instruction = normalise(user).split("1. P ")[1].split(" Your answers")[0]
    assert instruction in paper


@pytest.mark.parametrize(
    ("chains", "response", "careful", "official"),
    [
        pytest.param(
            ["a -> X.", "b -> X."], "1. [1] 2. [0]", ("yes", "no"), ("repeated", "no"), id="equal"
        ),
        pytest.param(
            ["a -> X.", "b -> Y."],
            "1. [ ] 2. [1]",
            ("unread", "yes"),
            ("yes", "unread"),
            id="a blank verdict",
        ),
        pytest.param(
            ["a -> X.", "b -> Y."], "2. [0] 1. [1]", ("yes", "no"), ("no", "yes"), id="swapped"
        ),
    ],
)
def test_the_official_reading_is_positional_and_counts_equal_points_once(
    chains, response, careful, official
):
    pair = described({"event": chains})
    assert judge_and_score(pair, judge_saying(response)).answer == careful
    assert judge_and_score(pair, judge_saying(response), "official").answer == official


def test_an_unreadable_point_is_unscored_and_the_others_count():
    pair = described({"event": ["a -> X.", "b -> Y."]})
    score = judge_and_score(pair, judge_saying("1. [1] 2. [?]"))
    assert score.points is None
    assert "event/2" in score.note
    mean = TASK.measures["cognition"]([ScoredQuestion(pair.question, score)])
    assert (mean.value, mean.n_scored, mean.n_unscored) == (1.0, 1, 1)


@pytest.mark.parametrize(
    ("response", "lowest", "highest"),
    [
        pytest.param("Hm.", 0.0, 1.0, id="none of four is read"),
        pytest.param("1. [1]\n2. [0]", 0.25, 0.75, id="one is right, two are unread"),
        pytest.param("1. [1]\n2. [1]\n3. [1]", 0.75, 1.0, id="three are right, one is unread"),
    ],
)
def test_unread_key_points_leave_the_score_between_bounds(response, lowest, highest):
    points = [f"{letter} -> {letter.upper()}." for letter in "abcd"]
    pair = described({"event": points}, text="A street.")
    judgements = pipeline.judge(TASK, [pair.question], [pair.prediction], judge_saying(response))
    scores = pipeline.score(TASK, [pair.question], [pair.prediction], judgements)
    metrics = pipeline.summarise(TASK, [pair.question], [pair.prediction], scores)
    (row,) = (row for row in metrics if (row.metric, row.category) == ("cognition", "all"))
    assert (row.unread, row.if_unread_wrong, row.if_unread_right) == (1.0, lowest, highest)


def test_an_image_without_chains_is_not_judged_and_does_not_count():
    pair = described({})
    score = judge_and_score(pair, judge_saying("1. [1]"))
    assert (score.points, score.max_points, score.answer) == (0.0, 0.0, ())
    assert isnan(TASK.measures["cognition"]([ScoredQuestion(pair.question, score)]).value)


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        pytest.param("They stand on a beach.", ("yes", "no", "no"), id="one of three"),
        pytest.param(
            "Happy people on a beach; the street is wet because of rain.",
            ("yes", "yes", "yes"),
            id="all",
        ),
    ],
)
@pytest.mark.parametrize("scorer", ["careful", "official"])
def test_both_scorers_have_the_verdicts_of_the_rules(text, answer, scorer):
    pair = described(CHAINS, text=text)
    assert TASK.scorers[scorer](pair, judge_by_rules([pair])).answer == answer


@pytest.mark.parametrize(
    ("text", "mentioned"),
    [
        pytest.param("A tall boy steals.", True, id="three of four"),
        pytest.param("A boy steals.", False, id="two of four"),
    ],
)
def test_the_rules_need_three_quarters_of_the_words_of_a_key_point(text, mentioned):
    pair = described({"event": ["a -> The tall boy steals cookies."]}, text=text)
    (judgement,) = judge_by_rules([pair])
    assert judgement.verdict is mentioned


def test_overall_is_the_micro_mean_in_all_rows_of_table_3(shared_data):
    tables = json.loads((shared_data / "published" / "cogbench.json").read_text())
    counts, rows = tables["table1_counts"]["CoR"], tables["table3_cognition"]
    chains = {CODES[kind]: ["a -> X."] * int(n) for kind, n in counts.items()}
    question = story_question(chains)
    assert len(key_points(question)) == 2245  # the paper's number of chains
    assert len(rows) == 10  # models
    for model, row in rows.items():
        # The paper rounds to two decimals.
        lowest = cognition(question, verdicts_with_shares(row, counts, offset=-0.005))
        highest = cognition(question, verdicts_with_shares(row, counts, offset=0.005))
        assert lowest - 0.005 <= row["Overall"] <= highest + 0.005, model


CODES = {kind.name: kind.code for kind in KINDS}


def verdicts_with_shares(shares, counts, *, offset):
    """Verdicts on all key points, of which a share and an offset are right in each kind."""
    return {
        f"{CODES[kind]}/{number}": number <= (shares[kind] + offset) * n
        for kind, n in counts.items()
        for number in range(1, int(n) + 1)
    }


def cognition(question, verdicts):
    pair = described({})._replace(question=question)
    judgements = [
        Judgement.of(pair.prediction, judge="j", criterion=name, verdict=verdict, response="")
        for name, verdict in verdicts.items()
    ]
    score = TASK.scorer("careful")(pair, judgements)
    return TASK.measures["cognition"]([ScoredQuestion(question, score)]).value


class TruncatedJudge:
    """A judge whose response is always cut off at the token limit."""

    name = signature = "judge"

    def __init__(self, text):
        self.text = text

    def response(self, requests):
        return [Response(text=self.text, finish_reason="length") for _ in requests]


def recording_judge(*responses):
    """A judge that gives the responses in turn, and the list of its requests."""
    remaining, requests = iter(responses), []

    def answer(request):
        requests.append(request)
        return next(remaining)

    return ScriptedModel("judge", answer), requests


@pytest.mark.parametrize(
    ("responses", "answer", "n_requests"),
    [
        pytest.param(["1. [1]"], ("yes",), 1, id="a readable response"),
        pytest.param(
            ["Hm.", "1. [1]"], ("yes",), 2, id="an unreadable response, then a readable one"
        ),
        pytest.param(["Hm."] * 5, ("unread",), 5, id="five unreadable responses"),
    ],
)
def test_an_unreadable_judge_is_called_up_to_five_times(responses, answer, n_requests):
    judge, requests = recording_judge(*responses)
    score = judge_and_score(described({"event": ["A -> B"]}, text="B."), judge)
    assert (score.answer, len(requests)) == (answer, n_requests)
    # Each complaint quotes the last response, so that no request is answered from the cache.
    assert len({request.prompt.sha256 for request in requests}) == n_requests


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        pytest.param("1. [1]\n2. no", ("yes", "unread"), id="a word that may continue"),
        pytest.param("1. [1] 2. [0]", ("yes", "unread"), id="a bracket that may be corrected"),
        pytest.param(
            "1. A boy. [1]\n2. A girl. [0]", ("yes", "unread"), id="a bracket after its point"
        ),
        pytest.param(
            "1. [1] 2. [0]\nThe boy is", ("yes", "no"), id="an explanation after all verdicts"
        ),
    ],
)
def test_the_last_verdict_of_a_truncated_response_is_unread(text, answer):
    pair = described({"event": ["A -> B", "C -> D"]}, text="B.")
    assert judge_and_score(pair, TruncatedJudge(text)).answer == answer


@pytest.mark.parametrize(
    ("scorer", "answer"),
    [pytest.param("", ("yes",), id="careful"), pytest.param("official", ("no",), id="official")],
)
def test_only_the_official_scorer_judges_the_thinking_too(scorer, answer):
    pair = described({"event": ["A -> B"]}, text="B.")
    pair = pair._replace(prediction=replace(pair.prediction, raw_text="<think>C?</think>B."))
    judge = ScriptedModel(
        "judge", lambda request: "1. [0]" if "<think>" in request_text(request) else "1. [1]"
    )
    assert judge_and_score(pair, judge, scorer).answer == answer


def request_text(request):
    return "".join(part for turn in request.prompt.turns for part in turn.parts)


@pytest.mark.parametrize(
    ("response", "n", "careful", "official"), read_cases(__file__, "judge_responses.jsonl")
)
def test_a_judges_response_is_read_by_number_and_officially_by_position(
    response, n, careful, official
):
    assert read_numbered_verdicts(response, n) == careful
    assert read_by_position(response, n) == official

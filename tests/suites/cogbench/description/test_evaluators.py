import json
from math import isnan

import pytest

from bench_assets.core.schema.errors import SourceError
from bench_assets.core.schema.rows import Judgement
from bench_assets.suites.cogbench.description import evaluators
from bench_assets.suites.cogbench.description.evaluators import MentionLabel, labelled_points
from tests.fakes.stories import described

# By the digest of their ids, images 0 and 1 are for testing, 2 and 3 for choosing.
CHAINS = {"event": ["a -> The boy steals.", "b -> The sun shines."]}
TEXTS = {
    "0": "The boy steals.",
    "1": "The sun shines. The boy steals.",
    "2": "The boy steals. It rains.",
    "3": "It rains.",
}
PAIRS = [described(CHAINS, image_id=name, text=text) for name, text in TEXTS.items()]
MENTIONED = {"0": (True, False), "1": (True, True), "2": (True, False), "3": (False, False)}
LABELS = [
    MentionLabel(question_id=pair.question.question_id, criterion=f"event/{n}", mentioned=mentioned)
    for pair in PAIRS
    for n, mentioned in enumerate(MENTIONED[pair.question.group_id], 1)
]
QUESTIONS = [pair.question for pair in PAIRS]
POINTS = labelled_points(QUESTIONS, PAIRS, LABELS)


@pytest.mark.parametrize(
    ("examples", "threshold"),
    [
        pytest.param([(0.1, False), (0.9, True)], 0.1, id="apart"),
        pytest.param([(0.5, True), (0.6, True)], -1.0, id="everything is mentioned"),
        pytest.param([(0.5, False), (0.6, False)], 0.6, id="nothing is mentioned"),
        pytest.param([(0.2, True), (0.4, False), (0.6, True), (0.8, True)], -1.0, id="the lowest"),
        pytest.param([], -1.0, id="nothing to choose on"),
    ],
)
def test_the_threshold_is_the_one_with_the_highest_accuracy(examples, threshold):
    assert evaluators.best_threshold(examples) == threshold


def test_rouge_is_the_recall_of_the_best_sentence():
    scores = evaluators.best_scores(POINTS, evaluators.rouge_recall)
    # "The boy steals." shares "the" with "The sun shines.": one of three words.
    third = pytest.approx(1 / 3)
    assert scores == [1.0, third, 1.0, 1.0, 1.0, third, 0.0, 0.0]


def test_a_number_is_tested_on_the_half_on_which_its_threshold_was_not_chosen():
    evaluated = evaluators.evaluate_by_threshold("ROUGE", POINTS, evaluators.rouge_recall)
    assert (evaluated.status, evaluated.n, evaluated.n_choosing) == ("run", 4, 4)
    assert evaluated.threshold == pytest.approx(1 / 3)
    assert evaluated.accuracy == 1.0
    assert evaluated.low < 1.0


def test_without_labels_to_choose_a_threshold_on_a_number_is_not_evaluated():
    tested = [point for point in POINTS if evaluators.is_test_point(point)]
    evaluated = evaluators.evaluate_by_threshold("ROUGE", tested, evaluators.rouge_recall)
    assert evaluated.status.startswith("not run: no label")
    assert isnan(evaluated.accuracy)


def test_a_label_of_a_description_that_failed_is_left_out():
    left = labelled_points(QUESTIONS, PAIRS[1:], LABELS)
    assert left == POINTS[2:]


def test_verdicts_are_compared_as_they_are_and_missing_ones_are_undecided():
    judgements = [
        Judgement.of(p.pair.prediction, judge="j", criterion=p.criterion, verdict=True, response="")
        for p in POINTS
        if p.criterion == "event/1" or p.pair.question.group_id == "1"
    ]
    evaluated = evaluators.evaluate_by_verdict("j", POINTS, judgements)
    assert (evaluated.accuracy, evaluated.n, evaluated.n_undecided, evaluated.threshold) == (
        1.0,
        3,
        1,
        None,
    )


def test_rules_need_half_of_the_words():
    assert evaluators.evaluate_by_rules(POINTS).accuracy == 1.0


def test_labels_of_nothing_and_second_labels_are_refused(tmp_path):
    with pytest.raises(SourceError, match=r"no key point event/9 of cogbench/description/0"):
        labelled_points(
            QUESTIONS,
            PAIRS,
            [
                MentionLabel(
                    question_id="cogbench/description/0", criterion="event/9", mentioned=True
                )
            ],
        )
    line = json.dumps({"question_id": "q", "criterion": "event/1", "mentioned": True})
    file = tmp_path / "labels.jsonl"
    file.write_text(f"{line}\n{line}\n")
    with pytest.raises(SourceError, match=r"line 2: the same question_id, criterion, model as in"):
        evaluators.read_labels(file)

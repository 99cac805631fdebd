"""R@k: whether one of the first k of a ranking is right, by pencil."""

from bench_assets.core.schema.rows import Score
from bench_assets.evaluation.task import AnsweredQuestion, ScoredQuestion
from bench_assets.suites.journeybench.retrieval.dataset import IMAGE_RETRIEVAL, TEXT_RETRIEVAL
from bench_assets.suites.journeybench.retrieval.scoring import recalls, score
from tests.rows import prediction, question


def ranked(place, points=0.0, direction=TEXT_RETRIEVAL):
    """A query whose right candidate is ranked at a place, the first being 1."""
    ranking = tuple("right" if n == place else f"wrong {n}" for n in range(1, 13))
    asked = question(question_id=f"r/{place}", category=direction, answer=("right",))
    said = Score(question_id="", model="m", condition="main", points=points, answer=ranking)
    return ScoredQuestion(asked, said)


def test_recalls_are_shares_of_the_queries_of_their_direction():
    texts = [ranked(place) for place in (1, 5, 6, 10, 11)]
    rows = [*texts, ranked(1, points=None), ranked(2, direction=IMAGE_RETRIEVAL)]
    found = {name: measure(rows) for name, measure in recalls().items()}
    assert {name: mean.value for name, mean in found.items()} == {
        "text_r@1": 1 / 5,
        "text_r@5": 2 / 5,
        "text_r@10": 4 / 5,
        "image_r@1": 0.0,
        "image_r@5": 1.0,
        "image_r@10": 1.0,
    }
    counts = [(mean.n_scored, mean.n_unscored) for mean in found.values()]
    assert counts == [(5, 1)] * 3 + [(1, 0)] * 3


def test_a_query_has_a_point_if_what_is_ranked_first_is_right():
    asked = question(answer=("b", "c"))
    points = {
        first: score(AnsweredQuestion(asked, prediction(ranking=(first, "b"))), []).points
        for first in "abc"
    }
    assert points == {"a": 0.0, "b": 1.0, "c": 1.0}

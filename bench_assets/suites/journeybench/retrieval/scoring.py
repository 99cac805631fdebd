"""Rankings of candidates by an encoder, and their R@k (section 4.1)."""

from collections import defaultdict
from collections.abc import Sequence

from bench_assets.core.metrics.retrieval import nearest, recall_at
from bench_assets.core.schema.chat import Image, ImageTextEncoder, Prompt
from bench_assets.core.schema.rows import Judgement, Prediction, Question, Score
from bench_assets.core.stats.means import Mean, ScoredPoint, mean
from bench_assets.evaluation.task import AnsweredQuestion, Measure, ScoredQuestion
from bench_assets.suites.journeybench.retrieval.dataset import (
    IMAGE_RETRIEVAL,
    TEXT_RETRIEVAL,
    Candidate,
)

KS = (1, 5, 10)


def score(answered: AnsweredQuestion, _: Sequence[Judgement]) -> Score:
    """Give a point if the first candidate is right."""
    question, prediction = answered
    points = recall_at(1, prediction.ranking, question.answer)
    return Score.of(prediction, points=points, answer=prediction.ranking)


def recall_measures() -> dict[str, Measure]:
    """Build the measures R@1, R@5 and R@10, of text retrieval first."""
    return {
        f"{name}_r@{k}": _recall(direction, k)
        for name, direction in (("text", TEXT_RETRIEVAL), ("image", IMAGE_RETRIEVAL))
        for k in KS
    }


def by_image_category(question: Question) -> Sequence[str]:
    """Slice by the image's category (Figure 4); metrics distinguish directions."""
    return [name for name in question.labels["categories"].split("; ") if name]


def _recall(direction: str, k: int) -> Measure:
    def measure(scored: Sequence[ScoredQuestion]) -> Mean:
        """R@k; the captions of one image count as one cluster."""
        return mean(
            ScoredPoint(
                None if score.points is None else recall_at(k, score.answer, question.answer),
                question.cluster,
            )
            for question, score in scored
            if question.category == direction
        )

    return measure


DEPTH = 10
"""Length of a ranking: the largest k of R@k."""

WITHOUT_DISTRACTORS, AS_RELEASED = "without_distractors", "as_released"
_RULE = "top=10,cosine to 6 decimals,equal ones: right last"


def rank(
    questions: Sequence[Question],
    candidates: Sequence[Candidate],
    encoder: ImageTextEncoder,
    model: str,
    condition: str,
) -> list[Prediction]:
    """Rank the candidates of every query, both directions, in the order of the questions.

    A query ranks the shared candidates and, unless the condition drops them, its own distractors.
    ``model`` is the name that the rankings are stored under.

    Raises:
        ImageError: If an image is not in the image store.
    """
    if condition == WITHOUT_DISTRACTORS:
        candidates = [candidate for candidate in candidates if not candidate.distracts]
    rankings = _rankings(questions, candidates, encoder, TEXT_RETRIEVAL)
    rankings |= _rankings(questions, candidates, encoder, IMAGE_RETRIEVAL)
    decoding = f"{encoder.name}|{_RULE}|{_pools(candidates, condition)}"
    return [
        Prediction(
            question_id=question.question_id,
            model=model,
            condition=condition,
            text="",
            ranking=rankings[question.question_id],
            prompt_sha256=query_prompt(question).sha256,
            decoding=decoding,
        )
        for question in questions
    ]


def _rankings(
    questions: Sequence[Question],
    candidates: Sequence[Candidate],
    encoder: ImageTextEncoder,
    direction: str,
) -> dict[str, tuple[str, ...]]:
    """Rank the candidates of one direction: the ids, best first, by question id."""
    queries = [question for question in questions if question.category == direction]
    if not queries:
        return {}
    if direction == TEXT_RETRIEVAL:
        pool = [candidate for candidate in candidates if candidate.text]
        query_vectors = encoder.encode_images([query.images[0] for query in queries])
        vectors = encoder.encode_texts([candidate.text for candidate in pool])
    else:
        pool = [candidate for candidate in candidates if candidate.image]
        query_vectors = encoder.encode_texts([query.text for query in queries])
        vectors = encoder.encode_images([candidate.image for candidate in pool])
    index_of = {candidate.candidate_id: index for index, candidate in enumerate(pool)}
    distractors: dict[str, list[int]] = defaultdict(list)
    for index, candidate in enumerate(pool):
        if candidate.distracts:
            distractors[candidate.distracts].append(index)
    neighbours = nearest(
        query_vectors,
        vectors,
        right=[[index_of[name] for name in query.answer] for query in queries],
        own=[distractors[query.group_id] for query in queries],
        k=DEPTH,
    )
    return {
        query.question_id: tuple(pool[index].candidate_id for index in ranking)
        for query, ranking in zip(queries, neighbours, strict=True)
    }


def _pools(candidates: Sequence[Candidate], condition: str) -> str:
    """Describe the candidate pools, for signatures."""
    shared = [candidate for candidate in candidates if not candidate.distracts]
    n_texts = sum(bool(candidate.text) for candidate in shared)
    own_suffix = "" if condition == WITHOUT_DISTRACTORS else "+own distractors"
    return f"pools:{n_texts} texts,{len(shared) - n_texts} images{own_suffix}"


def query_prompt(question: Question) -> Prompt:
    """Prompt of a query: its image for text retrieval, its text for image retrieval."""
    return Prompt.of(*map(Image, question.images)) if question.images else Prompt.of(question.text)

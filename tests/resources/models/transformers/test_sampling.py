"""How tokens are chosen in a batch."""

import math
from collections import Counter
from collections.abc import Mapping

import pytest

from bench_resources.models.transformers.sampling import (
    RepetitionPenalty,
    RowSampler,
    sampling_processors,
)
from bench_resources.models.workers.local_model import Draw


@pytest.mark.parametrize(
    ("rest", "expected"),
    [
        pytest.param({"top_k": 2}, (2 / 3, 1 / 3, 0.0), id="top_k keeps so many"),
        pytest.param({"min_p": 0.4}, (2 / 3, 1 / 3, 0.0), id="min_p keeps 0.4 of the likeliest"),
        pytest.param({"min_p": 0.1}, (0.6, 0.3, 0.1), id="all are likely enough"),
        # The entropy is 0.898 nats; surprises are 0.51, 1.20 and 2.30, so 0.3 comes first.
        pytest.param({"typical_p": 0.2}, (0.0, 1.0, 0.0), id="typical_p keeps the typical"),
    ],
)
def test_a_card_s_tokens_are_drawn_from_its_distribution(
    rest: Mapping[str, float], expected: tuple[float, ...]
) -> None:
    import torch

    n = 2000
    seeds = [str(i) for i in range(n)]
    draw = Draw(max_tokens=1, temperature=1.0, top_p=1.0, seeds=seeds, rest=rest)
    scores = torch.tensor([[0.6, 0.3, 0.1]]).log().expand(n, 3)
    counts = Counter(
        RowSampler(draw)(torch.zeros(n, 1, dtype=torch.long), scores).argmax(1).tolist()
    )
    for token, p in enumerate(expected):
        assert abs(counts[token] / n - p) <= 4 * math.sqrt(p * (1 - p) / n)


@pytest.mark.parametrize(
    ("prompt_tokens", "ids", "expected"),
    [
        pytest.param(
            [2],
            [[1, 2]],
            [[4.0, 1.0, -4.0, 2.0]],
            id="tokens that were there: 2 halved, -2 doubled",
        ),
        pytest.param(
            [1, 3],
            [[0, 0, 1], [3, 3, 2]],
            [[4.0, 1.0, -2.0, 2.0], [4.0, 2.0, -4.0, 1.0]],
            id="padding in front was never there",
        ),
        pytest.param(
            [1, 2],
            [[0, 1], [0, 2], [0, 1], [0, 2]],
            [
                [4.0, 1.0, -2.0, 2.0],
                [4.0, 2.0, -4.0, 2.0],
                [2.0, 1.0, -2.0, 2.0],
                [2.0, 2.0, -4.0, 2.0],
            ],
            id="two beams of each",
        ),
        pytest.param(
            [5],
            [[2]],
            [[4.0, 2.0, -4.0, 2.0]],
            id="a decoder of its own does not see the prompt",
        ),
    ],
)
def test_the_penalty_is_for_what_was_there(
    prompt_tokens: list[int], ids: list[list[int]], expected: list[list[float]]
) -> None:
    import torch

    scores = torch.tensor([[4.0, 2.0, -2.0, 2.0]]).repeat(len(ids), 1)
    penalised = RepetitionPenalty(2.0, prompt_tokens)(torch.tensor(ids), scores)
    assert penalised.tolist() == expected


def test_padding_stays_padding_as_responses_grow() -> None:
    import torch

    penalty = RepetitionPenalty(2.0, [1])
    scores = torch.full((1, 4), 2.0)
    penalty(torch.tensor([[0, 1]]), scores)
    assert penalty(torch.tensor([[0, 1, 3]]), scores).tolist() == [[2.0, 1.0, 2.0, 1.0]]


def test_greedy_decoding_changes_no_scores() -> None:
    assert (
        sampling_processors(Draw(max_tokens=1, temperature=0.0, top_p=1.0, seeds=["a"]), [3]) == []
    )

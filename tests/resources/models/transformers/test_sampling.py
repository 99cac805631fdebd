"""How tokens are chosen in a batch."""

import json
import math
import shutil
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from bench_assets.core.schema.chat import Request
from bench_assets.core.schema.errors import ModelError
from bench_resources.checkpoints.identity import Checkpoint
from bench_resources.models.transformers.sampling import (
    Card,
    RepetitionPenalty,
    RowSampler,
    read_card,
)
from bench_resources.models.workers.local_model import Draw
from tests.fakes.tiny_checkpoint import save_tiny_vlm
from tests.resources.models.transformers.tiny_engine import MIXED, engine_of, outputs, responses_of


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


# Decodings that a checkpoint's generation_config.json recommends.


@pytest.fixture(scope="module")
def vlm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny_vlm(tmp_path_factory.mktemp("vlm"))


def card_of(folder: Path, written: Mapping[str, Any] | str | None) -> Card:
    if written is not None:
        text = written if isinstance(written, str) else json.dumps(written)
        (folder / "generation_config.json").write_text(text)
    return read_card(Checkpoint(location=str(folder), content="sha256:0"))


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        pytest.param(None, Card(), id="no file: greedy"),
        pytest.param({"eos_token_id": 2, "max_length": 20}, Card(), id="nothing about drawing"),
        pytest.param(
            {"temperature": 0.7, "top_p": 0.8, "top_k": 20}, Card(), id="greedy unless do_sample"
        ),
        pytest.param(
            {"repetition_penalty": 1.05},
            Card(rest={"repetition_penalty": 1.05}),
            id="greedy, with a penalty",
        ),
        pytest.param(
            {"num_beams": 3, "early_stopping": True, "no_repeat_ngram_size": 3},
            Card(rest={"num_beams": 3, "early_stopping": True, "no_repeat_ngram_size": 3}),
            id="beams, as Florence-2 has them",
        ),
        pytest.param(
            {"do_sample": True, "temperature": 0.6, "top_p": 0.9, "top_k": 20, "min_p": 0.1},
            Card(temperature=0.6, top_p=0.9, rest={"top_k": 20, "min_p": 0.1}),
            id="sampling",
        ),
        pytest.param(
            {"do_sample": True},
            Card(temperature=1.0, rest={"top_k": 50}),
            id="sampling as transformers does where nothing is said",
        ),
        pytest.param({"do_sample": True, "top_k": 0}, Card(temperature=1.0), id="no top_k, said"),
        pytest.param(
            {"num_beams": 1, "repetition_penalty": 1.0, "min_length": 0, "min_p": None},
            Card(),
            id="values that change nothing",
        ),
    ],
)
def test_a_card_is_read_as_transformers_reads_it(
    tmp_path: Path, written: Mapping[str, Any] | None, expected: Card
) -> None:
    assert card_of(tmp_path, written) == expected


@pytest.mark.parametrize(
    ("written", "says"),
    [
        pytest.param({"penalty_alpha": 0.6}, "penalty_alpha = 0.6 is not", id="contrastive search"),
        pytest.param({"stop_strings": ["\n"]}, "stop_strings", id="texts that end a response"),
        pytest.param({"suppress_tokens": [7]}, "suppress_tokens", id="tokens never drawn"),
        pytest.param({"min_new_tokens": 5}, "min_new_tokens", id="a least length"),
        pytest.param({"do_sample": True, "num_beams": 2}, "sampling with beams", id="both"),
        pytest.param({"do_sample": True, "temperature": 0.0}, "temperature = 0", id="no chance"),
        pytest.param({"do_sample": True, "temperature": "hot"}, "hot", id="no number"),
        pytest.param("{", "Expecting property name", id="half a file"),
        pytest.param("[]", "not an object", id="a list"),
    ],
)
def test_what_cannot_be_followed_is_refused(
    tmp_path: Path, written: Mapping[str, Any] | str, says: str
) -> None:
    with pytest.raises(ModelError, match=f"generation_config.json: .*{says}"):
        card_of(tmp_path, written)


def test_a_card_is_in_the_signature(tmp_path: Path) -> None:
    card = card_of(tmp_path, {"do_sample": True, "top_p": 0.9, "repetition_penalty": 1.05})
    expected = "card,t=1,max=8,top_p=0.9,repetition_penalty=1.05,top_k=50,seed=3"
    assert str(card.decoding(8, 3)) == expected


def test_a_penalty_changes_responses_only_where_the_card_s_decoding_is_chosen(
    vlm: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "penalised"
    shutil.copytree(vlm, folder)
    settings = folder / "generation_config.json"
    settings.write_text(json.dumps(json.loads(settings.read_text()) | {"repetition_penalty": 1.5}))
    requests = [Request(prompt=prompt) for prompt in MIXED]
    plain = outputs(responses_of(engine_of(vlm), requests))
    assert outputs(responses_of(engine_of(folder), requests)) == plain
    engine = engine_of(folder, decoding="card")
    penalised = outputs(responses_of(engine, requests))
    assert penalised != plain
    assert penalised == [outputs(responses_of(engine, [request]))[0] for request in requests]
    assert str(engine.decoding) == "card,t=0,max=8,repetition_penalty=1.5"

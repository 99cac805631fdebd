"""A server that dies while it is asked comes back, or the asking ends with its reason."""

from pathlib import Path

import pytest

from bench_assets.core.schema.errors import ModelError
from tests.resources.models.api.serving import engine, responses_to, texts_of
from tests.resources.models.api.test_served import lines
from tests.sensors.watched import write_checkpoint

TEXTS = [f"question {n}" for n in range(60)]
EXPECTED = [f"1234 {text}" for text in TEXTS]


@pytest.fixture
def weights(tmp_path: Path) -> Path:
    return write_checkpoint(tmp_path / "run" / "step", b"1234")


def test_the_only_one_dies_and_the_rest_waits_for_its_successor(
    weights: Path, tmp_path: Path
) -> None:
    options = ["after=10", f"once={tmp_path / 'died'}", f"asked={tmp_path / 'asked'}"]
    with engine(weights, tmp_path, *options, concurrency=2, max_tries=2) as served:
        assert texts_of(responses_to(served, *TEXTS)) == EXPECTED
    assert len(lines(tmp_path / "asked")) <= len(TEXTS) + 2


@pytest.mark.long
def test_a_question_that_ends_every_server_is_an_error_and_the_others_are_answered(
    weights: Path, tmp_path: Path
) -> None:
    with engine(weights, tmp_path, "dies=poison", concurrency=1, max_tries=2) as served:
        first, poison, last = responses_to(served, "a", "poison", "b")
    assert (first.text, last.text) == ("1234 a", "1234 b")
    assert "connection" in poison.error or "disconnected" in poison.error.lower()


@pytest.mark.long
def test_servers_that_die_again_and_again_end_the_run(weights: Path, tmp_path: Path) -> None:
    with (
        engine(weights, tmp_path, "after=1", concurrency=1, max_tries=2) as served,
        pytest.raises(ModelError, match="out of memory, says the stand-in"),
    ):
        responses_to(served, "a", "b", "c", "d", "e")

from typing import Any

import pytest

from bench_resources.checkpoints.model_kinds import describe_wrong_kind
from tests.cases import read_cases


@pytest.mark.parametrize(("config", "description"), read_cases(__file__, "other_kinds.jsonl"))
def test_a_model_of_another_kind_is_described(config: dict[str, Any], description: str) -> None:
    assert description in describe_wrong_kind(config, text_only=False)


@pytest.mark.parametrize("config", read_cases(__file__, "accepted_kinds.jsonl"))
def test_a_model_that_may_take_images_is_accepted(config: dict[str, Any]) -> None:
    assert describe_wrong_kind(config, text_only=False) == ""

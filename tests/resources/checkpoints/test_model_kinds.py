"""A checkpoint of another kind is refused in one sentence that says what it is, and what to do."""

from typing import Any

import pytest

from bench_resources.checkpoints.model_kinds import describe_wrong_kind
from tests.cases import read_cases


@pytest.mark.parametrize(("written", "says"), read_cases(__file__, "other_kinds.jsonl"))
def test_a_model_of_another_kind_is_refused_by_name_and_one_that_may_see_is_not(
    written: dict[str, Any], says: str
) -> None:
    sentence = describe_wrong_kind(written, text_only=False)
    assert bool(sentence) == bool(says)
    assert says in sentence

"""A judge's word counts where its response is complete."""

import pytest

from bench_assets.core.judging.verdicts import is_truncated, read_verdict
from bench_assets.core.reading.verdicts import RIGHT_OR_WRONG
from bench_assets.core.schema.chat import Response


@pytest.mark.parametrize(
    ("response", "verdict"),
    [
        pytest.param(Response(text="Verdict: wrong"), False, id="a word"),
        pytest.param(Response(text="right</s>"), True, id="an end of text"),
        pytest.param(Response(text="<think>wrong?</think>right"), True, id="after reasoning"),
        pytest.param(Response(text="right", finish_reason="stop"), True, id="complete"),
        pytest.param(Response(text="right", finish_reason="length"), None, id="truncated"),
        pytest.param(Response(text="right or wrong"), None, id="both"),
        pytest.param(Response(error="503"), None, id="an error"),
    ],
)
def test_a_word_of_a_complete_response_is_a_verdict(response, verdict):
    assert read_verdict(response, RIGHT_OR_WRONG) is verdict


def test_a_response_that_ends_at_the_token_limit_is_truncated():
    assert is_truncated(Response(text="No", finish_reason="length"))
    assert not is_truncated(Response(text="No", finish_reason="stop"))

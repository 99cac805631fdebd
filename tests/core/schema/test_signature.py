"""Signatures: written byte for byte as they always were, and read again."""

import pytest

from bench_assets.core.schema.errors import TableError
from bench_assets.core.schema.signature import Signature

SPECIALISTS = (
    "blink|v2|main|data:0123456789ab|prompts:unknown|model:specialists|v1|opencv=5.0.0"
    "|judge:rules|scorer:careful|no_answer:2|n:1901"
)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        pytest.param(
            SPECIALISTS,
            {
                "data": "0123456789ab",
                "prompts": "unknown",
                "model": "specialists|v1|opencv=5.0.0",
                "judge": "rules",
                "scorer": "careful",
                "no_answer": "2",
                "n": "1901",
            },
            id="a model with bars of its own",
        ),
        pytest.param(
            "t|v1|main|data:d|model:a|judge:x|n:3|judge:gpt|scorer:r|n:4|single_run",
            {
                "data": "d",
                "model": "a|judge:x|n:3",
                "judge": "gpt",
                "scorer": "r",
                "n": "4",
                "single_run": "",
            },
            id="a model that looks like other parts, and a word at the end",
        ),
        pytest.param(
            "codis|v2|main~no_context|judge:none|data:d|model:m@sha256:1|t=0|n:706",
            {"judge": "none", "data": "d", "model": "m@sha256:1|t=0", "n": "706"},
            id="a study of two conditions",
        ),
        pytest.param(
            "r|v1|main|data:d|prompts:p|model:e@1|top=10|pools:3 texts,2 images|judge:none|n:1",
            {
                "data": "d",
                "prompts": "p",
                "model": "e@1|top=10|pools:3 texts,2 images",
                "judge": "none",
                "n": "1",
            },
            id="an encoder with its pools",
        ),
        pytest.param("q|v1|main|people:2", {"people": "2"}, id="no model"),
        pytest.param("q|v1|main", {}, id="nothing but the task"),
        pytest.param(
            "q|v1|main|model:a\nb|judge:none", {"model": "a\nb", "judge": "none"}, id="a new line"
        ),
    ],
)
def test_a_signature_is_read_and_written_as_it_was(text, parts):
    signature = Signature.parse(text)
    assert dict(signature.parts) == parts
    assert list(signature.parts) == list(parts)
    assert str(signature) == text


def test_extensions_stand_beside_the_task():
    signature = Signature.parse("codis+acme+zoo|v2|main|n:1")
    assert (signature.task, signature.extensions) == ("codis", ("acme", "zoo"))
    assert str(signature) == "codis+acme+zoo|v2|main|n:1"


def test_more_parts_come_last():
    signature = Signature.parse("t|v1|main|n:1").with_parts(meteor="1.5")
    assert str(signature) == "t|v1|main|n:1|meteor:1.5"


@pytest.mark.parametrize("text", ["", "codis", "codis|data:1", "codis|2|main"])
def test_what_is_no_signature_is_refused(text):
    with pytest.raises(TableError, match="not a signature"):
        Signature.parse(text)

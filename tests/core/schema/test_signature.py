import pytest

from bench_assets.core.schema.errors import TableError
from bench_assets.core.schema.signature import Signature
from tests.cases import read_cases


@pytest.mark.parametrize(("text", "parts"), read_cases(__file__, "signatures.jsonl"))
def test_a_parsed_signature_is_written_as_it_was(text, parts):
    signature = Signature.parse(text)
    assert dict(signature.parts) == parts
    assert list(signature.parts) == list(parts)
    assert str(signature) == text


def test_extensions_are_parsed_apart_from_the_task():
    signature = Signature.parse("codis+acme+zoo|v2|main|n:1")
    assert (signature.task, signature.extensions) == ("codis", ("acme", "zoo"))
    assert str(signature) == "codis+acme+zoo|v2|main|n:1"


def test_added_parts_come_last():
    signature = Signature.parse("t|v1|main|n:1").with_parts(meteor="1.5")
    assert str(signature) == "t|v1|main|n:1|meteor:1.5"


@pytest.mark.parametrize("text", ["", "codis", "codis|data:1", "codis|2|main"])
def test_a_text_that_is_no_signature_is_refused(text):
    with pytest.raises(TableError, match="not a signature"):
        Signature.parse(text)

"""Tokens of COCO's caption evaluation; the expected ones are those of its Java program."""

import json

import pytest

from bench_assets.core.metrics.ptb_tokenizer import tokenize
from tests.cases import read_cases


@pytest.mark.parametrize(("text", "tokens"), read_cases(__file__, "ptb_tokens.jsonl"))
def test_tokens_are_those_of_the_java_program(text, tokens):
    assert tokenize(text) == tokens.split()


@pytest.mark.parametrize("name", ["synth_100", "synth_1000"])
def test_shared_captions_have_the_tokens_of_the_java_program(shared_data, name):
    items = json.loads((shared_data / "captions" / f"{name}.json").read_text())["items"]
    expected = json.loads((shared_data / "captions" / f"{name}.scores.json").read_text())
    assert items
    for item in items:
        item_id = str(item["id"])
        candidate = " ".join(tokenize(item["candidate"]))
        references = [" ".join(tokenize(text)) for text in item["references"]]
        assert candidate == expected["tokenized_candidates"][item_id]
        assert references == expected["tokenized_references"][item_id]


def test_a_text_without_blanks_is_split_every_thousand_characters():
    assert tokenize("a" * 1000) == ["a" * 1000]
    assert tokenize("a" * 2001) == ["a" * 1000, "a" * 1000, "a"]

"""Tokens as COCO's caption evaluation has them; expected ones are those of its Java program."""

import json

import pytest

from bench_assets.core.metrics.ptb_tokenizer import tokenize
from tests.cases import read_cases


@pytest.mark.parametrize(
    ("text", "tokens"),
    read_cases(__file__, "ptb_tokens.jsonl"),
)
def test_tokens_are_those_of_the_java_program(text, tokens):
    assert tokenize(text) == tokens.split()


@pytest.mark.parametrize("name", ["synth_100", "synth_1000"])
def test_every_caption_of_the_fixtures_is_split_as_the_java_program_does(shared_data, name):
    items = json.loads((shared_data / "captions" / f"{name}.json").read_text())["items"]
    expected = json.loads((shared_data / "captions" / f"{name}.scores.json").read_text())
    for item in items:
        number = str(item["id"])
        candidate, references = (
            expected["tokenized_candidates"][number],
            expected["tokenized_references"][number],
        )
        assert " ".join(tokenize(item["candidate"])) == candidate
        assert [" ".join(tokenize(text)) for text in item["references"]] == references


def test_what_has_no_blank_for_very_long_is_split_a_thousand_characters_at_a_time():
    assert tokenize("a" * 1000) == ["a" * 1000]
    assert tokenize("a" * 2001) == ["a" * 1000, "a" * 1000, "a"]

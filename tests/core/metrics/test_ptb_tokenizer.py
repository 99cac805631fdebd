"""Tokens as COCO's caption evaluation has them; expected ones are those of its Java program."""

import json

import pytest

from bench_assets.core.metrics.ptb_tokenizer import tokenize


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        pytest.param("", "", id="nothing has no tokens"),
        pytest.param(" Oh ... no, no ;-- ?", "oh no no", id="punctuation is dropped"),
        pytest.param("What?! No!!", "what ?! no !!", id="several marks in a row are a token"),
        pytest.param(
            "A cat (in 1999), smiling!",
            "a cat -lrb- in 1999 -rrb- smiling",
            id="brackets stay, because they are dropped by another spelling than they have",
        ),
        pytest.param(
            "It's a dog's ball; it isn't here and can't be",
            "it 's a dog 's ball it is n't here and ca n't be",
            id="contractions and possessives are cut",
        ),
        pytest.param("the dogs' ball", "the dogs ball", id="a final apostrophe is punctuation"),
        pytest.param("It’s “red”", "it 's red", id="curly quotation marks count as straight"),
        pytest.param("I cannot, I'm gonna", "i can not i 'm gon na", id="some words are two"),
        pytest.param(
            "a half-eaten, well-dressed 10-foot wave",
            "a half-eaten well-dressed 10-foot wave",
            id="hyphens stay",
        ),
        pytest.param(
            "Mr. Smith of St. John's, e.g. the U.S. flag at 5 p.m.",
            "mr. smith of st. john 's e.g. the u.s. flag at 5 p.m.",
            id="abbreviations keep their full stop",
        ),
        pytest.param("No. 5 says no. Then", "no. 5 says no then", id="no. only before a number"),
        pytest.param(
            "J. Smith and Point B. The end",
            "j. smith and point b the end",
            id="an initial is told from the end of a sentence by the next word",
        ),
        pytest.param("the image.; there", "the image. there", id="a full stop before ; stays"),
        pytest.param(
            "$1,000.50, 50% and £20", "$ 1,000.50 50 % and # 20", id="signs are cut from numbers"
        ),
        pytest.param("3/4 of 12:30 or 5pm", "3/4 of 12:30 or 5pm", id="numbers with marks inside"),
        pytest.param("1.5m of a 1.5-inch 4x4", "1.5 m of a 1.5-inch 4x4", id="units"),
        pytest.param("half—dream – boat -- sea", "half dream boat sea", id="dashes are dropped"),
        pytest.param("R&B, black & white", "r&b black & white", id="an ampersand is a token"),
        pytest.param("see www.a.com/b or a@b.org", "see www.a.com/b or a@b.org", id="addresses"),
        pytest.param("'90s rock 'n' roll", "'90s rock 'n' roll", id="leading apostrophes"),
        pytest.param("a dog 🐶 smiles🐶", "a dog smiles", id="emoji are no tokens"),
        pytest.param("naïve café", "naïve café", id="accents stay"),
    ],
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

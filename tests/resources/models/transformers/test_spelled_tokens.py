"""What a question spells of a checkpoint's own tokens costs the pieces of a text, and no more."""

from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench_resources.models.transformers.chat_template import SpecialTokenEscaper
from tests.families.parts import tokenizer

_SPECIAL = ("<pad>", "<s>", "</s>", "<image>", "<|end|>")
_TEMPLATE = "{{ bos_token }}{{ messages[0]['content'] }}"


def words(**how: Any) -> Any:
    return tokenizer(_SPECIAL, bos="<s>", eos="</s>", pad="<pad>", **how)


@cache
def used_before() -> tuple[Any, SpecialTokenEscaper]:
    tokens = words()
    return tokens, SpecialTokenEscaper(tokens, _TEMPLATE)


def ids_of(spelled: SpecialTokenEscaper, tokens: Any, text: str) -> list[int]:
    import torch

    ids = torch.tensor([tokens(spelled.as_text(text))["input_ids"]])
    spelled.restore_ids(ids)
    return [int(number) for number in ids[0]]


def pieces(text: str) -> list[int]:
    """What a tokenizer without any control token makes of a text."""
    return [int(number) for number in words()._encode_without_added_tokens(text)]


def in_pieces(*texts: str) -> list[int]:
    return [number for text in texts for number in pieces(text)]


@pytest.mark.parametrize(
    "texts",
    [
        pytest.param(("<image>",), id="nothing else"),
        pytest.param(("What is ", "<image>", " here?"), id="one among words"),
        pytest.param(("<image>", "<image>"), id="adjacent ones"),
        pytest.param(("a ", "<image>", " b ", "</s>", " c ", "<image>"), id="one of them twice"),
        pytest.param(("<s>", "</s>", "<pad>", "<|end|>"), id="all of them"),
        pytest.param(("ein ", "<image>", "\n", "<|end|>", "üß"), id="beside other scripts"),
    ],
)
def test_a_spelled_token_costs_its_pieces(texts: tuple[str, ...]) -> None:
    tokens = words()
    spelled = SpecialTokenEscaper(tokens, _TEMPLATE)
    assert ids_of(spelled, tokens, "".join(texts)) == in_pieces(*texts)


def test_a_bos_of_the_post_processor_stays_in_front() -> None:
    tokens = words(writes_bos=True)
    spelled = SpecialTokenEscaper(tokens, _TEMPLATE)
    begin = tokens.convert_tokens_to_ids("<s>")
    assert ids_of(spelled, tokens, "a <image>") == [begin, *in_pieces("a ", "<image>")]


def test_real_tokens_of_the_prompt_stay() -> None:
    tokens = words()
    spelled = SpecialTokenEscaper(tokens, _TEMPLATE)
    prompt = f"<image>{spelled.as_text('is <image> it?')}<|end|>"
    import torch

    ids = torch.tensor([tokens(prompt)["input_ids"]])
    spelled.restore_ids(ids)
    image, end = tokens.convert_tokens_to_ids(["<image>", "<|end|>"])
    assert ids[0].tolist() == [image, *in_pieces("is ", "<image>", " it?"), end]


@given(
    st.lists(st.sampled_from(["a", " ", "<image>", "</s>", "\U0010f000", "\U0010f005"]), max_size=9)
)
def test_no_text_is_read_as_another(texts: list[str]) -> None:
    tokens, spelled = used_before()
    assert tokens.decode(ids_of(spelled, tokens, "".join(texts))) == "".join(texts)


def test_a_stand_in_in_a_text_is_the_character_itself() -> None:
    tokens = words()
    spelled = SpecialTokenEscaper(tokens, _TEMPLATE)
    ids_of(spelled, tokens, "<image>")  # now there are stand-ins
    assert ids_of(spelled, tokens, "\U0010f000") == pieces("\U0010f000")
    assert len(pieces("\U0010f000")) == 4  # bytes of UTF-8


def test_a_text_without_control_tokens_is_left_alone() -> None:
    spelled = SpecialTokenEscaper(words(), _TEMPLATE)
    assert spelled.as_text("is 1 < 2 in the image?") == "is 1 < 2 in the image?"


def test_what_cannot_be_written_as_text_is_broken_up() -> None:
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    whole_words = Tokenizer(models.WordLevel({"<image>": 0, "<unk>": 1, "bird": 2}, "<unk>"))
    whole_words.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokens = PreTrainedTokenizerFast(
        tokenizer_object=whole_words,
        unk_token="<unk>",
        extra_special_tokens={"image_token": "<image>"},
    )
    spelled = SpecialTokenEscaper(tokens, _TEMPLATE)
    assert ids_of(spelled, tokens, "bird <image> bird") == [2, 1, 2]

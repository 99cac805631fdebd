"""What a chat template may do with texts, and what it must not leave out."""

from collections.abc import Sequence
from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench_resources.models.transformers.chat_template import ChatTemplate, SpecialTokenEscaper
from bench_resources.models.workers.local_model import Message
from tests.families.parts import tokenizer

_PARTS = "{% for m in messages %}{% for p in m['content'] %}TEXT{% endfor %}{% endfor %}"
_FIRST_OF_USER = (
    "{% for m in messages if m['role'] == 'user' %}{{ m['content'][0]['text'] }}{% endfor %}"
)
_STRINGS = "{% for m in messages %}{{ m['role'] }}: {{ m['content'] }}\n{% endfor %}"


class Templated:
    """A processor that has a chat template and nothing else."""

    def __init__(self, template: str) -> None:
        self.chat_template = template

    def apply_chat_template(self, talk: list[Message], **variables: Any) -> str:
        from transformers.utils.chat_template_utils import render_jinja_template

        del variables["tokenize"]
        [written], _ = render_jinja_template(
            conversations=[talk], chat_template=self.chat_template, **variables
        )
        return str(written)


def applied(
    template: str, talk: Sequence[Message], text_only: bool = False, **variables: Any
) -> tuple[list[Message], str]:
    processor: Any = Templated(template)
    return ChatTemplate(processor, text_only=text_only, variables=variables).choose_form(talk)


def turn(role: str, *texts: str) -> Message:
    return {"role": role, "content": [{"type": "text", "text": text} for text in texts]}


@pytest.mark.parametrize(
    "template",
    [
        pytest.param(_PARTS.replace("TEXT", "{{ p['text'] }}"), id="writes them"),
        pytest.param(_PARTS.replace("TEXT", "{{ p['text'] | e }}"), id="escapes them"),
        pytest.param(_PARTS.replace("TEXT", "{{ p['text'] | tojson }}"), id="writes them as JSON"),
        pytest.param(
            _PARTS.replace("TEXT", "{% for l in p['text'].split('\n') %}> {{ l }}\n{% endfor %}"),
            id="quotes them line by line",
        ),
        pytest.param(
            "{% for m in messages | reverse %}{{ m['content'][0]['text'] }}{% endfor %}",
            id="writes them in another order",
        ),
    ],
)
@pytest.mark.parametrize(
    "text",
    [
        pytest.param("How many?", id="words"),
        pytest.param("  a \n b  ", id="blanks around and within"),
        pytest.param('<b> & "c"\n\nd', id="what is escaped"),
        pytest.param("", id="no text"),
        pytest.param("\U000f0000 and \U000f0001", id="the marks themselves"),
    ],
)
def test_what_a_template_does_to_texts_is_no_loss(template: str, text: str) -> None:
    talk = [turn("user", text)]
    assert applied(template, talk)[0] == talk


@pytest.mark.parametrize(
    ("template", "talk", "lost"),
    [
        pytest.param(
            _FIRST_OF_USER,
            [turn("system", "Answer yes or no."), turn("user", "Is it? Answer yes or no.")],
            "Answer yes or no.",
            id="a system prompt that the question repeats",
        ),
        pytest.param(
            "{{ messages[0]['content'][0]['text'] }}",
            [turn("user", "one", "two")],
            "two",
            id="a second part",
        ),
        pytest.param(
            "{{ messages[0]['content'][0]['text'][:10] }}",
            [turn("user", "one, and then some more")],
            "one, and then some more",
            id="the end of a long text",
        ),
    ],
)
def test_a_text_that_is_left_out_is_an_error(template: str, talk: list[Message], lost: str) -> None:
    with pytest.raises(ValueError, match="the chat template leaves out") as raised:
        applied(template, talk)
    assert str(raised.value) == f"the chat template leaves out '{lost}'"


def test_a_thought_may_be_taken_off_an_earlier_response() -> None:
    template = (
        "{% for m in messages %}{% set t = m['content'][0]['text'] %}"
        "{{ t.split('</think>')[-1] if m['role'] == 'assistant' else t }}{% endfor %}"
    )
    talk = [turn("user", "a"), turn("assistant", "<think>b</think>c"), turn("user", "d")]
    assert applied(template, talk)[0] == talk


def test_turns_are_strings_where_a_template_wants_strings() -> None:
    talk = [turn("system", "s"), turn("user", "one", "two")]
    system = {"role": "system", "content": "s"}
    assert applied(_STRINGS, talk)[0] == [system, {"role": "user", "content": "onetwo"}]
    of_the_system_alone = "{{ messages[0]['content'] + '\n' }}" + _PARTS.replace(
        "TEXT", "{{ p['text'] if p is mapping }}"
    )
    assert applied(of_the_system_alone, talk)[0] == [system, talk[1]]


@pytest.mark.parametrize(
    ("template", "thinks", "expected"),
    [
        pytest.param(_PARTS.replace("TEXT", "{{ p['text'] }}"), True, "", id="nothing"),
        pytest.param(
            _PARTS.replace("TEXT", "{{ p['text'] }}")
            + "<|assistant|>\n{% if thinks %}<think>\n{% endif %}",
            True,
            "<|assistant|>\n<think>\n",
            id="a thought, begun",
        ),
        pytest.param(
            _PARTS.replace("TEXT", "{{ p['text'] }}")
            + "<|assistant|>\n{% if thinks %}<think>\n{% endif %}",
            False,
            "<|assistant|>\n",
            id="no thought, where its variable says so",
        ),
    ],
)
def test_an_ending_is_what_the_template_writes_not_what_a_question_says(
    template: str, thinks: bool, expected: str
) -> None:
    _, ending = applied(template, [turn("user", "What is <think>")], thinks=thinks)
    assert ending == expected


# What a question spells of a checkpoint's own tokens costs the pieces of a text, and no more.


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

    ids = torch.tensor([tokens(spelled.escape(text))["input_ids"]])
    spelled.restore_ids(ids)
    return [int(number) for number in ids[0]]


def pieces(text: str) -> list[int]:
    """What a tokenizer without any control token makes of a text."""
    return [int(number) for number in words()._encode_without_added_tokens(text)]


def in_pieces(*texts: str) -> list[int]:
    return [number for text in texts for number in pieces(text)]


def test_real_tokens_of_the_prompt_stay() -> None:
    tokens = words()
    spelled = SpecialTokenEscaper(tokens, _TEMPLATE)
    prompt = f"<image>{spelled.escape('is <image> it?')}<|end|>"
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

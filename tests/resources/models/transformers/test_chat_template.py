from collections.abc import Sequence
from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench_resources.models.transformers.chat_template import ChatTemplate, SpecialTokenEscaper
from bench_resources.models.workers.local_model import Message
from tests.families.parts import train_tokenizer

_PARTS = "{% for m in messages %}{% for p in m['content'] %}TEXT{% endfor %}{% endfor %}"
_FIRST_OF_USER = (
    "{% for m in messages if m['role'] == 'user' %}{{ m['content'][0]['text'] }}{% endfor %}"
)
_STRINGS = "{% for m in messages %}{{ m['role'] }}: {{ m['content'] }}\n{% endfor %}"


class TemplateProcessor:
    """A processor that has a chat template and nothing else."""

    def __init__(self, template: str) -> None:
        self.chat_template = template

    def apply_chat_template(self, conversation: list[Message], **variables: Any) -> str:
        from transformers.utils.chat_template_utils import render_jinja_template

        del variables["tokenize"]
        [prompt], _ = render_jinja_template(
            conversations=[conversation], chat_template=self.chat_template, **variables
        )
        return str(prompt)


def choose_form(
    template: str, conversation: Sequence[Message], **variables: Any
) -> tuple[list[Message], str]:
    """The messages in the form that a template takes, and what it writes at the end."""
    processor: Any = TemplateProcessor(template)
    chat_template = ChatTemplate(processor, text_only=False, variables=variables)
    return chat_template.choose_form(conversation)


def messages_for(template: str, conversation: Sequence[Message]) -> list[Message]:
    messages, _ = choose_form(template, conversation)
    return messages


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
        pytest.param("\U000f0000 and \U000f0001", id="characters by which texts are marked"),
    ],
)
def test_a_template_may_change_how_it_writes_a_text(template: str, text: str) -> None:
    conversation = [turn("user", text)]
    assert messages_for(template, conversation) == conversation


@pytest.mark.parametrize(
    ("template", "conversation", "missing_text"),
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
def test_a_text_that_is_left_out_is_an_error(template, conversation, missing_text):
    with pytest.raises(ValueError, match=f"^the chat template leaves out '{missing_text}'$"):
        choose_form(template, conversation)


def test_a_template_may_leave_out_the_thought_of_an_earlier_response() -> None:
    template = (
        "{% for m in messages %}{% set t = m['content'][0]['text'] %}"
        "{{ t.split('</think>')[-1] if m['role'] == 'assistant' else t }}{% endfor %}"
    )
    conversation = [turn("user", "a"), turn("assistant", "<think>b</think>c"), turn("user", "d")]
    assert messages_for(template, conversation) == conversation


def test_contents_are_strings_where_a_template_takes_strings() -> None:
    conversation = [turn("system", "s"), turn("user", "one", "two")]
    assert messages_for(_STRINGS, conversation) == [
        {"role": "system", "content": "s"},
        {"role": "user", "content": "onetwo"},
    ]


def test_only_the_system_prompt_is_a_string_where_a_template_takes_that() -> None:
    conversation = [turn("system", "s"), turn("user", "one", "two")]
    user_parts = _PARTS.replace("TEXT", "{{ p['text'] if p is mapping }}")
    template = "{{ messages[0]['content'] + '\n' }}" + user_parts
    assert messages_for(template, conversation) == [
        {"role": "system", "content": "s"},
        conversation[1],
    ]


_THINKING = (
    _PARTS.replace("TEXT", "{{ p['text'] }}") + "<|assistant|>\n{% if thinks %}<think>\n{% endif %}"
)


@pytest.mark.parametrize(
    ("template", "thinks", "expected"),
    [
        pytest.param(_PARTS.replace("TEXT", "{{ p['text'] }}"), True, "", id="nothing"),
        pytest.param(_THINKING, True, "<|assistant|>\n<think>\n", id="the start of a thought"),
        pytest.param(_THINKING, False, "<|assistant|>\n", id="no thought"),
    ],
)
def test_the_ending_is_what_the_template_writes_behind_the_question(template, thinks, expected):
    _, ending = choose_form(template, [turn("user", "What is <think>")], thinks=thinks)
    assert ending == expected


_SPECIAL = ("<pad>", "<s>", "</s>", "<image>", "<|end|>")
_TEMPLATE = "{{ bos_token }}{{ messages[0]['content'] }}"


def special_tokenizer() -> Any:
    return train_tokenizer(_SPECIAL, bos="<s>", eos="</s>", pad="<pad>")


@cache
def shared_escaper() -> tuple[Any, SpecialTokenEscaper]:
    """A tokenizer and its escaper, the same for all examples of a property."""
    tokens = special_tokenizer()
    return tokens, SpecialTokenEscaper(tokens, _TEMPLATE)


def restored_ids(escaper: SpecialTokenEscaper, tokens: Any, prompt: str) -> list[int]:
    """The ids of a prompt whose texts are escaped."""
    import torch

    ids = torch.tensor([tokens(prompt)["input_ids"]])
    escaper.restore_ids(ids)
    return [int(token_id) for token_id in ids[0]]


def plain_ids(text: str) -> list[int]:
    """The ids of a text to a tokenizer without special tokens."""
    return [int(token_id) for token_id in special_tokenizer()._encode_without_added_tokens(text)]


def test_special_tokens_of_the_template_keep_their_ids() -> None:
    tokens = special_tokenizer()
    escaper = SpecialTokenEscaper(tokens, _TEMPLATE)
    image, end = tokens.convert_tokens_to_ids(["<image>", "<|end|>"])

    prompt = f"<image>{escaper.escape('is <image> it?')}<|end|>"

    question_ids = [*plain_ids("is "), *plain_ids("<image>"), *plain_ids(" it?")]
    assert restored_ids(escaper, tokens, prompt) == [image, *question_ids, end]


@given(
    st.lists(st.sampled_from(["a", " ", "<image>", "</s>", "\U0010f000", "\U0010f005"]), max_size=9)
)
def test_an_escaped_text_is_decoded_to_itself(texts: list[str]) -> None:
    tokens, escaper = shared_escaper()
    text = "".join(texts)
    assert tokens.decode(restored_ids(escaper, tokens, escaper.escape(text))) == text


def test_a_special_token_outside_of_the_vocabulary_of_texts_is_unknown() -> None:
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    whole_words = Tokenizer(models.WordLevel({"<image>": 0, "<unk>": 1, "bird": 2}, "<unk>"))
    whole_words.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokens = PreTrainedTokenizerFast(
        tokenizer_object=whole_words,
        unk_token="<unk>",
        extra_special_tokens={"image_token": "<image>"},
    )
    escaper = SpecialTokenEscaper(tokens, _TEMPLATE)
    assert restored_ids(escaper, tokens, escaper.escape("bird <image> bird")) == [2, 1, 2]

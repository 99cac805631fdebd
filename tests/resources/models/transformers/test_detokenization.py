"""What of the drawn tokens becomes a response's text, and what a begun thought makes of it."""

from pathlib import Path
from typing import Any

import pytest

from bench_assets.core.schema.chat import CONTEXT_FULL, Prompt, Request
from bench_resources.models.transformers.detokenization import ResponseTexts
from tests.fakes.tiny_checkpoint import save_tiny_vlm
from tests.families.parts import tokenizer
from tests.resources.models.transformers.tiny_engine import RED, engine_of, responses_of

_SPECIAL = ("<pad>", "</s>", "[THINK]", "[/THINK]", "<image>", "<|channel|>", "<|hm|>")


def texts(**how: Any) -> tuple[Any, ResponseTexts]:
    words = tokenizer(_SPECIAL, eos="</s>", pad="<pad>")
    return words, ResponseTexts(words, {words.eos_token_id}, how.get("tags"))


@pytest.mark.parametrize(
    ("drawn", "tags", "expected"),
    [
        pytest.param("yes</s>", None, "yes", id="an end goes"),
        pytest.param("[THINK]a or b[/THINK]b</s>", None, "[THINK]a or b[/THINK]b", id="marks stay"),
        pytest.param("<image>yes<pad>", None, "yes", id="other special tokens go"),
        pytest.param("<|channel|>analysis", None, "<|channel|>analysis", id="a piece of a mark"),
        pytest.param("<|hm|>a", None, "a", id="a mark that nobody named"),
        pytest.param("<|hm|>a", ("<|hm|>", "</hm>"), "<|hm|>a", id="this model's own mark"),
        pytest.param(" a  b\nü", None, " a  b\nü", id="blanks stay"),
        pytest.param("", None, "", id="nothing"),
    ],
)
def test_marks_around_thoughts_stay(drawn: str, tags: tuple[str, str], expected: str) -> None:
    words, written = texts(tags=tags)
    assert written.decode(words(drawn)["input_ids"]) == expected


def test_a_thought_that_the_template_began_opens_the_response(tmp_path: Path) -> None:
    folder = save_tiny_vlm(tmp_path / "thinks")
    template = folder / "chat_template.jinja"
    template.write_text(template.read_text() + "{% if thinks %}<think>\n{% endif %}")
    requests = [Request(prompt=Prompt.of(RED, "What is <think>"))]
    [thought] = responses_of(engine_of(folder, chat_template_kwargs={"thinks": True}), requests)
    assert thought.text.startswith("<think>")
    assert not thought.parts.finished  # it was cut off: no answer
    assert thought.parts.answer == ""
    [plain] = responses_of(engine_of(folder), requests)
    assert not plain.text.startswith("<think>")


def test_a_prompt_that_leaves_no_room_is_an_error_with_its_numbers(tmp_path: Path) -> None:
    folder = save_tiny_vlm(tmp_path / "short")
    config = folder / "config.json"
    written = config.read_text()
    assert written.count('"max_position_embeddings": 1024') == 1
    config.write_text(written.replace('embeddings": 1024', 'embeddings": 64'))
    texts = ["a", "b c d e f g h i j k l m n o p q r s t u v w x y z " * 2, "How many?"]
    responses = responses_of(engine_of(folder), [Request(prompt=Prompt.of(text)) for text in texts])
    assert [bool(response.error) for response in responses] == [False, True, False]
    assert [response.refused for response in responses] == ["", CONTEXT_FULL, ""]
    n = int(responses[1].error.split()[3])
    assert n > 64 - 8
    assert responses[1].error == (
        f"the prompt has {n} tokens, which with max_tokens = 8 exceed the context of 64 tokens."
        " Set a smaller max_tokens"
    )

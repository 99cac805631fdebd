import re
from pathlib import Path

import pytest

from bench_assets.core.schema.chat import CONTEXT_FULL, Prompt, Request
from bench_resources.models.transformers.detokenization import ResponseTexts
from tests.cases import read_cases
from tests.fakes.tiny_checkpoint import save_tiny_vlm
from tests.families.parts import train_tokenizer
from tests.resources.models.transformers.tiny_engine import RED, engine_of, responses_of

_SPECIAL = ("<pad>", "</s>", "[THINK]", "[/THINK]", "<image>", "<|channel|>", "<|hm|>")


@pytest.mark.parametrize(
    ("generated", "tags", "expected"), read_cases(__file__, "decoded_texts.jsonl")
)
def test_the_text_keeps_the_tags_of_thoughts_and_no_other_special_token(generated, tags, expected):
    tokens = train_tokenizer(_SPECIAL, eos="</s>", pad="<pad>")
    response_texts = ResponseTexts(tokens, {tokens.eos_token_id}, tags)
    assert response_texts.decode(tokens(generated)["input_ids"]) == expected


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


@pytest.mark.parametrize(
    ("n_letters", "fits", "remedy"),
    [(50, True, "Set a smaller max_tokens"), (60, False, "Take a model with a longer one")],
)
def test_a_prompt_without_room_for_the_response_is_refused(tmp_path, n_letters, fits, remedy):
    folder = save_tiny_vlm(tmp_path / "short")
    config_file = folder / "config.json"
    config = config_file.read_text()
    assert config.count('"max_position_embeddings": 1024') == 1
    config_file.write_text(config.replace('embeddings": 1024', 'embeddings": 64'))
    texts = ["a", "b " * n_letters, "How many?"]
    requests = [Request(prompt=Prompt.of(text)) for text in texts]
    responses = responses_of(engine_of(folder, max_tokens=8), requests)
    assert [bool(response.error) for response in responses] == [False, True, False]
    assert [response.refused for response in responses] == ["", CONTEXT_FULL, ""]
    message = re.match(r"the prompt has (\d+) tokens, ", responses[1].error)
    assert message
    n_tokens = int(message[1])
    assert n_tokens > 64 - 8
    assert (n_tokens < 64) == fits
    assert responses[1].error == (
        f"the prompt has {n_tokens} tokens, which with max_tokens = 8 exceed the context of 64"
        f" tokens. {remedy}"
    )

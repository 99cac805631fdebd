"""What servers say instead of responding, and what is made of it."""

import re
import time
from typing import Any

import orjson
import pytest

from bench_assets.core.schema.chat import (
    CONTENT_FILTER,
    CONTEXT_FULL,
    IMAGE_REFUSED,
    REQUEST_REFUSED,
    Image,
    Prompt,
    Request,
    Response,
)
from bench_assets.core.schema.errors import ModelError
from bench_resources.http.backoff import UNLIMITED_TRIES, Failure
from bench_resources.http.errors import error_message, failure
from tests.fakes.chat_server import Answer, ChatServer
from tests.resources.models.api.asking import ask, engine
from tests.resources.models.api.stand_ins import CONTEXT, error, flat, openai_error


def read(answer: Answer) -> Failure:
    assert answer.raw is not None
    return failure(answer.status, answer.raw, answer.headers)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        pytest.param({"error": {"message": "no", "code": 1}}, "no", id="OpenAI's form"),
        pytest.param({"error": "no"}, "no", id="a text, as Ollama's own API"),
        pytest.param({"object": "error", "message": "no", "code": 4}, "no", id="without envelope"),
        pytest.param({"detail": "no"}, "no", id="FastAPI"),
        pytest.param(
            {"detail": [{"type": "extra_forbidden", "loc": ["body", "seed"], "msg": "no"}]},
            "body.seed: no",
            id="FastAPI: a field",
        ),
        pytest.param({"message": {"detail": [{"msg": "no"}]}}, "no", id="Mistral: a field"),
        pytest.param([{"error": {"message": "no"}}], "no", id="Gemini: in a list"),
        pytest.param(
            {"error": {"message": "failed", "metadata": {"raw": "no", "provider_name": "P"}}},
            "failed: no",
            id="OpenRouter: with what the provider said",
        ),
        pytest.param({"code": "Not found", "error": "no"}, "no", id="xAI"),
        pytest.param({"error_code": 1, "error_msg": "no"}, "no", id="Baidu"),
        pytest.param({"base_resp": {"status_msg": "no", "status_code": 1}}, "no", id="MiniMax"),
    ],
)
def test_the_message_is_found_in(body: object, message: str) -> None:
    assert error_message(body) == message


@pytest.mark.parametrize(
    ("answer", "shown"),
    [
        pytest.param(
            Answer(status=502, raw=b"<html><head><title>502 Bad Gateway</title></head>..."),
            "HTTP 502: a web page: 502 Bad Gateway",
            id="a page of a proxy",
        ),
        pytest.param(Answer(status=500, raw=b" no\n good "), "HTTP 500: no good", id="plain text"),
    ],
)
def test_what_is_shown(answer: Answer, shown: str) -> None:
    assert str(read(answer)) == shown


ONCE, TWICE, AGAIN = 1, 2, UNLIMITED_TRIES


@pytest.mark.parametrize(
    ("answer", "what", "tries"),
    [
        pytest.param(openai_error(400, CONTEXT), "too long", ONCE, id="vLLM, new"),
        pytest.param(flat(400, CONTEXT, "BadRequestError"), "too long", ONCE, id="vLLM, old"),
        pytest.param(
            openai_error(500, CONTEXT), "too long", ONCE, id="behind a proxy's own status"
        ),
        pytest.param(
            error(
                503,
                {
                    "error": {
                        "message": "litellm: Requested token count exceeds the model's"
                        " maximum context length of 9 tokens."
                    }
                },
            ),
            "too long",
            ONCE,
            id="SGLang, behind LiteLLM",
        ),
        pytest.param(
            openai_error(400, "the request", type="exceed_context_size_error"),
            "too long",
            ONCE,
            id="llama.cpp: by its type alone",
        ),
        pytest.param(
            openai_error(429, "Request reached the limit. Please reduce the length."),
            "HTTP 429",
            AGAIN,
            id="a rate limit that talks of lengths is one",
        ),
        pytest.param(
            openai_error(
                400, "filtered", code="content_filter", innererror={"code": "Responsible"}
            ),
            "blocked by a content filter",
            ONCE,
            id="Azure's filter",
        ),
        pytest.param(
            error(403, {"error": {"message": "Your input was flagged", "code": 403}}),
            "blocked by a content filter",
            ONCE,
            id="OpenRouter's moderation is about one request, not about the key",
        ),
        pytest.param(
            openai_error(500, "image input is not supported - you may need the mmproj"),
            "HTTP 500",
            ONCE,
            id="llama.cpp without eyes",
        ),
        pytest.param(openai_error(413, "too big"), "HTTP 413", TWICE, id="too many bytes"),
        pytest.param(openai_error(501, "no"), "HTTP 501", ONCE, id="what the server will never do"),
        pytest.param(openai_error(429, "slow"), "HTTP 429", AGAIN, id="a rate limit"),
        pytest.param(
            openai_error(429, "Rate limit of image requests reached (at most 10 a minute)"),
            "HTTP 429",
            AGAIN,
            id="a rate limit of images",
        ),
        pytest.param(
            openai_error(529, "Overloaded"), "HTTP 529", AGAIN, id="Anthropic: overloaded"
        ),
    ],
)
def test_whether_to_ask_again(answer: Answer, what: str, tries: int) -> None:
    found = read(answer)
    assert (found.what[: len(what)], found.tries, found.refused) == (what, tries, False)


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        pytest.param(openai_error(400, CONTEXT), CONTEXT_FULL, id="vLLM: the context is full"),
        pytest.param(
            openai_error(400, "prompt is too long: 210000 tokens > 200000 maximum"),
            CONTEXT_FULL,
            id="Anthropic: the context is full",
        ),
        pytest.param(
            openai_error(
                400,
                "The response was filtered due to the prompt triggering Azure OpenAI's"
                " content management policy.",
            ),
            CONTENT_FILTER,
            id="Azure: the prompt is filtered",
        ),
        pytest.param(
            openai_error(400, "系统检测到输入或生成内容可能包含不安全或敏感内容", code="1301"),
            CONTENT_FILTER,
            id="Zhipu: a filter in Chinese",
        ),
        pytest.param(
            openai_error(400, "Your request was rejected as a result of our safety system."),
            CONTENT_FILTER,
            id="OpenAI: the safety system",
        ),
        pytest.param(
            error(200, {"error": {"message": "Content filtered", "code": "content_filter"}}),
            CONTENT_FILTER,
            id="a relay, with status 200",
        ),
        pytest.param(
            openai_error(
                400, "Content blocked: keyword 'word' detected", type="invalid_request_error"
            ),
            CONTENT_FILTER,
            id="LiteLLM: a guardrail",
        ),
        pytest.param(
            openai_error(
                400, "You uploaded an unsupported image. Please make sure your image is valid."
            ),
            IMAGE_REFUSED,
            id="OpenAI: a format",
        ),
        pytest.param(
            openai_error(400, "Could not process image"), IMAGE_REFUSED, id="Anthropic: an image"
        ),
        pytest.param(
            openai_error(400, "Unable to process input image. Please retry"),
            IMAGE_REFUSED,
            id="Gemini",
        ),
        pytest.param(
            openai_error(400, "The image length and width do not meet the model restrictions."),
            IMAGE_REFUSED,
            id="Qwen: its size",
        ),
        pytest.param(
            openai_error(400, "At most 1 image(s) may be provided"), IMAGE_REFUSED, id="vLLM"
        ),
        pytest.param(openai_error(400, "Bad request"), REQUEST_REFUSED, id="what nobody can tell"),
        pytest.param(openai_error(429, "slow"), "", id="a rate limit"),
        pytest.param(openai_error(500, "content filter offline"), "", id="a filter that is down"),
    ],
)
def test_what_is_refused_for_good_says_why(answer: Answer, kind: str) -> None:
    raw, status = answer.raw, answer.status
    assert read(answer).refusal == kind
    if kind:
        with ChatServer(
            lambda body: "A" if "fine" in str(body) else Answer(status=status, raw=raw)
        ) as server:
            fine, refused = ask(server.base_url, "fine", "not so", max_tries=2)
        assert (fine.text, fine.refused) == ("A", "")
        assert (refused.text, refused.refused, refused.refusal) == ("", kind, kind)


@pytest.mark.parametrize(
    ("answer", "advice"),
    [
        pytest.param(
            openai_error(
                400, "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."
            ),
            'set max_tokens_field = "max_completion_tokens"',
            id="OpenAI: a reasoning model",
        ),
        pytest.param(
            openai_error(
                400, "Unsupported value: 'temperature' does not support 0 with this model."
            ),
            "omit",
            id="OpenAI: a temperature",
        ),
        pytest.param(
            error(422, {"message": {"detail": [{"loc": ["seed"], "msg": "Extra inputs"}]}}),
            "omit",
            id="Mistral: a field",
        ),
        pytest.param(
            error(400, [{"error": {"message": 'Unknown name "top_k": Cannot find field.'}}]),
            "omit",
            id="Gemini: a field",
        ),
        pytest.param(
            error(422, {"detail": "Unexpected fields in the request: {'top_k'}"}),
            "omit",
            id="transformers serve: a field",
        ),
        pytest.param(
            openai_error(400, "max_tokens is too large: 99999. This model supports at most 16384."),
            "set a smaller max_tokens",
            id="OpenAI: too many tokens to write",
        ),
        pytest.param(
            openai_error(400, "No connected db.", type="no_db_connection", code="400"),
            "set api_key_env to",
            id="LiteLLM: any key but its own",
        ),
        pytest.param(
            openai_error(402, "Insufficient Balance"), "no credit left", id="DeepSeek: no money"
        ),
        pytest.param(
            openai_error(429, "You exceeded your quota", code="insufficient_quota"),
            "no credit left",
            id="OpenAI: no money, under the status of a rate limit",
        ),
        pytest.param(openai_error(404, "Not Found"), "set base_url to the part", id="a wrong path"),
        pytest.param(
            openai_error(403, "no"), "may not use this model", id="a key with too few rights"
        ),
    ],
)
def test_what_to_do_about_a_refusal(answer: Answer, advice: str) -> None:
    found = read(answer)
    assert (found.refused, found.tries) == (True, 1)
    assert advice in found.advice
    raw, status = answer.raw, answer.status
    with (
        ChatServer(lambda _: Answer(status=status, raw=raw)) as server,
        pytest.raises(ModelError, match=f"HTTP {status}.*; .*{advice}"),
    ):
        ask(server.base_url, "?")


AWKWARD = (
    *("exceed", "exceeds ", "context length", "context length ", "token count", "token count "),
    *("image ", "vision not ", "not support", "not support ", "input ", "prompt a ", "prompt "),
    *("max_tokens", "max_tokens ", "property ", "model ", "model not ", "models no ", "deployment"),
    *(
        "model not no ",
        "<title>",
        "api",
        " ",
        "a",
        "'",
        "_",
        "unknown ",
        "invalid ",
        "try again in 1",
    ),
)


@pytest.mark.parametrize("status", [400, 503])
@pytest.mark.parametrize("part", AWKWARD)
def test_awkward_messages_take_no_time(part: str, status: int) -> None:
    text = part * (10_000 // len(part))
    body = orjson.dumps({"error": {"message": text, "code": text}})
    begun = time.process_time()
    failure(status, body, {})
    failure(status, text.encode() * 10, {})
    assert time.process_time() - begun < 0.5


@pytest.mark.parametrize(
    "message",
    [
        "This request exceeds the model's maximum context length",
        "The prompt exceeds the maximum number of tokens that fit into this model's context",
        "The context length of this model is exceeded",
        "context_window_exceeded",
        "the token count 9 of the prompt exceeds the limit",
    ],
)
def test_what_is_too_long_is_recognised_in_many_words(message: str) -> None:
    assert read(openai_error(400, message)).what == "too long for the model's context (HTTP 400)"


def _sees_nothing(body: dict[str, Any]) -> str | Answer:
    """A server of a language model, as llama-cpp-python's: it breaks at every image."""
    if any(not isinstance(message["content"], str) for message in body["messages"]):
        return error(500, {"error": {"message": "'list' object has no attribute 'strip'"}})
    return "B"


def test_a_server_that_breaks_at_every_image_ends_after_one_try_with_what_to_do() -> None:
    with ChatServer(_sees_nothing) as server:
        with pytest.raises(ModelError, match=r"HTTP 500: 'list'.*text_only = true"):
            ask_about_images(server.base_url, n=3, concurrency=3)
        assert server.n_requests == 3 + 3  # each once, a plain image, a text, the image again


def test_a_server_that_has_answered_texts_refuses_its_images_for_good() -> None:
    with ChatServer(_sees_nothing) as server:
        answered, refused = ask_about_images(server.base_url, n=1, texts=1, concurrency=1)
    assert (answered.text, refused.refused) == ("B", IMAGE_REFUSED)


def test_one_image_that_a_server_breaks_at_is_no_verdict_about_the_server() -> None:
    with ChatServer() as server:
        server.fail_next(2, 500)  # after the probe of a plain image it is as any other failure
        (response,) = ask_about_images(server.base_url, n=1)
        assert (response.text, server.n_requests) == ("A", 5)  # two images, text, image, again
        server.forget()
        server.fail_next(1, error(400, {"error": "this image is odd"}))
        odd, fine = ask_about_images(server.base_url, n=2, concurrency=1)
        assert server.n_requests == 4  # the image, a plain one, again, and the other
    assert (odd.text, odd.refused, fine.text) == ("A", "", "A")


def test_a_model_that_is_text_only_is_sent_no_image() -> None:
    with ChatServer(_sees_nothing) as server:
        (response,) = ask_about_images(server.base_url, n=1, text_only=True)
    assert (response.text, server.bodies[0]["messages"][0]["content"]) == ("B", "Which?")


def ask_about_images(base_url: str, *, n: int, texts: int = 0, **spec: Any) -> list[Response]:
    prompts = [Prompt.of("?")] * texts + [
        Prompt.of(Image("png"), f"Which?{' ' * i}") for i in range(n)
    ]
    requests = [Request(prompt=prompt) for prompt in prompts]
    responses = dict(engine(base_url, **spec).stream(requests))
    return [responses[position] for position in range(len(requests))]


def test_a_server_that_takes_no_images_names_the_option_that_changes_it() -> None:
    words = "At most 0 image(s) may be provided in one prompt."
    with ChatServer(lambda _: openai_error(400, words)) as server:
        with pytest.raises(ModelError, match=rf"{re.escape(words)}.*--limit-mm-per-prompt"):
            ask_about_images(server.base_url, n=2)
        assert server.n_requests <= 2

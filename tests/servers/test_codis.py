"""CODIS through servers that others wrote, as users ask it."""

from pathlib import Path

import pytest

from bench_assets.core.schema.chat import CONTENT_FILTER, CONTEXT_FULL, Prompt, Request, Response
from bench_assets.core.schema.errors import ModelError
from bench_resources.config.sections.servers import ServerSpec
from bench_resources.models.api.engine import ServerEngine
from bench_resources.models.managed.engine import ServedEngine
from tests.servers.conftest import KEY, WORD, Evaluate, numbers
from tests.servers.running import LLAMA_SERVER, SEEING, TRANSFORMERS

pytestmark = pytest.mark.long

_SHORT = "max_tokens=40"
_WITH_KEY = f"{_SHORT},api_key_env=PROXY_KEY"
_LONG = "What is this? " * 1200  # 4,800 tokens: more than any of them reads


@pytest.fixture
def here(evaluate: Evaluate) -> dict[tuple[str, str], float]:
    """The numbers of the same weights in this process."""
    found = numbers(evaluate("tiny-vlm/step-6840"))
    assert found
    return found


def ask(address: str, *texts: str, **fields: object) -> list[Response]:
    section = {"kind": "server", "base_url": address, "max_tokens": 8, "max_tries": 2, **fields}
    engine = ServerEngine(ServerSpec.model_validate(section), lambda _: b"", base_delay=0.1)
    responses = dict(engine.stream([Request(prompt=Prompt.of(text)) for text in texts]))
    return [responses[position] for position in range(len(texts))]


def test_transformers_serve_with_images(
    transformers_serve: str, evaluate: Evaluate, here: dict[tuple[str, str], float]
) -> None:
    assert numbers(evaluate(f"{transformers_serve}#{SEEING},{_SHORT}")) == here


def test_transformers_serve_that_is_started(
    evaluate: Evaluate, here: dict[tuple[str, str], float]
) -> None:
    serve = f"{TRANSFORMERS} serve {{path}} --device cpu --host 127.0.0.1 --port {{port}}"
    section = f'kind = "server"\npath = "{SEEING}"\nserve = "{serve}"\nmax_tokens = 40\n'
    assert numbers(evaluate("started", written=f"[models.started]\n{section}")) == here


def test_a_prompt_that_transformers_serve_cannot_read_has_no_response(tmp_path: Path) -> None:
    spec = ServerSpec(
        kind="server",
        path=str(SEEING),
        serve=f"{TRANSFORMERS} serve {{path}} --device cpu --host 127.0.0.1 --port {{port}}",
        max_tokens=2,
    )
    served = ServedEngine(spec, "tiny", lambda _: b"", tmp_path)
    try:
        ((_, response),) = served.stream([Request(prompt=Prompt.of(_LONG))])
    finally:
        served.close()
    assert (response.text, response.refused) == ("", CONTEXT_FULL)


def test_llama_server_sees_nothing_and_says_so(llama_server: str, evaluate: Evaluate) -> None:
    output = evaluate(f"{llama_server}#smol,{_SHORT}")
    assert "text_only = true" in output
    assert "try 2" not in output
    assert numbers(output) == {}


def test_llama_server_without_images(llama_server: str, evaluate: Evaluate) -> None:
    assert ("acc_q", "all") in numbers(evaluate(f"{llama_server}#smol,{_SHORT},text_only=true"))


def test_llama_server_that_is_started(evaluate: Evaluate, gguf: Path, llama_server: str) -> None:
    serve = f"{LLAMA_SERVER} -m {{path}} -c 1024 -np 2 -t 2 --host 127.0.0.1 --port {{port}}"
    section = f'kind = "server"\npath = "{gguf}"\nserve = "{serve}"\n'
    section += "max_tokens = 40\ntext_only = true\n"
    started = numbers(evaluate("started", written=f"[models.started]\n{section}"))
    whole = f"{llama_server}#smol,{_SHORT},text_only=true,server=llama.cpp"
    assert started == numbers(evaluate(whole))


def test_llama_server_answers_with_an_option(llama_server: str) -> None:
    section = {"kind": "server", "base_url": llama_server, "model": "smol", "max_tokens": 8}
    engine = ServerEngine(ServerSpec.model_validate(section), lambda _: b"")
    question = Prompt.of("What is the capital of France?\nA. Paris\nB. Rome\nAnswer with a letter.")
    request = Request(prompt=question, elicit="constrained", options=("A", "B"))
    ((_, response),) = engine.stream([request])
    assert response.error == ""
    assert response.note == "options by response_format"


def test_llama_server_refuses_what_is_too_long(llama_server: str) -> None:
    refused, answered = ask(llama_server, _LONG, "What is this?", model="smol")
    assert (refused.refused, bool(answered.text)) == (CONTEXT_FULL, True)


def test_litellm_before_transformers_serve(
    litellm: str, evaluate: Evaluate, here: dict[tuple[str, str], float]
) -> None:
    assert numbers(evaluate(f"{litellm}#tiny,{_WITH_KEY}")) == here


def test_litellm_before_llama_server(litellm: str, evaluate: Evaluate) -> None:
    assert "text_only = true" in evaluate(f"{litellm}#smol,{_WITH_KEY}")
    whole = evaluate(f"{litellm}#smol,{_WITH_KEY},text_only=true")
    assert ("acc_q", "all") in numbers(whole)


@pytest.fixture
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROXY_KEY", KEY)
    monkeypatch.setenv("WRONG_KEY", f"{KEY[:-1]}6")


@pytest.mark.usefixtures("key")
def test_litellm_s_filter_refuses_one_question(litellm: str) -> None:
    texts = (f"Is it {WORD}?", "Is it red?")
    refused, answered = ask(litellm, *texts, model="smol", api_key_env="PROXY_KEY")
    assert (refused.refused, bool(answered.text)) == (CONTENT_FILTER, True)


@pytest.mark.usefixtures("key")
@pytest.mark.parametrize(
    ("fields", "says"),
    [
        pytest.param({"model": "dead"}, "cannot be reached: HTTP 500.*Connection", id="no server"),
        pytest.param({"model": "none"}, "GET <base_url>/models lists", id="another model"),
        pytest.param({"model": "smol", "api_key_env": "WRONG_KEY"}, "api_key_env", id="a key"),
    ],
)
def test_litellm_s_refusals_are_understood(litellm: str, fields: dict[str, str], says: str) -> None:
    with pytest.raises(ModelError, match=says):
        ask(litellm, *["?"] * 40, **{"api_key_env": "PROXY_KEY", **fields})

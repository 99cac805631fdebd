from pathlib import Path

import pytest

from bench_assets.core.schema.chat import CONTENT_FILTER, CONTEXT_FULL, Prompt, Request, Response
from bench_assets.core.schema.errors import ModelError
from bench_resources.config.sections.servers import ServerSpec
from bench_resources.models.api.engine import ServerEngine
from bench_resources.models.managed.engine import ServedEngine
from tests.servers.conftest import BLOCKED_WORD, KEY, Evaluate, Metrics, metrics_in
from tests.servers.running import LLAMA_SERVER, SEEING, TRANSFORMERS

pytestmark = pytest.mark.long

_SHORT = "max_tokens=40"
_WITH_KEY = f"{_SHORT},api_key_env=PROXY_KEY"
_TOO_LONG = "What is this? " * 1200  # 4,800 tokens: more than any of the models reads


@pytest.fixture
def local_metrics(evaluate: Evaluate) -> Metrics:
    """The metrics of the same weights in this process."""
    metrics = metrics_in(evaluate("tiny-vlm/step-6840"))
    assert metrics
    return metrics


def ask(address: str, *texts: str, **fields: object) -> list[Response]:
    """Send one request for each text; return the responses in the same order."""
    section = {"kind": "server", "base_url": address, "max_tokens": 8, "max_tries": 2, **fields}
    engine = ServerEngine(ServerSpec.model_validate(section), lambda _: b"", base_delay=0.1)
    responses = dict(engine.stream([Request(prompt=Prompt.of(text)) for text in texts]))
    return [responses[position] for position in range(len(texts))]


def test_transformers_serve_gives_the_local_metrics(transformers_serve, evaluate, local_metrics):
    assert metrics_in(evaluate(f"{transformers_serve}#{SEEING},{_SHORT}")) == local_metrics


def test_transformers_serve_started_by_bench_gives_the_local_metrics(evaluate, local_metrics):
    serve = f"{TRANSFORMERS} serve {{path}} --device cpu --host 127.0.0.1 --port {{port}}"
    section = f'kind = "server"\npath = "{SEEING}"\nserve = "{serve}"\nmax_tokens = 40\n'
    assert metrics_in(evaluate("started", toml=f"[models.started]\n{section}")) == local_metrics


def test_transformers_serve_does_not_answer_a_prompt_beyond_the_context(tmp_path: Path) -> None:
    spec = ServerSpec(
        kind="server",
        path=str(SEEING),
        serve=f"{TRANSFORMERS} serve {{path}} --device cpu --host 127.0.0.1 --port {{port}}",
        max_tokens=2,
    )
    served = ServedEngine(spec, "tiny", lambda _: b"", tmp_path)
    try:
        ((_, response),) = served.stream([Request(prompt=Prompt.of(_TOO_LONG))])
    finally:
        served.close()
    assert (response.text, response.refused) == ("", CONTEXT_FULL)


def test_llama_server_without_vision_needs_text_only(llama_server: str, evaluate: Evaluate) -> None:
    output = evaluate(f"{llama_server}#smol,{_SHORT}")
    assert "text_only = true" in output
    assert "try 2" not in output
    assert metrics_in(output) == {}


def test_llama_server_answers_without_images(llama_server: str, evaluate: Evaluate) -> None:
    assert ("acc_q", "all") in metrics_in(evaluate(f"{llama_server}#smol,{_SHORT},text_only=true"))


def test_llama_server_started_by_bench_gives_the_same_metrics(evaluate, gguf, llama_server):
    serve = f"{LLAMA_SERVER} -m {{path}} -c 1024 -np 2 -t 2 --host 127.0.0.1 --port {{port}}"
    section = f'kind = "server"\npath = "{gguf}"\nserve = "{serve}"\n'
    section += "max_tokens = 40\ntext_only = true\n"
    started = metrics_in(evaluate("started", toml=f"[models.started]\n{section}"))
    running = f"{llama_server}#smol,{_SHORT},text_only=true,server=llama.cpp"
    assert started == metrics_in(evaluate(running))


def test_llama_server_answers_with_an_option(llama_server: str) -> None:
    section = {"kind": "server", "base_url": llama_server, "model": "smol", "max_tokens": 8}
    engine = ServerEngine(ServerSpec.model_validate(section), lambda _: b"")
    question = Prompt.of("What is the capital of France?\nA. Paris\nB. Rome\nAnswer with a letter.")
    request = Request(prompt=question, elicit="constrained", options=("A", "B"))
    ((_, response),) = engine.stream([request])
    assert response.error == ""
    assert response.note == "options by response_format"


def test_llama_server_refuses_a_prompt_beyond_the_context(llama_server: str) -> None:
    too_long, short = ask(llama_server, _TOO_LONG, "What is this?", model="smol")
    assert too_long.refused == CONTEXT_FULL
    assert short.text


def test_litellm_before_transformers_serve_gives_the_local_metrics(
    litellm: str, evaluate: Evaluate, local_metrics: Metrics
) -> None:
    assert metrics_in(evaluate(f"{litellm}#tiny,{_WITH_KEY}")) == local_metrics


def test_litellm_before_llama_server_answers_only_questions_without_images(litellm, evaluate):
    assert "text_only = true" in evaluate(f"{litellm}#smol,{_WITH_KEY}")
    without_images = evaluate(f"{litellm}#smol,{_WITH_KEY},text_only=true")
    assert ("acc_q", "all") in metrics_in(without_images)


@pytest.fixture
def proxy_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROXY_KEY", KEY)
    monkeypatch.setenv("WRONG_KEY", f"{KEY[:-1]}6")


@pytest.mark.usefixtures("proxy_keys")
def test_a_question_that_litellm_s_filter_blocks_is_refused_alone(litellm: str) -> None:
    texts = (f"Is it {BLOCKED_WORD}?", "Is it red?")
    blocked, allowed = ask(litellm, *texts, model="smol", api_key_env="PROXY_KEY")
    assert blocked.refused == CONTENT_FILTER
    assert allowed.text


@pytest.mark.usefixtures("proxy_keys")
@pytest.mark.parametrize(
    ("fields", "expected_message"),
    [
        pytest.param({"model": "dead"}, "cannot be reached: HTTP 500.*Connection", id="no server"),
        pytest.param({"model": "none"}, "GET <base_url>/models lists", id="no such model"),
        pytest.param({"model": "smol", "api_key_env": "WRONG_KEY"}, "api_key_env", id="wrong key"),
    ],
)
def test_the_error_of_a_run_through_litellm_names_the_cause(litellm, fields, expected_message):
    with pytest.raises(ModelError, match=expected_message):
        ask(litellm, *["?"] * 40, **{"api_key_env": "PROXY_KEY", **fields})

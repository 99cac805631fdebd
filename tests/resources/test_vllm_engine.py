"""The vLLM engine, on a stand-in for vLLM: what it is told, and what becomes of its replies."""

import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from bench_assets.core.chat import Image, Prompt, Reply, Request, Turn, without_reasoning
from bench_assets.core.errors import ModelError
from resources.model_specs import VllmSpec
from resources.vllm_engine import VllmEngine
from tests.resources import fake_vllm
from tests.resources.tiny_engine import ALBUM, BLUE, MIXED, RED, replies_of, said


@pytest.fixture(autouse=True)
def vllm(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[fake_vllm.LLM]]:
    for name, module in fake_vllm.modules().items():
        monkeypatch.setitem(sys.modules, name, module)
    yield fake_vllm.LLM.made
    fake_vllm.LLM.made.clear()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "model.safetensors").write_bytes(b"weights")
    return tmp_path


def engine_of(folder: Path, **fields: object) -> VllmEngine:
    written = {"kind": "vllm", "path": str(folder), "max_tokens": 8} | fields
    return VllmEngine(VllmSpec.model_validate(written), str(folder), ALBUM.read)


def ask(folder: Path, *prompts: Prompt, **fields: object) -> list[Reply]:
    return replies_of(engine_of(folder, **fields), [Request(prompt=prompt) for prompt in prompts])


def test_every_prompt_gets_its_own_reply(folder: Path) -> None:
    alone = [reply for prompt in MIXED for reply in ask(folder, prompt)]
    assert said(ask(folder, *MIXED)) == said(ask(folder, *MIXED, batch_size=3)) == said(alone)
    assert len({reply.text for reply in alone}) == len(MIXED)
    first = alone[0]
    assert (first.finish_reason, first.prompt_tokens, first.completion_tokens) == ("stop", 3, 3)
    assert first.seconds is not None


def test_vllm_is_told_what_is_configured(folder: Path, vllm: list[fake_vllm.LLM]) -> None:
    ask(folder, MIXED[0], max_model_len=99, images_per_prompt=2, seed=7, extra={"max_num_seqs": 4})
    (llm,) = vllm
    assert llm.arguments == {
        "model": str(folder),
        "revision": None,
        "dtype": "bfloat16",
        "seed": 7,
        "tensor_parallel_size": 1,
        "enable_prefix_caching": True,
        "interleave_mm_strings": True,
        "limit_mm_per_prompt": {"image": 2},
        "max_model_len": 99,
        "max_num_seqs": 4,
    }
    ((params,),) = llm.batches
    assert (params.temperature, params.top_p, params.max_tokens) == (0.0, 1.0, 8)


def test_draws_of_one_prompt_differ_and_come_again(folder: Path) -> None:
    requests = [Request(prompt=MIXED[2], sample=n, temperature=1.0) for n in range(4)]
    first, again = (said(replies_of(engine_of(folder, seed=1), requests)) for _ in range(2))
    other_seed = said(replies_of(engine_of(folder, seed=2), requests))
    assert first == again
    assert len({text for text, *_ in first + other_seed}) == 8


def test_later_turns_see_the_answers_to_earlier_ones_without_the_thoughts(folder: Path) -> None:
    one, two = Turn("user", (RED, "one")), Turn("user", ("two",))
    (first,) = ask(folder, Prompt((one,)))
    answer = Turn("assistant", (without_reasoning(first.text),))
    (expected,) = ask(folder, Prompt((one, answer, two)))
    (reply,) = ask(folder, Prompt((one, two)))
    assert reply.text == expected.text
    assert reply.completion_tokens == 6  # 3 for each of the two answers


@pytest.mark.parametrize(
    ("bad", "error"),
    [
        pytest.param(Prompt.of("long " * 50), "The prompt (length 51) is too long", id="too long"),
        pytest.param(Prompt.of("abort"), "vLLM broke the reply off (abort)", id="broken off"),
        pytest.param(Prompt.of(Image("0" * 64), "?"), f"no picture {'0' * 64}", id="no picture"),
    ],
)
def test_a_request_that_fails_costs_only_itself(folder: Path, bad: Prompt, error: str) -> None:
    good = [Prompt.of(BLUE, "?"), Prompt.of("a"), Prompt.of("b")]
    replies = ask(folder, good[0], bad, *good[1:], max_model_len=40)
    assert [reply.error for reply in replies] == ["", error, "", ""]
    assert said([replies[0], *replies[2:]]) == said(ask(folder, *good))


def test_a_way_of_drawing_that_vllm_refuses_is_an_error_of_the_request(folder: Path) -> None:
    requests = [Request(prompt=MIXED[0], temperature=t) for t in (1.0, 3.0)]
    good, bad = replies_of(engine_of(folder), requests)
    assert (good.error, bad.error) == ("", "temperature must be in [0, 2], got 3.0.")


def test_when_vllm_dies_nothing_more_can_be_asked(folder: Path) -> None:
    with pytest.raises(ModelError, match="vLLM cannot go on: EngineCore encountered an issue"):
        ask(folder, MIXED[0], Prompt.of("dies"))


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        pytest.param({"gpu_memory_utilization": 1.0}, "Engine core init", id="no memory"),
        pytest.param({"extra": {"max_seqs": 4}}, "unexpected keyword argument 'max_seqs'", id="?"),
        pytest.param({"extra": {"dtype": "half"}}, "multiple values .* 'dtype'", id="said twice"),
    ],
)
def test_a_checkpoint_that_does_not_load(
    folder: Path, fields: dict[str, object], says: str
) -> None:
    with pytest.raises(ModelError, match=f"vLLM does not load it: .*{says}"):
        ask(folder, MIXED[0], **fields)


def test_without_vllm_the_error_says_what_to_install(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "vllm", None)
    with pytest.raises(ModelError, match=r"needs pip install '\.\[vllm\]'"):
        ask(folder, MIXED[0])


def test_the_identity_is_known_without_vllm_and_says_what_changes_replies(
    folder: Path, vllm: list[fake_vllm.LLM]
) -> None:
    plain = engine_of(folder).identity
    content, dtype, name = plain.split(",")
    assert content.startswith("sha256:")
    assert (dtype, name) == ("bfloat16", "vllm")
    changed = {
        engine_of(folder, dtype="float16").identity,
        engine_of(folder, max_image_pixels=99).identity,
        engine_of(folder, max_model_len=99).identity,
        engine_of(folder, tensor_parallel_size=2).identity,
        engine_of(folder, text_only=True).identity,
        engine_of(folder, extra={"quantization": "fp8"}).identity,
    }
    assert len(changed | {plain}) == 7
    same = engine_of(folder, gpu_memory_utilization=0.5, batch_size=3, images_per_prompt=1)
    assert same.identity == plain
    assert not vllm


def test_closing_gives_the_memory_back_until_the_next_request(
    folder: Path, vllm: list[fake_vllm.LLM]
) -> None:
    with closing(engine_of(folder)) as engine:
        for _ in range(2):
            replies_of(engine, [Request(prompt=MIXED[0])])
        assert len(vllm) == 1
        engine.close()
        replies_of(engine, [Request(prompt=MIXED[0])])
        assert len(vllm) == 2


def test_a_blind_model_is_asked_without_the_pictures(folder: Path) -> None:
    seeing, blind = Prompt.of(RED, "What colour?"), Prompt.of("What colour?")
    with_picture, without = said(ask(folder, seeing, blind, text_only=True))
    assert with_picture == without

"""What responses are remembered by, written out: a change here asks everything again."""

import hashlib
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from bench_assets.core.schema.chat import Decoding, Image, Prompt, Request
from bench_resources.config.sections.local_models import TransformersSpec
from bench_resources.config.sections.servers import ServerSpec
from bench_resources.response_cache.caching_model import CachingModel
from tests.resources.response_cache.test_store import Noted
from tests.resources.stores import response_file

PROMPT = Prompt.of("a", Image("00ff"), system="b")
WRITTEN = '[["system",["b"]],["user",["a",{"image":"00ff"}]]]'


@pytest.mark.parametrize(
    ("request_", "rest"),
    [
        pytest.param(Request(prompt=PROMPT), "t=0,max=1024\n{prompt}\n0", id="as configured"),
        pytest.param(
            Request(prompt=PROMPT, sample=3, temperature=0.5),
            "t=0.5,max=1024\n{prompt}\n3",
            id="a draw at a temperature of its own",
        ),
    ],
)
def test_the_key_of_a_response(tmp_path: Path, request_: Request, rest: str) -> None:
    file = tmp_path / "responses.sqlite"
    CachingModel("m", Noted(), response_file(file)).response([request_])
    prompt = hashlib.sha256(WRITTEN.encode()).hexdigest()
    key = hashlib.sha256(f"noted\n{rest.format(prompt=prompt)}".encode()).hexdigest()
    with closing(sqlite3.connect(file)) as db:
        assert db.execute("SELECT key, prompt FROM responses").fetchall() == [(key, prompt)]


@pytest.mark.parametrize(
    ("fields", "identity"),
    [
        pytest.param({}, "server:http://s/v1|m", id="a server"),
        pytest.param({"revision": "2"}, "server:http://s/v1|m@2", id="a revision"),
        pytest.param(
            {"server": "vllm"},
            'server:http://s/v1|m|{"frequency_penalty":0.0,"min_p":0.0,"presence_penalty":0.0,'
            '"repetition_penalty":1.0,"top_k":-1}',
            id="vLLM",
        ),
        pytest.param(
            {"server": "transformers"},
            'server:http://s/v1|m|{"generation_config":"{\\"do_sample\\":true,\\"num_beams\\":1,'
            '\\"repetition_penalty\\":1.0,\\"top_k\\":0}"}',
            id="transformers serve",
        ),
        pytest.param(
            {"server": "mistral", "seed": 1, "top_p": 0.5, "omit": ["random_seed", "top_p"]},
            "server:http://s/v1|m|-random_seed|-top_p",
            id="what is left out, under the server's name",
        ),
        pytest.param(
            {"server": "openai", "omit": ["max_completion_tokens"]},
            "server:http://s/v1|m|-max_completion_tokens",
            id="OpenAI",
        ),
        pytest.param(
            {"extra_body": {"temperature": 1, "seed": 2}},
            'server:http://s/v1|m|{"seed":2,"temperature":1}',
            id="decoding out of line",
        ),
        pytest.param(
            {"format": "anthropic"}, "server:http://s/v1|m|format=anthropic", id="another API"
        ),
        pytest.param(
            {"format": "gemini", "top_p": 0.5, "seed": 1, "key_header": "Authorization"},
            "server:http://s/v1|m|format=gemini",
            id="whose names for the decoding do not show",
        ),
    ],
)
def test_the_identity_of_a_server(fields: dict[str, Any], identity: str) -> None:
    whole = {"kind": "server", "base_url": "http://s/v1/", "model": "m"} | fields
    assert ServerSpec.model_validate(whole).identity_of() == identity


def test_how_decoding_is_written() -> None:
    everything = Decoding(temperature=0.7, top_p=0.9, max_tokens=5, seed=1, card=True, extra="k=1")
    assert str(Decoding()) == "t=0,max=1024"
    assert str(everything) == "card,t=0.7,max=5,top_p=0.9,k=1,seed=1"


def test_what_a_local_checkpoint_s_section_adds() -> None:
    one = TransformersSpec(
        kind="transformers",
        path="p",
        max_image_pixels=9,
        max_image_tokens=8,
        text_only=True,
        chat_template="plain",
        chat_template_kwargs={"b": 1, "a": 2},
        processor_kwargs={"c": 3},
    )
    assert one.identity_parts == [
        "px=9",
        "tokens=8",
        "text_only",
        "template=plain",
        'variables={"a": 2, "b": 1}',
        'processor={"c": 3}',
    ]

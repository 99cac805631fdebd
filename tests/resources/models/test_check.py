"""What a check finds out about models: tiny ones, broken ones, and one whose batches differ."""

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from safetensors import safe_open
from typer.testing import CliRunner

from bench_assets.bench.cli import app
from bench_assets.core.chat import ChatModel, Decoding, Reply, Request
from resources.models.check import ModelCheck, Subject, asking, try_out
from resources.models.checked_models import check_model
from resources.models.probes import DrawnPictures
from resources.models.scripted import ScriptedModel
from resources.settings.bench_toml import load_settings
from tests.chat_server import ChatServer
from tests.families import llama
from tests.resources.vllm import fake_vllm
from tests.tiny_checkpoint import save_tiny_language_model, save_tiny_vlm

PROBES = [
    "a picture",
    "two pictures",
    "no picture",
    "a system prompt",
    "control tokens",
    "a conversation",
]


@pytest.fixture(scope="module")
def vlm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny_vlm(tmp_path_factory.mktemp("vlm"))


def checked(home: Path, toml: str, name: str = "m") -> ModelCheck:
    home.mkdir(exist_ok=True)
    (home / "bench.toml").write_text(toml)
    return check_model(name, load_settings(home))


def local(folder: Path | str, more: str = "") -> str:
    return f'[models.m]\nkind = "transformers"\ndevice = "cpu"\npath = "{folder}"\n{more}\n'


def errors(found: ModelCheck) -> dict[str, str]:
    return {one.probe: one.error for one in found.probes if one.error}


def test_a_checkpoint_is_described(vlm: Path, tmp_path: Path) -> None:
    card = {"do_sample": True, "repetition_penalty": 1.05, "eos_token_id": 2, "use_cache": True}
    folder = copied(vlm, tmp_path / "vlm", generation_config=card)
    found = checked(tmp_path / "home", local(folder))
    assert found.failures == []
    assert [one.probe for one in found.probes] == PROBES
    assert all(one.reply for one in found.probes)
    assert found.image_tokens == {"224x224": 4, "640x480": 4, "1280x960": 4}
    assert found.batch == "the same"
    with safe_open(folder / "model.safetensors", "np") as file:
        n_weights = sum(file.get_tensor(name).size for name in file.keys())  # noqa: SIM118
    loaded = found.loaded
    assert loaded is not None
    assert (loaded.class_name, loaded.dtype, loaded.device) == (
        ("LlavaForConditionalGeneration", "float32", "cpu")
    )
    assert (loaded.parameters, loaded.context, loaded.chat_template) == (n_weights, 1024, "own")
    assert loaded.memory >= 4 * n_weights  # bytes, and those of a few buffers
    assert loaded.generation_config == "do_sample = True, repetition_penalty = 1.05"
    assert loaded.thinking == ()


@pytest.mark.long
def test_what_a_family_cannot_be_asked_is_no_failure(tmp_path: Path) -> None:
    folder = tmp_path / "mllama"
    llama.mllama(folder)
    found = checked(tmp_path / "home", local(folder))
    assert list(errors(found)) == ["a system prompt"]
    assert "chat template refuses" in errors(found)["a system prompt"]
    assert found.failures == []


def test_a_blind_model_is_asked_without_pictures(vlm: Path, tmp_path: Path) -> None:
    found = checked(tmp_path, local(vlm) + '[models.b]\nkind = "blind"\nof = "m"\n', "b")
    assert (found.model, found.kind, found.place) == ("b", "blind", "m")
    assert found.failures == []
    assert found.image_tokens is None


@pytest.mark.long
def test_a_language_model_has_no_tokens_of_pictures(tmp_path: Path) -> None:
    folder = save_tiny_language_model(tmp_path / "lm")
    found = checked(tmp_path, local(folder, "text_only = true"))
    assert (found.failures, found.image_tokens) == ([], None)


def test_a_server_is_asked_one_by_one(tmp_path: Path) -> None:
    with ChatServer("B") as server:
        toml = f'[models.m]\nkind = "server"\nbase_url = "{server.base_url}"\nmodel = "x"\n'
        found = checked(tmp_path, toml)
        assert server.n_requests == len(PROBES) + 1  # two turns of the conversation
    assert found.failures == []
    assert {one.reply for one in found.probes} == {"B"}
    assert found.batch.startswith("not tried")
    assert list(tmp_path.iterdir()) == [tmp_path / "bench.toml"]


def test_vllm_may_round(vlm: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, module in fake_vllm.modules().items():
        monkeypatch.setitem(sys.modules, name, module)
    toml = f'[models.m]\nkind = "vllm"\npath = "{vlm}"\nbatch_size = 1\n'
    found = checked(tmp_path, toml)
    assert (found.failures, found.batch) == ([], "the same")
    assert max(len(batch) for batch in fake_vllm.LLM.made[-1].batches) == 3


def echoing(name: str, open_image: Callable[[str], Any]) -> ChatModel:
    """A model in Python that says how large the first picture is."""

    def said(request: Request) -> str:
        return str([open_image(image.sha256).size for image in request.prompt.images[:1]])

    return ScriptedModel(name, said)


def raising(name: str, open_image: Callable[[str], Any]) -> ChatModel:
    raise ZeroDivisionError("by the author")


def python(factory: str) -> str:
    return f'[models.m]\nkind = "python"\nfactory = "{__name__}:{factory}"\n'


def test_a_model_in_python_sees_the_pictures(tmp_path: Path) -> None:
    found = checked(tmp_path, python("echoing"))
    assert found.failures == []
    assert found.probes[0].reply == "[(640, 480)]"


class Batching:
    """An engine whose replies depend on how many requests come at once."""

    identity, decoding, peak_memory = "batching", Decoding(), None

    def __init__(self, says: Callable[[int], str]) -> None:
        self._says = says

    def stream(self, requests: Sequence[Request]) -> Iterator[tuple[int, Reply]]:
        said = self._says(len(requests))
        failed = said.removeprefix("error: ") if said.startswith("error: ") else ""
        for position in reversed(range(len(requests))):
            yield position, Reply(text="" if failed else said, error=failed)

    def close(self) -> None:
        pass


@pytest.mark.parametrize(
    ("says", "exactly", "failures"),
    [
        pytest.param(lambda n: "two", True, [], id="always the same"),
        pytest.param(
            lambda n: f"two of {n}",
            True,
            ["batch: 3 of 3 replies differ, such as 'two of 3' in a batch and 'two of 1' alone"],
            id="another one in a batch",
        ),
        pytest.param(lambda n: f"two of {n}", False, [], id="another ending, where sums round"),
        pytest.param(
            lambda n: f"{n} dogs",
            False,
            ["batch: 3 of 3 replies differ, such as '3 dogs' in a batch and '1 dogs' alone"],
            id="another beginning, where sums round",
        ),
        pytest.param(
            lambda n: "error: too many" if n > 1 else "two",
            True,
            ["batch: too many"],
            id="an error in a batch",
        ),
        pytest.param(
            lambda n: "error: no",
            True,
            ["a picture: no", "control tokens: no", "batch: no"],
            id="no answer to anything",
        ),
    ],
)
def test_batches_that_differ_are_found(
    says: Callable[[int], str], exactly: bool, failures: list[str]
) -> None:
    subject = Subject(ask=asking(Batching(says)), pictures=DrawnPictures(), exactly=exactly)
    assert try_out(ModelCheck(model="m"), subject).failures == failures


def copied(vlm: Path, folder: Path, **changed: dict[str, Any]) -> Path:
    """Copy a checkpoint with entries of its JSON files changed; None takes an entry out."""
    folder.mkdir(parents=True)
    for file in vlm.iterdir():
        (folder / file.name).write_bytes(file.read_bytes())
    for name, entries in changed.items():
        file = folder / f"{name}.json"
        written = json.loads(file.read_text()) if file.exists() else {}
        kept = {k: v for k, v in (written | entries).items() if v is not None}
        file.write_text(json.dumps(kept))
    return folder


def without_template(vlm: Path, folder: Path) -> str:
    copied(vlm, folder, tokenizer_config={"chat_template": None})
    for file in folder.glob("chat_template*"):
        file.unlink()
    return local(folder)


def adapter(vlm: Path, folder: Path, base: str) -> str:
    folder.mkdir()
    config = {"peft_type": "LORA", "base_model_name_or_path": base}
    (folder / "adapter_config.json").write_text(json.dumps(config))
    (folder / "adapter_model.safetensors").write_bytes(b"\x02\0\0\0\0\0\0\0{}")
    return local(folder)


def own_code(vlm: Path, folder: Path) -> str:
    auto = {"AutoConfig": "own.Config", "AutoModelForImageTextToText": "own.Model"}
    copied(vlm, folder, config={"model_type": "unheard_of", "auto_map": auto})
    return local(folder)


def cut_weights(vlm: Path, folder: Path) -> str:
    whole = (copied(vlm, folder) / "model.safetensors").read_bytes()
    (folder / "model.safetensors").write_bytes(whole[: len(whole) // 2])
    return local(folder)


@pytest.mark.parametrize(
    ("write", "named"),
    [
        pytest.param(lambda vlm, folder: local(folder), "no such folder", id="a missing path"),
        pytest.param(without_template, 'chat_template = a file, or "plain"', id="a base model"),
        pytest.param(own_code, "trust_remote_code = true", id="code of its own"),
        pytest.param(cut_weights, "does not load", id="half of the weights"),
        pytest.param(
            lambda vlm, folder: adapter(vlm, folder, "/gone"),
            "its base /gone is not there; set base",
            id="a LoRA without its base",
        ),
        pytest.param(
            lambda vlm, folder: local(vlm, 'gguf_file = "m.gguf"'),
            "m.gguf is missing",
            id="no such GGUF file",
        ),
        pytest.param(
            lambda vlm, folder: local(vlm, 'chat_template = "gone.jinja"'),
            "gone.jinja",
            id="no such template",
        ),
        pytest.param(lambda vlm, folder: python("nothing"), "nothing", id="no such factory"),
        pytest.param(
            lambda vlm, folder: python("raising"),
            "ZeroDivisionError: by the author",
            id="a factory that raises",
        ),
        pytest.param(lambda vlm, folder: "", "no model in", id="no such model"),
        pytest.param(
            lambda vlm, folder: '[models.m]\nkind = "recorded"\nfile = "gone.jsonl"\n',
            "gone.jsonl",
            id="no such replies",
        ),
    ],
)
def test_what_cannot_be_tried_is_said_in_one_sentence(
    vlm: Path, tmp_path: Path, write: Callable[[Path, Path], str], named: str
) -> None:
    found = checked(tmp_path, write(vlm, tmp_path / "m"))
    assert named in found.error
    assert "\n" not in found.error
    assert found.failures == [found.error]


@pytest.mark.long
def test_the_rest_is_checked_and_the_home_stays_as_it_was(
    vlm: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bench.toml").write_text(local(vlm))
    monkeypatch.setenv("BENCH_HOME", str(tmp_path))
    command = ["models", "--check", "gone", "--check", "m", "--check", "random"]
    result = CliRunner().invoke(app, [*command, "--json"])
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    assert result.exit_code == 1
    assert [(row["model"], bool(row["failures"])) for row in rows] == [
        ("gone", True),
        ("m", False),
        ("random", False),
    ]
    assert list(tmp_path.iterdir()) == [tmp_path / "bench.toml"]

    shown = CliRunner().invoke(app, ["models", "--check", "m"])
    assert (shown.exit_code, shown.stdout.splitlines()[0]) == (0, "m: ok")
    assert "tokens a picture    224x224: 4, 640x480: 4, 1280x960: 4" in shown.stdout

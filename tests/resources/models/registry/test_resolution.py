"""Models by name and by where they are: what they are called, and what they are."""

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from bench_assets.core.schema.errors import BenchError
from bench_resources.checkpoints.identity import pin
from bench_resources.config.addresses import fill_keys, fill_value_keys
from bench_resources.config.bench_toml import load_settings
from bench_resources.config.environment import MODELS_FILE, known_secrets
from bench_resources.config.models_toml import read_models, remove_model, save_models
from bench_resources.config.sections.engine_kinds import read_model_section
from bench_resources.models.registry.locations import refuse_changed_checkpoint
from bench_resources.models.registry.named_models import resolve_name
from bench_resources.models.registry.resolution import resolve
from bench_resources.models.registry.setup import setup_of
from tests.cases import read_cases
from tests.fakes.checkpoint_files import write_files
from tests.resources.models.managed import fake_vllm

STEP = Path(__file__).parents[4] / "resources/bench_resources/models/tiny_vlm/run-1/step-4440"
_LLAVA = "LlavaForConditionalGeneration"
SERVER = "http://127.0.0.1:8000/v1#name"


@pytest.fixture
def home(tmp_path):
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


def read_spec(name: str, home: Path) -> Any:
    """The section of a model, of whichever kind."""
    return resolve_name(name, load_settings(home)).spec


def written(home, **entries):
    """A section of bench.toml whose engine is chosen."""
    lines = [f"{name} = {json.dumps(value)}" for name, value in entries.items()]
    section = "\n".join(["[models.mine]", 'kind = "auto"', *lines])
    (home / "bench.toml").write_text(section)


def given(home, text):
    return resolve(text, load_settings(home))


def test_a_key_among_what_is_chosen_is_no_part_of_the_name(home):
    resolved = given(home, f'{SERVER},extra_body={{api_key="K3y-of-mine", top_k=5}},max_tokens=9')
    assert resolved.name == "name@127.0.0.1-8000+extra_body=-api_key-top_k-5-+max_tokens=9"
    sent = fill_value_keys(resolved.section["extra_body"])
    assert sent == {"api_key": "K3y-of-mine", "top_k": 5}
    assert "K3y-of-mine" not in str(resolved.section)


def test_a_key_in_an_address_is_stored_as_the_name_of_a_variable(home):
    key = "sk-Qm3x9ZpLw7Rk2Vt5"
    resolved = given(home, f"http://127.0.0.1:8000/v1;code={key}?key={key}#name")
    save_models(home, {resolved.name: resolved.section})
    address = read_spec(resolved.name, home).address
    assert fill_keys(address) == f"http://127.0.0.1:8000/v1;code={key}?key={key}"
    assert address.count("{BENCH_KEY_") == 2
    assert key not in f"{resolved} {(home / MODELS_FILE).read_text()}"


@pytest.mark.parametrize(
    ("text", "name", "section"),
    [
        pytest.param(
            "hf:org/name",
            "org/name",
            {"kind": "transformers", "path": "org/name"},
            id="a hub id",
        ),
        pytest.param(
            "hf:org/name@v1.0",
            "org/name@v1.0",
            {"kind": "transformers", "path": "org/name", "revision": "v1.0"},
            id="a hub id at a revision",
        ),
        pytest.param(
            SERVER,
            "name@127.0.0.1-8000",
            {"kind": "server", "base_url": "http://127.0.0.1:8000/v1", "model": "name"},
            id="a server's model",
        ),
        pytest.param(
            "https://a.b/x/v1/#org/m:7b,api_key_env=MY_KEY,max_tokens=64",
            "org/m-7b@a.b/x+max_tokens=64",
            {
                "kind": "server",
                "base_url": "https://a.b/x/v1",
                "model": "org/m:7b",
                "api_key_env": "MY_KEY",
                "max_tokens": 64,
            },
            id="with entries, of which the key's name is not in the name",
        ),
    ],
)
def test_an_address_has_a_readable_name_and_the_section_it_would_have(home, text, name, section):
    resolved = given(home, text)
    assert (resolved.name, resolved.section) == (name, section)
    (home / "bench.toml").write_text(f"[models.{json.dumps(name)}]\nkind = 'random'\n")
    assert name in load_settings(home).models_of_file  # a name that bench.toml takes


def test_a_checkpoint_is_named_by_run_step_and_content(home, tmp_path, monkeypatch):
    copied = shutil.copytree(STEP, tmp_path / "my run" / "step-5")
    name = given(home, str(copied)).name
    assert name.startswith("my-run/step-5@")
    monkeypatch.chdir(tmp_path)
    assert given(home, "my run/step-5/").name == name
    monkeypatch.chdir(copied)
    assert given(home, ".").name == name
    (tmp_path / "latest").symlink_to(copied)
    assert given(home, "../../latest").name == name
    shutil.copy(copied.parents[1] / "my run" / "step-5" / "config.json", tmp_path)
    (copied / "config.json").write_text(json.dumps(json.loads((STEP / "config.json").read_text())))
    assert given(home, str(copied)).name != name


@pytest.fixture
def command(tmp_path, monkeypatch):
    """A command ``vllm``, in PATH, of an environment whose vLLM lists an architecture."""

    def install(listed):
        models = tmp_path / "env/lib/python3.12/site-packages/vllm/model_executor/models"
        models.mkdir(parents=True)
        (models / "registry.py").write_text(f'_MODELS = {{"{listed}": ("llava", "{listed}")}}')
        program = fake_vllm.install(tmp_path / "env" / "bin")
        monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
        return program

    return install


@pytest.mark.parametrize(
    ("cuda", "listed", "engine"),
    [
        pytest.param(True, _LLAVA, "run by vllm: there are a GPU and the command ", id="vLLM"),
        pytest.param(False, _LLAVA, "run by transformers: vLLM finds no CUDA device", id="a CPU"),
        pytest.param(
            True, "Other", f"run by transformers: vLLM does not list {_LLAVA}", id="not in vLLM"
        ),
        pytest.param(True, "", "run by transformers: there is no command vllm", id="no vLLM"),
    ],
)
def test_a_folder_is_run_by_the_engine_that_can(home, command, monkeypatch, cuda, listed, engine):
    program = command(listed) if listed else ""
    monkeypatch.setattr("torch.cuda.is_available", lambda: cuda)
    resolved = given(home, str(STEP))
    kind = "vllm" if "by vllm" in engine else "transformers"
    written(home, path=str(STEP))
    assert resolve_name("mine", load_settings(home)).engine == resolved.engine
    assert resolve_name("mine", load_settings(home)).spec == read_model_section(resolved.section)
    assert given(home, str(STEP)).name == "mine"  # one model
    (home / "bench.toml").unlink()
    assert resolved.section == {"kind": kind, "path": str(STEP)}
    where = program if kind == "vllm" else ""
    assert resolved.engine == f"{engine}{where} (another engine: kind=...)"
    named = given(home, f"{STEP},kind=transformers")
    assert (named.section["kind"], named.engine) == ("transformers", "")
    save_models(home, {resolved.name: {**resolved.section, "kind": "transformers"}})
    again = given(home, str(STEP))  # as it was run before: other engines respond otherwise
    assert (again.name, again.section["kind"], again.engine) == (resolved.name, "transformers", "")


@pytest.mark.parametrize("left_out", ["tokenizer", "config.json"])
def test_what_vllm_serve_cannot_load_is_run_by_transformers(
    home, tmp_path, command, monkeypatch, left_out
):
    command(_LLAVA)
    monkeypatch.setattr("torch.cuda.is_available", lambda: True)
    copied = shutil.copytree(STEP, tmp_path / "step")
    for file in copied.glob(f"{left_out}*"):
        file.unlink()
    written(home, path=str(copied))
    chosen = resolve_name("mine", load_settings(home))
    assert chosen.spec.kind == "transformers"
    assert "vllm serve needs whole weights with their tokenizer" in chosen.engine


def test_a_gguf_that_sees_names_the_server_that_runs_it(home, tmp_path):
    for name in ("Q4.gguf", "mmproj-f16.gguf"):
        (tmp_path / name).write_bytes(b"GGUF")
    for place in (tmp_path, tmp_path / "Q4.gguf"):
        with pytest.raises(BenchError, match=r"llama-server -m \S+/Q4\.gguf --mmproj \S+f16\.gguf"):
            given(home, str(place))


@pytest.mark.parametrize(
    ("files", "says"),
    [
        (["a.gguf", "b.gguf"], "2 GGUF files; name one of them"),
        (["pytorch_model_fsdp_0/.metadata"], "FSDP shards; each file"),
    ],
)
def test_a_folder_that_is_to_be_converted_names_its_layout(home, tmp_path, files, says):
    write_files(tmp_path / "run", *files)
    with pytest.raises(BenchError, match=says):
        given(home, str(tmp_path / "run"))
    written(home, path=str(tmp_path / "run"))
    with pytest.raises(BenchError, match=says):
        pin(read_spec("mine", home).path)


@pytest.mark.parametrize(
    ("entry", "kind"),
    [({"batch_tokens": 9}, "transformers"), ({"tensor_parallel_size": 2}, "vllm")],
    ids=["transformers", "vllm"],
)
def test_an_entry_of_one_engine_chooses_it(home, entry, kind):
    written(home, path=str(STEP), **entry)
    chosen = resolve_name("mine", load_settings(home))
    assert chosen.spec.kind == kind
    assert f"only this kind has the entry {next(iter(entry))}" in chosen.engine


def test_a_gguf_file_runs_out_of_its_folder(home, tmp_path):
    file = tmp_path / "my-run" / "Q4.gguf"
    file.parent.mkdir()
    file.write_bytes(b"GGUF" + bytes(3 << 20))
    resolved = given(home, str(file))
    assert resolved.name.startswith("my-run/Q4@")
    assert resolved.section == {
        "kind": "transformers",
        "path": str(file.parent),
        "gguf_file": "Q4.gguf",
        "text_only": True,  # a language model, as transformers reads it
    }
    assert given(home, str(file.parent)).section == resolved.section  # alone in its folder
    for place in (file, file.parent):
        written(home, path=str(place), max_tokens=9)
        spec = read_spec("mine", home)
        assert (spec.gguf_file, spec.text_only, spec.max_tokens) == ("Q4.gguf", True, 9)
    refuse_changed_checkpoint(resolved)
    file.write_bytes(b"GGUF" + bytes((3 << 20) - 1) + b"1")
    with pytest.raises(BenchError, match="other weights now"):
        refuse_changed_checkpoint(resolved)


def test_a_model_with_a_section_is_called_as_that_says(home):
    (home / "bench.toml").write_text(
        f'[models.mine]\nkind = "transformers"\npath = "{STEP}"\n'
        '[models.theirs]\nkind = "server"\nbase_url = "http://127.0.0.1:8000/v1"\nmodel = "name"\n'
    )
    assert given(home, str(STEP)).name == "mine"
    assert given(home, SERVER).name == "theirs"
    assert given(home, "mine").section == {}
    assert given(home, "random").spec.kind == "random"


def test_it_is_set_up_as_one_that_is_written_in_the_file(home, tmp_path):
    resolved = given(home, str(STEP))
    save_models(home, {resolved.name: resolved.section})
    there = load_settings(home)
    (home / "bench.toml").write_text(f'[models.mine]\nkind = "transformers"\npath = "{STEP}"\n')
    written = load_settings(home)
    assert setup_of(resolved.name, there) == setup_of("mine", written) != ""


def test_another_model_never_takes_a_name_that_is_taken(home):
    (home / "bench.toml").write_text('[models."org/name"]\nkind = "random"\n')
    resolved = given(home, "hf:org/name")
    assert resolved.name.startswith("org/name+")
    assert given(home, "hf:org/name").name == resolved.name


def test_what_was_given_is_kept_until_it_is_taken_away(home):
    resolved = given(
        home, "https://a.b/v1#m,api_key_env=MY_KEY,thinking_tags=['<\\u007f>','</\">'],max_wait=inf"
    )
    assert save_models(home, {resolved.name: resolved.section}) == [resolved.name]
    assert save_models(home, {resolved.name: resolved.section}) == []
    assert read_models(home) == {resolved.name: read_model_section(resolved.section)}
    assert resolve_name(resolved.name, load_settings(home)).spec == read_model_section(
        resolved.section
    )
    assert given(home, resolved.name).section == {}
    assert load_settings(home).models_of_file == {}
    assert remove_model(home, resolved.name)
    assert not remove_model(home, resolved.name)
    assert read_models(home) == {}


def test_the_file_may_be_damaged_and_is_then_not_written_over(home):
    (home / MODELS_FILE).write_text("[models")
    assert load_settings(home).models == {}
    with pytest.raises(BenchError, match=MODELS_FILE):
        save_models(home, {"a": {"kind": "random"}})
    (home / MODELS_FILE).write_text(
        '[models.a]\nkind = "of another version"\n[models.b]\nkind = "random"'
    )
    assert list(load_settings(home).models) == ["b"]


def test_its_key_is_a_secret_as_those_of_the_file_are(home, monkeypatch):
    monkeypatch.setenv("MY_KEY", "k3y-0f-m1ne-2x26")
    resolved = given(home, f"{SERVER},api_key_env=MY_KEY")
    save_models(home, {resolved.name: resolved.section})
    assert "k3y-0f-m1ne-2x26" not in known_secrets(home).redacted("it is k3y-0f-m1ne-2x26")


@pytest.mark.parametrize(("text", "message"), read_cases(__file__, "no_models.jsonl"))
def test_what_is_no_model_is_one_sentence(home, text, message):
    text = text.replace("{checkout}", str(Path(__file__).parents[4]))
    with pytest.raises(BenchError, match=message) as raised:
        given(home, text)
    assert "\n" not in str(raised.value)
    assert "s3cretpassw0rd" not in str(raised.value)


def test_a_folder_that_would_be_taken_for_a_hub_id_is_refused(home, tmp_path, monkeypatch):
    (tmp_path / "org" / "name").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(BenchError, match=r"Give the folder as \./org/name"):
        given(home, "hf:org/name")


def test_the_name_of_an_encoder_is_no_location(home):
    (home / "bench.toml").write_text('[suites.journeybench.encoders]\nclip = { path = "a/clip" }\n')
    assert given(home, "clip").spec.kind == "encoder"
    with pytest.raises(BenchError, match="did you mean 'clip'"):
        given(home, "clipp")

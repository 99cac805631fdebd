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

CHECKOUT = Path(__file__).parents[4]
STEP = CHECKOUT / "resources/bench_resources/models/tiny_vlm/run-1/step-4440"
_LLAVA = "LlavaForConditionalGeneration"
SERVER = "http://127.0.0.1:8000/v1#name"


@pytest.fixture
def home(tmp_path):
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


def read_spec(name: str, home: Path) -> Any:
    """The section of a model, of whichever kind."""
    return resolve_name(name, load_settings(home)).spec


def write_auto_section(home, **entries):
    """Write a bench.toml with the model ``mine``, whose engine bench chooses."""
    lines = [f"{name} = {json.dumps(value)}" for name, value in entries.items()]
    section = "\n".join(["[models.mine]", 'kind = "auto"', *lines])
    (home / "bench.toml").write_text(section)


def resolve_text(home, text):
    return resolve(text, load_settings(home))


def test_a_key_among_the_entries_is_no_part_of_the_name(home):
    resolved = resolve_text(
        home, f'{SERVER},extra_body={{api_key="K3y-of-mine", top_k=5}},max_tokens=9'
    )
    assert resolved.name == "name@127.0.0.1-8000+extra_body=-api_key-top_k-5-+max_tokens=9"
    extra_body = fill_value_keys(resolved.section["extra_body"])
    assert extra_body == {"api_key": "K3y-of-mine", "top_k": 5}
    assert "K3y-of-mine" not in str(resolved.section)


def test_a_key_in_an_address_is_stored_as_the_name_of_a_variable(home):
    key = "sk-Qm3x9ZpLw7Rk2Vt5"
    resolved = resolve_text(home, f"http://127.0.0.1:8000/v1;code={key}?key={key}#name")
    save_models(home, {resolved.name: resolved.section})
    address = read_spec(resolved.name, home).address
    assert fill_keys(address) == f"http://127.0.0.1:8000/v1;code={key}?key={key}"
    assert address.count("{BENCH_KEY_") == 2
    assert key not in f"{resolved} {(home / MODELS_FILE).read_text()}"


@pytest.mark.parametrize(
    ("text", "name", "section"),
    [
        pytest.param(
            "hf:org/name", "org/name", {"kind": "transformers", "path": "org/name"}, id="a hub id"
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
            id="with entries; api_key_env is no part of the name",
        ),
    ],
)
def test_an_address_has_a_readable_name_and_a_section(home, text, name, section):
    resolved = resolve_text(home, text)
    assert (resolved.name, resolved.section) == (name, section)
    (home / "bench.toml").write_text(f"[models.{json.dumps(name)}]\nkind = 'random'\n")
    assert name in load_settings(home).models_of_file  # a name that bench.toml takes


@pytest.fixture
def checkpoint(tmp_path):
    return shutil.copytree(STEP, tmp_path / "my run" / "step-5")


def test_a_checkpoint_has_one_name_however_its_folder_is_given(
    home, tmp_path, checkpoint, monkeypatch
):
    name = resolve_text(home, str(checkpoint)).name
    assert name.startswith("my-run/step-5@")
    monkeypatch.chdir(tmp_path)
    assert resolve_text(home, "my run/step-5/").name == name
    monkeypatch.chdir(checkpoint)
    assert resolve_text(home, ".").name == name
    (tmp_path / "latest").symlink_to(checkpoint)
    assert resolve_text(home, "../../latest").name == name


def test_a_checkpoint_with_another_config_has_another_name(home, checkpoint):
    name = resolve_text(home, str(checkpoint)).name
    config = json.loads((STEP / "config.json").read_text())
    (checkpoint / "config.json").write_text(json.dumps(config))  # other blanks, other bytes
    assert resolve_text(home, str(checkpoint)).name != name


@pytest.fixture
def install_vllm(tmp_path, monkeypatch):
    """Puts into PATH a command ``vllm`` whose package lists one architecture."""

    def install(architecture):
        models = tmp_path / "env/lib/python3.12/site-packages/vllm/model_executor/models"
        models.mkdir(parents=True)
        (models / "registry.py").write_text(
            f'_MODELS = {{"{architecture}": ("llava", "{architecture}")}}'
        )
        program = fake_vllm.install(tmp_path / "env" / "bin")
        monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
        return program

    return install


@pytest.mark.parametrize(
    ("has_cuda", "architecture", "reason"),
    [
        pytest.param(False, _LLAVA, "vLLM finds no CUDA device", id="a CPU"),
        pytest.param(True, "Other", f"vLLM does not list {_LLAVA}", id="not in vLLM"),
    ],
)
def test_a_folder_that_vllm_cannot_serve_is_run_by_transformers(
    home, install_vllm, monkeypatch, has_cuda, architecture, reason
):
    install_vllm(architecture)
    monkeypatch.setattr("torch.cuda.is_available", lambda: has_cuda)
    resolved = resolve_text(home, str(STEP))
    assert resolved.section == {"kind": "transformers", "path": str(STEP)}
    assert resolved.engine == f"run by transformers: {reason} (another engine: kind=...)"


def test_a_folder_is_run_by_transformers_without_vllm(home, monkeypatch):
    monkeypatch.setattr("torch.cuda.is_available", lambda: True)
    resolved = resolve_text(home, str(STEP))
    assert resolved.section == {"kind": "transformers", "path": str(STEP)}
    assert resolved.engine.startswith("run by transformers: there is no command vllm (")


@pytest.fixture
def vllm(install_vllm, monkeypatch):
    """The command of a vLLM that can serve ``STEP``."""
    monkeypatch.setattr("torch.cuda.is_available", lambda: True)
    return install_vllm(_LLAVA)


def test_a_folder_is_run_by_vllm_where_it_can_be(home, vllm):
    resolved = resolve_text(home, str(STEP))
    assert resolved.section == {"kind": "vllm", "path": str(STEP)}
    assert resolved.engine == (
        f"run by vllm: there is the command {vllm} (another engine: kind=...)"
    )


def test_a_folder_is_run_by_vllm_where_torch_is_missing(home, vllm, monkeypatch):
    monkeypatch.setattr("bench_resources.config.engine_choice.find_spec", lambda _: None)
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    assert resolve_text(home, str(STEP)).engine.startswith(
        f"run by vllm: there is the command {vllm} ("
    )


@pytest.mark.parametrize("has_cuda", [True, False])
@pytest.mark.usefixtures("vllm")
def test_a_section_and_a_folder_choose_the_same_engine(home, monkeypatch, has_cuda):
    monkeypatch.setattr("torch.cuda.is_available", lambda: has_cuda)
    resolved = resolve_text(home, str(STEP))
    write_auto_section(home, path=str(STEP))
    chosen = resolve_name("mine", load_settings(home))
    assert chosen.engine == resolved.engine
    assert chosen.spec == read_model_section(resolved.section)
    assert resolve_text(home, str(STEP)).name == "mine"


@pytest.mark.usefixtures("vllm")
def test_a_folder_keeps_the_engine_that_ran_it_before(home):
    resolved = resolve_text(home, str(STEP))
    save_models(home, {resolved.name: {**resolved.section, "kind": "transformers"}})
    again = resolve_text(home, str(STEP))
    assert (again.name, again.section["kind"], again.engine) == (resolved.name, "transformers", "")


@pytest.mark.parametrize("left_out", ["tokenizer", "config.json"])
@pytest.mark.usefixtures("vllm")
def test_an_incomplete_checkpoint_is_run_by_transformers(home, checkpoint, left_out):
    for file in checkpoint.glob(f"{left_out}*"):
        file.unlink()
    write_auto_section(home, path=str(checkpoint))
    chosen = resolve_name("mine", load_settings(home))
    assert chosen.spec.kind == "transformers"
    assert "vllm serve needs whole weights with their tokenizer" in chosen.engine


@pytest.mark.parametrize("path", ["", "Q4.gguf"], ids=["folder", "file"])
def test_the_error_of_a_gguf_with_vision_names_the_command_that_serves_it(home, tmp_path, path):
    for name in ("Q4.gguf", "mmproj-f16.gguf"):
        (tmp_path / name).write_bytes(b"GGUF")
    with pytest.raises(BenchError, match=r"llama-server -m \S+/Q4\.gguf --mmproj \S+f16\.gguf"):
        resolve_text(home, str(tmp_path / path))


@pytest.mark.parametrize(
    ("files", "expected_message"),
    [
        (["a.gguf", "b.gguf"], "2 GGUF files; name one of them"),
        (["pytorch_model_fsdp_0/.metadata"], "FSDP shards; each file"),
    ],
)
def test_a_folder_without_one_checkpoint_is_refused_by_its_layout(
    home, tmp_path, files, expected_message
):
    write_files(tmp_path / "run", *files)
    with pytest.raises(BenchError, match=expected_message):
        resolve_text(home, str(tmp_path / "run"))
    write_auto_section(home, path=str(tmp_path / "run"))
    with pytest.raises(BenchError, match=expected_message):
        pin(read_spec("mine", home).path)


@pytest.mark.parametrize(
    ("entry", "kind"), [("batch_tokens", "transformers"), ("tensor_parallel_size", "vllm")]
)
def test_an_entry_of_one_engine_chooses_it(home, entry, kind):
    write_auto_section(home, path=str(STEP), **{entry: 2})
    chosen = resolve_name("mine", load_settings(home))
    assert chosen.spec.kind == kind
    assert f"only this kind has the entry {entry}" in chosen.engine


@pytest.fixture
def gguf(tmp_path):
    """A GGUF file of 3 MiB, alone in its folder."""
    file = tmp_path / "my-run" / "Q4.gguf"
    file.parent.mkdir()
    file.write_bytes(b"GGUF" + bytes(3 << 20))
    return file


def test_a_gguf_file_is_run_by_transformers_from_its_folder(home, gguf):
    resolved = resolve_text(home, str(gguf))
    assert resolved.name.startswith("my-run/Q4@")
    assert resolved.section == {
        "kind": "transformers",
        "path": str(gguf.parent),
        "gguf_file": "Q4.gguf",
        "text_only": True,  # a language model, as transformers reads it
    }
    assert resolve_text(home, str(gguf.parent)).section == resolved.section


@pytest.mark.parametrize("path", ["my-run", "my-run/Q4.gguf"])
@pytest.mark.usefixtures("gguf")
def test_a_section_may_have_a_gguf_file_or_its_folder(home, tmp_path, path):
    write_auto_section(home, path=str(tmp_path / path), max_tokens=9)
    spec = read_spec("mine", home)
    assert (spec.gguf_file, spec.text_only, spec.max_tokens) == ("Q4.gguf", True, 9)


def test_a_section_may_name_a_gguf_file_of_the_hub(home):
    write_auto_section(home, path="authors/model-GGUF", gguf_file="Q4.gguf")
    spec = read_spec("mine", home)
    assert (spec.path, spec.gguf_file) == ("authors/model-GGUF", "Q4.gguf")


def test_a_gguf_file_that_changes_after_it_was_resolved_is_refused(home, gguf):
    resolved = resolve_text(home, str(gguf))
    refuse_changed_checkpoint(resolved)
    gguf.write_bytes(b"GGUF" + bytes((3 << 20) - 1) + b"1")
    with pytest.raises(BenchError, match="other weights now"):
        refuse_changed_checkpoint(resolved)


def test_a_model_has_the_name_of_its_section(home):
    (home / "bench.toml").write_text(
        f'[models.mine]\nkind = "transformers"\npath = "{STEP}"\n'
        '[models.theirs]\nkind = "server"\nbase_url = "http://127.0.0.1:8000/v1"\nmodel = "name"\n'
    )
    assert resolve_text(home, str(STEP)).name == "mine"
    assert resolve_text(home, SERVER).name == "theirs"
    assert resolve_text(home, "mine").section == {}


def test_a_saved_model_has_the_setup_of_a_section_of_bench_toml(home):
    resolved = resolve_text(home, str(STEP))
    save_models(home, {resolved.name: resolved.section})
    setup_of_saved_model = setup_of(resolved.name, load_settings(home))
    (home / "bench.toml").write_text(f'[models.mine]\nkind = "transformers"\npath = "{STEP}"\n')
    assert setup_of_saved_model
    assert setup_of("mine", load_settings(home)) == setup_of_saved_model


def test_a_model_whose_name_is_taken_gets_another(home):
    (home / "bench.toml").write_text('[models."org/name"]\nkind = "random"\n')
    resolved = resolve_text(home, "hf:org/name")
    assert resolved.name.startswith("org/name+")
    assert resolve_text(home, "hf:org/name").name == resolved.name


def test_a_saved_model_is_found_by_its_name_until_it_is_removed(home):
    resolved = resolve_text(
        home, "https://a.b/v1#m,api_key_env=MY_KEY,thinking_tags=['<\\u007f>','</\">'],max_wait=inf"
    )
    assert save_models(home, {resolved.name: resolved.section}) == [resolved.name]
    assert save_models(home, {resolved.name: resolved.section}) == []
    assert read_models(home) == {resolved.name: read_model_section(resolved.section)}
    assert resolve_name(resolved.name, load_settings(home)).spec == read_model_section(
        resolved.section
    )
    assert resolve_text(home, resolved.name).section == {}
    assert remove_model(home, resolved.name)
    assert not remove_model(home, resolved.name)
    assert read_models(home) == {}


def test_a_damaged_file_of_models_is_read_as_empty_and_not_overwritten(home):
    (home / MODELS_FILE).write_text("[models")
    assert load_settings(home).models == {}
    with pytest.raises(BenchError, match=MODELS_FILE):
        save_models(home, {"a": {"kind": "random"}})
    assert (home / MODELS_FILE).read_text() == "[models"


def test_saved_models_of_an_unknown_kind_are_left_out(home):
    (home / MODELS_FILE).write_text(
        '[models.a]\nkind = "of another version"\n[models.b]\nkind = "random"'
    )
    assert list(load_settings(home).models) == ["b"]


def test_the_key_of_a_saved_model_is_redacted(home, monkeypatch):
    monkeypatch.setenv("MY_KEY", "k3y-0f-m1ne-2x26")
    resolved = resolve_text(home, f"{SERVER},api_key_env=MY_KEY")
    save_models(home, {resolved.name: resolved.section})
    assert "k3y-0f-m1ne-2x26" not in known_secrets(home).redacted("it is k3y-0f-m1ne-2x26")


@pytest.mark.parametrize(("text", "expected_message"), read_cases(__file__, "no_models.jsonl"))
def test_the_error_of_a_text_that_is_no_model_is_one_line_without_passwords(
    home, text, expected_message
):
    text = text.replace("{checkout}", str(CHECKOUT))
    with pytest.raises(BenchError, match=expected_message) as raised:
        resolve_text(home, text)
    assert "\n" not in str(raised.value)
    assert "s3cretpassw0rd" not in str(raised.value)


def test_a_folder_that_would_be_taken_for_a_hub_id_is_refused(home, tmp_path, monkeypatch):
    (tmp_path / "org" / "name").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(BenchError, match=r"Give the folder as \./org/name"):
        resolve_text(home, "hf:org/name")


def test_an_encoder_is_resolved_by_its_name(home):
    (home / "bench.toml").write_text('[suites.journeybench.encoders]\nclip = { path = "a/clip" }\n')
    assert resolve_text(home, "clip").spec.kind == "encoder"

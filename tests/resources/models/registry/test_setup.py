import os
import shutil
from pathlib import Path

import pytest

from bench_resources.config.bench_toml import load_settings
from bench_resources.config.sections.models import EMBEDDED_MODELS
from bench_resources.models.registry.named_models import resolve_name
from bench_resources.models.registry.setup import setup_of
from tests.resources.models.managed import fake_vllm

TINY = Path(EMBEDDED_MODELS["tiny-vlm/step-4440"].place)
CHECKPOINT = "r/step-1@0123abcd"
TOML = """
[models.blind]
kind = "blind"
of = "local"
[models.local]
kind = "transformers"
path = "weights"
[models.recorded]
kind = "recorded"
file = "responses.jsonl"
[models.mine]
kind = "python"
function = "tests.workspace.materialization.test_backfill:opening"
[checkpoints]
folders = ["runs"]
like = "local"
"""


@pytest.fixture
def home(tmp_path):
    (tmp_path / "bench.toml").write_text(TOML)
    (tmp_path / "weights").mkdir()
    for name in ("config.json", "model.safetensors", "tokenizer.json", "README.md"):
        (tmp_path / "weights" / name).write_text("{}")
    (tmp_path / "responses.jsonl").write_text('{"question_id": "a", "text": "b"}')
    return tmp_path


def setup(home, name):
    return setup_of(name, load_settings(home))


def write(name, text):
    """A change of a home: writes a file."""
    return lambda home: (home / name).write_text(text)


def replace_in_toml(old, new):
    """A change of a home: replaces a text of its bench.toml."""
    return write("bench.toml", TOML.replace(old, new))


def add_entry(last_line, entry):
    """A change of a home: adds an entry behind a line of its bench.toml."""
    return replace_in_toml(last_line, f"{last_line}\n{entry}")


@pytest.mark.parametrize(
    ("name", "change"),
    [
        pytest.param("local", write("weights/model.safetensors", "[]"), id="weights"),
        pytest.param("blind", write("weights/model.safetensors", "[]"), id="of a blind model"),
        pytest.param("local", add_entry('path = "weights"', "max_tokens = 7"), id="an entry"),
        pytest.param("recorded", write("responses.jsonl", "{}"), id="recorded responses"),
        pytest.param("mine", add_entry(':opening"', "options = {a = 1}"), id="options"),
        pytest.param(CHECKPOINT, add_entry('path = "weights"', "seed = 1"), id="of a checkpoint"),
    ],
)
def test_the_setup_changes_with_what_responses_depend_on(home, name, change):
    setup_before = setup(home, name)
    change(home)
    setup_after = setup(home, name)
    assert setup_after
    assert setup_after != setup_before


def change_file_times(home):
    for file in (home / "weights").iterdir():
        os.utime(file, (1, 1))


def move_weights(home):
    (home / "weights").rename(home / "moved")
    replace_in_toml('path = "weights"', 'path = "moved"')(home)


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda home: None, id="nothing"),
        pytest.param(change_file_times, id="the times of small files"),
        pytest.param(move_weights, id="the place of the folder"),
        pytest.param(write("weights/README.md", "other"), id="a file that is not loaded"),
    ],
)
def test_the_setup_does_not_change_with_anything_else(home, change):
    setup_before = setup(home, "local")
    change(home)
    assert setup(home, "local") == setup_before


def test_the_setup_of_checkpoints_changes_when_another_engine_is_chosen(
    home, tmp_path, monkeypatch
):
    replace_in_toml('kind = "transformers"', 'kind = "auto"')(home)
    shutil.copytree(TINY, home / "weights", dirs_exist_ok=True)
    setup_before = setup(home, CHECKPOINT)
    assert setup_before
    assert setup(home, "r/step-2@0123abcd") == setup_before

    program = fake_vllm.install(tmp_path / "bin")
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    assert setup(home, "r/step-2@0123abcd") == setup_before  # vLLM needs a GPU

    monkeypatch.setattr("torch.cuda.is_available", lambda: True)
    assert resolve_name("local", load_settings(home)).spec.kind == "vllm"
    setup_with_vllm = setup(home, "r/step-2@0123abcd")
    assert setup_with_vllm
    assert setup_with_vllm != setup_before


def test_a_checkpoint_without_weights_has_no_setup(home):
    (home / "weights" / "model.safetensors").unlink()
    assert setup(home, "local") == ""

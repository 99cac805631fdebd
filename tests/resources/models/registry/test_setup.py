"""How a model is set up: what its responses depend on changes it, and nothing else does."""

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

TOML = """
[models.blind]
kind = "blind"
of = "local"
[models.local]
kind = "transformers"
path = "weights"
[models.recorded]
kind = "recorded"
file = "said.jsonl"
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
    (tmp_path / "said.jsonl").write_text('{"question_id": "a", "text": "b"}')
    return tmp_path


def setup(home, name):
    return setup_of(name, load_settings(home))


def write(name, text):
    return lambda home: (home / name).write_text(text)


def settle(old, new):
    return write("bench.toml", TOML.replace(old, new))


@pytest.mark.parametrize(
    ("name", "change"),
    [
        pytest.param("local", write("weights/model.safetensors", "[]"), id="weights"),
        pytest.param("blind", write("weights/model.safetensors", "[]"), id="of the blind one"),
        pytest.param("local", settle('path = "weights"', 'path = "weights"\nmax_tokens = 7'),
                     id="how it is asked"),
        pytest.param("recorded", write("said.jsonl", "{}"), id="what was recorded"),
        pytest.param("mine", settle(':opening"', ':opening"\noptions = {a = 1}'), id="options"),
        pytest.param("r/step-1@0123abcd", settle('path = "weights"', 'path = "weights"\nseed = 1'),
                     id="how checkpoints are asked"),
    ],
)  # fmt: skip
def test_what_responses_depend_on_is_part_of_it(home, name, change):
    before = setup(home, name)
    change(home)
    assert before != setup(home, name) != ""


def touch(home):
    for file in (home / "weights").iterdir():
        os.utime(file, (1, 1))


def move(home):
    (home / "weights").rename(home / "moved")
    settle('path = "weights"', 'path = "moved"')(home)


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda home: None, id="nothing"),
        pytest.param(touch, id="the time of files that are small"),
        pytest.param(move, id="where the folder lies"),
        pytest.param(write("weights/README.md", "other"), id="a file that is not loaded"),
    ],
)
def test_what_responses_do_not_depend_on_is_not(home, change):
    before = setup(home, "local")
    change(home)
    assert setup(home, "local") == before


def test_checkpoints_of_a_curve_are_set_up_otherwise_once_another_engine_is_chosen(
    home, tmp_path, monkeypatch
):
    settle('kind = "transformers"', 'kind = "auto"')(home)
    shutil.copytree(TINY, home / "weights", dirs_exist_ok=True)
    before = setup(home, "r/step-1@0123abcd")
    assert before == setup(home, "r/step-2@0123abcd") != ""
    program = fake_vllm.install(tmp_path / "bin")
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    assert setup(home, "r/step-2@0123abcd") == before  # without a GPU the command changes nothing
    monkeypatch.setattr("torch.cuda.is_available", lambda: True)
    assert resolve_name("local", load_settings(home)).spec.kind == "vllm"
    assert before != setup(home, "r/step-2@0123abcd") != ""


def test_a_checkpoint_that_is_not_there_cannot_be_looked_at(home):
    (home / "weights" / "model.safetensors").unlink()
    assert setup(home, "local") == ""

import shutil
import time

import pytest

from bench_assets.core.schema.training_runs import parse_step
from bench_resources.checkpoints.watched_folders import KEY, find_checkpoint, survey_folders
from bench_resources.config.bench_toml import load_settings
from bench_resources.models.registry.resolution import resolve
from bench_resources.tables.locations import file_name
from tests.fakes.checkpoint_files import write_checkpoint

NAMES = (
    *("mit Leerzeichen", "läufe", "[neu] (2)", "a,b", "a,temperature=0.5", "it's", 'quo"te'),
    *("-leading", "--model", "#hash", "a=b", "a@b", "a@0123abcd", "~tilde", "$HOME", "100%"),
    *("训练", "步骤-10", "Ω≈ç", "🚀 run", "a*b?", "a&b|c", "<b>x", "back\\slash", "hf:x", "http:"),
    *("tab\there", "new\nline", "x" * 200, "é" * 100, "步" * 80, "trailing ", "a%2Fb"),
)


@pytest.fixture
def runs(tmp_path):
    """A folder of training runs with odd names, each with one checkpoint."""
    for run_index, name in enumerate(NAMES):
        write_checkpoint(tmp_path / "runs" / name / "step-0010", f"{run_index:04}".encode())
    return tmp_path / "runs"


def test_a_folder_of_any_name_is_a_model_by_its_path(runs, tmp_path, monkeypatch):
    (tmp_path / "home").mkdir()
    settings = load_settings(tmp_path / "home")
    monkeypatch.chdir(runs)
    model_names = set()
    for folder_name in NAMES:
        model = resolve(str(runs / folder_name / "step-0010"), settings)
        assert model == resolve(f"{folder_name}/step-0010", settings)
        assert model.section["path"] == str(runs / folder_name / "step-0010")
        assert KEY.fullmatch(model.name), model.name
        assert len(file_name(model.name)) <= 255  # bytes that a file system takes
        step = parse_step(model.name)
        assert step
        assert step.step == 10
        model_names.add(model.name)
    assert len(model_names) == len(NAMES)


def test_a_watched_folder_of_any_name_is_a_partition_and_is_found_by_its_key(runs):
    survey = survey_folders([runs], now=time.time() + 1, settle_seconds=0, remembered={})
    assert survey.unfinished == {}
    assert len({checkpoint.key for checkpoint in survey.finished}) == len(NAMES)
    for checkpoint in survey.finished:
        assert KEY.fullmatch(checkpoint.key)
        assert find_checkpoint(checkpoint.key, [runs]) == checkpoint.folder
        assert not survey.is_deleted(checkpoint.key)


def test_a_watched_folder_that_was_removed_is_deleted_by_its_key(runs):
    survey = survey_folders([runs], now=time.time() + 1, settle_seconds=0, remembered={})
    keys = [checkpoint.key for checkpoint in survey.finished]
    shutil.rmtree(runs / "läufe")
    later = survey_folders([runs], now=time.time() + 1, settle_seconds=0, remembered={})
    (deleted_key,) = [key for key in keys if later.is_deleted(key)]
    assert deleted_key.startswith("laufe/")

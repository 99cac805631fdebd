"""Folders of checkpoints may be called anything: names of models, partition keys, files, links."""

import shutil
import time

import pytest

from bench_assets.core.schema.training_runs import checkpoint_name, parse_step
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
    """A folder of runs, with one step in each."""
    for number, name in enumerate(NAMES):
        write_checkpoint(tmp_path / "runs" / name / "step-0010", f"{number:04}".encode())
    return tmp_path / "runs"


def test_a_folder_of_any_name_is_a_model_by_its_path(runs, tmp_path, monkeypatch):
    (tmp_path / "home").mkdir()
    settings = load_settings(tmp_path / "home")
    monkeypatch.chdir(runs)
    found = {}
    for name in NAMES:
        absolute = resolve(str(runs / name / "step-0010"), settings)
        relative = resolve(f"{name}/step-0010", settings)
        assert absolute == relative
        assert absolute.section["path"] == str(runs / name / "step-0010")
        found[absolute.name] = name
    assert len(found) == len(NAMES)
    for name in found:
        assert KEY.fullmatch(name), name
        assert len(file_name(name)) <= 255
        step = parse_step(name)
        assert step
        assert step.step == 10


def test_a_watched_folder_of_any_name_is_a_partition_and_is_found_again(runs):
    survey = survey_folders([runs], now=time.time() + 1, settle_seconds=0, remembered={})
    assert survey.unfinished == {}
    keys = [one.key for one in survey.finished]
    assert len(set(keys)) == len(NAMES)
    for one in survey.finished:
        assert KEY.fullmatch(one.key)
        assert find_checkpoint(one.key, [runs]) == one.folder
    assert not any(survey.is_deleted(key) for key in keys)
    shutil.rmtree(runs / "läufe")
    later = survey_folders([runs], now=time.time() + 1, settle_seconds=0, remembered={})
    assert [key for key in keys if later.is_deleted(key)] == [
        key for key in keys if key.startswith("laufe/")
    ]


@pytest.mark.parametrize(
    ("folders", "named"),
    [
        pytest.param(["run", "step-0010"], "run/step-0010", id="as it was"),
        pytest.param(["run.v2@x+y=z", "a_b"], "run.v2@x+y=z/a_b", id="every sign of a key"),
        pytest.param(["- mein Lauf (ü) -"], "mein-Lauf-u", id="blanks, brackets and an umlaut"),
        pytest.param(["..", "a"], "a", id="no folder above"),
        pytest.param(["!!!"], "checkpoint", id="signs alone"),
    ],
)
def test_names_of_checkpoints(folders, named):
    assert checkpoint_name(folders) == named

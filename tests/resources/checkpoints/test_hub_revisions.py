"""Revisions of hub repositories: which commits are checkpoints, and what others lack."""

from collections.abc import Iterator

import pytest
from huggingface_hub import HfApi

from bench_assets.core.schema.errors import ModelError
from bench_resources.checkpoints.hub_revisions import find_revision, hub_survey
from tests.fakes.hub import EMPTY, FILES, NEW, OLD, REFS, running_hub


@pytest.fixture
def hub() -> Iterator[HfApi]:
    with running_hub() as api:
        yield api


def test_every_commit_with_a_model_is_a_revision_by_its_telling_name(hub: HfApi) -> None:
    survey = hub_survey(["org/vlm"], set(), hub)
    assert [checkpoint.key for checkpoint in survey.finished] == [
        f"org/vlm/step-1000@{NEW}",
        f"org/vlm/step-900@{OLD}",
    ]
    assert survey.unfinished == {
        f"org/vlm/readme only@{EMPTY}": "invalid name: only letters, digits and . _ @ + = / -"
        " are allowed"
    }


@pytest.mark.parametrize(
    ("files", "says"),
    [
        pytest.param(["config.json"], "no weights", id="a configuration alone"),
        pytest.param(["config.json", "training_args.bin"], "no weights", id="arguments in .bin"),
        pytest.param(["model.safetensors"], "config.json is missing", id="weights alone"),
        pytest.param(["adapter_config.json"], "the adapter has no weights", id="half an adapter"),
        pytest.param(["adapter_config.json", "adapter_model.bin"], None, id="an adapter"),
    ],
)
def test_what_a_commit_lacks_is_reported(
    hub: HfApi, monkeypatch: pytest.MonkeyPatch, files: list[str], says: str | None
) -> None:
    monkeypatch.setitem(REFS, "early", "d" * 40)
    monkeypatch.setitem(FILES, "d" * 40, files)
    assert hub_survey(["org/vlm"], set(), hub).unfinished.get(f"org/vlm/early@{'d' * 40}") == says


def test_a_repository_that_there_is_not_costs_the_others_nothing(hub: HfApi) -> None:
    survey = hub_survey(["org/nothing", "org/vlm"], set(), hub)
    assert len(survey.finished) == 2
    assert "404 Not Found" in survey.unfinished["org/nothing"]


def test_a_revision_of_no_watched_repository_is_named() -> None:
    with pytest.raises(ModelError, match=r"not in a watched repository \(org/vl\)"):
        find_revision(f"org/vlm/main@{OLD}", ["org/vl"])

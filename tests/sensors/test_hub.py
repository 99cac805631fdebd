"""Revisions of hub repositories, from a server that speaks the little of the hub that is needed."""

import json
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, ClassVar

import dagster as dg
import pytest
from huggingface_hub import HfApi

from bench_assets.core.schema.errors import ModelError
from bench_resources.checkpoints.hub_revisions import HubSurvey, find_revision, hub_survey
from bench_resources.config.bench_toml import Settings, load_settings
from bench_resources.config.sections.local_models import TransformersSpec
from bench_resources.models.registry.named_models import resolve_name
from bench_sensors.checkpoints import watch_hub
from tests.sensors.watched import TABLES

OLD, NEW, EMPTY = "a" * 40, "b" * 40, "c" * 40
REFS = {"main": NEW, "step-900": OLD, "step-1000": NEW, "readme only": EMPTY}
FILES = {
    OLD: ["config.json", "model.safetensors"],
    NEW: ["config.json", "model-1-of-1.safetensors", "model.safetensors.index.json"],
    EMPTY: ["README.md"],
}


class Hub(BaseHTTPRequestHandler):
    paths: ClassVar[list[str]] = []
    broken: ClassVar[bytes] = b""  # what is said of org/broken

    def do_GET(self) -> None:
        self.paths.append(self.path)
        _, _, _, _, name, what, *rest = self.path.partition("?")[0].split("/")
        if name == "broken":
            self._send(self.broken)
            return
        if name != "vlm":
            self.send_error(404)
            return
        answer: Any = (
            {
                "branches": [
                    {"name": ref, "ref": f"refs/heads/{ref}", "targetCommit": commit}
                    for ref, commit in REFS.items()
                ],
                "converts": [],
                "tags": [],
            }
            if what == "refs"
            else [{"type": "file", "path": path, "size": 1, "oid": "0"} for path in FILES[rest[0]]]
        )
        self._send(json.dumps(answer).encode())

    def _send(self, body: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None: ...


@pytest.fixture
def hub() -> Iterator[HfApi]:
    Hub.paths.clear()
    with ThreadingHTTPServer(("127.0.0.1", 0), Hub) as server:
        Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield HfApi(endpoint=f"http://127.0.0.1:{server.server_port}", token=False)
        server.shutdown()


def test_every_commit_with_a_model_is_a_revision_by_its_telling_name(hub: HfApi) -> None:
    found = hub_survey(["org/vlm"], set(), hub)
    assert [one.key for one in found.finished] == [
        f"org/vlm/step-1000@{NEW}",
        f"org/vlm/step-900@{OLD}",
    ]
    assert found.unfinished == {
        f"org/vlm/readme only@{EMPTY}": "invalid name: only letters, digits and . _ @ + = / -"
        " are allowed"
    }


def test_known_commits_are_not_looked_into(hub: HfApi) -> None:
    found = hub_survey(["org/vlm"], {OLD, NEW}, hub)
    assert len(found.finished) == 2
    assert [path for path in Hub.paths if "/tree/" in path] == []


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
    found = hub_survey(["org/nothing", "org/vlm"], set(), hub)
    assert len(found.finished) == 2
    assert "404 Not Found" in found.unfinished["org/nothing"]


def test_without_a_network_nothing_is_found_with_a_message() -> None:
    found = hub_survey(["org/vlm"], set(), HfApi(endpoint="http://127.0.0.1:9", token=False))
    assert found == HubSurvey(unfinished=found.unfinished)
    assert "the hub does not list it" in found.unfinished["org/vlm"]


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    (tmp_path / "bench.toml").write_text(
        '[checkpoints]\nrepositories = ["org/vlm"]\nsuites = ["codis", "blink"]\n'
    )
    return load_settings(tmp_path)


def test_revisions_become_partitions_and_runs(
    settings: Settings, instance: dg.DagsterInstance, hub: HfApi
) -> None:
    instance.add_dynamic_partitions("model", [f"org/vlm/old-name@{OLD}"])
    result = watch_hub(instance, settings, TABLES, None, hub, time.time())
    assert [request.run_key for request in result.run_requests or []] == [
        f"org/vlm/old-name@{OLD}/codis+blink/1",
        f"org/vlm/step-1000@{NEW}/codis+blink/1",
    ]
    (added,) = result.dynamic_partitions_requests or []
    assert added.partition_keys == [f"org/vlm/step-1000@{NEW}"]
    spec = resolve_name(f"org/vlm/step-1000@{NEW}", settings).spec
    assert isinstance(spec, TransformersSpec)
    assert (spec.path, spec.revision) == ("org/vlm", NEW)


GONE = "e" * 40


@pytest.mark.parametrize(
    ("key", "retires"),
    [
        pytest.param(f"org/vlm/step-800@{GONE}", True, id="its tag was deleted"),
        pytest.param(f"org/vlm/main@{GONE}", False, id="its branch went on"),
        pytest.param(f"org/vlm/old-name@{OLD}", False, id="another tag is at its commit"),
        pytest.param(f"org/other/step-1@{GONE}", False, id="its repository is not watched"),
    ],
)
def test_a_revision_retires_when_somebody_took_it_back(
    settings: Settings, instance: dg.DagsterInstance, hub: HfApi, key: str, retires: bool
) -> None:
    instance.add_dynamic_partitions("model", [key])
    assert retired(watch_hub(instance, settings, TABLES, None, hub, time.time())) == (
        [key] if retires else []
    )


@pytest.mark.parametrize(
    ("repository", "endpoint"),
    [
        pytest.param("org/nothing", "", id="the hub does not list the repository"),
        pytest.param("org/vlm", "http://127.0.0.1:9", id="there is no network"),
    ],
)
def test_what_the_hub_does_not_list_does_not_retire(
    settings: Settings, instance: dg.DagsterInstance, hub: HfApi, repository: str, endpoint: str
) -> None:
    text = settings.file.read_text().replace("org/vlm", repository)
    settings.file.write_text(text)
    instance.add_dynamic_partitions("model", [f"{repository}/step-800@{GONE}"])
    api = HfApi(endpoint=endpoint, token=False) if endpoint else hub
    result = watch_hub(instance, load_settings(settings.home), TABLES, None, api, time.time())
    assert retired(result) == []
    assert result.skip_reason is not None
    assert "the hub does not list it" in str(result.skip_reason.skip_message)


def retired(result: dg.SensorResult) -> list[str]:
    """Partitions that are to go."""
    return [
        key
        for change in result.dynamic_partitions_requests or []
        if isinstance(change, dg.DeleteDynamicPartitionsRequest)
        for key in change.partition_keys
    ]


def test_a_revision_of_no_watched_repository_is_named() -> None:
    with pytest.raises(ModelError, match=r"not in a watched repository \(org/vl\)"):
        find_revision(f"org/vlm/main@{OLD}", ["org/vl"])

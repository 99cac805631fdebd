"""Where a Label Studio may be, what is said to it, and how one is started."""

import stat
from pathlib import Path

import pytest

from bench_assets.core.schema.errors import HomeError, SettingsError
from bench_resources.annotation.label_studio.backend import LabelStudioBackend
from bench_resources.annotation.label_studio.client import validate_address
from bench_resources.annotation.label_studio.server import arguments, password, program, variables
from bench_resources.annotation.opening import open_annotation_backend
from bench_resources.config.bench_toml import load_settings
from tests.full_disk import full_disk

TOKEN = "ab" * 20


@pytest.mark.parametrize(
    "url",
    ["http://127.0.0.1:8081", "http://localhost:8081", "http://[::1]:8081", "https://ls.example/a"],
)
def test_this_machine_and_https_are_allowed(url: str) -> None:
    assert validate_address(f"{url}/") == url


@pytest.mark.parametrize(
    "url",
    [
        "", "127.0.0.1:8081", "http://ls.example", "http://127.0.0.1.example.org", "http://0.0.0.0",
        "http://192.168.0.7:8081", "ftp://127.0.0.1", "https://me:secret@ls.example",
        "https://ls.example?token=1", "http://[::1", "http://127.0.0.1:port",
    ],
)  # fmt: skip
def test_all_else_is_refused(url: str) -> None:
    with pytest.raises(SettingsError, match="url") as why:
        validate_address(url)
    assert "secret" not in str(why.value)


def _opened(home: Path, *lines: str) -> object:
    (home / "bench.toml").write_text("\n".join(["[annotation]", 'kind = "label-studio"', *lines]))
    return open_annotation_backend(load_settings(home))


def test_bench_toml_opens_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STUDIO_TOKEN", TOKEN)
    people = _opened(
        tmp_path,
        'url = "http://127.0.0.1:8081/"',
        'token_env = "STUDIO_TOKEN"',
        'names = {"a@b.example" = "ana"}',
    )
    assert isinstance(people, LabelStudioBackend)
    assert (people.server.url, people.names) == ("http://127.0.0.1:8081", {"a@b.example": "ana"})


@pytest.mark.parametrize(
    ("lines", "complaint"),
    [
        (['token_env = "STUDIO_TOKEN"'], "url should be the address"),
        (['url = "http://ls.example"', 'token_env = "STUDIO_TOKEN"'], "Use https"),
        (['url = "http://127.0.0.1"'], "token_env is empty"),
        (['url = "http://127.0.0.1"', 'token_env = "NO_SUCH_TOKEN"'], "NO_SUCH_TOKEN is not set"),
    ],
)
def test_a_section_that_lacks_something_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lines: list[str], complaint: str
) -> None:
    monkeypatch.setenv("STUDIO_TOKEN", TOKEN)
    with pytest.raises(SettingsError, match=r"bench\.toml, \[annotation\]: .*") as why:
        _opened(tmp_path, *lines)
    assert complaint in str(why.value)


def test_a_server_is_started_for_this_machine_alone(tmp_path: Path) -> None:
    around = {"PATH": "/bin", "PYTHONPATH": "/ours", "VIRTUAL_ENV": "/ours"}
    said = variables(around, tmp_path / "server", tmp_path / "shared" / "images", 8081, TOKEN)
    assert arguments(8081)[-4:] == ["--internal-host", "127.0.0.1", "--port", "8081"]
    assert said["LABEL_STUDIO_DISABLE_SIGNUP_WITHOUT_LINK"] == "true"
    assert said["COLLECT_ANALYTICS"] == said["LATEST_VERSION_CHECK"] == "false"
    assert said["LOCAL_FILES_DOCUMENT_ROOT"] == str(tmp_path / "shared")
    assert said["LABEL_STUDIO_BASE_DATA_DIR"] == said["HOME"] == str(tmp_path / "server")
    assert not {"PYTHONPATH", "VIRTUAL_ENV"} & said.keys()
    assert said["PATH"] == "/bin"


@pytest.mark.parametrize("token", ["", "ab" * 19, "AB" * 20, "eyJhbGciOi.eyJh.c2ln"])
def test_a_token_that_cannot_be_given_is_refused(tmp_path: Path, token: str) -> None:
    with pytest.raises(SettingsError, match="40 hexadecimal digits"):
        variables({}, tmp_path, tmp_path, 8081, token)


def test_the_password_is_drawn_once_and_nobody_elses(tmp_path: Path) -> None:
    first = password(tmp_path / "server")
    assert password(tmp_path / "server") == first
    assert password(tmp_path / "another") != first
    assert stat.S_IMODE((tmp_path / "server" / "password").stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "server").stat().st_mode) == 0o700


def test_a_full_disk_leaves_no_empty_password(tmp_path: Path) -> None:
    with full_disk(), pytest.raises(HomeError, match="password: cannot be written"):
        password(tmp_path)
    assert len(password(tmp_path)) == 16


def test_without_it_the_way_to_install_it_is_told(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="make annotation-server"):
        program(tmp_path)

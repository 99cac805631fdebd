"""Under which name other machines reach the servers that are started here."""

import socket
from pathlib import Path

import pytest

from bench_assets.core.schema.errors import SettingsError
from resources.config.bench_toml import load_settings
from resources.config.sections.servers import ServerSpec
from resources.models.registry.setup import setup_of, state_of
from tests.resources.config.test_serving import STARTED, VLLM, watched, written
from tests.sensors.watched import write_checkpoint

SHARED = '[storage]\ndatabase = "env:TEAM_DATABASE"\n'


@pytest.mark.parametrize(
    ("section", "message"),
    [
        pytest.param(
            'base_url = "http://s/v1"\nmodel = "m"\nreached_as = "{hostname}"',
            "reached_as needs serve",
            id="a name for what is not ours",
        ),
        pytest.param(
            f'path = "w"\nserve = "{VLLM}"\nreached_as = "http://node-a:80"',
            r"models\.m\.reached_as: .*name or address of this machine",
            id="an address with a port",
        ),
        pytest.param(
            f'path = "w"\nserve = "{VLLM} --host 127.0.0.1"\nreached_as = "node-a"',
            r"listens at 127\.0\.0\.1, where no other machine .* --host 0\.0\.0\.0",
            id="a server that no other machine reaches",
        ),
        pytest.param(
            f'path = "w"\nserve = "{VLLM} --host 0.0.0.0"\nreached_as = "{{hostname}}"',
            r'models\.m\.reached_as: \[storage\] database = "env:NAME" is missing',
            id="nothing that homes share",
        ),
    ],
)
def test_what_cannot_work_is_told_by_name(tmp_path: Path, section: str, message: str) -> None:
    home = written(tmp_path, f'[models.m]\nkind = "server"\n{section}\n')
    with pytest.raises(SettingsError, match=message):
        load_settings(home)


@pytest.mark.parametrize(
    ("reached_as", "here"),
    [
        ("{hostname}", socket.gethostname()),
        ("{hostname}.example.org", f"{socket.gethostname()}.example.org"),
        ("10.0.0.5", "10.0.0.5"),
        ("", ""),
    ],
)
def test_the_name_under_which_servers_are_reached(
    tmp_path: Path, reached_as: str, here: str
) -> None:
    section = f'[models.m]\n{STARTED}reached_as = "{reached_as}"\n'
    spec = load_settings(written(tmp_path, f"{SHARED}{section}")).model("m")
    assert isinstance(spec, ServerSpec)
    assert spec.reached_here == here


def test_a_checkpoint_is_reached_as_the_model_that_it_is_like(tmp_path: Path) -> None:
    name = watched(tmp_path, 'like = "like"')
    text = (tmp_path / "bench.toml").read_text() + f'reached_as = "node-a"\n{SHARED}'
    spec = load_settings(written(tmp_path, text)).model(name)
    assert isinstance(spec, ServerSpec)
    assert spec.reached_here == "node-a"


def test_under_which_name_is_no_part_of_what_responses_depend_on(tmp_path: Path) -> None:
    write_checkpoint(tmp_path / "w")
    known: list[object] = []
    for said in ('reached_as = "node-a"', 'reached_as = "node-b"', ""):
        settings = load_settings(written(tmp_path, f"{SHARED}[models.m]\n{STARTED}{said}\n"))
        spec = settings.model("m")
        assert isinstance(spec, ServerSpec)
        known.append((state_of("m", settings), setup_of("m", settings), spec.identity))
    assert known[0] == known[1] == known[2]

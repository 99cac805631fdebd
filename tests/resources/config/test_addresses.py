"""A key in an address of any section is read as the name of a variable; requests alone have it."""

import os
from pathlib import Path

import pytest

from bench_resources.config.addresses import source_of
from bench_resources.config.bench_toml import load_settings

KEY = "k9-Qm3x9ZpLw7Rk2Vt5"

SECTIONS = {
    "a source": '[sources]\ncodis = "https://me:K@host/x.zip"',
    "a model": '[models.m]\nkind = "server"\nmodel = "m"\nbase_url = "http://host/v1?key=K"',
    "a field of the request": (
        '[models.m]\nkind = "server"\nmodel = "m"\nbase_url = "http://host/v1"\n'
        'extra_body = { hook = "https://host/?token=K", api_key = "K" }'
    ),
    "a variable of the chat template": (
        '[models.m]\nkind = "server"\nmodel = "m"\nbase_url = "http://host/v1"\nserver = "vllm"\n'
        'chat_template_kwargs = { hook = "https://host/?token=K" }'
    ),
    "the pages": '[annotation]\nurl = "https://host/?token=K"',
}


@pytest.mark.parametrize(
    "section", [pytest.param(text, id=name) for name, text in SECTIONS.items()]
)
def test_a_key_in_an_address_becomes_a_variable(tmp_path: Path, section: str) -> None:
    (tmp_path / "bench.toml").write_text(section.replace("K", KEY))
    read = load_settings(tmp_path)
    shown = repr(read)
    (name,) = {name for name in os.environ if name.startswith("BENCH_KEY_") and name in shown}
    assert os.environ[name] == KEY
    assert KEY not in shown


@pytest.mark.parametrize(
    ("written", "used"),
    [
        ("hf:a/b@main", "hf:a/b@main"),
        ("https://host/a.zip#sha256=" + "a" * 64, "https://host/a.zip#sha256=" + "a" * 64),
        ("data", str(Path("data").absolute())),
        ("../data", str(Path("../data").absolute())),
    ],
)
def test_a_command_s_source_is_an_address_as_it_is_or_a_folder(
    tmp_path: Path, written: str, used: str
) -> None:
    settings = load_settings(tmp_path).with_overrides(sources={"blink": written})
    assert source_of(written) == settings.sources["blink"] == used

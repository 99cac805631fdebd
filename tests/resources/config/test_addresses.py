import os
from pathlib import Path

import pytest

from bench_resources.config.addresses import source_of
from bench_resources.config.bench_toml import load_settings

KEY = "k9-Qm3x9ZpLw7Rk2Vt5"

SECTIONS = {
    "a source": '[sources]\ncodis = "https://me:{key}@host/x.zip"',
    "a model": '[models.m]\nkind = "server"\nmodel = "m"\nbase_url = "http://host/v1?key={key}"',
    "a field of the request": (
        '[models.m]\nkind = "server"\nmodel = "m"\nbase_url = "http://host/v1"\n'
        'extra_body = {{ hook = "https://host/?token={key}", api_key = "{key}" }}'
    ),
    "a variable of the chat template": (
        '[models.m]\nkind = "server"\nmodel = "m"\nbase_url = "http://host/v1"\nserver = "vllm"\n'
        'chat_template_kwargs = {{ hook = "https://host/?token={key}" }}'
    ),
    "the pages": '[annotation]\nurl = "https://host/?token={key}"',
}


@pytest.mark.parametrize("section", SECTIONS.values(), ids=SECTIONS)
def test_a_key_in_an_address_becomes_a_variable(tmp_path: Path, section: str) -> None:
    (tmp_path / "bench.toml").write_text(section.format(key=KEY))
    text = repr(load_settings(tmp_path))
    (variable,) = {name for name in os.environ if name.startswith("BENCH_KEY_") and name in text}
    assert os.environ[variable] == KEY
    assert KEY not in text


@pytest.mark.parametrize(
    ("argument", "source"),
    [
        ("hf:a/b@main", "hf:a/b@main"),
        ("https://host/a.zip#sha256=" + "a" * 64, "https://host/a.zip#sha256=" + "a" * 64),
        ("data", str(Path("data").absolute())),
        ("../data", str(Path("../data").absolute())),
    ],
)
def test_a_command_s_source_is_an_unchanged_address_or_an_absolute_path(tmp_path, argument, source):
    settings = load_settings(tmp_path).with_overrides(sources={"blink": argument})
    assert source_of(argument) == source
    assert settings.sources["blink"] == source

"""What bench.toml may say about JourneyBench."""

import pytest

from bench_assets.core.schema.errors import SettingsError
from bench_assets.suites.journeybench.settings import JourneyBenchSettings
from resources.config.bench_toml import load_settings


def loaded(home, text):
    (home / "bench.toml").write_text(f"[suites.journeybench]\n{text}")
    return load_settings(home).suite("journeybench", JourneyBenchSettings)


def test_encoders_have_names_and_defaults(tmp_path):
    chosen = loaded(tmp_path, 'judge = "rules"\nrounds = 8\nencoders.clip = { path = "a/clip" }')
    assert chosen.encoders["clip"].kind == "transformers"
    assert chosen.encoders["clip"].batch_size == 64
    assert chosen.download is False


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        pytest.param("dowload = true", "dowload", id="a misspelt entry"),
        pytest.param('encoders.clip = { file = "a" }', "encoders.clip", id="an encoder's entry"),
        pytest.param("download_connections = 500", "download_connections", id="impolite"),
    ],
)
def test_mistakes_are_named(tmp_path, text, complaint):
    with pytest.raises(SettingsError, match=complaint):
        loaded(tmp_path, text)

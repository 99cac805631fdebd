"""An entry of bench.toml that nothing reads is refused wherever it stands; the nearest is named."""

from pathlib import Path

import pytest

from bench_assets.catalog import load_catalog
from bench_assets.core.schema.errors import BenchError
from bench_resources.config.bench_toml import load_settings

SERVER = '[models.m]\nkind = "server"\nbase_url = "http://h/v1"\nmodel = "x"\n'
FILE = '[benchmarks.b]\nfile = "b.jsonl"\n'


def checked(home: Path, text: str) -> None:
    (home / "bench.toml").write_text(text, encoding="utf-8")
    settings = load_settings(home)
    load_catalog(settings, only={*settings.suites}).check(settings)


@pytest.mark.parametrize(
    ("text", "place", "meant"),
    [
        pytest.param("[model.x]", "entry model", "models", id="a section"),
        pytest.param(
            f"{SERVER}tempreature = 1", "models.m.tempreature", "temperature", id="a model"
        ),
        pytest.param(f"{FILE}imagefolder = 'x'", "b.imagefolder", "image_folder", id="a benchmark"),
        pytest.param("[suites.codis]\nscorr = 'x'", "entry scorr", "scorer", id="a suite"),
        pytest.param(
            "[suites.journeybench.painter]\nkind = 'server'\nmodel = 'm'\nbase_ulr = 'x'\n"
            "base_url = 'http://h'",
            "painter.server.base_ulr",
            "base_url",
            id="a painter, below a suite",
        ),
        pytest.param(
            "[suites.journeybench.encoders.e]\npath = 'x'\nrevison = 'y'",
            "encoders.e.revison",
            "revision",
            id="an encoder, two tables below a suite",
        ),
    ],
)
def test_the_entry_and_the_nearest_name_are_told(
    tmp_path: Path, text: str, place: str, meant: str
) -> None:
    with pytest.raises(BenchError, match=f"bench.toml.*{place}.*did you mean '{meant}'"):
        checked(tmp_path, text)


@pytest.mark.parametrize("text", ["home = '/'", "[home]"])
def test_the_home_is_no_entry(tmp_path: Path, text: str) -> None:
    with pytest.raises(BenchError, match="entry home: unknown"):
        checked(tmp_path, text)

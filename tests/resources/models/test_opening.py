"""Where the places that bench.toml names begin."""

from pathlib import Path

import pytest

from resources.models.engines import placed
from resources.replies.earlier import Tokens
from resources.settings.bench_toml import Settings
from resources.settings.engine_kinds import Surroundings
from tests.resources.local.tiny_engine import spec_of


@pytest.mark.parametrize("field", ["path", "base", "processor", "chat_template"])
@pytest.mark.parametrize("there", [True, False], ids=["beside bench.toml", "a hub's"])
def test_relative_places_start_at_bench_toml(tmp_path: Path, field: str, there: bool) -> None:
    if there:
        (tmp_path / "runs" / "mine").mkdir(parents=True)
    spec = spec_of("elsewhere").model_copy(update={field: "runs/mine"})
    found = placed(spec, beside(tmp_path).resolve)
    expected = str(tmp_path / "runs" / "mine") if there else "runs/mine"
    assert getattr(found, field) == expected


def test_the_plain_template_is_no_file(tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    spec = spec_of("elsewhere", chat_template="plain")
    assert placed(spec, beside(tmp_path).resolve).chat_template == "plain"


def beside(home: Path) -> Surroundings:
    return Surroundings(
        name="m",
        read_image=lambda _: b"",
        resolve=Settings(home=home).resolve,
        spent=lambda _: Tokens(),
    )

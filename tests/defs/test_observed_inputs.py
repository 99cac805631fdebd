"""What counts as a change of a source, of a setup, and of what the leaderboard prints."""

import os
from pathlib import Path

import dagster as dg
import pytest

from bench_assets.asset_factory.suite_assets import source_key
from bench_assets.catalog import Catalog
from bench_assets.core.schema.rows import Metric
from bench_assets.defs.observed_inputs import LEADERBOARD_INPUTS, ObservedInputs
from bench_assets.suites.codis.suite import SUITE as CODIS
from bench_resources.config.bench_toml import load_settings
from bench_resources.datasets.source_files import tables_of
from bench_resources.tables.parquet import TableFiles
from tests.fakes.checkpoint_files import write_checkpoint
from tests.fakes.codis_source import entry, png, write_release

TOML = Path(__file__).with_name("captioned.toml.template").read_text(encoding="utf-8")


@pytest.fixture
def home(tmp_path):
    write_release(tmp_path / "codis", [entry()])
    home = tmp_path / "home"
    home.mkdir()
    (home / "captions.jsonl").write_text("")
    configure(home)
    return home


def configure(home: Path, says="A", suite="", models=""):
    (home / "bench.toml").write_text(TOML.format(says=says, suite=suite, models=models))


def observed(home: Path) -> ObservedInputs:
    settings = load_settings(home)
    return ObservedInputs(settings, Catalog(suites=(CODIS,)), tables_of(settings))


def inputs(home: Path) -> str:
    return observed(home).of_suite(CODIS)[source_key("codis"), None]


def write_as_long(home):
    """Another content of the same length a second later."""
    file = home.parent / "codis" / "data.json"
    then = file.stat().st_mtime_ns + 10**9
    file.write_text(file.read_text().replace("left", "back"))
    os.utime(file, ns=(then, then))


def link_images(home):
    (home.parent / "elsewhere").mkdir()
    (home.parent / "codis" / "more").symlink_to(home.parent / "elsewhere")
    (home.parent / "elsewhere" / "b.png").write_bytes(png())


@pytest.mark.parametrize(
    ("change", "counts"),
    [
        pytest.param(lambda _: None, False, id="nothing at all"),
        pytest.param(write_as_long, True, id="another text of the same length"),
        pytest.param(
            lambda home: (home.parent / "codis" / "images" / "b.png").write_bytes(png()),
            True,
            id="another image",
        ),
        pytest.param(
            lambda home: (home.parent / "codis" / "images" / "a.png").unlink(),
            True,
            id="an image less",
        ),
        pytest.param(link_images, True, id="an image in a folder that is linked to"),
        pytest.param(lambda home: configure(home, says="B"), True, id="a model that it names"),
        pytest.param(
            lambda home: (home / "captions.jsonl").write_text("{}"), True, id="a file that it names"
        ),
        pytest.param(
            lambda home: configure(home, suite='judge = "c"\nscorer = "strict"'),
            False,
            id="who judges, and how responses are read",
        ),
        pytest.param(
            lambda home: configure(home, models='[models.new]\nkind = "random"'),
            False,
            id="a model that it does not name",
        ),
    ],
)
def test_change(home, change, counts):
    before = inputs(home)
    change(home)
    assert (inputs(home) != before) == counts


def test_a_moved_home_and_source_have_the_same_version(home, tmp_path):
    before = inputs(home)
    (tmp_path / "elsewhere").mkdir()
    for name in ("codis", "home"):
        (tmp_path / name).rename(tmp_path / "elsewhere" / name)
    assert inputs(tmp_path / "elsewhere" / "home") == before


def test_another_place_with_the_same_files_has_another_version(home, tmp_path):
    before = inputs(home)
    (tmp_path / "codis").rename(tmp_path / "other")
    text = (home / "bench.toml").read_text().replace("../codis", "../other")
    (home / "bench.toml").write_text(text)
    assert inputs(home) != before


SETUPS = Path(__file__).with_name("setups.toml.template").read_text(encoding="utf-8")
MODELS = ("run/step-2", "written", "recorded", "yes")


def write_setups(home: Path, **changed: object) -> None:
    usual = {"judge": "yes", "scorer": "", "smallest_change": 0.02, "max_tokens": 40}
    text = SETUPS.format_map(usual | {"says": "right"} | changed)
    (home / "bench.toml").write_text(text)


@pytest.fixture
def setups(tmp_path):
    home = tmp_path / "home"
    write_checkpoint(home / "weights")
    (home / "responses.jsonl").write_text('{"question_id": "codis/000/1", "text": "Opening."}\n')
    write_setups(home)
    return home


def changes_of(home: Path, change) -> set[str]:
    """Names of the inputs that have another version after a change."""

    def versions():
        found = observed(home)
        return dict(found.of_suite(CODIS)) | dict(found.of_models(MODELS))

    before = versions()
    change(home)
    after = versions()
    changed = [name for name in before if before[name] != after[name]]
    return {model or key.path[-1] for key, model in changed}


def toml(**changed):
    return lambda home: write_setups(home, **changed)


def change_weight(home):
    """The file keeps its length."""
    file = home / "weights" / "model.safetensors"
    file.write_bytes(file.read_bytes()[:-1] + b"\x7f")


def change_response(home):
    (home / "responses.jsonl").write_text('{"question_id": "codis/000/1", "text": "?"}')


@pytest.mark.parametrize(
    ("change", "changed"),
    [
        pytest.param(lambda _: None, set(), id="nothing"),
        pytest.param(change_weight, {"run/step-2", "written"}, id="a weight"),
        pytest.param(change_response, {"recorded"}, id="a recorded response"),
        pytest.param(toml(max_tokens=41), {"run/step-2"}, id="decoding"),
        pytest.param(toml(says="wrong"), {"yes", "judge_setup"}, id="responses of the judge"),
        pytest.param(toml(judge="rules"), {"judge_setup"}, id="the judge"),
        pytest.param(toml(scorer="official"), {"scorer_setup"}, id="the scorer"),
        pytest.param(toml(smallest_change=0.1), set(), id="how checkpoints are compared"),
        pytest.param(
            lambda home: (home / "weights" / "model.safetensors").unlink(),
            {"run/step-2", "written"},
            id="weights that cannot be read",
        ),
    ],
)
def test_setup(setups, change, changed):
    assert changes_of(setups, change) == changed


def test_metrics_that_no_run_made_change_what_the_leaderboard_prints(setups):
    tables = TableFiles(folder=str(setups / "tables"))
    metrics = dg.AssetKey(["codis", "metrics"])
    with dg.DagsterInstance.ephemeral() as instance:

        def version():
            return observed(setups).of_leaderboard(instance)[LEADERBOARD_INPUTS, None]

        versions = [version()]
        for act in (
            lambda: tables.write(metrics.path, [], Metric, "imported"),
            lambda: (setups / "draws.jsonl").write_text("{}"),
            lambda: instance.report_runless_asset_event(
                dg.AssetMaterialization(metrics, partition="gone")
            ),
        ):
            act()
            versions.append(version())
        assert len({*versions}) == 4
        tables.write(metrics.path, [], Metric, "made")
        instance.report_runless_asset_event(dg.AssetMaterialization(metrics, partition="made"))
        assert version() == versions[-1]

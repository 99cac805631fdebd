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


def observed_inputs(home: Path) -> ObservedInputs:
    settings = load_settings(home)
    return ObservedInputs(settings, Catalog(suites=(CODIS,)), tables_of(settings))


def source_version(home: Path) -> str:
    return observed_inputs(home).of_suite(CODIS)[source_key("codis"), None]


def write_text_of_same_length(home):
    """Change the text of a question a second later, and keep its length."""
    file = home.parent / "codis" / "data.json"
    later = file.stat().st_mtime_ns + 10**9
    file.write_text(file.read_text().replace("left", "back"))
    os.utime(file, ns=(later, later))


def link_images(home):
    (home.parent / "elsewhere").mkdir()
    (home.parent / "codis" / "more").symlink_to(home.parent / "elsewhere")
    (home.parent / "elsewhere" / "b.png").write_bytes(png())


@pytest.mark.parametrize(
    ("change", "is_change"),
    [
        pytest.param(lambda _: None, False, id="nothing"),
        pytest.param(write_text_of_same_length, True, id="another text of the same length"),
        pytest.param(
            lambda home: (home.parent / "codis" / "images" / "b.png").write_bytes(png()),
            True,
            id="another image",
        ),
        pytest.param(
            lambda home: (home.parent / "codis" / "images" / "a.png").unlink(),
            True,
            id="one image less",
        ),
        pytest.param(link_images, True, id="an image in a linked folder"),
        pytest.param(lambda home: configure(home, says="B"), True, id="a configured model"),
        pytest.param(
            lambda home: (home / "captions.jsonl").write_text("{}"), True, id="a configured file"
        ),
        pytest.param(
            lambda home: configure(home, suite='judge = "c"\nscorer = "strict"'),
            False,
            id="the judge and the scorer",
        ),
        pytest.param(
            lambda home: configure(home, models='[models.new]\nkind = "random"'),
            False,
            id="an unrelated model",
        ),
    ],
)
def test_only_changes_of_what_questions_are_built_from_change_the_source(home, change, is_change):
    version = source_version(home)
    change(home)
    assert (source_version(home) != version) == is_change


def test_a_moved_home_and_source_have_the_same_version(home, tmp_path):
    version = source_version(home)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (tmp_path / "codis").rename(elsewhere / "codis")
    home.rename(elsewhere / "home")
    assert source_version(elsewhere / "home") == version


def test_another_path_to_the_same_files_has_another_version(home, tmp_path):
    version = source_version(home)
    (tmp_path / "codis").rename(tmp_path / "other")
    text = (home / "bench.toml").read_text().replace("../codis", "../other")
    (home / "bench.toml").write_text(text)
    assert source_version(home) != version


SETUPS = Path(__file__).with_name("setups.toml.template").read_text(encoding="utf-8")
MODELS = ("run/step-2", "written", "recorded", "yes")


def write_setups(home: Path, **changes: object) -> None:
    """Write models and settings of a suite to bench.toml."""
    defaults = {
        "judge": "yes", "scorer": "", "smallest_change": 0.02, "max_tokens": 40, "says": "right",
    }  # fmt: skip
    (home / "bench.toml").write_text(SETUPS.format_map(defaults | changes))


@pytest.fixture
def setups_home(tmp_path):
    home = tmp_path / "home"
    write_checkpoint(home / "weights")
    (home / "responses.jsonl").write_text('{"question_id": "codis/000/1", "text": "Opening."}\n')
    write_setups(home)
    return home


def input_versions(home: Path) -> dict[tuple[dg.AssetKey, str | None], str]:
    inputs = observed_inputs(home)
    return dict(inputs.of_suite(CODIS)) | dict(inputs.of_models(MODELS))


def configure_setups(**changes):
    return lambda home: write_setups(home, **changes)


def change_weight(home):
    """Change a byte of the weights, and keep their length."""
    file = home / "weights" / "model.safetensors"
    file.write_bytes(file.read_bytes()[:-1] + b"\x7f")


def change_response(home):
    (home / "responses.jsonl").write_text('{"question_id": "codis/000/1", "text": "?"}')


@pytest.mark.parametrize(
    ("change", "changed_inputs"),
    [
        pytest.param(lambda _: None, set(), id="nothing"),
        pytest.param(change_weight, {"run/step-2", "written"}, id="a weight"),
        pytest.param(change_response, {"recorded"}, id="a recorded response"),
        pytest.param(configure_setups(max_tokens=41), {"run/step-2"}, id="decoding"),
        pytest.param(
            configure_setups(says="wrong"), {"yes", "judge_setup"}, id="responses of the judge"
        ),
        pytest.param(configure_setups(judge="rules"), {"judge_setup"}, id="the judge"),
        pytest.param(configure_setups(scorer="official"), {"scorer_setup"}, id="the scorer"),
        pytest.param(
            configure_setups(smallest_change=0.1), set(), id="how checkpoints are compared"
        ),
        pytest.param(
            lambda home: (home / "weights" / "model.safetensors").unlink(),
            {"run/step-2", "written"},
            id="weights that cannot be read",
        ),
    ],
)
def test_a_change_of_a_setup_changes_the_inputs_made_of_it(setups_home, change, changed_inputs):
    versions = input_versions(setups_home)
    change(setups_home)
    changed = dict(input_versions(setups_home).items() - versions.items())
    assert {model or key.path[-1] for key, model in changed} == changed_inputs


METRICS = dg.AssetKey(["codis", "metrics"])


def write_metrics(home, instance):
    TableFiles(folder=str(home / "tables")).write(METRICS.path, [], Metric, "m")


def report_metrics(home, instance):
    instance.report_runless_asset_event(dg.AssetMaterialization(METRICS, partition="m"))


def write_draws(home, instance):
    (home / "draws.jsonl").write_text("{}")


def materialize_metrics(home, instance):
    write_metrics(home, instance)
    report_metrics(home, instance)


@pytest.mark.parametrize(
    ("change", "is_change"),
    [
        pytest.param(write_metrics, True, id="metrics that no run wrote"),
        pytest.param(report_metrics, True, id="metrics that were deleted"),
        pytest.param(write_draws, True, id="drawn units"),
        pytest.param(materialize_metrics, False, id="metrics of a run"),
    ],
)
def test_numbers_that_no_run_made_change_the_leaderboard(setups_home, change, is_change):
    with dg.DagsterInstance.ephemeral() as instance:
        leaderboard = (LEADERBOARD_INPUTS, None)
        version = observed_inputs(setups_home).of_leaderboard(instance)[leaderboard]
        change(setups_home, instance)
        changed_version = observed_inputs(setups_home).of_leaderboard(instance)[leaderboard]
    assert (changed_version != version) == is_change

"""A model that is configured otherwise is marked on the leaderboard without a new number."""

import dagster as dg
import pytest

from bench_assets.core.schema.rows import Metric
from bench_assets.defs.checks.staleness import configuration_digest
from bench_resources.config.bench_toml import load_settings
from bench_resources.config.settings_resource import HomeSettings
from bench_resources.tables.parquet import TableFiles
from bench_sensors.configuration import LEADERBOARD, detect_changes, model_sensor
from tests.quiz import TASK

MODELS = (
    '[models.a]\nkind = "scripted"\nsays = "{a}"\n[models.b]\nkind = "scripted"\nsays = "{b}"\n'
)


class Home:
    """A home in which ``a`` was measured on the quiz, and an instance that records it."""

    def __init__(self, folder, instance):
        self.folder, self.instance, self.cursor = folder, instance, None
        self.tables = TableFiles(folder=str(folder / "tables"))
        self.write(a="A", b="B")
        self.tables.write(["quiz", "metrics"], [], Metric, "a")

    def write(self, **says):
        (self.folder / "bench.toml").write_text(MODELS.format(**says))

    def gather(self):
        self.instance.report_runless_asset_event(dg.AssetMaterialization(LEADERBOARD))

    def look(self):
        """What is asked for."""

        def state(settings, tables):
            return configuration_digest([TASK], settings, tables)

        found = detect_changes(
            self.instance, load_settings(self.folder), self.tables, self.cursor, state
        )
        self.cursor = found.cursor
        return [request.asset_selection for request in found.run_requests or ()]


@pytest.fixture
def home(tmp_path):
    with dg.DagsterInstance.ephemeral() as instance:
        home = Home(tmp_path, instance)
        home.gather()
        assert home.look() == []
        yield home


def test_another_configuration_of_a_measured_model_gathers_the_leaderboard_once(home):
    home.write(a="B", b="B")
    assert home.look() == [[LEADERBOARD]]
    assert home.look() == []


def test_a_model_that_was_not_measured_is_no_matter(home):
    home.write(a="A", b="A")
    assert home.look() == []


def test_each_tick_reads_the_file_as_it_is_now(home):
    sensor, settings = model_sensor(), HomeSettings(home=str(home.folder))

    def tick():
        with dg.build_sensor_context(home.instance, resources={"settings": settings}) as context:
            return sensor(context).skip_reason.skip_message

    assert tick().endswith("a, b, random")
    (home.folder / "bench.toml").write_text("[models.a")
    with pytest.raises(dg.DagsterResourceFunctionError) as failure:
        tick()
    assert "not a TOML file" in str(failure.value.__cause__)
    (home.folder / "bench.toml").write_text('[models.c]\nkind = "random"\n')
    assert tick().endswith("c, random")


def test_a_leaderboard_that_nobody_gathered_is_not_gathered(tmp_path):
    with dg.DagsterInstance.ephemeral() as instance:
        home = Home(tmp_path, instance)
        assert home.look() == []
        home.write(a="B", b="B")
        assert home.look() == []

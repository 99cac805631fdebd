from functools import partial

import dagster as dg
import pytest

from bench_assets.asset_factory.suite_assets import MODEL_SETUP, MODELS, source_key
from bench_assets.catalog import load_catalog
from bench_assets.defs.observed_inputs import observe_inputs
from bench_resources.config.bench_toml import load_settings
from bench_resources.config.settings_resource import HomeSettings
from bench_resources.datasets.source_files import HomeTables
from bench_sensors.configuration import model_sensor, observation_sensor

TOML = """
[benchmarks.quiz]
file = "quiz.jsonl"
[models.a]
kind = "scripted"
says = "{a}"
[models.b]
kind = "scripted"
says = "{b}"
"""
ROW = '{"id": "1", "question": "Which?", "options": ["red", "blue"], "answer": "A"}'


class Home:
    """A home with a quiz and two models, and an instance in which they are partitions."""

    def __init__(self, folder, instance):
        self.folder, self.instance = folder, instance
        (folder / "quiz.jsonl").write_text(ROW)
        self.configure(a="A", b="B")
        instance.add_dynamic_partitions(MODELS.name, ["a", "b"])
        catalog = load_catalog(load_settings(folder)).only(["quiz"])
        self._sensor = observation_sensor(partial(observe_inputs, catalog))

    def configure(self, **responses):
        (self.folder / "bench.toml").write_text(TOML.format(**responses))

    def tick(self):
        """Evaluate the sensor, and return the keys and partitions that it observes."""
        settings = HomeSettings(home=str(self.folder))
        resources = {"settings": settings, "tables": HomeTables(settings=settings)}
        with dg.build_sensor_context(self.instance, resources=resources) as context:
            result = self._sensor(context)
        assert isinstance(result, dg.SensorResult)
        events = result.asset_events
        for event in events:
            self.instance.report_runless_asset_event(event)
        return {(event.asset_key, event.partition) for event in events}


@pytest.fixture
def home(tmp_path):
    with dg.DagsterInstance.ephemeral() as instance:
        home = Home(tmp_path, instance)
        assert {(source_key("quiz"), None), (MODEL_SETUP, "a"), (MODEL_SETUP, "b")} < home.tick()
        assert home.tick() == set()
        yield home


def test_a_changed_model_is_observed_once(home):
    home.configure(a="B", b="B")
    assert home.tick() == {(MODEL_SETUP, "a")}
    assert home.tick() == set()


def test_an_edited_source_is_observed_once(home):
    (home.folder / "quiz.jsonl").write_text(ROW.replace('"A"}', '"B"}'))
    assert home.tick() == {(source_key("quiz"), None)}
    assert home.tick() == set()


def test_new_models_become_partitions_without_a_restart(home):
    sensor, settings = model_sensor(), HomeSettings(home=str(home.folder))
    for name in "ab":
        home.instance.delete_dynamic_partition(MODELS.name, name)

    def tick():
        with dg.build_sensor_context(home.instance, resources={"settings": settings}) as context:
            result = sensor(context)
        assert isinstance(result, dg.SensorResult)
        assert result.skip_reason
        return result.skip_reason.skip_message

    assert tick().endswith("a, b, random, tiny-vlm-captions")
    (home.folder / "bench.toml").write_text("[models.a")
    with pytest.raises(dg.DagsterResourceFunctionError) as failure:
        tick()
    assert "not a TOML file" in str(failure.value.__cause__)
    (home.folder / "bench.toml").write_text('[models.c]\nkind = "random"\n')
    assert tick().endswith("c, random, tiny-vlm-captions")

from functools import partial

import dagster as dg
import pytest

from bench_assets.asset_factory.suite_assets import MODEL_SETUP, MODELS, source_key
from bench_assets.catalog import load_catalog
from bench_assets.defs.observed_inputs import observe_inputs
from bench_resources.config.bench_toml import load_settings
from bench_resources.config.sections.models import DEMO_MODELS
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
        self._model_sensor = model_sensor()

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

    def tick_models(self):
        """Evaluate the sensor of models, and return the partitions that it adds, by kind."""
        settings = HomeSettings(home=str(self.folder))
        with dg.build_sensor_context(self.instance, resources={"settings": settings}) as context:
            result = self._model_sensor(context)
        assert isinstance(result, dg.SensorResult)
        requests = result.dynamic_partitions_requests or []
        return {request.partitions_def_name: request.partition_keys for request in requests}


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


def test_new_models_and_encoders_become_partitions_without_a_restart(home):
    encoders = ["random", "tiny-vlm-captions"]
    assert home.tick_models() == {"model": list(DEMO_MODELS), "encoder": encoders}
    (home.folder / "bench.toml").write_text('[models.c]\nkind = "random"\n')
    assert home.tick_models() == {"model": [*DEMO_MODELS, "c"], "encoder": encoders}


def test_an_invalid_bench_toml_fails_the_tick(home):
    (home.folder / "bench.toml").write_text("[models.a")
    with pytest.raises(dg.DagsterResourceFunctionError) as failure:
        home.tick_models()
    assert "not a TOML file" in str(failure.value.__cause__)

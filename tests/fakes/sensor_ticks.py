from pathlib import Path

import dagster as dg

from bench_resources.config.settings_resource import HomeSettings
from bench_resources.datasets.source_files import HomeTables


def tick_sensor(
    name: str, definitions: dg.Definitions, instance: dg.DagsterInstance, home: Path
) -> dg.RunRequest:
    """Tick a sensor of the graph once; it must request one run."""
    repository = definitions.get_repository_def()
    settings = HomeSettings(home=str(home))
    resources = {"settings": settings, "tables": HomeTables(settings=settings)}
    with dg.build_sensor_context(
        instance, repository_def=repository, resources=resources
    ) as context:
        result = repository.get_sensor_def(name)(context)
    assert isinstance(result, dg.SensorResult)
    (request,) = result.run_requests or ()
    return request

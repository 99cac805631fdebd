"""The encoders of bench.toml."""

from collections.abc import Iterator
from contextlib import contextmanager

from bench_assets.core.schema.chat import ImageTextEncoder
from bench_assets.core.schema.errors import UnknownNameError
from bench_assets.suites.journeybench.assets.source import SUITE
from bench_assets.suites.journeybench.settings import JourneyBenchSettings
from resources.config.bench_toml import Settings
from resources.config.stores import open_vector_cache
from resources.encoders.dual_encoder import RANDOM, open_encoder
from resources.images.store import ImageStore


@contextmanager
def encoder_of(
    name: str, settings: Settings, image_store: ImageStore
) -> Iterator[ImageTextEncoder]:
    """Load an encoder by its name in bench.toml, for the length of a ``with`` block.

    Raises:
        UnknownNameError: If there is none of that name; lists those there are.
        ModelError: If it does not load.
    """
    specs = settings.suite(SUITE, JourneyBenchSettings).encoders
    if name != RANDOM and name not in specs:
        raise UnknownNameError(f"encoder in {settings.file}", name, [RANDOM, *specs])
    spec = specs.get(name)
    beside = settings.resolve(spec.path if spec else "")
    location = str(beside) if spec is None or beside.exists() else spec.path
    with open_encoder(name, spec, location, image_store, open_vector_cache(settings)) as encoder:
        yield encoder

"""The pool that a run holds while it asks a model, as bench.toml says in all its sections."""

from bench_assets.core.schema.errors import SettingsError
from resources.config.bench_toml import Settings
from resources.config.sections.servers import ServerSpec

_WATCHED = "*@????????"  # a checkpoint's name ends in eight digits of its content


def pool_of(settings: Settings) -> dict[str, str]:
    """Model, or a pattern of models -> the pool that its runs hold instead of ``gpu``.

    What [cluster] says of a model goes before what its own section says.

    Raises:
        SettingsError: If a section names a pool that there is not.
    """
    named = {
        name: spec.pool
        for name, spec in settings.models.items()
        if isinstance(spec, ServerSpec) and spec.pool
    }
    for name, pool in named.items():
        _refuse_unknown(pool, f"models.{name}", settings)
    watched = settings.checkpoints
    if watched.folders and (watched.like or watched.serve):
        liked = settings.liked()
        if isinstance(liked, ServerSpec) and liked.pool:
            named[_WATCHED] = liked.pool
    return named | settings.cluster.pool_of


def _refuse_unknown(pool: str, section: str, settings: Settings) -> None:
    known = settings.cluster.limits
    if pool not in known:
        raise SettingsError(
            f"{settings.file}, entry {section}.pool: there is no pool {pool}; known:"
            f" {', '.join(sorted(known))}; say how many runs may hold it at once, as in [cluster]"
            f" pools = {{ {pool} = 2 }}"
        )

"""What ``bench bundle`` does: packs everything of one number of this home into one file."""

from collections.abc import Sequence
from pathlib import Path

from bench_assets.bench.numbers import number_of
from bench_assets.bench.workbench import Workbench
from bench_assets.core.errors import TableError
from bench_assets.export.gathering import Evaluated, Gathered, Wanted
from bench_assets.report.licences import not_to_be_passed_on
from bench_assets.reproduce.packing import Beside, Packed, pack_number
from resources.pictures.opening import images_of
from resources.settings.environment import known_secrets
from resources.settings.stores import remembered_replies


def bundle(
    bench: Workbench, named: Sequence[str], condition: str, target: Path, *, pictures: bool
) -> Packed:
    """Write the bundle of a number.

    Raises:
        UnknownNameError: If there is no such task, or the model was not measured.
        TableError: If a table is missing, or the number does not come out of its replies.
        HomeError: If the file cannot be written.
    """
    number = number_of(bench, named, condition)
    if not number.model:
        raise TableError(f"no table here has the signature {number.text}: nothing to pack")
    home, suite = bench.settings.home, bench.catalog.suite(number.signature.task)
    task = next(one for one in suite.tasks if one.name == number.signature.task)
    wanted = Wanted([task], [number.model], [number.signature.condition])
    gathered = Gathered(number.tables, wanted, known_secrets(home))
    replies = remembered_replies(bench.settings)
    beside = Beside(
        suite=suite,
        benchmark=bench.settings.benchmarks.get(suite.name),
        image_store=images_of(bench.settings),
        remembered=replies.prompt if replies else lambda sha256: None,
        secrets=known_secrets(home),
        passed_on=suite.name not in not_to_be_passed_on(number.tables, bench.catalog),
        pictures=pictures,
    )
    return pack_number(_only(gathered), beside, target)


def _only(gathered: Gathered) -> Evaluated:
    found = list(gathered.evaluations())
    if gathered.left_out or not found:
        why = "; ".join(gathered.left_out) or "there are no replies"
        raise TableError(f"nothing is packed: {why}")
    return found[0]

"""A home that moves to objects that homes share, and back: all of it, whole, and nothing twice."""

import subprocess
import sys
from pathlib import Path
from threading import Timer

import pytest

from bench_assets.core.schema.errors import HomeError, SettingsError
from bench_assets.core.schema.rows import Question
from bench_assets.workspace.maintain.migration import MigrationResult, migrate
from bench_assets.workspace.materialization.workbench import Workbench
from bench_resources.config.bench_toml import Settings, load_settings
from bench_resources.config.stores import open_home_blobs
from bench_resources.images.store import ImageStore, open_image_store
from bench_resources.tables.parquet import TableFiles
from tests.fakes.codis_release import image
from tests.fakes.codis_source import entry, write_release
from tests.fakes.commands import bench, lines
from tests.fakes.object_store import Front
from tests.fakes.rows import question
from tests.resources.conftest import bucket, store_endpoint

__all__ = ["bucket", "store_endpoint"]
long = pytest.mark.long
KEY = ["codis", "questions"]
HOLDS = """
import sys
from pathlib import Path
from bench_resources.storage.locks import hold_locks
with hold_locks(Path(sys.argv[1]), ["m on codis"], print):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture(params=["folder", pytest.param("s3", marks=long)])
def storage(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A section [storage]."""
    if request.param == "folder":
        return f'[storage]\nobjects = "file://{tmp_path}/shared"\n'
    return _section(request.getfixturevalue("bucket"), request.getfixturevalue("store_endpoint"))


def _section(address: str, at: str) -> str:
    return f'[storage]\nobjects = "{address}/team a"\nendpoint = "{at}"\n'


@pytest.fixture
def settings(storage: str, tmp_path: Path) -> Settings:
    """A home with some of everything that is taken over."""
    home = filled(tmp_path / "home", "a", 8)
    (home / "bench.toml").write_text(storage)
    return load_settings(home)


def filled(home: Path, text: str, n_images: int = 1) -> Path:
    image_store = ImageStore(folder=str(home / "images"))
    shown = [image_store.put(image(n), f"{n}.png").sha256 for n in range(n_images)]
    tables = TableFiles(folder=str(home / "tables"))
    tables.write(KEY, [question(text=text, images=tuple(shown))], Question)
    tables.blobs.put(".of/codis-1/codis/scores/a%2Fb@1.parquet", _table_of(tables))
    (home / "painted").mkdir()
    (home / "painted" / ("ab" * 32)).write_text(shown[0])
    return home


def _table_of(tables: TableFiles) -> bytes:
    data = tables.blobs.get(tables.name(KEY))
    assert data
    return data


def moved(settings: Settings, *, back: bool = False) -> dict[str, MigrationResult]:
    return {one.what: one for one in migrate(settings, back=back)}


def lying(home: Path) -> dict[str, bytes]:
    parts = ("images", "tables", "painted")
    files = (file for part in parts for file in (home / part).rglob("*") if file.is_file())
    return {str(file.relative_to(home)): file.read_bytes() for file in files}


def shared(settings: Settings) -> dict[str, bytes | None]:
    return {
        f"{part}/{one.name}": blobs.get(one.name)
        for part in ("images", "tables", "painted")
        for blobs in (open_home_blobs(settings, part),)
        for one in blobs.list()
    }


def counted(found: dict[str, MigrationResult]) -> dict[str, tuple[int, int | None, int, int]]:
    return {what: (one.n, one.new, one.left_out, one.kept) for what, one in found.items()}


WHOLE = {
    "images": (8, 8, 0, 0),
    "notes of painted images": (1, 1, 0, 0),
    "tables": (2, 2, 0, 0),
}


def test_a_home_is_taken_over_and_back_as_it_was(settings: Settings) -> None:
    before = lying(settings.home)
    assert counted(moved(settings)) == WHOLE
    assert lying(settings.home) == before == shared(settings)
    again = {what: (n, 0, 0, 0) for what, (n, *_) in WHOLE.items()}
    assert counted(moved(settings)) == again
    for part in ("images", "tables", "painted"):
        (settings.home / part).rename(settings.home / f"old-{part}")
    assert counted(moved(settings, back=True)) == WHOLE
    assert lying(settings.home) == before == shared(settings)


def test_what_is_damaged_stays_where_it_is_and_is_counted(settings: Settings) -> None:
    home = settings.home
    min((home / "images").glob("*/*")).write_bytes(b"other")
    (home / "tables/codis/questions/all.parquet").write_bytes(b"PAR1")
    (home / "painted" / ("cd" * 32)).write_text("no digest")
    found = counted(moved(settings))
    assert found["images"] == (7, 7, 1, 0)
    assert found["tables"] == (1, 1, 1, 0)
    assert found["notes of painted images"] == (1, 1, 1, 0)
    assert len(shared(settings)) == 7 + 1 + 1


def test_of_two_tables_the_newer_stays_and_the_other_is_kept_apart(
    settings: Settings, storage: str, tmp_path: Path
) -> None:
    moved(settings)
    (filled(tmp_path / "other", "b") / "bench.toml").write_text(storage)
    other = load_settings(tmp_path / "other")
    name = "tables/codis/questions/all.parquet"
    older, newer = lying(settings.home)[name], lying(other.home)[name]
    assert counted(moved(other))["tables"] == (2, 2, 0, 0)
    assert shared(settings)[name] == newer
    assert older in [open_home_blobs(settings, "replaced").get(one.name)
                     for one in open_home_blobs(settings, "replaced").list()]  # fmt: skip
    assert counted(moved(settings))["tables"] == (0, 0, 0, 2)
    assert shared(settings)[name] == newer
    moved(settings, back=True)
    assert lying(settings.home)[name] == newer
    assert older in [file.read_bytes() for file in (settings.home / "replaced").rglob("all*")]


def test_of_tables_with_the_same_rows_the_one_that_is_there_stays(
    settings: Settings, tmp_path: Path
) -> None:
    moved(settings)
    before = shared(settings)
    tables = TableFiles(folder=str(settings.home / "tables"))
    tables.write(KEY, tables.read(KEY, Question), Question)
    assert counted(moved(settings))["tables"] == (1, 0, 0, 1)
    assert shared(settings) == before


def test_nothing_is_taken_over_while_something_runs_on_the_home(settings: Settings) -> None:
    command = [sys.executable, "-c", HOLDS, str(settings.home / "locks")]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as holder:
        assert holder.stdout
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(HomeError, match=f"in use by process {holder.pid} on .*Stop it"):
            migrate(settings, back=False)
        assert shared(settings) == {}
        holder.communicate("")
    assert counted(moved(settings)) == WHOLE


def test_in_a_home_that_shares_nothing_the_message_says_what_to_write(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"Set \[storage\] database = .* or objects = "):
        migrate(load_settings(tmp_path), back=False)


@long
def test_a_store_that_is_away_for_a_while_is_waited_for(
    bucket: str, store_endpoint: str, tmp_path: Path
) -> None:
    home = filled(tmp_path / "home", "a", 60)
    with Front(store_endpoint) as front:
        (home / "bench.toml").write_text(_section(bucket, front.endpoint))
        settings = load_settings(home)
        Timer(0.5, front.away_for, [3.0]).start()
        assert moved(settings)["images"].n == 60
        front.shutdown()
    (home / "bench.toml").write_text(_section(bucket, store_endpoint))
    assert shared(load_settings(home)) == lying(home)


@long
def test_commands_know_a_home_that_was_taken_over_and_ask_and_make_nothing_again(
    bucket: str, store_endpoint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    monkeypatch.setenv("BENCH_HOME", str(home))
    write_release(home / "codis", [entry(), entry(id="001", image_id="b.png")], ("a.png", "b.png"))
    alone = '[sources]\ncodis = "codis"\n'
    (home / "bench.toml").write_text(alone)
    bench("evaluate", "codis", "--model", "random")
    bench("leaderboard")
    before = bench("tables", "show", "codis/metrics", "--json").stdout
    (home / "bench.toml").write_text(_section(bucket, store_endpoint) + alone)
    rows = lines(bench("home", "migrate", "--json"))
    assert {one["what"]: one["left_out"] for one in rows}.keys() >= {"tables", "images"}
    for part in ("images", "tables"):
        (home / part).rename(home / f"old-{part}")
    assert bench("tables", "show", "codis/metrics", "--json").stdout == before
    with Workbench(load_settings(home), ["codis"]) as opened:
        n_runs = opened.instance.get_runs_count()
        opened.refresh_questions("codis")
        opened.evaluate(["codis"], "random")
        assert opened.instance.get_runs_count() == n_runs
    states = {
        (one["what"], one["state"]): one["n"] for one in lines(bench("home", "verify", "--json"))
    }
    assert states["images", "whole"] == len(list((home / "old-images").glob("*/*")))
    assert states["tables", "whole"] == len(list((home / "old-tables").rglob("*.parquet")))
    assert not (home / "tables").exists()
    kept = {one["what"]: one for one in lines(bench("home", "usage", "--json"))}
    assert kept["shared images"]["path"] == f"{bucket}/team a/images"
    made = {one["name"]: one["made"] for one in lines(bench("tables", "list", "codis", "--json"))}
    assert made["codis/metrics"] == made["codis/questions"] == 1
    blobs = open_home_blobs(load_settings(home), "images")
    (first, *_) = [one.name for one in blobs.list()]
    blobs.put(first, b"other bytes")
    (wrong,) = [one for one in lines(bench("home", "verify", "--json", fails=True))
                if one["state"] == "damaged"]  # fmt: skip
    assert (wrong["what"], wrong["command"]) == (
        f"image {first[3:]}",
        "bench tables questions codis",
    )
    bench("tables", "questions", "codis")
    bench("home", "verify")
    bench("home", "remove", "random", "--yes")
    assert "random" not in bench("home", "verify", "--json").stdout
    assert open_image_store(load_settings(home)).place.read(first[3:])

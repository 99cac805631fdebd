"""One builder's raw data make its own tables again; those of other builders keep their events."""

from collections.abc import Callable
from pathlib import Path

import dagster as dg
import pytest

from bench_assets.core.schema.rows import Question, Rejection
from bench_assets.core.tables.source_folder import write_files
from bench_assets.defs.assembly import build_graph
from bench_assets.suites.blink.construction.recipes import RECIPES
from bench_assets.suites.blink.settings import BlinkSettings
from bench_assets.suites.blink.synthetic import edition as mini
from bench_assets.workspace.materialization.workbench import Workbench
from bench_resources.config.bench_toml import load_settings
from bench_resources.images.store import ImageStore
from tests.fakes.blink_builds import build_all
from tests.suites.blink.builders.layouts import speckled

TOML = """drift = 1.0
[sources]
blink = "raw"
[suites.blink.builders]
height = 64
counts = {{{counts}}}
"""
COUNTING, IQ, DEPTH, CLAIMS = "Counting", "IQ_Test", "Relative_Depth", "Spatial_Relation"
TABLES = ("proposals", "builders", "drawn_questions")


class Home:
    """A home whose source has the raw data of four tasks."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.raw = folder, folder / "raw"
        for task in (COUNTING, IQ, DEPTH, CLAIMS):
            name = RECIPES[task].folder
            write_files(self.raw / name, mini.material(name, 0))
        self.configure()

    def configure(self, counts: str = "") -> None:
        (self.folder / "bench.toml").write_text(TOML.format(counts=counts))

    def open(self) -> Workbench:
        return Workbench(load_settings(self.folder), ["blink"])

    def build(self) -> int:
        """Build the questions; returns the number of runs."""
        with self.open() as bench:
            n_before = bench.instance.get_runs_count()
            bench.refresh_questions("blink")
            return bench.instance.get_runs_count() - n_before

    def due(self) -> dict[str, list[str | None]]:
        """Partitions that have to be made again, by table."""
        with self.open() as bench:
            bench.observe(["blink"])
            keys = {name: dg.AssetKey(["blink", name]) for name in TABLES}
            return {
                name: [part for part in bench.ledger.parts(key) if bench.ledger.reason(key, part)]
                for name, key in keys.items()
            }

    def remake(self) -> dict[str, list[str | None]]:
        """Build the questions; returns the partitions with new events, by table."""
        before = self._events()
        self.build()
        after = self._events()
        return {
            name: [part for part in parts if parts[part] != before[name][part]]
            for name, parts in after.items()
        }

    def _events(self) -> dict[str, dict[str | None, int]]:
        with self.open() as bench:
            keys = {name: dg.AssetKey(["blink", name]) for name in TABLES}
            return {
                name: {
                    part: event.event_id
                    for part in bench.ledger.parts(key)
                    if (event := bench.ledger.event(key, part))
                }
                for name, key in keys.items()
            }

    def tables(self) -> tuple[list[Question], list[Rejection]]:
        with self.open() as bench:
            return bench.rows("blink/items"), bench.rows("blink/rejections")

    def tables_built_at_once(self) -> tuple[list[Question], list[Rejection]]:
        chosen = load_settings(self.folder).suite("blink", BlinkSettings)
        store = ImageStore(folder=str(self.folder / "images"))
        built = build_all(
            self.raw,
            store=store.put,
            edition="built",
            seed=chosen.seed,
            parameters=chosen.builders,
        )
        return built.questions, built.rejections


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def move_point(home: Home) -> None:
    file = home.raw / "diw" / "DIW_test.csv"
    file.write_text(file.read_text().replace("187,81,136,201", "187,81,136,209"))


def pad_image(home: Home) -> None:
    file = home.raw / "vsr" / "images" / "000000000000.jpg"
    file.write_bytes(file.read_bytes() + b"\0")


@pytest.mark.parametrize(
    ("change", "task"),
    [
        pytest.param(move_point, DEPTH, id="a point has moved"),
        pytest.param(
            pad_image, CLAIMS, id="a file of an image has other bytes", marks=pytest.mark.long
        ),
        pytest.param(
            lambda home: home.configure(f"{IQ} = 4"),
            IQ,
            id="fewer are wanted",
            marks=pytest.mark.long,
        ),
    ],
)
def test_a_builders_raw_data_make_its_own_tables_again(
    home: Home, change: Callable[[Home], None], task: str
) -> None:
    assert home.build() == 1
    assert not any(home.due().values())
    change(home)
    owed = home.due()
    assert (owed["proposals"], owed["drawn_questions"]) == ([task], [task])
    remade = home.remake()
    assert (remade["proposals"], remade["drawn_questions"]) == ([task], [task])
    assert home.tables() == home.tables_built_at_once()
    assert not any(home.due().values())
    assert home.build() == 0


def test_an_image_that_an_earlier_task_gives_up_makes_the_later_tasks_table_again(
    home: Home,
) -> None:
    counted = home.raw / "tallyqa" / "VG_100K" / "0000.jpg"
    (home.raw / "vsr" / "images" / "000000000000.jpg").write_bytes(counted.read_bytes())
    home.build()
    assert "an image looks like one of Counting: test.json, question 4000" in {
        rejection.reason for rejection in home.tables()[1]
    }
    speckled(counted.with_suffix(".png"), seed=1)
    counted.with_suffix(".png").replace(counted)
    assert home.due()["drawn_questions"] == [COUNTING]
    remade = home.remake()
    assert remade["proposals"] == [COUNTING]
    assert remade["drawn_questions"] == [COUNTING, CLAIMS]
    assert home.tables() == home.tables_built_at_once()


def test_an_answer_key_has_no_proposals_until_it_is_gone(home: Home) -> None:
    key = home.raw / "val_answers.json"
    key.write_text('{"val_Jigsaw_1": "(A)"}')
    home.build()
    with home.open() as bench:
        assert [bench.rows(f"blink/{name}") for name in TABLES] == [[], [], []]
        assert [row.question_id for row in bench.rows("blink/items")] == ["blink/val_Jigsaw_1"]
    assert home.build() == 0
    key.unlink()
    home.build()
    assert home.tables() == home.tables_built_at_once()


def test_the_job_of_the_ui_builds_all_raw_data_sets_without_a_partition(home: Home) -> None:
    with home.open() as bench:
        graph = build_graph(bench.settings, bench.catalog)  # as the UI has it, with jobs
        job = graph.definitions.resolve_job_def("blink_questions")
        quiet = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}
        assert job.execute_in_process(instance=bench.instance, run_config=quiet).success
    assert not any(home.due().values())
    assert home.build() == 0

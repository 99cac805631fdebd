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
from tests.suites.blink.builders.layouts import write_speckled_image

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

    def due_partitions(self) -> dict[str, list[str | None]]:
        """Partitions that have to be built again, by table."""
        with self.open() as bench:
            bench.observe(["blink"])
            keys = {name: dg.AssetKey(["blink", name]) for name in TABLES}
            return {
                name: [part for part in bench.ledger.parts(key) if bench.ledger.reason(key, part)]
                for name, key in keys.items()
            }

    def rebuild(self) -> dict[str, list[str | None]]:
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
            event_ids: dict[str, dict[str | None, int]] = {name: {} for name in TABLES}
            for name in TABLES:
                key = dg.AssetKey(["blink", name])
                for part in bench.ledger.parts(key):
                    if event := bench.ledger.event(key, part):
                        event_ids[name][part] = event.event_id
            return event_ids

    def tables(self) -> tuple[list[Question], list[Rejection]]:
        with self.open() as bench:
            return bench.rows("blink/items"), bench.rows("blink/rejections")

    def build_tables_at_once(self) -> tuple[list[Question], list[Rejection]]:
        settings = load_settings(self.folder).suite("blink", BlinkSettings)
        store = ImageStore(folder=str(self.folder / "images"))
        result = build_all(
            self.raw,
            store=store.put,
            edition="built",
            seed=settings.seed,
            parameters=settings.builders,
        )
        return result.questions, result.rejections


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
def test_changed_raw_data_of_a_builder_rebuild_only_its_own_tables(home, change, task):
    assert home.build() == 1
    assert not any(home.due_partitions().values())
    change(home)
    due = home.due_partitions()
    assert (due["proposals"], due["drawn_questions"]) == ([task], [task])
    rebuilt = home.rebuild()
    assert (rebuilt["proposals"], rebuilt["drawn_questions"]) == ([task], [task])
    assert home.tables() == home.build_tables_at_once()
    assert not any(home.due_partitions().values())
    assert home.build() == 0


def test_an_image_that_an_earlier_task_gives_up_rebuilds_the_later_tasks_table(home: Home) -> None:
    counted_image = home.raw / "tallyqa" / "VG_100K" / "0000.jpg"
    (home.raw / "vsr" / "images" / "000000000000.jpg").write_bytes(counted_image.read_bytes())
    home.build()
    _, rejections = home.tables()
    assert "an image looks like one of Counting: test.json, question 4000" in {
        rejection.reason for rejection in rejections
    }
    write_speckled_image(counted_image.with_suffix(".png"), seed=1)
    counted_image.with_suffix(".png").replace(counted_image)
    assert home.due_partitions()["drawn_questions"] == [COUNTING]
    rebuilt = home.rebuild()
    assert rebuilt["proposals"] == [COUNTING]
    assert rebuilt["drawn_questions"] == [COUNTING, CLAIMS]
    assert home.tables() == home.build_tables_at_once()


def test_raw_data_are_built_only_without_an_answer_key(home: Home) -> None:
    key = home.raw / "val_answers.json"
    key.write_text('{"val_Jigsaw_1": "(A)"}')
    home.build()
    with home.open() as bench:
        assert [bench.rows(f"blink/{name}") for name in TABLES] == [[], [], []]
        assert [row.question_id for row in bench.rows("blink/items")] == ["blink/val_Jigsaw_1"]
    assert home.build() == 0
    key.unlink()
    home.build()
    assert home.tables() == home.build_tables_at_once()


def test_the_job_of_the_ui_builds_all_raw_data_sets_without_a_partition(home: Home) -> None:
    with home.open() as bench:
        graph = build_graph(bench.settings, bench.catalog)  # as the UI has it, with jobs
        job = graph.definitions.resolve_job_def("blink_questions")
        quiet = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}
        assert job.execute_in_process(instance=bench.instance, run_config=quiet).success
    assert not any(home.due_partitions().values())
    assert home.build() == 0

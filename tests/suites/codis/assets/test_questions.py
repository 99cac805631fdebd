import dagster as dg
import pytest

from bench_assets.asset_factory.evaluation_tables import read_rejections
from bench_assets.core.schema.errors import SourceError
from bench_assets.core.schema.rows import ImageText, Question, Rejection
from bench_assets.suites.codis.assets import questions as assets
from bench_assets.suites.codis.task import TASK
from tests.fakes.codis_source import entry, write_raw, write_release
from tests.fakes.home import Home

LEFT_HALF = [*dg.load_assets_from_modules([assets]), *dg.load_asset_checks_from_modules([assets])]


class Bench(Home):
    def __init__(self, home, source=None, toml=""):
        super().__init__(home, "codis", source, toml)

    def build(self, **more):
        return self.materialize(LEFT_HALF, **more)

    def questions(self, *condition):
        return self.read(Question, *condition, "questions")

    def rejections(self):
        return self.read(Rejection, "rejections")


def test_without_a_source_the_mini_edition_is_drawn_and_built(tmp_path):
    bench = Bench(tmp_path)
    bench.build()
    questions = bench.questions()
    assert len(questions) == 80  # of 40 pairs
    assert {question.edition for question in questions} == {"mini"}
    assert all(bench.images.read(image) for q in questions for image in q.images)
    assert len(bench.questions("captions_for_images")) == 80
    torn, *votes_and_submissions = bench.rejections()
    assert (torn.entry, torn.reason) == ("images/torn.png", "not an image in any known format")
    assert len(votes_and_submissions) == 4 + 18  # planted faults


def test_a_release_becomes_two_questions_a_pair(tmp_path):
    bench = Bench(tmp_path / "home", write_release(tmp_path / "codis", [entry()]))
    bench.build()
    ids = [question.question_id for question in bench.questions()]
    assert ids == ["codis/000/1", "codis/000/2"]
    assert bench.rejections() == []


def test_submissions_that_are_voted_for_become_a_built_edition(tmp_path):
    entries = [entry(annotator="ana"), entry(id="001", annotator="bo", question="Who?")]
    yes = dict.fromkeys(("correct", "different", "within_rules"), True)
    folder = write_raw(
        tmp_path / "codis", entries, [{"submission": "000", "annotator": "bo"} | yes]
    )
    bench = Bench(tmp_path / "home", folder)
    bench.build()
    assert [question.edition for question in bench.questions()] == ["built"] * 2


def test_captions_of_the_source_replace_the_images(tmp_path):
    folder = write_release(tmp_path / "codis", [entry()])
    (folder / "captions.jsonl").write_text('{"image_id": "a.png", "caption": "A door."}\n')
    bench = Bench(tmp_path / "home", folder)
    bench.build()
    assert [q.image_texts for q in bench.questions("captions_for_images")] == [("A door.",)] * 2
    (caption,) = bench.read(ImageText, "captions")
    assert caption.author == "captions.jsonl"


def test_captions_named_in_the_settings_replace_those_of_the_source(tmp_path):
    folder = write_release(tmp_path / "codis", [entry()])
    (folder / "captions.jsonl").write_text('{"image_id": "a.png", "caption": "A door."}\n')
    home = tmp_path / "home"
    bench = Bench(home, folder, '[suites.codis]\ncaptions = "mine.jsonl"\n')
    (home / "mine.jsonl").write_text('{"image_id": "a.png", "caption": "A gate."}\n')
    bench.build()
    assert [q.image_texts for q in bench.questions("captions_for_images")] == [("A gate.",)] * 2


def test_captions_that_cannot_be_used_are_rejections_of_their_condition(tmp_path):
    folder = write_release(tmp_path / "codis", [entry()])
    captions = '{"image_id": "a.png", "caption": "A door."}\n{"image_id": "a.png"}\n'
    (folder / "captions.jsonl").write_text(captions)
    bench = Bench(tmp_path / "home", folder)
    bench.build()
    rejections = read_rejections(bench.tables, TASK, "own", "captions_for_images")
    assert [(table, [row.entry for row in rows]) for table, rows in rejections.items()] == [
        ("codis/rejections", []),
        ("codis/captions_for_images/rejections", ["captions.jsonl, line 2"]),
    ]
    assert list(read_rejections(bench.tables, TASK, "own")) == ["codis/rejections"]


def test_a_model_writes_the_captions_where_no_file_has_them(tmp_path):
    toml = '[suites.codis]\ncaptioner = "c"\n[models.c]\nkind = "scripted"\nsays = "A gate. "\n'
    bench = Bench(tmp_path / "home", write_release(tmp_path / "codis", [entry()]), toml)
    bench.build()
    (caption,) = bench.read(ImageText, "captions")
    assert (caption.text, caption.author) == ("A gate.", "c")


def test_a_bad_entry_and_the_pair_of_a_bad_image_are_rejected(tmp_path):
    pairs = [entry(), entry(id="001", image_id="b.png"), {"id": "002"}]
    folder = write_release(tmp_path / "codis", pairs, images=("a.png", "b.png"))
    bench = Bench(tmp_path / "home", folder)
    (folder / "images" / "b.png").write_text("Not an image.")
    bench.build()
    image, incomplete, pair = bench.rejections()
    assert (image.entry, image.reason) == ("images/b.png", "not an image in any known format")
    assert incomplete.entry == "data.json, entry 3 (id '002')"
    assert pair.entry == "data.json, id 001"
    assert [question.question_id for question in bench.questions()] == [
        "codis/000/1",
        "codis/000/2",
    ]


def test_a_broken_source_leaves_earlier_tables_as_they_were(tmp_path):
    folder = write_release(tmp_path / "codis", [entry()])
    bench = Bench(tmp_path / "home", folder)
    bench.build()
    before = bench.questions()
    (folder / "data.json").write_text("{}")
    with pytest.raises(SourceError, match="expected a list of entries"):
        bench.build()
    assert bench.questions() == before

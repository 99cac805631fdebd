import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from PIL import Image

from bench_assets.core.schema.rows import Question
from bench_assets.report.site.folder import STATIC, Site, data_script, slug
from bench_resources.images.store import ImageStore
from bench_resources.tables.parquet import TableFiles
from tests.fakes.codis_release import image
from tests.fakes.quiz import quiz
from tests.fakes.written_images import saved
from tests.report.fair import build_report, catalog, write_metrics


@pytest.mark.parametrize("name", ["home", 'a "home" é <b>'])
def test_damaged_images_and_tables_are_reported_without_the_home(tmp_path: Path, name: str) -> None:
    home = tmp_path / "somebody" / name
    home.mkdir(parents=True)
    tables = TableFiles(folder=str(home / "tables"))
    image_store = ImageStore(folder=str(home / "images"))
    image_digest = image_store.put(image(1), "1.png").sha256
    questions = [replace(question, images=(image_digest,)) for question in quiz(6)]
    tables.write(["quiz", "questions"], questions, Question)
    write_metrics(tables, "sound", 0.5)
    write_metrics(tables, "torn", 0.5)
    tables.path(["quiz", "metrics"], "torn").write_bytes(b"PAR1")
    Path(image_store.place.address(image_digest)).write_bytes(b"another")
    build_report(home, tables, catalog(home))
    data = b"".join(file.read_bytes() for file in (home / "report" / "data").iterdir())
    assert b"is not the one that was stored" in data
    assert b"metrics/torn" in data
    assert b"somebody" not in data


def test_an_address_of_objects_is_cut_to_the_path_below_it(tmp_path: Path) -> None:
    image_store = ImageStore(folder=str(tmp_path / "cache"), objects="s3://team-bucket/secret")
    site = Site(tmp_path / "report", image_store)
    site.put("problems", ["s3://team-bucket/secret/tables/quiz/metrics/torn.parquet: damaged"])
    site.finish()
    (file,) = (tmp_path / "report" / "data").glob("problems.*.js")
    assert '"tables/quiz/metrics/torn.parquet: damaged' in file.read_text(encoding="utf-8")


def test_a_home_of_one_short_name_is_not_cut_out_of_texts(tmp_path: Path) -> None:
    site = Site(tmp_path / "report", ImageStore(folder="/data/images"))
    site.put("problems", ["It lies in /data/ as always."])
    site.finish()
    (file,) = (tmp_path / "report" / "data").glob("problems.*.js")
    assert "in /data/ as" in file.read_text(encoding="utf-8")


@pytest.fixture
def image_store(tmp_path: Path) -> ImageStore:
    return ImageStore(folder=str(tmp_path / "images"))


@pytest.fixture
def open_site(tmp_path: Path, image_store: ImageStore) -> Callable[[], Site]:
    return lambda: Site(tmp_path / "report", image_store)


def load_data(site: Site) -> dict[str, object]:
    """The values of the data files that the page loads, by name."""
    return {
        name: read_script(site.folder / "data" / f"{name}.{digest}.js")
        for name, digest in read_script(site.folder / "data" / "files.js").items()
    }


def read_script(script: Path) -> dict[str, object]:
    """The value in a data script."""
    text = script.read_text(encoding="utf-8")
    return json.loads(text.partition(",")[2].removesuffix(");\n"))


def store_image(image_store, image_format="PNG", size=(640, 320)):
    """Store a red image; return its digest."""
    return image_store.put(saved(Image.new("RGB", size, "red"), image_format), "red").sha256


def test_the_page_loads_data_that_were_put(open_site: Callable[[], Site]) -> None:
    site = open_site()
    site.put("index", {"a": [1, None, float("nan")]})
    site.finish()
    assert load_data(site) == {"index": {"a": [1, None, None]}}
    assert (site.folder / "index.html").read_bytes() == (STATIC / "index.html").read_bytes()


def test_an_interrupted_build_leaves_the_report_as_it_was(open_site: Callable[[], Site]) -> None:
    site = open_site()
    site.put("a", "old")
    site.put("b", "old")
    site.finish()
    interrupted = open_site()
    interrupted.put("a", "new")
    assert load_data(interrupted) == {"a": "old", "b": "old"}


def test_data_that_are_not_put_again_are_removed(open_site: Callable[[], Site]) -> None:
    site = open_site()
    site.put("a", 1)
    site.put("b", 1)
    site.finish()
    later = open_site()
    later.put("a", 2)
    later.finish()
    assert load_data(later) == {"a": 2}
    assert len(list((later.folder / "data").iterdir())) == 2  # a, and the list of files


def test_data_with_an_unchanged_stamp_are_kept(open_site: Callable[[], Site]) -> None:
    site = open_site()
    site.put("a", 1, made_of="x")
    site.finish()
    later = open_site()
    later.put("a", 2, made_of="x")
    later.finish()
    assert load_data(later) == {"a": 1}


def test_data_with_another_stamp_count_as_missing(open_site: Callable[[], Site]) -> None:
    site = open_site()
    site.put("a", 1, made_of="x")
    site.finish()
    assert not open_site().has("a", "y")


def test_data_of_other_code_count_as_missing(open_site: Callable[[], Site]) -> None:
    site = open_site()
    site.put("a", 1, made_of="x")
    site.finish()
    stamps = site.folder / ".stamps.json"
    content = json.loads(stamps.read_text(encoding="utf-8"))
    stamps.write_text(json.dumps({**content, "made_by": "other code"}), encoding="utf-8")
    assert not open_site().has("a", "x")


@pytest.mark.parametrize(
    "text", ["</script><script>alert(1)</script>", "<!--", "\u2028\u2029\u202e\x00", "x" * 2**20]
)
def test_a_data_script_holds_any_text_without_an_angle_bracket(text: str) -> None:
    script = data_script("a", [text])
    assert b"<" not in script
    assert json.loads(script.removeprefix(b'Bench.put("a",').removesuffix(b");\n")) == [text]


def test_a_lone_surrogate_becomes_a_question_mark() -> None:
    assert data_script("a", ["\ud800"]) == b'Bench.put("a",["?"]);\n'


@pytest.mark.parametrize(
    "name", ["../../etc/passwd", "CON", "a/b", "a b", "..", "", "é" * 300, "\ud800", "NUL.txt", "A"]
)
def test_a_slug_is_a_safe_and_distinct_file_name(name: str) -> None:
    safe_name = slug(name)
    assert set(safe_name) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")
    assert 8 <= len(safe_name) <= 64
    assert safe_name != slug(name + "x")


def test_an_image_is_copied_as_it_is_and_in_a_small_version(open_site, image_store):
    digest = store_image(image_store)
    site = open_site()
    report_image = site.images([digest])[digest]
    assert report_image is not None
    assert (site.folder / report_image.full).read_bytes() == image_store.read(digest)
    with Image.open(site.folder / report_image.small) as small:
        assert (small.format, small.size) == ("WEBP", (320, 160))


def test_an_image_that_browsers_do_not_show_becomes_a_png(open_site, image_store):
    site = open_site()
    digest = store_image(image_store, "TIFF")
    report_image = site.images([digest])[digest]
    assert report_image is not None
    with Image.open(site.folder / report_image.full) as full:
        assert (full.format, full.size) == ("PNG", (640, 320))


@pytest.mark.parametrize("digest", ["../../../etc/passwd", "0" * 64, "", "A" * 64])
def test_a_missing_image_is_none(open_site: Callable[[], Site], digest: str) -> None:
    assert open_site().images([digest]) == {digest: None}


def test_images_are_removed_with_the_data_that_show_them(open_site, image_store):
    kept = store_image(image_store)
    removed = store_image(image_store, size=(10, 10))
    site = open_site()
    site.put("a", 1, made_of="x", images=[kept])
    site.put("b", 1, made_of="x", images=[removed])
    site.finish()

    later = open_site()
    assert later.has("a", "x")
    later.finish()

    digests = {file.name[:64] for file in (later.folder / "images").glob("*/*")}
    assert digests == {kept}

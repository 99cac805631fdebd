"""The report's folder: old or new, never a mixture; harmless, and silent about its home."""

import json
from collections.abc import Callable
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image

from bench_assets.core.schema.rows import Question
from bench_assets.report.site.folder import STATIC, Site, data_script, slug
from bench_resources.images.store import ImageStore
from bench_resources.tables.parquet import TableFiles
from tests.fakes.codis_release import image
from tests.fakes.quiz import quiz
from tests.report.fair import catalog, measure, report


@pytest.mark.parametrize("name", ["home", 'a "home" é <b>'])
def test_damaged_images_and_tables_are_reported_without_the_home(tmp_path: Path, name: str) -> None:
    home = tmp_path / "somebody" / name
    home.mkdir(parents=True)
    tables = TableFiles(folder=str(home / "tables"))
    image_store = ImageStore(folder=str(home / "images"))
    shown = image_store.put(image(1), "1.png").sha256
    questions = [replace(one, images=(shown,)) for one in quiz(6)]
    tables.write(["quiz", "questions"], questions, Question)
    measure(tables, "sound", 0.5)
    measure(tables, "torn", 0.5)
    tables.path(["quiz", "metrics"], "torn").write_bytes(b"PAR1")
    image_store.path(shown).write_bytes(b"another")
    report(home, tables, catalog(home))
    data = b"".join(file.read_bytes() for file in (home / "report" / "data").iterdir())
    assert b"is not the one that was stored" in data
    assert b"metrics/torn" in data
    assert b"somebody" not in data


def test_a_report_tells_no_address_of_objects(tmp_path: Path) -> None:
    image_store = ImageStore(folder=str(tmp_path / "cache"), objects="s3://team-bucket/secret")
    site = Site(tmp_path / "report", image_store)
    site.put("said", ["s3://team-bucket/secret/tables/quiz/metrics/torn.parquet: damaged"])
    site.finish()
    (file,) = (tmp_path / "report" / "data").glob("said.*.js")
    assert '"tables/quiz/metrics/torn.parquet: damaged' in file.read_text(encoding="utf-8")


def test_a_short_path_is_left_in_texts_that_may_mean_another(tmp_path: Path) -> None:
    site = Site(tmp_path / "report", ImageStore(folder="/data/images"))
    site.put("said", ["It lies in /data/ as always."])
    site.finish()
    (file,) = (tmp_path / "report" / "data").glob("said.*.js")
    assert "in /data/ as" in file.read_text(encoding="utf-8")


@pytest.fixture
def image_store(tmp_path: Path) -> ImageStore:
    return ImageStore(folder=str(tmp_path / "images"))


@pytest.fixture
def begin(tmp_path: Path, image_store: ImageStore) -> Callable[[], Site]:
    return lambda: Site(tmp_path / "report", image_store)


def shown(site: Site) -> dict[str, object]:
    """What the page would load, by name."""
    return {
        name: script_data(site.folder / "data" / f"{name}.{digest}.js")
        for name, digest in script_data(site.folder / "data" / "files.js").items()
    }


def script_data(script: Path) -> dict[str, object]:
    """The value in a data script."""
    text = script.read_text(encoding="utf-8")
    return json.loads(text.partition(",")[2].removesuffix(");\n"))


def stored_image(
    image_store: ImageStore, kind: str = "PNG", size: tuple[int, int] = (640, 320)
) -> str:
    written = BytesIO()
    Image.new("RGB", size, "red").save(written, kind)
    return image_store.put(written.getvalue(), "red").sha256


def test_what_was_put_is_what_the_page_loads(begin: Callable[[], Site]) -> None:
    site = begin()
    site.put("index", {"a": [1, None, float("nan")]})
    site.finish()
    assert shown(site) == {"index": {"a": [1, None, None]}}
    assert (site.folder / "index.html").read_bytes() == (STATIC / "index.html").read_bytes()


def test_an_interrupted_build_leaves_the_report_as_it_was(begin: Callable[[], Site]) -> None:
    site = begin()
    site.put("a", "old")
    site.put("b", "old")
    site.finish()
    interrupted = begin()
    interrupted.put("a", "new")
    assert shown(interrupted) == {"a": "old", "b": "old"}


def test_what_nobody_puts_any_more_goes_with_its_file(begin: Callable[[], Site]) -> None:
    site = begin()
    site.put("a", 1)
    site.put("b", 1)
    site.finish()
    later = begin()
    later.put("a", 2)
    later.finish()
    assert shown(later) == {"a": 2}
    assert len(list((later.folder / "data").iterdir())) == 2


def test_data_made_of_the_same_are_not_made_again(begin: Callable[[], Site]) -> None:
    site = begin()
    site.put("a", 1, made_of="x")
    site.finish()
    later = begin()
    later.put("a", 2, made_of="x")
    later.finish()
    assert shown(later) == {"a": 1}
    assert not begin().has("a", "y")


def test_data_that_other_code_made_are_made_again(begin: Callable[[], Site]) -> None:
    site = begin()
    site.put("a", 1, made_of="x")
    site.finish()
    stamps = site.folder / ".stamps.json"
    written = json.loads(stamps.read_text(encoding="utf-8"))
    stamps.write_text(json.dumps({**written, "made_by": "other code"}), encoding="utf-8")
    assert not begin().has("a", "x")


@pytest.mark.parametrize(
    ("text", "fit"),
    [
        ("</script><script>alert(1)</script>", True),
        ("<!--", True),
        ("\u2028\u2029\u202e\x00", True),
        ("\ud800", False),
        ("x" * 2**20, True),
    ],
)
def test_no_text_ends_its_script(text: str, fit: bool) -> None:
    script = data_script("a", [text])
    assert b"<" not in script
    found = json.loads(script.decode().partition(",")[2].removesuffix(");\n"))
    assert found == [text if fit else "?"]


@pytest.mark.parametrize(
    "name", ["../../etc/passwd", "CON", "a/b", "a b", "..", "", "é" * 300, "\ud800", "NUL.txt", "A"]
)
def test_a_slug_is_a_safe_name_of_its_own(name: str) -> None:
    found = slug(name)
    assert set(found) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")
    assert 8 <= len(found) <= 64
    assert found != slug(name + "x")


def test_a_image_is_brought_as_it_is_and_small(
    begin: Callable[[], Site], image_store: ImageStore
) -> None:
    digest = stored_image(image_store)
    site = begin()
    brought = site.images([digest])[digest]
    assert brought is not None
    assert (site.folder / brought.full).read_bytes() == image_store.read(digest)
    with Image.open(site.folder / brought.small) as small:
        assert (small.format, small.size) == ("WEBP", (320, 160))


def test_what_browsers_do_not_show_becomes_a_png(
    begin: Callable[[], Site], image_store: ImageStore
) -> None:
    site = begin()
    digest = stored_image(image_store, "TIFF")
    brought = site.images([digest])[digest]
    assert brought is not None
    with Image.open(site.folder / brought.full) as full:
        assert (full.format, full.size) == ("PNG", (640, 320))


@pytest.mark.parametrize("digest", ["../../../etc/passwd", "0" * 64, "", "A" * 64])
def test_a_image_that_is_not_there_is_none_and_ends_nothing(
    begin: Callable[[], Site], digest: str
) -> None:
    assert begin().images([digest]) == {digest: None}


def test_images_stay_with_the_data_that_show_them(
    begin: Callable[[], Site], image_store: ImageStore
) -> None:
    shown_one, other = stored_image(image_store), stored_image(image_store, size=(10, 10))
    site = begin()
    site.put("a", 1, made_of="x", images=[shown_one])
    site.put("b", 1, made_of="x", images=[other])
    site.finish()
    later = begin()
    assert later.has("a", "x")
    later.finish()
    left = {file.name[:64] for file in (later.folder / "images").glob("*/*")}
    assert left == {shown_one}

"""Where images lie: one table of cases, on a folder, and on what homes share."""

import pickle
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path

import pytest

from bench_assets.core.schema.errors import ImageError
from bench_assets.core.schema.rows import StoredImage
from bench_resources.config.bench_toml import load_settings
from bench_resources.images.locations import ImageFolder, ImageLocation, ObjectImages
from bench_resources.images.store import ImageStore, damaged_images, open_image_store
from bench_resources.storage.blobs.files import open_blobs
from bench_resources.storage.blobs.port import Blobs
from tests.fakes.codis_release import image

long = pytest.mark.long


@pytest.fixture(params=["folder", "shared folder", pytest.param("s3", marks=long)])
def objects(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, str]:
    """What [storage] says: objects, endpoint."""
    if request.param == "s3":
        bucket: str = request.getfixturevalue("bucket")
        return f"{bucket}/team a", request.getfixturevalue("store_endpoint")
    return ("" if request.param == "folder" else f"file://{tmp_path}/shared%20by%20all"), ""


@pytest.fixture
def place(objects: tuple[str, str], tmp_path: Path) -> ImageLocation:
    """One machine's."""
    return at(objects, tmp_path / "here")


@pytest.fixture
def there(objects: tuple[str, str], tmp_path: Path) -> Blobs:
    """What lies in the place itself."""
    return open_blobs(tmp_path / "here", "images", *objects)


def at(objects: tuple[str, str], home: Path) -> ImageLocation:
    if not objects[0]:
        return ImageFolder(str(home / "images"))
    return ObjectImages(*objects, str(home / "cache" / "images"))


def put(place: ImageLocation, *texts: str) -> list[str]:
    digests = [sha256(text.encode()).hexdigest() for text in texts]
    for digest, text in zip(digests, texts, strict=True):
        place.write(digest, text.encode())
    return digests


def named(digest: str) -> str:
    return f"{digest[:2]}/{digest}"


def test_what_was_put_is_read_by_every_process(place: ImageLocation) -> None:
    (digest,) = put(place, "one")
    read = pickle.loads(pickle.dumps(place.read))
    assert place.read(digest) == read(digest) == place.read(digest, bypass_cache=True) == b"one"
    assert digest in place.address(digest)
    assert pickle.loads(pickle.dumps(place)) == place
    assert hash(pickle.loads(pickle.dumps(place))) == hash(place)


def test_many_put_the_same_at_once_and_it_lies_there_once(
    place: ImageLocation, there: Blobs
) -> None:
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda _: put(place, "one"), range(16)))
    assert [blob.size for blob in there.list()] == [3]


@pytest.mark.parametrize("name", ["", "..", "a\0b", "x" * 300, "00" * 32, "00ff", "AB" * 32])
def test_what_is_not_there_is_named(place: ImageLocation, name: str) -> None:
    with pytest.raises(ImageError, match="image"):
        place.read(name)
    assert place.sizes([name]) == {}
    place.fetch([name])


@pytest.mark.parametrize("data", [b"", b"onf", b"another"], ids=["nothing", "a bit", "another"])
def test_damage_never_goes_out_is_found_and_is_mended_by_the_same_image(
    place: ImageLocation, there: Blobs, tmp_path: Path, objects: tuple[str, str], data: bytes
) -> None:
    (digest,) = put(place, "one")
    there.put(named(digest), data)
    machine = at(objects, tmp_path / ("other" if objects[0] else "here"))
    for _ in range(2):
        with pytest.raises(ImageError, match=f"image {digest} in .* is not the one"):
            machine.read(digest)
    assert list(damaged_images(place, [digest])) == [digest]  # whatever was fetched before
    put(place, "one")
    assert damaged_images(place, [digest]) == {}
    assert machine.read(digest) == there.get(named(digest)) == b"one"


def test_a_store_of_images_is_the_same_over_both(objects: tuple[str, str], tmp_path: Path) -> None:
    folder = tmp_path / "here" / ("cache" if objects[0] else "")
    store = ImageStore(folder=str(folder / "images"), objects=objects[0], endpoint=objects[1])
    stored = store.put(image(1), "1.png")
    with pytest.raises(ImageError, match="not an image"):
        store.put(b"no image", "2.png")
    assert store.inspect_stored([stored.sha256, "00" * 32]) == [
        StoredImage(name=stored.sha256, sha256=stored.sha256, format="PNG", width=stored.width,
                    height=stored.height, n_bytes=len(image(1)))
    ]  # fmt: skip
    assert store.read(stored.sha256) == image(1)
    assert store.open(stored.sha256).size == (stored.width, stored.height)
    assert store.open_if_whole("00" * 32) is None
    assert list(store.place.stored_digests()) == [stored.sha256]


@pytest.fixture
def shared(tmp_path: Path) -> Callable[..., ObjectImages]:
    """Opens what two machines share, with a folder of one's own."""
    return lambda name="here": ObjectImages(f"file://{tmp_path}/shared", "", str(tmp_path / name))


def test_what_was_fetched_is_not_fetched_again(
    shared: Callable[..., ObjectImages], tmp_path: Path
) -> None:
    one, other, lost = put(shared("other"), "one", "other", "lost")
    here = shared()
    assert here.read(one) == b"one"
    here.fetch([other, other, "00" * 32])
    for file in (tmp_path / "shared" / "images").glob("*/*"):
        file.unlink()
    assert [here.read(one), here.read(other)] == [b"one", b"other"]
    with pytest.raises(ImageError, match=f"no image {lost} in {tmp_path}/shared/images"):
        here.read(lost)
    with pytest.raises(ImageError, match="no image"):
        here.read(one, bypass_cache=True)


@pytest.mark.parametrize("spoilt", [b"", b"onf", b"another"])
def test_what_was_fetched_and_is_damaged_is_fetched_again(
    shared: Callable[..., ObjectImages], tmp_path: Path, spoilt: bytes
) -> None:
    here = shared()
    (digest,) = put(here, "one")
    file = tmp_path / "here" / digest[:2] / digest
    file.write_bytes(spoilt)
    assert here.read(digest) == file.read_bytes() == b"one"


@pytest.mark.parametrize(
    ("section", "place"),
    [
        ("", lambda home: ImageFolder(f"{home}/images")),
        (
            '[storage]\nobjects = "file:///mnt/shared"',
            lambda _: ImageFolder("/mnt/shared/images"),
        ),
        (
            '[storage]\nobjects = "s3://b/p"\nendpoint = "http://e"',
            lambda home: ObjectImages("s3://b/p", "http://e", f"{home}/cache/images"),
        ),
    ],
    ids=["a home alone", "a folder that homes share", "a store, by a cache"],
)
def test_images_lie_where_bench_toml_says(
    tmp_path: Path, section: str, place: Callable[[Path], ImageLocation]
) -> None:
    (tmp_path / "bench.toml").write_text(section)
    assert open_image_store(load_settings(tmp_path)).place == place(tmp_path)

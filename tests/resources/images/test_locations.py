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
    """``objects`` and ``endpoint`` of [storage]."""
    if request.param == "s3":
        bucket: str = request.getfixturevalue("bucket")
        return f"{bucket}/team a", request.getfixturevalue("store_endpoint")
    if request.param == "shared folder":
        return f"file://{tmp_path}/shared%20by%20all", ""
    return "", ""


@pytest.fixture
def location(objects: tuple[str, str], tmp_path: Path) -> ImageLocation:
    return open_location(objects, tmp_path / "here")


@pytest.fixture
def blobs(objects: tuple[str, str], tmp_path: Path) -> Blobs:
    """The stored files or objects themselves."""
    return open_blobs(tmp_path / "here", "images", *objects)


def open_location(objects: tuple[str, str], home: Path) -> ImageLocation:
    address, endpoint = objects
    if not address:
        return ImageFolder(str(home / "images"))
    cache = str(home / "cache" / "images")
    return ObjectImages(objects=address, endpoint=endpoint, fetched=cache)


def put(location: ImageLocation, *texts: str) -> list[str]:
    digests = [sha256(text.encode()).hexdigest() for text in texts]
    for digest, text in zip(digests, texts, strict=True):
        location.write(digest, text.encode())
    return digests


def blob_name(digest: str) -> str:
    return f"{digest[:2]}/{digest}"


def test_an_image_is_read_after_its_location_was_pickled(location: ImageLocation) -> None:
    (digest,) = put(location, "one")
    unpickled = pickle.loads(pickle.dumps(location))
    assert unpickled == location
    assert hash(unpickled) == hash(location)
    assert location.read(digest) == unpickled.read(digest) == b"one"
    assert digest in location.address(digest)


def test_concurrent_writers_store_an_image_once(location: ImageLocation, blobs: Blobs) -> None:
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda _: put(location, "one"), range(16)))
    assert [blob.size for blob in blobs.list()] == [3]


@pytest.mark.parametrize("name", ["", "..", "a\0b", "x" * 300, "00" * 32, "00ff", "AB" * 32])
def test_a_missing_image_is_an_error(location: ImageLocation, name: str) -> None:
    with pytest.raises(ImageError, match="image"):
        location.read(name)
    assert location.sizes([name]) == {}
    location.fetch([name])


# In place of b"one", whose last letter differs from d in one bit.
DAMAGED_IMAGES = {"empty": b"", "one bit": b"ond", "another text": b"another"}


@pytest.mark.parametrize("data", DAMAGED_IMAGES.values(), ids=DAMAGED_IMAGES)
def test_a_damaged_image_is_an_error_until_it_is_stored_again(
    location: ImageLocation, blobs: Blobs, tmp_path: Path, objects: tuple[str, str], data: bytes
) -> None:
    (digest,) = put(location, "one")
    blobs.put(blob_name(digest), data)
    is_shared = objects != ("", "")
    other = "other" if is_shared else "here"  # unshared images are those of one home
    reader = open_location(objects, tmp_path / other)
    for _ in range(2):  # it is not cached
        with pytest.raises(ImageError, match=f"image {digest} in .* is not the one"):
            reader.read(digest)
    assert list(damaged_images(location, [digest])) == [digest]  # also if it is cached
    put(location, "one")
    assert damaged_images(location, [digest]) == {}
    assert reader.read(digest) == blobs.get(blob_name(digest)) == b"one"


def test_a_store_works_on_each_location(objects: tuple[str, str], tmp_path: Path) -> None:
    address, endpoint = objects
    store = ImageStore(folder=str(tmp_path / "images"), objects=address, endpoint=endpoint)
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
def open_shared(tmp_path: Path) -> Callable[..., ObjectImages]:
    """Open shared images with the cache of a home."""
    address = f"file://{tmp_path}/shared"
    return lambda name="here": ObjectImages(
        objects=address, endpoint="", fetched=str(tmp_path / name)
    )


def test_a_fetched_image_is_read_from_the_cache(open_shared, tmp_path):
    read, fetched, lost = put(open_shared("other"), "read", "fetched", "lost")
    images = open_shared()
    assert images.read(read) == b"read"
    images.fetch([fetched, fetched, "00" * 32])
    for file in (tmp_path / "shared" / "images").glob("*/*"):
        file.unlink()
    assert [images.read(read), images.read(fetched)] == [b"read", b"fetched"]
    with pytest.raises(ImageError, match=f"no image {lost} in {tmp_path}/shared/images"):
        images.read(lost)
    with pytest.raises(ImageError, match="no image"):
        images.read(read, bypass_cache=True)


@pytest.mark.parametrize("damaged", DAMAGED_IMAGES.values(), ids=DAMAGED_IMAGES)
def test_a_damaged_image_in_the_cache_is_fetched_again(open_shared, tmp_path, damaged):
    images = open_shared()
    (digest,) = put(images, "one")
    file = tmp_path / "here" / digest[:2] / digest
    file.write_bytes(damaged)
    assert images.read(digest) == file.read_bytes() == b"one"


@pytest.mark.parametrize(
    ("section", "expected_location"),
    [
        ("", lambda home: ImageFolder(f"{home}/images")),
        ('[storage]\nobjects = "file:///mnt/shared"', lambda _: ImageFolder("/mnt/shared/images")),
        (
            '[storage]\nobjects = "s3://b/p"\nendpoint = "http://e"',
            lambda home: ObjectImages(
                objects="s3://b/p", endpoint="http://e", fetched=f"{home}/cache/images"
            ),
        ),
    ],
    ids=["home", "shared folder", "object store"],
)
def test_bench_toml_selects_the_location(tmp_path, section, expected_location):
    (tmp_path / "bench.toml").write_text(section)
    assert open_image_store(load_settings(tmp_path)).place == expected_location(tmp_path)

import io
import re

import pytest
from PIL import Image

from bench_assets.annotation.tasks import Unit
from bench_resources.images.store import ImageStore
from tests.fakes.annotation_pages import BRING, Site, shown, token
from tests.fakes.written_images import plain_png, saved
from tests.resources.annotation.port_cases import FORM, unit

IMAGE = plain_png() + b"\r\n--"  # ends as a part of a multipart form does


def upload_with_incomplete_form(site: Site) -> str:
    """Send ana's form with an image and without a question; return the SHA-256 on the page."""
    site.backend.ask(BRING, [Unit(task=BRING.name, unit_id="x", needed=2)])
    page = shown(site, "ana", BRING)
    incomplete = site.visitor("ana").http.post(
        page.url.path, data={"form-token": token(page)}, files={"image": ("../x.png", IMAGE)}
    )
    assert incomplete.status_code == 422
    (sha256,) = re.findall(r'name="image" value="(\w{64})"', incomplete.text)
    return str(sha256)


def test_an_uploaded_image_is_kept_unchanged_until_the_form_is_complete(site: Site) -> None:
    sha256 = upload_with_incomplete_form(site)
    ana, page = site.visitor("ana"), shown(site, "ana", BRING)
    words = "one\r\n\r\n two \r\none"
    fields = {"form-token": token(page), "image": sha256, "question": "Is it?", "words": words}
    sent = ana.http.post(page.url.path, data=fields, files={"image": ("", b"")})
    assert sent.status_code == 200
    (answer,) = site.backend.answers(BRING)
    assert answer.values == {
        "image": (sha256,), "question": ("Is it?",), "words": ("one", "two")
    }  # fmt: skip
    assert ImageStore(folder=str(site.images)).read(sha256) == IMAGE


def test_an_uploaded_image_is_only_for_the_person_who_uploaded_it(site: Site) -> None:
    sha256 = upload_with_incomplete_form(site)
    ana, ben = site.visitor("ana"), site.visitor("ben")
    assert ana.http.get(f"/upload/{sha256}").headers["content-type"] == "image/png"
    assert ben.http.get(f"/upload/{sha256}").status_code == 404
    sent = ben.send(shown(site, "ben", BRING), image=sha256, question="Is it?")
    assert sent.status_code == 422


NO_IMAGES: dict[str, bytes] = {
    "a text": b"not an image",
    "SVG": b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>',
    "too many pixels": plain_png(size=(10_000, 6_000)),
}


@pytest.mark.parametrize("data", NO_IMAGES.values(), ids=NO_IMAGES)
def test_an_upload_that_is_no_image_is_refused_with_the_reason(site: Site, data: bytes) -> None:
    site.backend.ask(BRING, [Unit(task=BRING.name, unit_id="x")])
    page = shown(site, "ana", BRING)
    sent = site.visitor("ana").http.post(
        page.url.path,
        data={"form-token": token(page), "question": "Is it?"},
        files={"image": ("x.png", data, "image/png")},
    )
    assert sent.status_code == 422
    assert "not a usable image" in sent.text
    assert site.backend.answers(BRING) == []


def test_an_image_is_shown_only_to_the_person_of_its_unit(site: Site) -> None:
    image_store = ImageStore(folder=str(site.images))
    unit_image = image_store.put(plain_png(), "a").sha256
    other_image = image_store.put(plain_png("blue"), "b").sha256
    site.backend.ask(FORM, [unit("a", needed=1, images={"Image": unit_image})])
    page = shown(site)
    ana, ben = site.visitor("ana"), site.visitor("ben")
    assert ana.http.get(f"{page.url.path}/image/{unit_image}").content == plain_png()
    assert ana.http.get(f"{page.url.path}/image/{other_image}").status_code == 404
    assert ana.http.get(f"{page.url.path}/image/..%2f..%2fpages.key").status_code == 404
    assert ben.http.get(f"{page.url.path}/image/{unit_image}").status_code == 404
    assert ben.http.get(page.url.path).status_code == 404


def test_of_an_animation_the_first_frame_is_sent_as_models_see_it(site: Site) -> None:
    frames = [Image.new("RGB", (4, 4), colour) for colour in ("red", "blue")]
    gif = saved(frames[0], "GIF", save_all=True, append_images=frames[1:])
    sha256 = ImageStore(folder=str(site.images)).put(gif, "a").sha256
    site.backend.ask(FORM, [unit("a", images={"Image": sha256})])
    sent = site.visitor("ana").http.get(f"{shown(site).url.path}/image/{sha256}")
    assert sent.headers["content-type"] == "image/png"
    assert Image.open(io.BytesIO(sent.content)).getpixel((0, 0)) == (255, 0, 0)

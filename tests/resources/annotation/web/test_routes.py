"""Images on the pages: those that people bring, and who is shown which."""

import io
import re

import pytest
from PIL import Image

from bench_assets.annotation.tasks import Unit
from bench_resources.images.store import ImageStore
from tests.fakes.annotation_pages import BRING, Site, png, shown, token
from tests.resources.annotation.port_cases import FORM, unit


def test_a_image_that_somebody_brings_is_kept_as_it_came(site: Site) -> None:
    site.people.ask(BRING, [Unit(task=BRING.name, unit_id="x", needed=2)])
    ana, ben, data = site.visitor("ana"), site.visitor("ben"), png() + b"\r\n--"
    page = shown(site, "ana", BRING)
    fields = {"form-token": token(page), "words": "one\r\n\r\n two \r\none"}
    half = ana.http.post(page.url.path, data=fields, files={"image": ("../x.png", data)})
    assert half.status_code == 422
    sha256 = re.findall(r'name="image" value="(\w{64})"', half.text)[0]
    assert ana.http.get(f"/upload/{sha256}").headers["content-type"] == "image/png"
    assert ben.http.get(f"/upload/{sha256}").status_code == 404
    stolen = ben.send(shown(site, "ben", BRING), image=sha256, question="Is it?")
    assert stolen.status_code in (415, 422)  # it is not ben's
    again = {**fields, "image": sha256, "question": "Is it?"}
    assert ana.http.post(page.url.path, data=again, files={"image": ("", b"")}).status_code == 200
    (only,) = site.people.answers(BRING)
    assert only.values == {
        "image": (sha256,), "question": ("Is it?",), "words": ("one", "two")
    }  # fmt: skip
    assert ImageStore(folder=str(site.images)).read(sha256) == data


NO_IMAGES: dict[str, bytes] = {
    "a text": b"not an image",
    "SVG": b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>',
    "too many pixels": png(size=(10_000, 6_000)),
}


@pytest.mark.parametrize("data", NO_IMAGES.values(), ids=NO_IMAGES)
def test_what_is_no_image_is_refused_with_the_reason(site: Site, data: bytes) -> None:
    site.people.ask(BRING, [Unit(task=BRING.name, unit_id="x")])
    page = shown(site, "ana", BRING)
    sent = site.visitor("ana").http.post(
        page.url.path,
        data={"form-token": token(page), "question": "Is it?"},
        files={"image": ("x.png", data, "image/png")},
    )
    assert sent.status_code == 422
    assert "not a usable image" in sent.text
    assert "Is it?" in sent.text
    assert site.people.answers(BRING) == []


def test_images_are_shown_to_whom_the_item_was_given(site: Site) -> None:
    image_store = ImageStore(folder=str(site.images))
    shown_one, other = image_store.put(png(), "a").sha256, image_store.put(png("blue"), "b").sha256
    site.people.ask(FORM, [unit("a", needed=1, images={"Image": shown_one})])
    page = shown(site)
    ana, ben = site.visitor("ana"), site.visitor("ben")
    assert ana.http.get(f"{page.url.path}/image/{shown_one}").content == png()
    assert ana.http.get(f"{page.url.path}/image/{other}").status_code == 404
    assert ana.http.get(f"{page.url.path}/image/..%2f..%2fpages.key").status_code == 404
    assert ben.http.get(f"{page.url.path}/image/{shown_one}").status_code == 404
    assert ben.http.get(page.url.path).status_code == 404


def test_what_browsers_would_show_otherwise_is_sent_as_models_see_it(site: Site) -> None:
    gif = io.BytesIO()
    frames = [Image.new("RGB", (4, 4), colour) for colour in ("red", "blue")]
    frames[0].save(gif, "GIF", save_all=True, append_images=frames[1:])
    sha256 = ImageStore(folder=str(site.images)).put(gif.getvalue(), "a").sha256
    site.people.ask(FORM, [unit("a", images={"Image": sha256})])
    sent = site.visitor("ana").http.get(f"{shown(site).url.path}/image/{sha256}")
    assert sent.headers["content-type"] == "image/png"
    assert Image.open(io.BytesIO(sent.content)).getpixel((0, 0)) == (255, 0, 0)

"""Pictures of few pixels, and what is seen of them."""

from PIL import Image

from bench_assets.core.images.decoding import decode


def row(data):
    picture = decode(data).picture
    assert picture.mode == "RGB"
    return [picture.getpixel((x, 0)) for x in range(picture.width)]


def greys(data):
    assert all(red == green == blue for red, green, blue in row(data))
    return [red for red, _, _ in row(data)]


def of(mode, *pixels, palette=()):
    picture = Image.new(mode, (len(pixels), 1))
    for x, pixel in enumerate(pixels):
        picture.putpixel((x, 0), pixel)
    if palette:
        picture.putpalette(palette)
    return picture

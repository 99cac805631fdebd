"""Images of few pixels, and what is seen of them."""

from PIL import Image

from bench_assets.core.images.decoding import decode


def row(data):
    image = decode(data).image
    assert image.mode == "RGB"
    return [image.getpixel((x, 0)) for x in range(image.width)]


def greys(data):
    assert all(red == green == blue for red, green, blue in row(data))
    return [red for red, _, _ in row(data)]


def of(mode, *pixels, palette=()):
    image = Image.new(mode, (len(pixels), 1))
    for x, pixel in enumerate(pixels):
        image.putpixel((x, 0), pixel)
    if palette:
        image.putpalette(palette)
    return image

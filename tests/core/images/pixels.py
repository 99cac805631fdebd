from PIL import Image

from bench_assets.core.images.decoding import decode


def decoded_row(data):
    """The RGB pixels of the first row of an encoded image."""
    image = decode(data).image
    assert image.mode == "RGB"
    return [image.getpixel((x, 0)) for x in range(image.width)]


def decoded_greys(data):
    """The levels of the first row of an encoded grey image."""
    pixels = decoded_row(data)
    assert all(red == green == blue for red, green, blue in pixels)
    return [red for red, _, _ in pixels]


def row_image(mode, *pixels, palette=()):
    image = Image.new(mode, (len(pixels), 1))
    for x, pixel in enumerate(pixels):
        image.putpixel((x, 0), pixel)
    if palette:
        image.putpalette(palette)
    return image

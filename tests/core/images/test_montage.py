import io

from PIL import Image

from bench_assets.core.images.drawing import concatenate_images, encode_jpeg


def test_images_stand_in_a_row_on_black_with_10_px_between_them():
    """A red one of 4 x 20 px and a blue one of 6 x 10 px, which hangs 5 px below the top."""
    row = concatenate_images([Image.new("RGB", (4, 20), "red"), Image.new("RGB", (6, 10), "blue")])
    assert row.size == (4 + 10 + 6, 20)
    red, black, blue = (255, 0, 0), (0, 0, 0), (0, 0, 255)
    assert [row.getpixel(at) for at in ((3, 0), (3, 19))] == [red, red]
    assert [row.getpixel(at) for at in ((4, 10), (13, 10))] == [black, black]
    assert [row.getpixel(at) for at in ((14, 4), (14, 5), (19, 14), (14, 15))] == [
        black,
        blue,
        blue,
        black,
    ]


def test_one_image_stays_as_it_is():
    image = Image.new("RGB", (3, 2), "white")
    assert concatenate_images([image]).tobytes() == image.tobytes()


def test_a_row_is_stored_as_the_same_bytes_each_time():
    image = Image.new("RGB", (30, 20), "orange")
    with Image.open(io.BytesIO(encode_jpeg(image))) as stored:
        assert (stored.format, stored.size) == ("JPEG", (30, 20))
        # At quality 95 a tenth of the standard's steps, which begin with 16; colours at full size.
        assert stored.quantization[0][0] == 2
        assert [sampling[1:3] for sampling in stored.layer] == [(1, 1)] * 3
    assert encode_jpeg(image) == encode_jpeg(image.copy())

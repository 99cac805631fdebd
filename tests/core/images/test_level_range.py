"""The range of levels, by pencil."""

from PIL import Image

from bench_assets.core.images.level_range import level_range


def test_the_range_is_over_sixty_four_cells_a_side():
    image = Image.new("RGB", (192, 192), "black")  # cells of 3 x 3 px
    image.paste((255, 255, 255), (93, 93, 96, 96))  # one whole cell
    assert level_range(image) == 255

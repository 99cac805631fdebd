from PIL import Image

from bench_assets.core.images.level_range import level_range


def test_one_of_64_x_64_cells_counts_in_the_range():
    image = Image.new("RGB", (192, 192), "black")  # cells of 3 x 3 px
    image.paste((255, 255, 255), (93, 93, 96, 96))  # one whole cell
    assert level_range(image) == 255

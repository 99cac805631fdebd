"""The OCR engine on drawn images; the one test here that runs a neural network."""

import io

from PIL import Image

from bench_assets.suites.multi.construction.markup import author, recognise
from bench_assets.suites.multi.synthetic.edition import draw


def drawn(**figure):
    return Image.open(io.BytesIO(draw(figure)))


def test_the_engine_reads_a_table_and_finds_nothing_where_nothing_is_written():
    table = drawn(kind="table", rows=[["T", "20", "40"], ["S", "32", "64"]])
    shapes = drawn(kind="forms", forms=[["rectangle", "red"], ["triangle", "blue"]])
    assert recognise([table, shapes]) == ["T、20、40、S、32、64", ""]
    assert author().startswith("rapidocr 3")

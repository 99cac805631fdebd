"""The map of two collections; UMAP itself takes half a minute to compile and is not run here."""

import xml.etree.ElementTree as ET

import numpy as np

from bench_assets.suites.journeybench.diversity.measures import (
    OURS,
    THEIRS,
    MapPoint,
    as_svg,
    place,
)


def test_a_few_images_stand_on_a_line():
    assert place(np.ones((3, 8), np.float32), seed=1).tolist() == [[0, 0], [1, 0], [2, 0]]


def test_the_drawing_has_a_dot_a_image_and_escapes_names():
    points = [
        MapPoint(image_id="<a>", image="1", collection=OURS, x=0.0, y=0.0),
        MapPoint(image_id="b", image="2", collection=THEIRS, x=5.0, y=1.0),
    ]
    drawing = ET.fromstring(as_svg(points))
    name = "{http://www.w3.org/2000/svg}"
    titles = [dot[0].text for dot in drawing.iter(f"{name}circle")]
    assert titles == ["<a>", "b"]
    assert [text.text for text in drawing.iter(f"{name}text")] == [OURS, THEIRS]

"""All builders, all EXIF orientations: gold against a computation of its own.

Images are drawn upright, then stored turned, by NumPy, with the EXIF orientation that turns them
back; points of the stored image are found as marked pixels.
"""

from dataclasses import replace
from random import Random

import numpy as np
import pytest
from PIL import Image

from bench_assets.core.images.decoding import decode
from bench_assets.suites.blink.builders.drafts import Marks
from bench_assets.suites.blink.construction.recipes import RECIPES
from tests.fakes.turned_images import STORED, turn
from tests.suites.blink.builders import layouts
from tests.suites.blink.builders.layouts import drafts, reasons, seen

MIRRORED = (2, 4, 5, 7)
WIDE, HIGH = 400, 300
PLACES = [(40, 50), (350, 60), (60, 240), (330, 230), (200, 150)]  # px, far from each other
OTHERS = [(60, 40), (330, 80), (90, 250), (300, 260), (180, 120)]


def picture(path, orientation, seed=0):
    layouts.speckled(path, seed, (WIDE, HIGH))
    turn(path, orientation)


def stored_point(point, orientation, size=(WIDE, HIGH)):
    """Where a point of the upright image lies in the stored one: found as a marked pixel."""
    canvas = np.zeros((size[1], size[0]), bool)
    canvas[min(round(point[1]), size[1] - 1), min(round(point[0]), size[0] - 1)] = True
    ((row, column),) = np.argwhere(STORED[orientation](canvas))
    return int(column), int(row)


def stored_size(orientation):
    return (WIDE, HIGH) if orientation < 5 else (HIGH, WIDE)


def build(task, folder):
    return list(RECIPES[task].build(folder, Random(0)))


def near(scale, point):
    return pytest.approx([scale * at for at in point], abs=4)


MARKS = Marks(height=512, radius=5)  # a quarter of the paper's pixels
SCALE = MARKS.height / HIGH


@pytest.fixture(params=(1, 3, 5, 6))
def orientation(request):
    """Four of eight: upright, turned, mirrored, on its side."""
    return request.param


@pytest.fixture(params=["as stored", "as shown"])
def stated(request, orientation):
    """In which pixels an annotation with a size is; the size tells only where sides change."""
    if request.param == "as shown" and orientation < 5:
        pytest.skip("both sizes are the same: annotations are of the stored pixels")
    return 1 if request.param == "as shown" else orientation


def test_relative_depth(tmp_path, orientation, stated, circles):
    """The first point is closer."""
    picture(tmp_path / "a.png", orientation)
    (x_a, y_a), (x_b, y_b) = (stored_point(point, stated) for point in PLACES[:2])
    width, height = stored_size(stated)
    line = f"{y_a + 1},{x_a + 1},{y_b + 1},{x_b + 1},<,{width},{height}"
    layouts.write(tmp_path / "DIW_test.csv", f"a.png\n{line}\n")
    (draft,) = drafts(build("Relative_Depth", tmp_path))
    for place in (0, 1):
        (image,) = draft.show(place, MARKS).images
        assert seen(image).size == (683, 512)  # of 400 x 300 px
        assert circles[-1]["AB"[place]] == near(SCALE, PLACES[0])
        assert circles[-1]["BA"[place]] == near(SCALE, PLACES[1])


def test_relative_reflectance(tmp_path, orientation, circles):
    """Shares of width and height of the stored image; the second point is darker."""
    layouts.image(tmp_path / "data/a.png", (WIDE, HIGH), (80, 80, 80))
    turn(tmp_path / "data/a.png", orientation)
    width, height = stored_size(orientation)
    points = [
        {"id": nth, "x": x / width, "y": y / height, "opaque": True}
        for nth, (x, y) in enumerate(stored_point(point, orientation) for point in PLACES[:2])
    ]
    judged = {"point1": 0, "point2": 1, "darker": "2", "darker_score": 1.0}
    content = {"intrinsic_points": points, "intrinsic_comparisons": [judged]}
    layouts.write_json(tmp_path / "data/a.json", content)
    (draft,) = drafts(build("Relative_Reflectance", tmp_path))
    assert (draft.places, draft.marks.colour) == ((0, 1), "white")
    for place in draft.places:
        shown = draft.show(place, replace(draft.marks, height=512, radius=5))
        assert circles[-1]["AB"[place]] == near(SCALE, PLACES[1])
        assert circles[-1]["BA"[place]] == near(SCALE, PLACES[0])
        assert shown.options == ("A is darker", "B is darker", "About the same")


def test_object_localization(tmp_path, orientation, stated):
    """The object is a white rectangle."""
    path = tmp_path / "val2017/1.png"
    path.parent.mkdir()
    pixels = np.zeros((HIGH, WIDE, 3), np.uint8)
    pixels[60:200, 70:270] = 255
    Image.fromarray(pixels).save(path)
    turn(path, orientation)
    corners = [stored_point(point, stated) for point in ((70, 60), (270, 200))]
    (left, right), (top, bottom) = (sorted(at) for at in zip(*corners, strict=True))
    width, height = stored_size(stated)
    box = {"bbox": [left, top, right - left, bottom - top], "area": 200 * 140}
    address = "http://images.cocodataset.org/val2017/1.png"
    content = {
        "images": [{"id": 1, "coco_url": address, "width": width, "height": height}],
        "annotations": [{"id": 3, "image_id": 1, "category_id": 2, **box}],
        "categories": [{"id": 2, "name": "sheet"}],
    }
    layouts.write_json(tmp_path / "lvis_v1_val.json", content)
    (draft,) = drafts(build("Object_Localization", tmp_path))
    shown = np.asarray(seen(draft.show(0, MARKS).images[0])).astype(int)
    red = np.argwhere((shown[..., 0] > 200) & (shown[..., 1] < 80) & (shown[..., 2] < 80))
    (top, left), (bottom, right) = red.min(axis=0), red.max(axis=0)
    assert (left, top) == near(SCALE, (70, 60))
    assert (right, bottom) == near(SCALE, (270, 200))


def tools(folder, orientation, stated, size):
    """Two tools whose n-th points do the same; ``size`` says whether the entries state it."""
    entries = []
    for name, points in (("hammer", PLACES), ("pot", OTHERS)):
        picture(folder / f"{name}.png", orientation, seed=len(name))
        entry = {"image": f"{name}.png", "object": name, "action": "Mash"}
        width, height = stored_size(stated)
        sized = {"width": width, "height": height} if size else {}
        marked = [stored_point(point, stated) for point in points]
        entries.append(entry | sized | {"points": marked})
    layouts.write_json(folder / "annotations.json", entries)


def animals(folder, orientation, stated, size):
    """Two cats whose n-th points correspond."""
    pair: dict[str, object] = {"src_imname": "a.png", "trg_imname": "b.png", "category": "cat"}
    for side, points in (("src", PLACES), ("trg", OTHERS)):
        name = str(pair[f"{side}_imname"])
        picture(folder / "JPEGImages/cat" / name, orientation, seed=ord(name[0]))
        pair[f"{side}_kps"] = [stored_point(point, stated) for point in points]
        if size:
            pair[f"{side}_imsize"] = [*stored_size(stated), 3]
    layouts.write_json(folder / "PairAnnotation/test/p.json", pair)


LAYOUTS = {"Functional_Correspondence": tools, "Semantic_Correspondence": animals}


@pytest.mark.parametrize("task", LAYOUTS)
@pytest.mark.parametrize("size", [True, False], ids=["with a size", "without"])
def test_key_points(tmp_path, orientation, stated, task, size, circles):
    if not size and stated != orientation:
        pytest.skip("an annotation without a size is of the stored pixels")
    LAYOUTS[task](tmp_path, orientation, stated, size)
    (draft,) = drafts(build(task, tmp_path))
    by_file = {"hammer": PLACES, "pot": OTHERS, "a": PLACES, "b": OTHERS}
    first, second = (by_file[file.stem] for file in draft.originals)
    draft.show(2, MARKS)
    reference = np.array(circles[0]["REF"]) / SCALE
    nth = int(np.linalg.norm(np.array(first) - reference, axis=1).argmin())
    assert reference == pytest.approx(first[nth], abs=2)
    assert circles[1]["C"] == near(SCALE, second[nth])


def test_visual_correspondence(tmp_path, orientation, circles):
    """Image 2 is moved by (30, 10); its homography is of stored pixels, taken from four points."""
    import cv2

    for number, shift in (("1", (0, 0)), ("2", (30, 10))):
        layouts.squares(layouts.image(tmp_path / f"v/{number}.png"), *shift)
        turn(tmp_path / f"v/{number}.png", orientation)
    corners = [(50, 50), (400, 60), (70, 420), (410, 430)]
    before = [stored_point(p, orientation, (512, 512)) for p in corners]
    after = [stored_point((x + 30, y + 10), orientation, (512, 512)) for x, y in corners]
    matrix = cv2.getPerspectiveTransform(np.array(before, np.float32), np.array(after, np.float32))
    layouts.write(tmp_path / "v/H_1_2", "\n".join(" ".join(map(str, row)) for row in matrix))
    (draft,) = drafts(build("Visual_Correspondence", tmp_path))
    draft.show(1, MARKS)
    forwards = draft.originals[0].stem == "1"
    x, y = circles[0]["REF"]
    expected = (x + 30, y + 10) if forwards else (x - 30, y - 10)
    assert circles[1]["B"] == pytest.approx(expected, abs=2)


def test_jigsaw(tmp_path, orientation):
    """The right piece is the centre of the upright photograph."""
    picture(tmp_path / "a.png", orientation, seed=1)
    (draft,) = drafts(build("Jigsaw", tmp_path))
    upright = decode((tmp_path / "a.png").read_bytes()).image
    centre = upright.crop((133, 100, 266, 200)).resize((64, 64))
    corner, piece, _ = (seen(data) for data in draft.show(0, MARKS).images)
    assert corner.size[0] > corner.size[1]
    difference = np.asarray(piece.resize((64, 64)), float) - np.asarray(centre, float)
    assert np.abs(difference).mean() < 12


@pytest.mark.parametrize("second", [1, 2], ids=["alike", "one is mirrored"])
def test_multi_view_reasoning(tmp_path, orientation, second):
    """The camera goes to its right; in a mirrored world it goes to the left."""
    layouts.turn_around(tmp_path)
    other = orientation if second == 1 else {1: 2, 2: 1}.get(orientation, orientation % 8 + 1)
    folder = tmp_path / "test_set/mug/0001/2/images"
    for name, turned in (("00000.jpg", orientation), ("00001.jpg", other)):
        turn(folder / name, turned)
    made = build("Multi-view_Reasoning", tmp_path)
    if (orientation in MIRRORED) != (other in MIRRORED):
        assert drafts(made) == []
        assert "one of two frames is mirrored" in reasons(made)[0]
        return
    (draft,) = drafts(made)
    to_the_right = draft.show(1, MARKS).images
    files = [(folder / name).read_bytes() for name in ("00000.jpg", "00001.jpg")]
    assert list(to_the_right) == (files[::-1] if orientation in MIRRORED else files)


WHOLE = {
    "Art_Style": lambda folder: layouts.wikiart(folder, Cubism=2, Pop_Art=1),
    "Counting": layouts.tallyqa,
    "Forensic_Detection": layouts.forensics,
    "IQ_Test": layouts.puzzles,
    "Spatial_Relation": lambda folder: layouts.vsr(folder, vote_false_validator_id=[]),
    "Visual_Similarity": layouts.nights,
}


@pytest.mark.parametrize("task", WHOLE)
def test_images_as_they_are_keep_their_bytes(tmp_path, orientation, task):
    """Nothing of these annotations is a place: the image is shown upright wherever it is shown."""
    WHOLE[task](tmp_path)
    for file in [one for one in tmp_path.rglob("*") if one.suffix in (".png", ".jpg")]:
        turn(file, orientation)
    (draft,) = drafts(build(task, tmp_path))
    shown = draft.show(draft.places[0], MARKS).images
    assert {*shown} <= {file.read_bytes() for file in draft.originals}

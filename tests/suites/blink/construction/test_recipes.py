"""All builders on images in all EXIF orientations: the gold is computed independently.

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
from tests.suites.blink.builders.layouts import decode_image, drafts, rejection_reasons

MIRRORED = (2, 4, 5, 7)
WIDE, HIGH = 400, 300
POINTS = [(40, 50), (350, 60), (60, 240), (330, 230), (200, 150)]  # px, far from each other
OTHER_POINTS = [(60, 40), (330, 80), (90, 250), (300, 260), (180, 120)]


def write_picture(path, orientation, seed=0):
    layouts.write_speckled_image(path, seed, (WIDE, HIGH))
    turn(path, orientation)


def stored_point(point, orientation, size=(WIDE, HIGH)):
    """Map a point of the upright image to the stored one by following a marked pixel."""
    canvas = np.zeros((size[1], size[0]), bool)
    canvas[min(round(point[1]), size[1] - 1), min(round(point[0]), size[0] - 1)] = True
    ((row, column),) = np.argwhere(STORED[orientation](canvas))
    return int(column), int(row)


def stored_size(orientation):
    return (WIDE, HIGH) if orientation < 5 else (HIGH, WIDE)


def build_candidates(task, folder):
    return list(RECIPES[task].build(folder, Random(0)))


MARKS = Marks(height=512, radius=5)  # a quarter of the paper's pixels
SCALE = MARKS.height / HIGH


def near_scaled(point):
    """A point of the original in px of the image as it is shown, to 4 px."""
    return pytest.approx([SCALE * coordinate for coordinate in point], abs=4)


@pytest.fixture(params=(1, 3, 5, 6))
def orientation(request):
    """Four of eight: upright, turned, mirrored, on its side."""
    return request.param


@pytest.fixture(params=["as stored", "as shown"])
def annotation_orientation(request, orientation):
    """The orientation of the pixels in which an annotation with a size is."""
    if request.param == "as shown" and orientation < 5:
        pytest.skip("both sizes are the same: annotations are of the stored pixels")
    return 1 if request.param == "as shown" else orientation


def test_circles_of_relative_depth_are_at_the_upright_points(
    tmp_path, orientation, annotation_orientation, circles
):
    """The first point is closer."""
    write_picture(tmp_path / "a.png", orientation)
    (x_a, y_a), (x_b, y_b) = (stored_point(point, annotation_orientation) for point in POINTS[:2])
    width, height = stored_size(annotation_orientation)
    line = f"{y_a + 1},{x_a + 1},{y_b + 1},{x_b + 1},<,{width},{height}"
    layouts.write_text(tmp_path / "DIW_test.csv", f"a.png\n{line}\n")
    (draft,) = drafts(build_candidates("Relative_Depth", tmp_path))
    for place in (0, 1):
        (image,) = draft.show(place, MARKS).images
        assert decode_image(image).size == (683, 512)  # of 400 x 300 px
        assert circles[-1]["AB"[place]] == near_scaled(POINTS[0])
        assert circles[-1]["BA"[place]] == near_scaled(POINTS[1])


def test_circles_of_relative_reflectance_are_at_the_upright_points(tmp_path, orientation, circles):
    """Shares of width and height of the stored image; the second point is darker."""
    layouts.write_image(tmp_path / "data/a.png", (WIDE, HIGH), (80, 80, 80))
    turn(tmp_path / "data/a.png", orientation)
    width, height = stored_size(orientation)
    points = []
    for nth, point in enumerate(POINTS[:2]):
        x, y = stored_point(point, orientation)
        points.append({"id": nth, "x": x / width, "y": y / height, "opaque": True})
    comparison = {"point1": 0, "point2": 1, "darker": "2", "darker_score": 1.0}
    content = {"intrinsic_points": points, "intrinsic_comparisons": [comparison]}
    layouts.write_json(tmp_path / "data/a.json", content)
    (draft,) = drafts(build_candidates("Relative_Reflectance", tmp_path))
    assert (draft.places, draft.marks.colour) == ((0, 1), "white")
    for place in draft.places:
        view = draft.show(place, replace(draft.marks, height=512, radius=5))
        assert circles[-1]["AB"[place]] == near_scaled(POINTS[1])
        assert circles[-1]["BA"[place]] == near_scaled(POINTS[0])
        assert view.options == ("A is darker", "B is darker", "About the same")


def test_a_box_of_object_localization_is_around_the_upright_object(
    tmp_path, orientation, annotation_orientation
):
    """The object is a white rectangle."""
    path = tmp_path / "val2017/1.png"
    path.parent.mkdir()
    pixels = np.zeros((HIGH, WIDE, 3), np.uint8)
    pixels[60:200, 70:270] = 255
    Image.fromarray(pixels).save(path)
    turn(path, orientation)
    x1, y1 = stored_point((70, 60), annotation_orientation)
    x2, y2 = stored_point((270, 200), annotation_orientation)
    width, height = stored_size(annotation_orientation)
    bbox = [min(x1, x2), min(y1, y2), abs(x2 - x1), abs(y2 - y1)]
    address = "http://images.cocodataset.org/val2017/1.png"
    content = {
        "images": [{"id": 1, "coco_url": address, "width": width, "height": height}],
        "annotations": [
            {"id": 3, "image_id": 1, "category_id": 2, "bbox": bbox, "area": 200 * 140}
        ],
        "categories": [{"id": 2, "name": "sheet"}],
    }
    layouts.write_json(tmp_path / "lvis_v1_val.json", content)
    (draft,) = drafts(build_candidates("Object_Localization", tmp_path))
    with_box, *_ = draft.show(0, MARKS).images
    red, green, blue = decode_image(with_box).split()
    is_red = (np.asarray(red) > 200) & (np.asarray(green) < 80) & (np.asarray(blue) < 80)
    red_pixels = np.argwhere(is_red)
    (top, left), (bottom, right) = red_pixels.min(axis=0), red_pixels.max(axis=0)
    assert (left, top) == near_scaled((70, 60))
    assert (right, bottom) == near_scaled((270, 200))


def write_tools(folder, orientation, annotation_orientation, *, has_size):
    """Two tools whose n-th points do the same; ``has_size``: their rows state the image's size."""
    rows = []
    for name, points in (("hammer", POINTS), ("pot", OTHER_POINTS)):
        write_picture(folder / f"{name}.png", orientation, seed=len(name))
        row: dict[str, object] = {"image": f"{name}.png", "object": name, "action": "Mash"}
        row["points"] = [stored_point(point, annotation_orientation) for point in points]
        if has_size:
            row["width"], row["height"] = stored_size(annotation_orientation)
        rows.append(row)
    layouts.write_json(folder / "annotations.json", rows)


def write_animals(folder, orientation, annotation_orientation, *, has_size):
    """Two cats whose n-th points correspond."""
    pair: dict[str, object] = {"src_imname": "a.png", "trg_imname": "b.png", "category": "cat"}
    for role, name, points in (("src", "a.png", POINTS), ("trg", "b.png", OTHER_POINTS)):
        write_picture(folder / "JPEGImages/cat" / name, orientation, seed=ord(name[0]))
        pair[f"{role}_kps"] = [stored_point(point, annotation_orientation) for point in points]
        if has_size:
            pair[f"{role}_imsize"] = [*stored_size(annotation_orientation), 3]
    layouts.write_json(folder / "PairAnnotation/test/p.json", pair)


LAYOUTS = {"Functional_Correspondence": write_tools, "Semantic_Correspondence": write_animals}
POINTS_BY_IMAGE = {"hammer": POINTS, "pot": OTHER_POINTS, "a": POINTS, "b": OTHER_POINTS}


@pytest.mark.parametrize("task", LAYOUTS)
@pytest.mark.parametrize("has_size", [True, False], ids=["with a size", "without"])
def test_the_right_option_of_a_correspondence_circles_the_same_key_point(
    tmp_path, orientation, annotation_orientation, task, has_size, circles
):
    if not has_size and annotation_orientation != orientation:
        pytest.skip("an annotation without a size is of the stored pixels")
    LAYOUTS[task](tmp_path, orientation, annotation_orientation, has_size=has_size)
    (draft,) = drafts(build_candidates(task, tmp_path))
    first, second = (POINTS_BY_IMAGE[file.stem] for file in draft.originals)
    draft.show(2, MARKS)
    on_first, on_second = circles
    assert (on_first["REF"], on_second["C"]) in [
        (near_scaled(point), near_scaled(match)) for point, match in zip(first, second, strict=True)
    ]


def test_circles_of_visual_correspondence_follow_the_homography(tmp_path, orientation, circles):
    """Image 2 is moved by (30, 10); its homography is of stored pixels, taken from four points."""
    import cv2

    for number, shift in (("1", (0, 0)), ("2", (30, 10))):
        layouts.write_squares(layouts.write_image(tmp_path / f"v/{number}.png"), *shift)
        turn(tmp_path / f"v/{number}.png", orientation)
    corners = [(50, 50), (400, 60), (70, 420), (410, 430)]
    before = [stored_point(p, orientation, (512, 512)) for p in corners]
    after = [stored_point((x + 30, y + 10), orientation, (512, 512)) for x, y in corners]
    matrix = cv2.getPerspectiveTransform(np.array(before, np.float32), np.array(after, np.float32))
    layouts.write_text(tmp_path / "v/H_1_2", "\n".join(" ".join(map(str, row)) for row in matrix))
    (draft,) = drafts(build_candidates("Visual_Correspondence", tmp_path))
    draft.show(1, MARKS)
    forwards = draft.originals[0].stem == "1"
    x, y = circles[0]["REF"]
    expected = (x + 30, y + 10) if forwards else (x - 30, y - 10)
    assert circles[1]["B"] == pytest.approx(expected, abs=2)


def test_the_right_piece_of_a_jigsaw_is_the_upright_centre(tmp_path, orientation):
    write_picture(tmp_path / "a.png", orientation, seed=1)
    (draft,) = drafts(build_candidates("Jigsaw", tmp_path))
    upright = decode((tmp_path / "a.png").read_bytes()).image
    centre = upright.crop((133, 100, 266, 200)).resize((64, 64))  # the middle third
    _, piece, _ = (decode_image(data) for data in draft.show(0, MARKS).images)
    difference = np.asarray(piece.resize((64, 64)), float) - np.asarray(centre, float)
    assert np.abs(difference).mean() < 12  # of 255 levels: the piece is scaled twice


def write_turned_frames(folder, *orientations):
    """A video whose camera goes to its right, with its frames in these orientations."""
    layouts.write_turning_camera(folder)
    files = sorted((folder / "test_set/mug/0001/2/images").iterdir())
    for file, orientation in zip(files, orientations, strict=True):
        turn(file, orientation)
    return files


def test_frames_of_multi_view_reasoning_turn_the_way_of_the_answer(tmp_path, orientation):
    """The camera goes to its right; in a mirrored world it goes to the left."""
    files = write_turned_frames(tmp_path, orientation, orientation)
    (draft,) = drafts(build_candidates("Multi-view_Reasoning", tmp_path))
    in_order = files[::-1] if orientation in MIRRORED else files
    assert draft.show(1, MARKS).images == tuple(file.read_bytes() for file in in_order)


@pytest.mark.parametrize("orientations", [(1, 2), (3, 4), (5, 6), (6, 7)])
def test_two_frames_of_which_one_is_mirrored_are_refused(tmp_path, orientations):
    write_turned_frames(tmp_path, *orientations)
    candidates = build_candidates("Multi-view_Reasoning", tmp_path)
    assert drafts(candidates) == []
    assert "one of two frames is mirrored" in rejection_reasons(candidates)[0]


UNMARKED_LAYOUTS = {
    "Art_Style": lambda folder: layouts.write_wikiart(folder, Cubism=2, Pop_Art=1),
    "Counting": layouts.write_tallyqa,
    "Forensic_Detection": layouts.write_forensics,
    "IQ_Test": layouts.write_puzzles,
    "Spatial_Relation": lambda folder: layouts.write_vsr(folder, vote_false_validator_id=[]),
    "Visual_Similarity": layouts.write_nights,
}


@pytest.mark.parametrize("task", UNMARKED_LAYOUTS)
def test_images_without_coordinates_keep_their_bytes(tmp_path, orientation, task):
    """These annotations hold no coordinates; viewers show the image upright."""
    UNMARKED_LAYOUTS[task](tmp_path)
    for file in [*tmp_path.rglob("*.png"), *tmp_path.rglob("*.jpg")]:
        turn(file, orientation)
    (draft,) = drafts(build_candidates(task, tmp_path))
    images = draft.show(draft.places[0], MARKS).images
    assert set(images) == {file.read_bytes() for file in draft.originals}

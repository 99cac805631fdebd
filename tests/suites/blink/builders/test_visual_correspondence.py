from random import Random

import pytest
from PIL import Image, ImageDraw

from bench_assets.core.schema.errors import SourceError
from bench_assets.suites.blink.builders.visual_correspondence import build
from bench_assets.suites.blink.dataset.draft import Marks
from tests.suites.blink.builders.layouts import circled, drafts, image, lettered, reasons, write

SHIFTS = {"1": (0, 0), "2": (30, 10), "3": (50, -5)}  # px, of the plane in each image


def shifted(columns, rows):
    return f"1 0 {columns}\n0 1 {rows}\n0 0 1\n"


def squares(path, columns, rows):
    """White squares on black: every corner of a square is an interest point."""
    plane = Image.new("RGB", (512, 512))
    pen = ImageDraw.Draw(plane)
    for x, y in ((120, 120), (300, 140), (150, 300), (320, 330)):
        pen.rectangle((x + columns, y + rows, x + columns + 60, y + rows + 60), fill="white")
    plane.save(path)


@pytest.fixture
def hpatches(tmp_path):
    sequence = tmp_path / "v_squares"
    sequence.mkdir()
    for number, shift in SHIFTS.items():
        squares(sequence / f"{number}.ppm", *shift)
        if number != "1":
            write(sequence / f"H_1_{number}", shifted(*shift))
    return tmp_path


@pytest.mark.parametrize("seed", range(6))
def test_the_match_is_where_the_homographies_take_the_reference(hpatches, seed):
    (draft,) = drafts(build(hpatches, Random(seed)))
    first, second = draft.originals
    (reference,), (match, *others) = draft.points[first], draft.points[second]
    before, after = SHIFTS[first.stem], SHIFTS[second.stem]
    assert match == pytest.approx(
        (reference[0] + after[0] - before[0], reference[1] + after[1] - before[1])
    )
    assert len({match, *others}) == 4


def test_a_sequence_gives_disjoint_pairs_one_of_each_sequence_first(tmp_path):
    """116 sequences of six images give 348 pairs; the paper has 344 questions."""
    for name in ("v_one", "v_two"):
        for number in "123456":
            squares(image(tmp_path / name / f"{number}.ppm", (512, 512)), 0, 0)
            if number != "1":
                write(tmp_path / name / f"H_1_{number}", shifted(0, 0))
    made = drafts(build(tmp_path, Random(0)))
    assert len({file for draft in made for file in draft.originals}) == 2 * len(made) == 12
    assert [{made[n].scene, made[n + 1].scene} for n in (0, 2, 4)] == 3 * [{"v_one", "v_two"}]


def test_circles_stand_at_twice_the_place_when_the_image_is_half_as_high_as_shown(hpatches):
    (draft,) = drafts(build(hpatches, Random(0)))
    first, second = draft.originals
    shown = draft.show(2, Marks())
    reference, match = draft.points[first][0], draft.points[second][0]
    assert circled(shown.images[0]) == pytest.approx([2 * at for at in reference], abs=1.5)
    assert lettered(shown.images[1], "ABCD")["C"] == pytest.approx(
        [2 * at for at in match], abs=1.5
    )


def test_the_question_names_the_colour_that_circles_have(hpatches):
    (draft,) = drafts(build(hpatches, Random(0)))
    assert "multiple red-circled points" in draft.show(0, Marks()).prompt
    assert "multiple gray-circled points" in draft.show(0, Marks(colour="gray")).prompt


def test_a_blank_wall_is_refused(tmp_path):
    for number in "12":
        image(tmp_path / "i_wall" / f"{number}.ppm")
    write(tmp_path / "i_wall" / "H_1_2", shifted(0, 0))
    assert reasons(build(tmp_path, Random(0))) == [
        "no four of 0 interest points lie in both, far enough apart"
    ]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        pytest.param(None, "H_1_2: cannot be read", id="missing"),
        pytest.param("1 0 0\n0 1 0\n", "H_1_2: expected three lines of three", id="a line short"),
        pytest.param("a b c\n", "H_1_2: not a table of numbers", id="words"),
        pytest.param("1 0 0\n1 0 0\n0 0 1\n", "H_1_2: not a homography", id="it maps to a line"),
        pytest.param("1 0 nan\n0 1 0\n0 0 1\n", "H_1_2: expected three", id="not a number"),
    ],
)
def test_a_homography_that_is_none_is_named(tmp_path, text, complaint):
    for number in "12":
        squares((tmp_path / f"{number}.ppm"), 0, 0)
    sequence = tmp_path / "all" / "v_squares"
    sequence.mkdir(parents=True)
    for number in "12":
        (tmp_path / f"{number}.ppm").rename(sequence / f"{number}.ppm")
    if text is not None:
        write(sequence / "H_1_2", text)
    with pytest.raises(SourceError, match=complaint):
        list(build(tmp_path / "all", Random(0)))


def test_a_folder_without_sequences_is_named(tmp_path):
    with pytest.raises(SourceError, match="expected folders in it, found none"):
        list(build(tmp_path, Random(0)))


def test_a_image_that_is_torn_is_refused_by_name(hpatches):
    for number in "123":
        (hpatches / "v_squares" / f"{number}.ppm").write_bytes(b"torn")
    (reason,) = reasons(build(hpatches, Random(0)))
    assert "ppm: not an image" in reason

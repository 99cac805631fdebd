"""Specialist baselines (section 4.3): circle detection, OpenCV solvers, a chat model of them."""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise, permutations
from math import dist
from typing import Literal, NamedTuple, TypeAlias

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from bench_assets.core.images.drawing import Point
from bench_assets.core.schema.chat import Request, Response
from bench_assets.core.schema.errors import ModelError

Pixels: TypeAlias = NDArray[np.uint8]  # height, width, RGB
Ink: TypeAlias = NDArray[np.float32]  # height, width: similarity to the pen's colour, in [0, 1]
Colour: TypeAlias = Literal["red", "white"]

_RADIUS = 10 / 1024  # of a circle, as a share of the image's height (appendix A.1)
_SCALES = (1.0, 0.5, 1.5)  # radii to try, relative to _RADIUS; section 4.3 studies three
_MIN_CONTRAST = 0.45  # least contrast of a circle with its surroundings, of 1
_GLYPH = (24, 32)  # px, width and height at which letters are compared


def find_circles(image: Pixels, count: int, colour: Colour) -> list[Point] | None:
    """Find the centres of ``count`` circles, px, clearest first; None if there are fewer."""
    peaks, _ = _circles(ink_of(image, colour), count)
    return peaks or None


def match_letters(image: Pixels, letters: str, colour: Colour) -> dict[str, Point] | None:
    """Match each letter to the circle it labels; None if there are fewer circles than letters."""
    ink = ink_of(image, colour)
    circles, radius = _circles(ink, len(letters))
    if not circles:
        return None
    glyphs = [_glyphs_near(ink > 0.5, circle, radius) for circle in circles]
    likeness = [[_likeness(near, letter) for letter in letters] for near in glyphs]
    best = max(
        permutations(range(len(letters))),
        key=lambda order: sum(likeness[at][nth] for nth, at in enumerate(order)),
    )
    return {letter: circles[at] for letter, at in zip(letters, best, strict=True)}


def ink_of(image: Pixels, colour: Colour) -> Ink:
    """Similarity of each px to the pen's colour, in [0, 1]."""
    red, green, blue = (image[:, :, channel].astype(np.float32) for channel in range(3))
    if colour == "red":
        return np.clip((red - np.maximum(green, blue)) / 200, 0, 1)
    darkest = np.minimum(np.minimum(red, green), blue)
    return np.clip((darkest - 190) / 55, 0, 1)


def _circles(ink: Ink, count: int) -> tuple[list[Point], float]:
    """Find ``count`` circles of one radius: centres and radius in px; no centres if fewer."""
    for scale in _SCALES:
        radius = _RADIUS * scale * ink.shape[0]
        # Far enough apart that a round letter is not mistaken for the circle that it labels.
        peaks = _peaks(_ring_response(ink, radius), count, apart=4 * radius)
        if len(peaks) == count:
            return peaks, radius
    return [], 0.0


def _ring_response(ink: Ink, radius: float) -> Ink:
    """Excess of ink on a circle around each px over its inside and outside."""
    reach = int(radius) + 4
    y, x = np.mgrid[-reach : reach + 1, -reach : reach + 1]
    distance = np.hypot(x, y)
    on = (distance <= radius - 0.5) & (distance >= radius * 0.7 + 0.5)
    off = ((distance < radius * 0.7 - 1.5) & (distance > radius * 0.25)) | (
        (distance > radius + 1.5) & (distance <= radius + 3.5)
    )
    if not (on.any() and off.any()):  # too small a circle to be told from its surroundings
        return np.zeros_like(ink)
    kernel = on / on.sum() - off / off.sum()
    response = cv2.filter2D(ink, cv2.CV_32F, kernel.astype(np.float32))
    return np.asarray(response, np.float32)


def _peaks(response: Ink, count: int, apart: float) -> list[Point]:
    left = response.copy()
    peaks: list[Point] = []
    while len(peaks) < count:
        y, x = np.unravel_index(int(left.argmax()), left.shape)
        if left[y, x] < _MIN_CONTRAST:
            break
        peaks.append((float(x), float(y)))
        cv2.circle(left, (int(x), int(y)), round(apart), 0.0, -1)
    return peaks


def _glyphs_near(ink: NDArray[np.bool_], circle: Point, radius: float) -> list[Ink]:
    """Cut out candidate letters near a circle, scaled to ``_GLYPH``."""
    height = ink.shape[0]
    reach = round(radius + 0.045 * height)
    left, top = (max(0, round(at) - reach) for at in circle)
    window = ink[top : top + 2 * reach, left : left + 2 * reach].astype(np.uint8)
    cv2.circle(window, (round(circle[0]) - left, round(circle[1]) - top), round(radius) + 1, 0, -1)
    n, labels, stats, _ = cv2.connectedComponentsWithStats(window, connectivity=8)
    glyphs = []
    for nth in range(1, n):
        x, y, wide, high, _ = stats[nth]
        if 0.012 * height <= high <= 0.06 * height and wide <= 1.5 * high:
            shape = (labels[y : y + high, x : x + wide] == nth).astype(np.float32)
            glyphs.append(_fit_glyph(shape))
    return glyphs


def _likeness(glyphs: Sequence[Ink], letter: str) -> float:
    """Correlation of the most similar glyph with the letter in either font."""
    return max(
        (_correlation(glyph, rendered) for glyph in glyphs for rendered in _render_letter(letter)),
        default=0.0,
    )


def _correlation(one: Ink, other: Ink) -> float:
    a, b = one - one.mean(), other - other.mean()
    return float((a * b).sum() / (np.linalg.norm(a) * np.linalg.norm(b) + 1e-6))


@lru_cache(maxsize=26)
def _render_letter(letter: str) -> list[Ink]:
    """The letter as Pillow writes it, and as OpenCV does."""
    sheet = Image.new("L", (120, 120))
    ImageDraw.Draw(sheet).text((30, 20), letter, fill=255, font=ImageFont.load_default(60))
    other = np.zeros((120, 120), np.uint8)
    cv2.putText(other, letter, (30, 90), cv2.FONT_HERSHEY_SIMPLEX, 2.4, 255, 6)
    return [_fit_glyph((page > 127).astype(np.float32)) for page in (np.asarray(sheet), other)]


def _fit_glyph(shape: Ink) -> Ink:
    """Scale the inked area to one size."""
    ys, xs = np.nonzero(shape)
    tight = shape[ys.min() : ys.max() + 1, xs.min() : xs.max() + 1]
    return np.asarray(cv2.resize(tight, _GLYPH, interpolation=cv2.INTER_AREA), np.float32)


_HOMOGRAPHY_MATCHES = 10  # matches that must agree on a homography
_MOTION_MATCHES = 12  # matches that must agree on the motion
_FOCAL = 1.1  # focal length of a phone's camera, as a share of the image's longer side
_MAX_BLACK = 24  # levels of 255: a mask is not quite black after JPEG
_STEPS = 160  # samples along a path
_LEAST_EDGE = 0.09  # least change of log brightness in one step that is an edge, not shading
_MARK_RADIUS = 0.06  # reach of a circle and its label, as a share of the height
_MAX_EQUAL_CHANGE = 0.25  # change of log brightness below which two surfaces are about the same
PointArray = NDArray[np.float32]  # n, (x, y) px
_HEIGHT = 600  # px, height at which images are matched
_RATIO = 0.8  # largest ratio of the best to the second-best distance (Lowe, 2004)


class Matches(NamedTuple):
    """Matching points of two images, pairwise."""

    first: PointArray
    second: PointArray


def match_features(first: Pixels, second: Pixels) -> Matches:
    """SIFT matches that pass the ratio test."""
    sift = cv2.SIFT.create(nfeatures=1200)
    (first_keypoints, one_scale), (second_keypoints, other_scale) = _grey(first), _grey(second)
    keys, descriptors = sift.detectAndCompute(first_keypoints, None)
    other_keys, other_descriptors = sift.detectAndCompute(second_keypoints, None)
    if len(keys) < 2 or len(other_keys) < 2:
        return Matches(np.empty((0, 2), np.float32), np.empty((0, 2), np.float32))
    pairs = cv2.BFMatcher().knnMatch(descriptors, other_descriptors, k=2)
    good = [best for best, second in pairs if best.distance < _RATIO * second.distance]
    return Matches(
        np.array([keys[m.queryIdx].pt for m in good], np.float32).reshape(-1, 2) * one_scale,
        np.array([other_keys[m.trainIdx].pt for m in good], np.float32).reshape(-1, 2)
        * other_scale,
    )


def _grey(image: Pixels) -> tuple[Pixels, float]:
    """A grey copy of height ``_HEIGHT``, and the px of the image per px of the copy."""
    scale = image.shape[0] / _HEIGHT
    size = (round(image.shape[1] / scale), _HEIGHT)
    smoothing = cv2.INTER_AREA if scale > 1 else cv2.INTER_LINEAR
    sized = cv2.resize(image, size, interpolation=smoothing)
    return np.asarray(cv2.cvtColor(sized, cv2.COLOR_RGB2GRAY), np.uint8), scale


def visual_correspondence(images: Sequence[Pixels]) -> str | None:
    """Letter of the point nearest to REF mapped by a homography of feature matches, or None."""
    first, second = images
    reference = find_circles(first, 1, "red")
    points = match_letters(second, "ABCD", "red")
    if reference is None or points is None:
        return None
    matches = match_features(first, second)
    if len(matches.first) < _HOMOGRAPHY_MATCHES:
        return None
    homography, inliers = cv2.findHomography(matches.first, matches.second, cv2.RANSAC, 4.0)
    if homography is None or int(inliers.sum()) < _HOMOGRAPHY_MATCHES:
        return None
    x, y, w = homography @ np.array([*reference[0], 1.0])
    return min(points, key=lambda letter: dist(points[letter], (x / w, y / w)))


def multi_view_reasoning(images: Sequence[Pixels]) -> str | None:
    """A if the camera moved left between two frames, B if right, by the essential matrix, or None.

    Args:
        images: The first frame and the last.
    """
    first, second = images
    matches = match_features(first, second)
    if len(matches.first) < _MOTION_MATCHES:
        return None
    height, width = first.shape[:2]
    focal = _FOCAL * max(height, width)
    camera = np.array([[focal, 0, width / 2], [0, focal, height / 2], [0, 0, 1]])
    essential, inliers = cv2.findEssentialMat(
        matches.first, matches.second, camera, method=cv2.USAC_MAGSAC, prob=0.999, threshold=0.5
    )
    if essential is None or essential.shape != (3, 3) or int(inliers.sum()) < _MOTION_MATCHES:
        return None
    _, rotation, translation, _ = cv2.recoverPose(
        essential, matches.first, matches.second, camera, mask=inliers
    )
    moved_right = float((-rotation.T @ translation)[0, 0])
    return "B" if moved_right > 0 else "A"


def jigsaw(images: Sequence[Pixels]) -> str | None:
    """Letter of the piece that better continues the edges around the hole, or None without a hole.

    Args:
        images: The image whose lower right corner is black, then the two pieces.
    """
    corner, *pieces = images
    hole = _hole(corner)
    if hole is None:
        return None
    gaps = [_border_distance(corner, hole, piece) for piece in pieces]
    return "AB"[int(np.argmin(gaps))]


def _hole(corner: Pixels) -> tuple[int, int] | None:
    """Column and row where the black corner begins; None without one."""
    black = corner.max(axis=2) <= _MAX_BLACK
    height, width = black.shape
    columns = int(np.argmin(black[-3, ::-1])) or width
    rows = int(np.argmin(black[::-1, -3])) or height
    if not (0.2 * width < columns < 0.8 * width and 0.2 * height < rows < 0.8 * height):
        return None
    return width - columns, height - rows


def _border_distance(corner: Pixels, hole: tuple[int, int], piece: Pixels) -> float:
    """Distance of a piece's borders from those its neighbours predict, in Lab levels."""
    left, top = hole
    size = (corner.shape[1] - left, corner.shape[0] - top)
    around = _lab(corner)
    inner = _lab(np.asarray(cv2.resize(piece, size, interpolation=cv2.INTER_AREA), np.uint8))
    # Two px away from the mask: closer, JPEG blends black into the image.
    left_border, top_border = around[top:, left - 3], around[top - 3, left:]
    across = np.abs(left_border - inner[:, 0]).mean() + np.abs(top_border - inner[0]).mean()
    return float(across)


def _lab(image: Pixels) -> NDArray[np.float32]:
    smooth = cv2.GaussianBlur(image, (0, 0), 1.0)
    return np.asarray(cv2.cvtColor(smooth, cv2.COLOR_RGB2LAB), np.float32)


def relative_reflectance(images: Sequence[Pixels]) -> str | None:
    """A or B for the point with the darker surface, C if about the same, None without circles.

    Retinex: light changes slowly, surfaces change at edges. Small steps of brightness along a path
    between the points are ignored; the rest is the change of surface (Land and McCann, 1971; Horn,
    1974).
    """
    (image,) = images
    points = match_letters(image, "AB", "white")
    if points is None:
        return None
    change = float(np.median([_change(path) for path in _paths(image, points["A"], points["B"])]))
    if abs(change) < _MAX_EQUAL_CHANGE:
        return "C"
    return "A" if change > 0 else "B"


def _change(path: NDArray[np.float64]) -> float:
    steps = np.diff(path)
    return float(steps[np.abs(steps) >= _LEAST_EDGE].sum())


def _paths(image: Pixels, start: Point, end: Point) -> list[NDArray[np.float64]]:
    """Log brightness along the straight path and along the two right-angled ones."""
    light = cv2.GaussianBlur(image, (0, 0), 1.5).mean(axis=2)
    logarithm = 2.2 * np.log(np.maximum(light, 1.0) / 255)
    corners = [(start[0], end[1]), (end[0], start[1])]
    routes = [[start, end], *([start, corner, end] for corner in corners)]
    return [_sample_route(logarithm, route) for route in routes]


def _sample_route(values: NDArray[np.float64], route: Sequence[Point]) -> NDArray[np.float64]:
    """Sample values along a route, leaving out the circles and labels at its ends."""
    each = _STEPS // (len(route) - 1)
    places = np.concatenate([np.linspace(a, b, each) for a, b in pairwise(route)])
    distances = [np.hypot(*(places - end).T) for end in (route[0], route[-1])]
    free = [(from_end <= 2) | (from_end > _MARK_RADIUS * len(values)) for from_end in distances]
    columns, rows = np.round(places[free[0] & free[1]]).astype(int).T
    samples: NDArray[np.float64] = values[rows, columns]
    return samples


class Specialist(NamedTuple):
    """A solver, and how many images it takes."""

    solve: Callable[[Sequence[Pixels]], str | None]
    n_images: int


SPECIALISTS: Mapping[str, Specialist] = {
    "Jigsaw": Specialist(jigsaw, 3),
    "Multi-view_Reasoning": Specialist(multi_view_reasoning, 2),
    "Relative_Reflectance": Specialist(relative_reflectance, 1),
    "Visual_Correspondence": Specialist(visual_correspondence, 2),
}
"""The solver of each task: from the images of a question to a letter, or None."""


class Specialists:
    """A chat model that answers each question with the specialist of its task, if any."""

    def __init__(self, name: str, open_image: Callable[[str], Image.Image]) -> None:
        """Open images by their SHA-256 with ``open_image``, such as the image store's ``open``."""
        self.name = name
        self._open_image = open_image

    @property
    def signature(self) -> str:
        """Versions of the specialists and of OpenCV."""
        return f"specialists|v1|opencv={cv2.__version__}"

    def response(self, requests: Sequence[Request]) -> list[Response]:
        """Answer each request, in order.

        Raises:
            ModelError: If a request has no question, as a judge's requests.
            ImageError: If the store does not have an image.
        """
        return [self._answer(request) for request in requests]

    def _answer(self, request: Request) -> Response:
        question = request.question
        if question is None:
            raise ModelError(f"{self.name}: specialists answer questions; they cannot judge")
        if question.category not in SPECIALISTS:
            return Response(finish_reason="no specialist for this task")
        solve, n_images = SPECIALISTS[question.category]
        if len(question.images) != n_images:  # concatenated, or replaced by captions
            reason = f"the specialist needs {n_images} images, got {len(question.images)}"
            return Response(finish_reason=reason)
        letter = solve([np.asarray(self._open_image(image)) for image in question.images])
        if letter is None:
            return Response(finish_reason="the specialist finds nothing to go by")
        return Response(text=f"({letter})", finish_reason="stop")

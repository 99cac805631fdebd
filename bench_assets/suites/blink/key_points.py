"""Points that people put on pictures, and puzzles that they bring, for four of BLINK's builders.

Pictures to be marked lie in ``to_mark/`` of the source: ``diw/<picture>``, ``iiw/<picture>``,
``funkpoint/<action>/<object>/<picture>`` and ``spair/<category>/<picture>``. What becomes of them
is raw data in each builder's own layout, see ``marked``. The rules are those of section 3.2 and of
the data sets that it names, in our words.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from bench_assets.core.draw import Point
from bench_assets.core.rows import StoredImage
from bench_assets.people.forms import Answer, Field, Form, Item
from bench_assets.people.said import word
from bench_assets.people.suite_form import SuiteForm, TableOf

TO_MARK = "to_mark"

_N_PUZZLES = 300  # of both splits (Table 3)
_DARKER: Mapping[str, str] = {
    "the first point": "1",
    "the second point": "2",
    "about the same": "E",
}
"""As Intrinsic Images in the Wild writes it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkedPicture:
    """The points that one person put on one picture."""

    picture: str  # below to_mark/
    person: str
    points: tuple[tuple[float, float], ...]  # shares of width and height, in the order put
    darker: str = ""  # "1", "2" or "E", of two points on surfaces


@dataclass(frozen=True, slots=True, kw_only=True)
class Puzzle:
    """A picture of a puzzle that somebody brought (IQ_Test)."""

    puzzle_id: str
    person: str
    image: str  # SHA-256
    answer: str  # a letter
    explanation: str


def _points_form(name: str, title: str, instructions: str, n: int, *more: Field) -> Form:
    points = Field(name="points", kind="points", label=f"{n} points", least=n, most=n)
    return Form(
        name=f"blink/{name}",
        title=title,
        about="section 3.2",
        instructions=instructions,
        fields=(points, *more),
    )


_DEPTH = _points_form(
    "depth_points",
    "Which is closer?",
    "Put the first point on something that is clearly closer to the camera, the second on something"
    " that is clearly farther away. Keep them well apart, inside of things and not at their edges.",
    2,
)
_REFLECTANCE = _points_form(
    "reflectance_points",
    "Which surface is darker?",
    "Put two points on surfaces that are not of glass or metal, best under different light. Say"
    " which surface is darker by its paint or material, not by the shadow that it lies in.",
    2,
    Field(name="darker", kind="choice", label="Darker is", choices=tuple(_DARKER)),
)
_FUNCTIONAL = _points_form(
    "functional_points",
    "Which part does what?",
    "The picture shows an object that the action named beside it can be done with. Put five points"
    " on it, always in the order of what they do: the end that does it, the middle of the"
    " part that does it, where that part meets the rest, where the hand holds it, the other end.",
    5,
)
_SEMANTIC = _points_form(
    "semantic_points",
    "The same parts of things of a kind",
    "Put six points on the thing, on parts that every thing of its kind has, always in the same"
    " order: agree on the parts and their order before the first picture of a kind.",
    6,
)
_PUZZLES = Form(
    name="blink/iq_pictures",
    title="A puzzle in one picture",
    about="section 3.2, IQ test",
    instructions=(
        "Bring a puzzle whose licence lets anybody use it, or draw one: examples of a pattern and"
        " four pictures A to D, exactly one of which continues it, all in one picture. It must take"
        " no knowledge. Explain how the answer follows."
    ),
    fields=(
        Field(name="picture", kind="picture", label="The picture"),
        Field(name="answer", kind="choice", label="Right is", choices=("A", "B", "C", "D")),
        Field(name="explanation", kind="text", label="Why is it right?"),
    ),
)


def in_pixels(points: Iterable[tuple[float, float]], picture: StoredImage) -> list[Point]:
    """Turn shares of width and height into px from the upper left."""
    return [(x * picture.width, y * picture.height) for x, y in points]


def marked_pictures(answers: Sequence[Answer]) -> list[MarkedPicture]:
    """Take the points of each person on each picture."""
    return [
        MarkedPicture(
            picture=answer.item_id,
            person=answer.person,
            points=tuple(_point(text) for text in answer.values.get("points", ())),
            darker=_DARKER.get(word(answer, "darker"), ""),
        )
        for answer in answers
    ]


def puzzles(answers: Sequence[Answer]) -> list[Puzzle]:
    """Take the puzzles that people brought."""
    return [
        Puzzle(
            puzzle_id=f"{answer.item_id} by {answer.person}",
            person=answer.person,
            image=word(answer, "picture"),
            answer=word(answer, "answer"),
            explanation=" ".join(word(answer, "explanation").split()),
        )
        for answer in answers
    ]


def puzzle_items() -> list[Item]:
    """Make a place for each puzzle of the paper's 300."""
    return [
        Item(form=_PUZZLES.name, item_id=f"puzzle-{number:03}")
        for number in range(1, _N_PUZZLES + 1)
    ]


def _point(text: str) -> tuple[float, float]:
    x, y = map(float, text.split())
    return x, y


def _marked(form: Form, folder: str, *headings: str) -> SuiteForm:
    def items(pictures: Sequence[StoredImage]) -> list[Item]:
        return [
            Item(
                form=form.name,
                item_id=one.name,
                shown=dict(zip(headings, one.name.split("/")[1:-1], strict=True)),
                pictures={"Picture": one.sha256},
            )
            for one in pictures
            if one.name.startswith(f"{folder}/") and one.name.count("/") == len(headings) + 1
        ]

    return SuiteForm(
        form=form,
        reads={"pictures": TableOf("blink/pictures_to_mark", StoredImage)},
        items=items,
        row=MarkedPicture,
        to_rows=marked_pictures,
    )


DEPTH_POINTS = _marked(_DEPTH, "diw")
REFLECTANCE_POINTS = _marked(_REFLECTANCE, "iiw")
FUNCTIONAL_POINTS = _marked(_FUNCTIONAL, "funkpoint", "Action", "Object")
SEMANTIC_POINTS = _marked(_SEMANTIC, "spair", "Kind")
IQ_PICTURES = SuiteForm(form=_PUZZLES, reads={}, items=puzzle_items, row=Puzzle, to_rows=puzzles)
POINTS = (DEPTH_POINTS, REFLECTANCE_POINTS, FUNCTIONAL_POINTS, SEMANTIC_POINTS)

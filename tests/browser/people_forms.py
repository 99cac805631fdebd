"""Two annotation tasks, of every kind of field and of votes on captions, and an image."""

from PIL import Image, ImageDraw

from bench_assets.annotation.tasks import AnnotationTask, Field
from tests.fakes.written_images import saved

EVERY = AnnotationTask(
    name="quiz/every",
    title="Every kind of field",
    instructions="Look at the image first.\nThen answer what is asked.",
    fields=(
        Field(name="unusual", kind="choice", label="Is it unusual?", choices=("yes", "no")),
        Field(name="seen", kind="choices", label="What is in it?", choices=("sky", "sun", "sea")),
        Field(name="title", kind="text", label="A title", most=80),
        Field(name="story", kind="text", label="What happens?", required=False),
        Field(name="entities", kind="texts", label="Entities", least=2, most=5),
        Field(name="places", kind="points", label="Where is the sun?", least=1, most=2),
        Field(name="areas", kind="boxes", label="Frame the sun", most=3, required=False),
        Field(name="own", kind="image", label="An image of yours", required=False),
    ),
)
VOTES = AnnotationTask(
    name="quiz/votes",
    title="Which caption is better?",
    instructions="Choose the caption that says more of what is seen.",
    fields=(
        Field(name="better", kind="choice", label="Which one?", choices=("A", "B", "neither")),
        Field(name="why", kind="text", label="Why?", required=False),
    ),
)


def draw_sun(colour: str) -> bytes:
    """A PNG of 640 x 480 px: a yellow sun from (400, 60) to (520, 180) on a colour."""
    image = Image.new("RGB", (640, 480), colour)
    ImageDraw.Draw(image).ellipse((400, 60, 520, 180), "yellow")
    return saved(image)

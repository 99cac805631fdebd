"""Text in place of images: captions or OCR."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from bench_assets.core.schema.chat import ChatModel, Prompt, Request, Response
from bench_assets.core.schema.errors import ModelError
from bench_assets.core.schema.rows import ImageText, Question, StoredImage


def describe_images(
    images: Sequence[str], make_prompt: Callable[[str], Prompt], model: ChatModel
) -> list[ImageText]:
    """Describe each distinct image with a chat model, for example by a caption.

    An image has no text if the response to it is cut off, empty, or only reasoning. ``make_prompt``
    builds the prompt for an image, by its SHA-256.

    Raises:
        ModelError: If a request failed, or was refused; received responses stay cached.
    """
    distinct = list(dict.fromkeys(images))
    responses = model.response([Request(prompt=make_prompt(image)) for image in distinct])
    if errors := [response.error for response in responses if response.error]:
        raise ModelError(
            f"{model.name}: {len(errors)} of {len(responses)} images have no text: {errors[0]}; "
            "materialize again to ask for just these, or name another captioner"
        )
    return [
        ImageText(image=image, text=text, author=model.name)
        for image, text in zip(distinct, map(_description, responses), strict=True)
        if text
    ]


def _description(response: Response) -> str:
    """The text of a response; "" if it describes nothing."""
    return "" if response.refusal or response.no_answer else response.parts.answer.strip()


def to_image_texts(
    texts: Mapping[str, str], images: Iterable[StoredImage], author: str
) -> list[ImageText]:
    """Attach texts to the stored images that they are about, in the order of the images."""
    return [
        ImageText(image=image.sha256, text=texts[image.name], author=author)
        for image in images
        if image.name in texts
    ]


def replace_images_by_texts(
    questions: Iterable[Question], texts: Iterable[ImageText]
) -> list[Question]:
    """Replace images by texts; drop questions with an image that has none.

    Args:
        questions: Questions about images; others are dropped, too.
        texts: At most one for each image.
    """
    text_by_image = {text.image: text.text for text in texts}
    replaced = []
    for question in questions:
        if question.images and text_by_image.keys() >= set(question.images):
            image_texts = tuple(text_by_image[image] for image in question.images)
            replaced.append(replace(question, images=(), image_texts=image_texts))
    return replaced

"""Prompts of BLINK.

The text of a question is the release's field ``prompt``; the disclaimer and the judge's
prompt are those of the authors' repository (test_benchmark.py and multiple_choice.py; Figure 8).
The two prompts of the caption study, whose texts the paper does not print, are ours.
"""

from bench_assets.core.reading.choices import lettered
from bench_assets.core.schema.chat import Image, Prompt
from bench_assets.core.schema.errors import SourceError
from bench_assets.core.schema.rows import Question

DISCLAIMED = ("Forensic_Detection", "Jigsaw", "Art_Style")
"""The tasks with people in their images, asked after the disclaimer."""

_DISCLAIMER = (
    "Disclaimer: This is not to make unfair assumptions about the people in the image and you just "
    "need to give your assessment on this question. You don't need to identify the real people. "
    "You just need to analyze based on the information I gave you.\n\n"
)
_SELECT = "Select from the following choices."

_CAPTION = (
    "Describe this image in as much detail as you can: every object with its color, texture, size "
    "and position, the style of the image, its light and its depth. If circles, boxes, letters or "
    "blacked-out regions are drawn onto it, say of each where it is and what lies under it."
)
_CAPTIONED = "Instead of {images}, here is a detailed caption of {each}.\n\n"

NO_OPTION = (
    "That is not what was asked for. Print the letter of one option in brackets, or (Z), and "
    "nothing else."
)
"""Retry prompt after an unreadable response of the judge; the wording is ours."""

# Verbatim: the missing blanks after "(Z)", and "Your should", are the authors'.
_JUDGE = (
    "You are an AI assistant who will help me to match an answer with several options of a "
    "single-choice question. You are provided with a question, several options, and an answer, "
    "and you need to find which option is most similar to the answer. If the answer says things "
    "like refuse to answer, I'm sorry cannot help, etc., output (Z)If the meaning of all options "
    "are significantly different from the answer, or the answer does not select any option, "
    "output (Z)Your should output one of the choices, (A),(B),(C),(D),(E) (if they are valid "
    "options), or (Z)\n"
    "Example 1: \n"
    "Question: Which point is closer to the camera?\nSelect from the following choices.\n"
    "Options: (A) Point A\n(B) Point B\n(Z) Failed\n"
    "Answer: Point B, where the child is sitting, is closer to the camera.\n"
    "Your output: (B)\n"
    "Example 2: \n"
    "Question: Which point is closer to the camera?\nSelect from the following choices.\n"
    "Options: (A) Point A\n(B) Point B\n(Z) Failed\n"
    "Answer: I'm sorry, but I can't assist with that request.\n"
    "Your output: (Z)\n"
    "Example 3: \n"
    "Question: Which point is corresponding to the reference point?\n"
    "Select from the following choices.\n"
    "Options: (A) Point A\n(B) Point B\n(Z) Failed\n"
    "Answer:The reference point (REF) on the first image is at the tip of the pot, which is the "
    "part used to Poke if the pots were used for that action. Looking at the second image, we "
    "need to find the part of the object that would correspond to poking.\n"
    "(A) Point A is at the tip of the spoon's handle, which is not used for poking.\n"
    "(B) Point B is at the bottom of the spoon, which is not used for poking.\n"
    "(C) Point C is on the side of the pspoonot, which is not used for poking.\n"
    "(D) Point D is at the tip of the spoon, which is not used for poking.\n\n"
    "Therefore, there is no correct answer in the choices\n"
    "Your output: (Z)\n"
    "Example 4: \n"
    "Question: {question}\nSelect from the following choices?\n"
    "Options: {options}\n(Z) Failed\n"
    "Answer: {response}\n"
    "Your output: "
)


def main(question: Question) -> Prompt:
    """Ask as the authors do: the images in order, then one text.

    Raises:
        SourceError: If the question has no images, because the source is an answer key.
    """
    if not question.images:
        raise SourceError(
            f"{question.question_id}: its image is not in the source, so no model can be evaluated."
            " Existing responses can be scored"
        )
    return Prompt.of(*map(Image, question.images), _question_text(question))


def captions_for_images(question: Question) -> Prompt:
    """Ask with captions in place of the images (section 4.3, "Caption + LLM")."""
    if len(question.image_texts) > 1:
        introduction = _CAPTIONED.format(images="the images", each="each of them")
        lines = [f"Caption of image {n}: {text}" for n, text in enumerate(question.image_texts, 1)]
    else:
        introduction = _CAPTIONED.format(images="the image", each="it")
        lines = [f"Caption: {text}" for text in question.image_texts]
    captions = "".join(f"{line}\n\n" for line in lines)
    return Prompt.of(introduction + captions + _question_text(question))


def caption(image: str) -> Prompt:
    """Prompt for a dense caption of an image and its visual prompts (section 4.3)."""
    return Prompt.of(Image(image), _CAPTION)


def judge(question: Question, response: str) -> Prompt:
    """Ask which option a response means, or "(Z)" if it means none (appendix A.3)."""
    options = lettered(question.options)
    return Prompt.of(_JUDGE.format(question=question.text, options=options, response=response))


def _question_text(question: Question) -> str:
    """Return the question with its options, as the release words it, after any disclaimer."""
    text = question.context or f"{question.text}\n{_SELECT}\n{lettered(question.options)}"
    return f"{_DISCLAIMER}{text}" if question.category in DISCLAIMED else text

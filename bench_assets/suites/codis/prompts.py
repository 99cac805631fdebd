"""Prompts of CODIS, word for word as in Tables 11 and 12.

The line breaks before inserted text and the plain apostrophe are ours. So is the wording of the
prompts that the paper does not print: without context (section 4.2) and with captions for
images (section 5.1).
"""

from bench_assets.core.schema.chat import Image, Prompt
from bench_assets.core.schema.rows import Question

_IMAGE_AND_CONTEXT = (
    "I'll give you an image and some additional context, which provides information closely "
    "related to the scene of the picture. Please answer my question based on the image and the "
    "context."
)
_DETAILED_INSTRUCTIONS = (
    " Be sure to refer to the context and extract necessary information from it to help you "
    "answer the question because it contains helpful information that is not included in the "
    "image."
)
_CHAIN_OF_THOUGHT = (
    " Your answer should contain two parts. Two parts should be separated by a newline. In the "
    "first part, please think of the question step by step based on the image and context and "
    "output your reasoning process. In the second part, please summarize your reasoning process "
    "and directly answer the question in a single word or phrase."
)
_PHRASE = " Please answer in a single word or phrase."

NO_VERDICT = 'That is not what was asked for. Print "right" or "wrong", and nothing else.'
"""Complaint about an unreadable verdict; the wording is ours."""

_JUDGE = """\
Please evaluate the output of models based on the given question and groundtruth and tell me \
whether the output is right. Please pay attention to the following rules: \
1. The output contains rationale of the reasoning process and answer which is summarized from the \
reasoning process. Please extract the answer from the output and make your judgement only based \
on answer, NOT rationale. \
2. The answer is right if it follows the question in meaning and is consistent with the \
groundtruth. \
3. Do not be too strict about the answer. Format different from the groundtruth and minor grammar \
issues are allowed. \
If you think the answer is correct according to the groundtruth, please output "right", otherwise \
output "wrong". You can only print "right" or "wrong" and nothing else.
Here is the question: {question}
Here is the groundtruth: {answer}
Here is the output: {output}"""


def main(question: Question) -> Prompt:
    """Ask with detailed instructions and chain of thought, as for all published scores."""
    return _question_prompt(
        question, _IMAGE_AND_CONTEXT + _DETAILED_INSTRUCTIONS + _CHAIN_OF_THOUGHT
    )


def no_chain_of_thought(question: Question) -> Prompt:
    """Ask with detailed instructions, for an answer without reasoning ("w/ DI w/o CoT")."""
    return _question_prompt(question, _IMAGE_AND_CONTEXT + _DETAILED_INSTRUCTIONS + _PHRASE)


def no_detailed_instructions(question: Question) -> Prompt:
    """Ask for reasoning without detailed instructions ("w/o DI w/ CoT")."""
    # The paper misspells this word, in this prompt only.
    reasoning = _CHAIN_OF_THOUGHT.replace("separated", "seperated")
    return _question_prompt(question, _IMAGE_AND_CONTEXT + reasoning)


def plain(question: Question) -> Prompt:
    """Ask with neither detailed instructions nor chain of thought ("w/o DI w/o CoT")."""
    return _question_prompt(question, _IMAGE_AND_CONTEXT + _PHRASE)


def no_context(question: Question) -> Prompt:
    """Ask without the context, for output variability (section 4.2); the wording is ours."""
    opening = "I'll give you an image. Please answer my question based on the image."
    reasoning = _CHAIN_OF_THOUGHT.replace("the image and context", "the image")
    text = f"{opening}{reasoning}\nQuestion: {question.text}"
    return Prompt.of(*map(Image, question.images), text)


def captions_for_images(question: Question) -> Prompt:
    """Ask with captions in place of the images (section 5.1); the wording is ours."""
    text = _IMAGE_AND_CONTEXT + _DETAILED_INSTRUCTIONS + _CHAIN_OF_THOUGHT
    text = text.replace("an image", "the caption of an image").replace("the image", "the caption")
    captions = "".join(f"\nCaption: {caption}" for caption in question.image_texts)
    return _question_prompt(question, text + captions)


def caption(image: str) -> Prompt:
    """Ask for the caption that replaces an image (section 5.1); the wording is ours."""
    return Prompt.of(
        Image(image),
        "Describe this image in detail: what is to be seen, where it is, and every text in it.",
    )


def judge(question: Question, output: str) -> Prompt:
    """Prompt a judge for agreement with the ground truth (Table 12).

    The judge sees neither the image nor the context.
    """
    (answer,) = question.answer
    return Prompt.of(_JUDGE.format(question=question.text, answer=answer, output=output))


def _question_prompt(question: Question, instruction: str) -> Prompt:
    query = f"\nContext: {question.context}\nQuestion: {question.text}"
    return Prompt.of(*map(Image, question.images), instruction + query)

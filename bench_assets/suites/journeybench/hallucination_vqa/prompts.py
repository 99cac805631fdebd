"""Every text a model reads in HaloQuest.

The question is asked as it is. The judge's instructions follow the rules of the authors' notebook
(HaloQuest_Colab.ipynb), which has a library put them into words; the wording is ours.
"""

from bench_assets.core.schema.chat import Image, Prompt
from bench_assets.core.schema.rows import Question

NO_VERDICT = (
    "That is not what was asked for. Reply with one JSON object that has all six fields, "
    "is_prediction_correct being true or false, and nothing else."
)
"""Complaint about an unreadable verdict."""

_JUDGE = """\
You judge the answer that a model gave to a question about a picture. You do not see the picture; \
the ground truth lists what people answer, separated by semicolons, and each of its parts alone is \
a right answer.

Rules:
1. Read the answer in the light of the question: what does it mean for what was asked?
2. Some questions ask for a detail of something that is not in the picture. Then "yes", "no" and \
"nothing" are wrong: the answer must say that the thing itself is not there.
3. An answer that refuses ("I cannot assist", "I cannot answer") is wrong.
4. Counts must be exactly those of the ground truth.
5. An answer is right if its main point is that of the ground truth; the wording does not matter.

Reply with one JSON object and nothing else:
{{
  "question": "the question",
  "model_response": "the model's answer",
  "groundtruth_response": "the ground truth",
  "model_response_main_point": "one sentence: what the model's answer says to the question",
  "groundtruth_main_point": "one sentence: what the ground truth says to the question",
  "is_prediction_correct": true or false
}}

Question: {question}
Model's answer: {response}
Ground truth: {truth}"""


def main(question: Question) -> Prompt:
    """Ask the question about its image, with nothing added."""
    return Prompt.of(*map(Image, question.images), question.text)


def judge(question: Question, response: str) -> Prompt:
    """Prompt a judge for agreement with people's answers; the judge does not see the image."""
    truth = "; ".join(question.answer)
    return Prompt.of(_JUDGE.format(question=question.text, response=response, truth=truth))

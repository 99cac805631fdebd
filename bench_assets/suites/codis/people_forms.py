"""The forms that people fill in when an edition of CODIS is built; the rules are section 3.4's."""

from bench_assets.people.forms import Field, Form, yes_or_no
from bench_assets.suites.codis.select import CATEGORIES

N_ANNOTATORS = 5  # section 3.4
N_PICTURES = 75  # that each of them may bring: 377 of five people in the paper

_RULES = """\
The picture must be open to more than one reading, and only something that is not in it can decide \
between them.
1. The question is about what is unclear in the picture. Nobody can answer it from the \
picture alone.
2. Two contexts, as alike as you can make them, lead to two different answers. The picture alone \
is not enough for either answer, and the context alone is not either.
3. The answers are facts rather than opinions, and short. Name in the question what there is to \
choose from, where you can."""


WRITTEN = (
    Field(name="question", kind="text", label="Question", most=500),
    Field(name="context_1", kind="text", label="First context", most=500),
    Field(name="answer_1", kind="text", label="Answer in the first context", most=200),
    Field(name="context_2", kind="text", label="Second context", most=500),
    Field(name="answer_2", kind="text", label="Answer in the second context", most=200),
    Field(name="category", kind="choice", label="What the context tells of", choices=CATEGORIES),
)

BRING = Form(
    name="codis/pictures",
    title="CODIS: pictures that need a context",
    instructions="Bring a picture that can be understood in several ways, where only something that"
    " is not in the picture tells which is right. Look twice: many pictures seem open and are not."
    " Bring only pictures that you may pass on.",
    fields=(Field(name="picture", kind="picture", label="Picture"),),
    about="section 3.4, image collection",
)
SUBMIT = Form(
    name="codis/submissions",
    title="CODIS: a question with two contexts",
    instructions=f"Write a question about the picture, and two contexts.\n{_RULES}\n"
    "Skip a picture for which you find none.",
    fields=WRITTEN,
    about="section 3.4, design of questions, context and answers",
)
VOTE = Form(
    name="codis/votes",
    title="CODIS: votes on the others' questions",
    instructions="Check what another one wrote. All three have to hold, or it must be revised."
    f"\n{_RULES}",
    fields=(
        yes_or_no("correct", "In each context its answer is right"),
        yes_or_no("different", "It is clearly different from what there is already"),
        yes_or_no("within_rules", "It keeps the rules: picture and context are both needed"),
        Field(name="comment", kind="text", label="Why not?", required=False, most=500),
    ),
    about="section 3.4, data verification",
)
REVISE = Form(
    name="codis/revisions",
    title="CODIS: revisions",
    instructions="The others did not accept what you wrote. Write it again so that they can.\n"
    + _RULES,
    fields=WRITTEN,
    about="section 3.4, data verification",
)
VOTE_AGAIN = Form(
    name="codis/revision_votes",
    title="CODIS: votes on revisions",
    instructions=VOTE.instructions,
    fields=VOTE.fields,
    about=VOTE.about,
)

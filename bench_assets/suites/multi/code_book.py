"""What MULTI's authors say goes wrong (sections 4.3 to 4.7); they count no mistakes."""

from bench_assets.people.mistakes import Code, CodeBook

CODE_BOOK = CodeBook(
    "section 4",
    (
        Code("picture", "what the pictures show is not seen, or taken for something else"),
        Code("several pictures", "pictures are mixed up, or one of several is passed over"),
        Code("knowledge", "a fact or rule of the subject is not known"),
        Code("reasoning", "facts are right, a step of calculation or logic is wrong"),
        Code("incomplete", "some of several right options, blanks or parts are missing"),
        Code("form", "the right answer in a form that is not the one asked for"),
        Code("refusal", "it will not answer, or asks for a picture"),
        Code("key", "the reply is right, and the reference wrong"),
        Code("other", "something else: say what"),
    ),
)

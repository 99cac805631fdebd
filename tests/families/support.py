"""The table of support: whether the engine runs each architecture of transformers.

``make families`` tries all of them and writes ``docs/architectures.csv``, first without
torchvision, then with ``--vision`` those that need it.
"""

import csv
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory

from bench_assets.core.schema.chat import Prompt, Request, Response
from bench_assets.core.schema.errors import ModelError
from bench_resources.checkpoints.hub_access import first_line
from bench_resources.config.sections.local_models import TransformersSpec
from bench_resources.models.transformers.batch_trial import BatchTrials
from bench_resources.models.transformers.engine import TransformersEngine
from tests.families import generic, releases
from tests.families.architectures import ROWS, UNFIT, Row
from tests.families.card import MAX_TOKENS, Card, without_marks
from tests.families.questions import IMAGES, QUESTIONS, SINGLE
from tests.resources.models.transformers.tiny_engine import identity_of

FILE = Path(__file__).parents[2] / "docs" / "architectures.csv"
RUNS = "runs"
VISION = "runs with [vision]"
ALONE = "runs one at a time"
CANNOT = "cannot"
UNTRIED = "not tried"
_SEEDS = range(4)  # of weights; some give a model with the same response to every image
_LIMITS = {  # limit of an architecture -> the question that fails because of it
    "one image": "two images",
    "an image in each question": "no image",
    "no system prompt": "a system prompt, no image",
    "no system prompt beside an image": "a system prompt",
    "one turn": "an answer that is given",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Support:
    """A row of the table."""

    architecture: str  # model_type of config.json
    support: str
    why: str = ""  # its limits, or one sentence on why it does not run
    version: str = version("transformers")  # that it was tried with


class _ResponseMismatchError(Exception):
    """A response of the engine is not the expected one."""


def architectures() -> list[str]:
    """Every architecture that transformers maps to text from images and text."""
    from transformers.models.auto import modeling_auto

    multimodal = modeling_auto.MODEL_FOR_MULTIMODAL_LM_MAPPING_NAMES
    names = {*modeling_auto.MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES, *multimodal}
    return sorted(name for name in names if name not in multimodal or _takes_images(name))


def _takes_images(model_type: str) -> bool:
    from transformers.models.auto import image_processing_auto, modeling_auto

    return (
        model_type in modeling_auto.MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES
        or model_type in image_processing_auto.IMAGE_PROCESSOR_MAPPING_NAMES
    )


def support_of(model_type: str) -> Support:
    """Build a tiny checkpoint of an architecture, ask it every question, and return its row."""
    if model_type in UNFIT:
        reason = "no tiny checkpoint of it could be built; releases may run"
        return Support(architecture=model_type, support=UNTRIED, why=reason)
    with TemporaryDirectory() as folder:
        for seed in _SEEDS:
            row = _try_weights(model_type, Path(folder, f"{model_type}-{seed}"), seed)
            if row is not None:
                return row
    reason = "tiny random weights of it say the same of every image; releases may run"
    return Support(architecture=model_type, support=UNTRIED, why=reason)


def _try_weights(model_type: str, folder: Path, seed: int) -> Support | None:
    """The row of an architecture; None if its weights give every image the same response."""
    try:
        if model_type in releases.HANDMADE:
            releases.build(model_type, folder)
        else:
            generic.build(model_type, folder, seed)
    except ImportError as error:
        requirement = re.search(r"requires the (\w+) library", str(error))
        if requirement is None:
            raise
        package = requirement[1].lower()
        support = VISION if package in ("torchvision", "timm") else UNTRIED
        reason = f"it needs the package {package}"
        return Support(architecture=model_type, support=support, why=reason)
    except (ModelError, generic.NotBuiltError) as error:
        support = VISION if "torchvision" in str(error) else UNTRIED
        return Support(architecture=model_type, support=support, why=_reason(error, folder))
    try:
        return check_responses(model_type, folder)
    except (ModelError, _ResponseMismatchError) as error:
        support = VISION if "need torchvision" in str(error) else CANNOT
        return Support(architecture=model_type, support=support, why=_reason(error, folder))


def _reason(error: Exception, folder: Path) -> str:
    """The first line of an error, without the path of the temporary checkpoint."""
    message = re.sub(rf"\S*{re.escape(folder.name)}\S*: ", "", str(error).strip())
    return message.partition("\n")[0]


def is_plain(model_type: str) -> bool:
    """Whether releases of an architecture have no chat template."""
    return ROWS.get(model_type, Row()).template == "plain"


def check_responses(model_type: str, folder: Path) -> Support | None:
    """Ask a checkpoint every question: one at a time, in a batch, and as its card does.

    Returns:
        Its row of the table; None if its response is the same for every image.

    Raises:
        ModelError: If it cannot be asked.
        _ResponseMismatchError: If a response is not the expected one.
    """
    plain = is_plain(model_type)
    engine = open_engine(folder, plain=plain)
    runs_one_at_a_time = "alone" in identity_of(engine)
    prompts = {name: question.prompt for name, question in QUESTIONS.items()}
    unbatched = ask(open_engine(folder, plain=plain, batch_size=1), prompts)
    failed = {name for name, response in unbatched.items() if response.error}
    for name in SINGLE:
        if name in failed:
            raise _ResponseMismatchError(unbatched[name].error)
    if len({unbatched[name].text for name in SINGLE}) == 1:
        return None
    if _outputs(ask(engine, prompts)) != _outputs(unbatched):
        raise _ResponseMismatchError("a response depends on what else is in its batch")
    answered = {name: response for name, response in unbatched.items() if name not in failed}
    _compare_with_card(folder, engine, answered, plain=plain)
    limits = [limit for limit, question in _LIMITS.items() if question in failed]
    if "no system prompt" in limits and "an image in each question" in limits:
        limits.remove("no system prompt")
    support = ALONE if runs_one_at_a_time else RUNS
    if _has_torchvision():
        support = VISION
        limits += ["one at a time"] if runs_one_at_a_time else []
    return Support(architecture=model_type, support=support, why="; ".join(limits))


def _compare_with_card(
    folder: Path, engine: TransformersEngine, responses: Mapping[str, Response], *, plain: bool
) -> None:
    """Require that the card's code gives the same responses, where it can ask the question."""
    from bench_resources.models.transformers.processor import load_processor

    processor = load_processor(spec_of(folder, plain=plain), engine.checkpoint)
    card = Card(folder, processor, plain=plain)
    for name, question in (SINGLE if plain else QUESTIONS).items():
        if not question.by_card or name not in responses:
            continue
        output = (without_marks(responses[name].text), responses[name].prompt_tokens)
        if card.ask(question.prompt) != output:
            raise _ResponseMismatchError(f"the engine's response to {name!r} is not the card's")


def spec_of(folder: Path, *, plain: bool, batch_size: int = 8) -> TransformersSpec:
    """Settings of a checkpoint; ``plain``: its release has no chat template."""
    return TransformersSpec(
        kind="transformers",
        path=str(folder),
        device="cpu",
        max_tokens=MAX_TOKENS,
        batch_size=batch_size,
        chat_template="plain" if plain else "",
    )


def open_engine(folder: Path, *, plain: bool, batch_size: int = 8) -> TransformersEngine:
    """The engine of a checkpoint, with the images of all questions."""
    spec = spec_of(folder, plain=plain, batch_size=batch_size)
    trials = BatchTrials(folder.parent / "processors.json")
    return TransformersEngine(spec, str(folder), IMAGES.__getitem__, trials=trials)


def ask(engine: TransformersEngine, prompts: Mapping[str, Prompt]) -> dict[str, Response]:
    """Send prompts to an engine; returns the responses by the names of the prompts."""
    responses = dict(engine.stream([Request(prompt=prompt) for prompt in prompts.values()]))
    return {name: responses[index] for index, name in enumerate(prompts)}


def _outputs(responses: Mapping[str, Response]) -> dict[str, tuple[str, int | None, bool]]:
    """What must not depend on the batch: text, number of prompt tokens, whether it failed."""
    return {name: (r.text, r.prompt_tokens, bool(r.error)) for name, r in responses.items()}


def _has_torchvision() -> bool:
    from bench_resources.checkpoints.torchvision_operators import enable_torchvision

    return enable_torchvision()


def read_table() -> dict[str, Support]:
    with FILE.open(encoding="utf-8", newline="") as file:
        rows = [Support(**row) for row in csv.DictReader(file)]
    return {row.architecture: row for row in rows}


def write_table(rows: Mapping[str, Support]) -> None:
    """Write the table, sorted by architecture."""
    with FILE.open("w", encoding="utf-8", newline="") as file:
        names = [field.name for field in fields(Support)]
        writer = csv.DictWriter(file, names, lineterminator="\n")
        writer.writeheader()
        writer.writerows(asdict(rows[name]) for name in sorted(rows))


def main(arguments: Sequence[str]) -> None:
    """Try the named architectures, or all, and write the table."""
    _has_torchvision()  # before anything of transformers is imported
    import transformers

    transformers.logging.set_verbosity_error()
    table = read_table() if FILE.exists() else {}
    rows = {name: row for name, row in table.items() if name in architectures()}
    names = [name for name in arguments if name != "--vision"] or architectures()
    if list(arguments) == ["--vision"]:
        names = [name for name, row in rows.items() if row.support == VISION]
    for name in names:
        try:
            rows[name] = support_of(name)
        except Exception as error:  # noqa: BLE001 - the table says so, and the test fails
            rows[name] = Support(
                architecture=name,
                support=CANNOT,
                why=f"{type(error).__name__}: {first_line(error)}",
            )
        print(rows[name], flush=True)
        write_table(rows)


if __name__ == "__main__":
    main(sys.argv[1:])

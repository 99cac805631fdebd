"""The table of support: what the engine makes of every architecture of transformers.

``make families`` asks all of them and writes ``docs/architectures.csv``, first without torchvision,
then with ``--vision`` those that need it.
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
RUNS, VISION, ALONE, CANNOT, UNTRIED = (
    "runs",
    "runs with [vision]",
    "runs one at a time",
    "cannot",
    "not tried",
)
_SEEDS = range(4)  # of weights; some draw a model that says the same of every image
_LIMITS = {  # what is not said by an error of every image -> a question that shows it
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
    why: str = ""  # its limits, or the one sentence why it cannot
    version: str = version("transformers")  # that it was tried with


class _Different(Exception):  # noqa: N818 - a finding
    """Responses are not what they should be."""


def architectures() -> list[str]:
    """Every architecture that transformers maps to text from images and text."""
    from transformers.models.auto import modeling_auto

    several = modeling_auto.MODEL_FOR_MULTIMODAL_LM_MAPPING_NAMES
    names = {*modeling_auto.MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES, *several}
    return sorted(name for name in names if name not in several or _takes_images(name))


def _takes_images(model_type: str) -> bool:
    from transformers.models.auto import image_processing_auto, modeling_auto

    return (
        model_type in modeling_auto.MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES
        or model_type in image_processing_auto.IMAGE_PROCESSOR_MAPPING_NAMES
    )


def support_of(model_type: str) -> Support:
    """Build a checkpoint of an architecture, and ask it everything."""
    if model_type in UNFIT:
        why = "no tiny checkpoint of it could be built; releases may run"
        return Support(architecture=model_type, support=UNTRIED, why=why)
    with TemporaryDirectory() as folder:
        for seed in _SEEDS:
            found = _tried(model_type, Path(folder, f"{model_type}-{seed}"), seed)
            if found is not None:
                return found
    why = "tiny random weights of it say the same of every image; releases may run"
    return Support(architecture=model_type, support=UNTRIED, why=why)


def _tried(model_type: str, folder: Path, seed: int) -> Support | None:
    """What came of it; None if the weights say the same of every image."""

    def found(support: str, why: object) -> Support:
        message = re.sub(rf"\S*{re.escape(model_type)}-{seed}\S*: ", "", str(why).strip())
        return Support(architecture=model_type, support=support, why=message.partition("\n")[0])

    try:
        if model_type in releases.HANDMADE:
            releases.build(model_type, folder)
        else:
            generic.build(model_type, folder, seed)
    except ImportError as error:
        if package := re.search(r"requires the (\w+) library", str(error)):
            missing = package[1].lower()
            needs = VISION if missing in ("torchvision", "timm") else UNTRIED
            return found(needs, f"it needs the package {missing}")
        raise
    except (ModelError, generic.NotBuiltError) as error:
        return found(VISION if "torchvision" in str(error) else UNTRIED, error)
    try:
        return compare(model_type, folder)
    except (ModelError, _Different) as error:
        return found(VISION if "need torchvision" in str(error) else CANNOT, error)


def is_plain(model_type: str) -> bool:
    """Whether releases of an architecture have no chat template."""
    return ROWS.get(model_type, Row()).template == "plain"


def compare(model_type: str, folder: Path) -> Support | None:
    """Ask a checkpoint everything, alone, in a batch and as its card does.

    Returns:
        Its row of the table; None if it says the same of every image.

    Raises:
        ModelError: If it cannot be asked.
        _Different: If responses are not what they should be.
    """
    plain = is_plain(model_type)
    engine = open_engine(folder, plain)
    is_alone = "alone" in identity_of(engine)
    prompts = {name: question.prompt for name, question in QUESTIONS.items()}
    alone = responses(open_engine(folder, plain, batch_size=1), prompts)
    failed = {name: alone[name].error for name in SINGLE if alone[name].error}
    if failed:
        raise _Different(next(iter(failed.values())))
    if len({alone[name].text for name in SINGLE}) == 1:
        return None
    if _outputs(responses(engine, prompts)) != _outputs(alone):
        raise _Different("a response depends on what else is in its batch")
    refused = {name for name, response in alone.items() if response.error}
    _compare_with_card(folder, engine, plain, prompts, alone, refused)
    limits = [limit for limit, question in _LIMITS.items() if question in refused]
    if "no system prompt" in limits and "an image in each question" in limits:
        limits.remove("no system prompt")
    support = ALONE if is_alone else RUNS
    if _has_torchvision():
        support = VISION
        limits += ["one at a time"] if is_alone else []
    return Support(architecture=model_type, support=support, why="; ".join(limits))


def _compare_with_card(
    folder: Path,
    engine: TransformersEngine,
    plain: bool,
    prompts: Mapping[str, Prompt],
    alone: Mapping[str, Response],
    refused: set[str],
) -> None:
    from bench_resources.models.transformers.processor import load_processor

    card = Card(folder, load_processor(spec_of(folder, plain), engine.checkpoint), plain)
    questions = SINGLE if plain else QUESTIONS
    for name, question in questions.items():
        if not question.by_card or name in refused:
            continue
        output = (without_marks(alone[name].text), alone[name].prompt_tokens)
        if card.ask(prompts[name]) != output:
            raise _Different(f"the engine's response to {name!r} is not the card's")


def spec_of(folder: Path, plain: bool, batch_size: int = 8) -> TransformersSpec:
    """Settings of a checkpoint; ``plain``: its release has no chat template."""
    return TransformersSpec(
        kind="transformers",
        path=str(folder),
        device="cpu",
        max_tokens=MAX_TOKENS,
        batch_size=batch_size,
        chat_template="plain" if plain else "",
    )


def open_engine(folder: Path, plain: bool, batch_size: int = 8) -> TransformersEngine:
    """The engine over a checkpoint, which shows it the images of all questions."""
    spec = spec_of(folder, plain, batch_size)
    trials = BatchTrials(folder.parent / "processors.json")
    return TransformersEngine(spec, str(folder), IMAGES.__getitem__, trials=trials)


def responses(engine: TransformersEngine, prompts: Mapping[str, Prompt]) -> dict[str, Response]:
    """Ask an engine; the responses by the names of the prompts."""
    answered = dict(engine.stream([Request(prompt=prompt) for prompt in prompts.values()]))
    return {name: answered[at] for at, name in enumerate(prompts)}


def _outputs(responses: Mapping[str, Response]) -> dict[str, tuple[str, int | None, bool]]:
    return {name: (r.text, r.prompt_tokens, bool(r.error)) for name, r in responses.items()}


def _has_torchvision() -> bool:
    from bench_resources.checkpoints.torchvision_operators import enable_torchvision

    return enable_torchvision()


def read_table() -> dict[str, Support]:
    """The table as it was written last."""
    with FILE.open(encoding="utf-8", newline="") as file:
        rows = [Support(**row) for row in csv.DictReader(file)]
    return {row.architecture: row for row in rows}


def write_table(rows: Mapping[str, Support]) -> None:
    """Write the table, by name."""
    with FILE.open("w", encoding="utf-8", newline="") as file:
        names = [field.name for field in fields(Support)]
        writer = csv.DictWriter(file, names, lineterminator="\n")
        writer.writeheader()
        writer.writerows(asdict(rows[name]) for name in sorted(rows))


def main(arguments: Sequence[str]) -> None:
    """Ask the named architectures, or all, and write the table."""
    _has_torchvision()  # before anything of transformers is imported
    import transformers

    transformers.logging.set_verbosity_error()
    known = read_table() if FILE.exists() else {}
    rows = {name: row for name, row in known.items() if name in architectures()}
    with_vision = "--vision" in arguments
    of_vision = [name for name, row in rows.items() if row.support == VISION]
    named = [name for name in arguments if name != "--vision"]
    for name in named or (of_vision if with_vision else architectures()):
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

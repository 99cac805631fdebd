"""Servers that say our key back to us, wherever they can."""

import orjson

from tests.fakes.echoing_server import BROKEN, FAILURES, Echo
from tests.faults.homes import KEY
from tests.faults.servers.misbehaviour import Misbehaviour, Must
from tests.faults.servers.server import Exchange, Misbehave, response


def _sends(echo: Echo) -> Misbehave:
    async def misbehave(exchange: Exchange) -> None:
        await exchange.send(echo(KEY))
        exchange.writer.close()

    return misbehave


def _responds(text: str = "", **more: object) -> Misbehave:
    return lambda exchange: exchange.say(
        orjson.dumps(response(text.format(exchange.right) or exchange.right, **more))
    )


def _row(must: Must, name: str, misbehave: Misbehave) -> Misbehaviour:
    return Misbehaviour(
        name=f"the key in {name}", made="says our key back", must=must, misbehave=misbehave
    )


ECHOES = [
    *(_row("lost", name, _sends(echo)) for name, echo in {**FAILURES, **BROKEN}.items()),
    _row("stops", "the model's name", _responds(model=KEY)),
    _row("stops", "the build of the model", _responds(id=KEY, system_fingerprint=KEY)),
    _row("either", "the text of a response", _responds(f"{{}}\n\nBearer {KEY}")),
    _row("either", "a thought", _responds(f"<think>The key is {KEY}.</think>{{}}")),
]

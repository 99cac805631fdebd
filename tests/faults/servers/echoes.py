import orjson

from tests.fakes.echoing_server import BROKEN, FAILURES, Echo
from tests.faults.homes import KEY
from tests.faults.servers.misbehaviour import Expectation, Misbehaviour
from tests.faults.servers.server import Exchange, Misbehave, response


def _send(echo: Echo) -> Misbehave:
    async def misbehave(exchange: Exchange) -> None:
        await exchange.send(echo(KEY))
        exchange.writer.close()

    return misbehave


def _respond(template: str = "{}", **fields: object) -> Misbehave:
    return lambda exchange: exchange.say(
        orjson.dumps(response(template.format(exchange.right), **fields))
    )


def _misbehaviour(expected: Expectation, name: str, misbehave: Misbehave) -> Misbehaviour:
    return Misbehaviour(
        name=f"the key in {name}", cause="says our key back", expected=expected, misbehave=misbehave
    )


ECHOES = [
    *(_misbehaviour("lost", name, _send(echo)) for name, echo in {**FAILURES, **BROKEN}.items()),
    _misbehaviour("stops", "the model's name", _respond(model=KEY)),
    _misbehaviour("stops", "the build of the model", _respond(id=KEY, system_fingerprint=KEY)),
    _misbehaviour("either", "the text of a response", _respond(f"{{}}\n\nBearer {KEY}")),
    _misbehaviour("either", "a thought", _respond(f"<think>The key is {KEY}.</think>{{}}")),
]

"""Numbers for texts that are too many to be held, in the order in which they came first."""

from array import array
from hashlib import blake2b

_BYTES = 16  # of a digest: two of a million are never alike
_LEAST = 1 << 10  # places; always a power of two


class Numbered:
    """Texts by their digests: 24 to 32 bytes each, where a dictionary takes 200 and more."""

    def __init__(self) -> None:
        """Begin without any."""
        self._digests = bytearray()  # one after the other
        self._places = array("I", bytes(array("I").itemsize * _LEAST))  # number + 1; 0: free

    def __len__(self) -> int:
        """How many there are."""
        return len(self._digests) // _BYTES

    def find(self, text: str) -> int | None:
        """The number of a text; None if it never came.

        >>> some = Numbered()
        >>> [some.number("b"), some.number("a"), some.number("b"), some.find("c")]
        [0, 1, 0, None]
        """
        digest = _digest(text)
        number = self._places[self._place(digest)]
        return number - 1 if number else None

    def number(self, text: str) -> int:
        """The number of a text, which is new if it never came."""
        digest = _digest(text)
        place = self._place(digest)
        if not self._places[place]:
            self._digests += digest
            self._places[place] = len(self)
            if 2 * len(self) > len(self._places):
                self._widen()
                return len(self) - 1
        return self._places[place] - 1

    def _place(self, digest: bytes) -> int:
        """Where a digest is, or would be: the first place that is free, from its own on."""
        last = len(self._places) - 1
        place = int.from_bytes(digest[:8]) & last
        while number := self._places[place]:
            if self._digests[_BYTES * (number - 1) : _BYTES * number] == digest:
                break
            place = (place + 1) & last
        return place

    def _widen(self) -> None:
        """Put all into twice as many places."""
        self._places = array("I", bytes(2 * len(self._places) * self._places.itemsize))
        for number in range(len(self)):
            digest = bytes(self._digests[_BYTES * number : _BYTES * (number + 1)])
            self._places[self._place(digest)] = number + 1


def _digest(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_BYTES).digest()

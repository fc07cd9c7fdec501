"""What a purge may name, and how much one request takes."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

KINDS = ("urls", "tags", "prefixes", "hosts")

MAX_ITEMS = 10_000
MAX_BYTES = 4_000_000
"""The edge accepts 4 MiB; the rest is for the names of the fields and the id."""

Items = Mapping[str, Sequence[str]]
"""Lists of texts under the names in `KINDS`, or `{"everything": True}`."""

_VALID_TAG = re.compile(r"[!-+\--~]{1,256}")


def checked_tags(caller: str, tags: Iterable[object]) -> list[str]:
    """The tags as a list. ValueError for one that the edge would not take."""
    checked: list[str] = []
    for each in tags:
        if not isinstance(each, str) or not _VALID_TAG.fullmatch(each):
            raise ValueError(
                f"{caller}: {each!r} is not a valid tag: it must be printable ASCII without spaces and commas, "
                "at most 256 bytes"
            )
        checked.append(each)
    return checked


def checked_items(
    *,
    tags: Iterable[str] = (),
    urls: Iterable[str] = (),
    prefixes: Iterable[str] = (),
    hosts: Iterable[str] = (),
    everything: bool = False,
) -> dict[str, object]:
    """The items of a purge, each once; empty if it names none. TypeError or ValueError for what cannot be right."""
    given = {"urls": urls, "tags": tags, "prefixes": prefixes, "hosts": hosts}
    for kind, value in given.items():
        if isinstance(value, (str, bytes)):
            raise TypeError(f"purge: {kind} must be a list, not the text {value!r}")
    named = {"urls": _texts("urls", urls), "tags": checked_tags("purge", tags)}
    named |= {"prefixes": _texts("prefixes", prefixes), "hosts": _texts("hosts", hosts)}
    for url in named["urls"]:
        if not url.lower().startswith(("/", "http://", "https://")):
            raise ValueError(f"purge: {url!r} must be a path that starts with /, or a whole URL")
        if re.search(r"[\x00-\x20\x7f]", url):
            raise ValueError(f"purge: {url!r} cannot have a space or a control character; write %20 for a space")
    if everything:
        return {"everything": True}
    return {kind: list(dict.fromkeys(value)) for kind, value in named.items() if value}


def _texts(kind: str, given: Iterable[object]) -> list[str]:
    """They may be lazy, as that of Django's `reverse_lazy`, which is no `str`."""
    texts: list[str] = []
    for each in given:
        if each is None or isinstance(each, (bytes, int)) or not str(each):
            raise ValueError(f"purge: {each!r} in {kind} is empty, or no text")
        texts.append(str(each))
    return texts


def divided(items: Mapping[str, object]) -> Iterator[dict[str, object]]:
    """The same items in purges that are each within the limits of one."""
    if "everything" in items:
        yield {"everything": True}
        return
    part: dict[str, list[str]] = {}
    count = size = 0
    for kind in KINDS:
        for item in items.get(kind, ()):  # type: ignore[attr-defined]
            more = bytes_of(item)
            if count == MAX_ITEMS or (count and size + more > MAX_BYTES):
                yield dict(part)
                part, count, size = {}, 0, 0
            part.setdefault(kind, []).append(item)
            count, size = count + 1, size + more
    if count:
        yield dict(part)


def bytes_of(item: str) -> int:
    """The bytes of an item in the body of a purge."""
    return len(json.dumps(item)) + 2

"""The different ways in which a page can write the same link."""

from __future__ import annotations

from urllib.parse import urlsplit

from tests.webgraph.chance import pick

SPELLINGS = ("absolute", "rooted", "relative", "fragment", "shouted", "schemeless", "dotted", "detour")


def spelled(url: str, page: str, roll: float) -> str:
    """Return a spelling of the URL that resolves to it on the page; links to other sites stay absolute."""
    spelling = pick(SPELLINGS, roll)
    here, there = urlsplit(page), urlsplit(url)
    if spelling == "absolute":
        return url
    if spelling == "fragment":
        return f"{url}#part-{int(roll * 1000) % 10}"
    if spelling == "shouted":
        return url.replace(f"{there.scheme}://{there.netloc}", f"{there.scheme}://{there.netloc}".upper(), 1)
    if spelling == "schemeless" and here.scheme == there.scheme:
        return url.removeprefix(f"{there.scheme}:")
    if here.netloc == there.netloc:
        return _local(url.removeprefix(f"{there.scheme}://{there.netloc}"), here.path, spelling)
    return url


def _local(target: str, path: str, spelling: str) -> str:
    """Return a reference to a target on the page's own host, without the host's name.

    >>> _local("/p/2", "/archive/2004/07/1.html", "relative")
    '../../../p/2'
    """
    if spelling == "relative":
        return ("../" * (path.count("/") - 1) or "./") + target.removeprefix("/")
    if spelling == "dotted":
        return "/." + target
    if spelling == "detour":
        return "/nowhere/.." + target
    return target

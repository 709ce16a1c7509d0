"""URLs that name the same page as one that was fetched: a directory and its index page."""

from __future__ import annotations

_INDEX_PAGES = ("index.html", "index.htm")
_ENDS = ("/", *_INDEX_PAGES)


def index_twins(url: str) -> tuple[str, ...]:
    """Return the index pages of a directory, or the directory of an index page; nothing for any other URL.

    That they are one page is certain enough to save a second visit, but not to canonicalize one to the other: where a
    server does not answer for the directory, the index page must still be found.

    >>> index_twins("http://a.com/b/"), index_twins("http://a.com/b/index.html"), index_twins("http://a.com/b")
    (('http://a.com/b/index.html', 'http://a.com/b/index.htm'), ('http://a.com/b/',), ())
    """
    if not url.endswith(_ENDS):
        return ()
    if url[-1] == "/":
        return () if "?" in url else tuple(url + name for name in _INDEX_PAGES)
    directory, slash, name = url.rpartition("/")
    return (directory + slash,) if name in _INDEX_PAGES and "?" not in directory else ()

"""Which URLs surely name the same page, once one of them has been fetched?"""

from __future__ import annotations

_INDEX_PAGES = ("index.html", "index.htm")
_ENDS = ("/", *_INDEX_PAGES)


def index_twins(url: str) -> tuple[str, ...]:
    """The index pages of a directory, or the directory of an index page; of anything else nothing.

    That they are one page is certain enough to save a visit, but not to take the one for the other unseen: where a
    server does not know the directory, the index page must still be found.

    >>> index_twins("http://a.com/b/"), index_twins("http://a.com/b/index.html"), index_twins("http://a.com/b")
    (('http://a.com/b/index.html', 'http://a.com/b/index.htm'), ('http://a.com/b/',), ())
    """
    if not url.endswith(_ENDS):
        return ()
    if url[-1] == "/":
        return () if "?" in url else tuple(url + name for name in _INDEX_PAGES)
    directory, slash, name = url.rpartition("/")
    return (directory + slash,) if name in _INDEX_PAGES and "?" not in directory else ()

"""Is this the page that another URL has shown already?"""

from __future__ import annotations

import apsw

from crawler.items import Kind, Reason, State
from crawler.urls.keys import key_of
from crawler.urls.twins import index_twins


def fetched_twin(connection: apsw.Connection, url: str) -> str | None:
    """The page that shows what this URL would show, fetched when it was last visited."""
    for twin in index_twins(url):
        found = connection.execute(
            "SELECT 1 FROM urls WHERE host = ? AND rest = ? AND url = ? AND kind = ? AND last_reason IN (?, ?, ?) AND state <> ?",
            (*key_of(twin), twin, Kind.PAGE, Reason.OK, Reason.NOT_MODIFIED, Reason.SAME_HEAD, State.PARKED),
        ).get
        if found is not None:
            return twin
    return None

"""The settings of the last run of a crawl: which are not the defaults, and which differ from the crawl's file?"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from crawler.urls.credentials import without_credentials

_FACT = "settings"  # the fact under which the store keeps them
_PLACES = ("CRAWL_DIR", "STORE")  # where a crawl is, which may be moved; not how it is made


class ChangedSetting(NamedTuple):
    name: str
    used: Any  # by the last run
    other: Any  # by default, or in the crawl's file


def settings_fact(values: Mapping[str, Any]) -> dict[str, str]:
    """Return the fact that holds the settings of a run, without passwords.

    >>> settings_fact({"PROXY_URL": "http://me:secret@proxy.example:8080"})
    {'settings': '{"PROXY_URL": "http://***@proxy.example:8080"}'}
    """
    return {_FACT: json.dumps({name: _without_password(value) for name, value in sorted(values.items())}, default=str)}


def settings_of_last_run(facts: Mapping[str, str]) -> Mapping[str, Any]:
    """Return the settings of the last run, none if it was made by a version that did not keep them."""
    try:
        values = json.loads(facts.get(_FACT, "{}"))
    except ValueError:
        return {}
    return {name: value for name, value in values.items() if name not in _PLACES} if isinstance(values, dict) else {}


def changed_settings(used: Mapping[str, Any], others: Mapping[str, Any]) -> list[ChangedSetting]:
    """Return the settings of a run that are not as elsewhere; "5" and 5.0 are the same, and so are a list and its text.

    >>> changed_settings({"A": "5", "B": "x,y", "C": 1}, {"A": 5.0, "B": ["x", "y"], "C": 2, "D": 3})
    [ChangedSetting(name='C', used=1, other=2)]
    """
    shared = [name for name in used if name in others]
    return [
        ChangedSetting(name, used[name], other)
        for name in shared
        if _plain(used[name]) != _plain(other := _without_password(others[name]))
    ]


def settings_lines(
    facts: Mapping[str, str], defaults: Mapping[str, Any], in_file: Mapping[str, Any], file: str
) -> Iterator[str]:
    """Say with which settings the last run was made, and where the file of the crawl says something else."""
    used = settings_of_last_run(facts)
    if not used:
        return
    changed = changed_settings(used, defaults)
    listed = " ".join(f"{setting.name}={setting_text(setting.used)}" for setting in changed)
    yield f"settings of the last run: {listed or 'the defaults'}"
    for setting in changed_settings(used, in_file):
        yield (
            f"{file} has {setting.name}={setting_text(setting.other)}; the last run had {setting_text(setting.used)}"
        )


def setting_text(value: Any) -> str:
    """Return a value as it would be given with -s.

    >>> setting_text(["a", "b"]), setting_text(3600.0), setting_text(""), setting_text(True)
    ('a,b', '3600', "''", 'True')
    """
    if isinstance(value, list | tuple):
        value = ",".join(map(str, value))
    if isinstance(value, float):
        return f"{value:.15g}"
    return str(value) or "''"


def _plain(value: Any) -> str:
    text = setting_text(value)
    try:
        return f"{float({'True': '1', 'False': '0'}.get(text, text)):.15g}"
    except ValueError:
        return "''" if text == "None" else text


def _without_password(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_without_password(part) for part in value]
    return without_credentials(value) if isinstance(value, str) else value

"""The files for operators name only commands and settings that exist, and cron, systemd and others accept them."""

from __future__ import annotations

import argparse
import json
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from scrapy.settings import Settings

from crawler import settings as project
from crawler.errors import AlreadyRunning
from crawler.options import Options
from tests.crawl.runner import ROOT

OPS = ROOT / "data" / "ops"
FIELDS = ((0, 59), (0, 23), (1, 31), (1, 12), (0, 7))  # ranges of the time fields of a crontab


def lines_of(name: str) -> Iterator[str]:
    """Yield the lines of a file, without comments and empty lines."""
    for line in (OPS / name).read_text(encoding="utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            yield line


def cron_lines() -> Iterator[tuple[list[str], str]]:
    """Yield the times and the command of each line of the crontab."""
    for line in lines_of("crontab"):
        if not re.match(r"[A-Z]+=", line):
            *times, command = line.split(maxsplit=5)
            yield times, command


def service() -> dict[str, list[str]]:
    options: dict[str, list[str]] = {}
    for line in lines_of("orbweaver.service"):
        name, equals, value = line.partition("=")
        if equals:
            options.setdefault(name, []).append(value)
    return options


def commands() -> Iterator[list[str]]:
    """Yield the arguments of every call of scrapy in the crontab and the service."""
    calls = [command for _, command in cron_lines()] + service()["ExecStart"] + service()["ExecStartPost"]
    for call in calls:
        for part in re.split(r"&&|\|\||;", call):
            words = shlex.split(re.sub(r"\d?>>?&?\S*\s*\S*", "", part))
            if words and words[0].endswith("scrapy"):
                yield words[1:]


def parsed(words: list[str]) -> argparse.Namespace:
    """Parse arguments as Scrapy does; wrong ones end the process."""
    module = import_module(f"crawler.commands.{words[0]}")
    command = getattr(module, f"{words[0].capitalize()}Command")()
    command.settings = Settings()
    parser = argparse.ArgumentParser(exit_on_error=False)
    command.add_options(parser)
    options, rest = parser.parse_known_args(words[1:])
    assert not [word for word in rest if word.startswith("-")]
    return options


def test_the_files_call_crawl_export_and_status() -> None:
    assert {words[0] for words in commands()} == {"crawl", "export", "status"}
    assert len(list(commands())) == 5


@pytest.mark.parametrize("words", list(commands()), ids=lambda words: words[0])
def test_every_command_option_and_setting_exists_and_is_valid(words: list[str]) -> None:
    given = dict(pair.split("=", 1) for pair in parsed(words).set)
    ours = {name for name in vars(project) if name.isupper()}
    assert set(given) <= ours
    settings = Settings(given)
    settings.setmodule(project, priority="default")
    options = Options.of(settings)
    if words[0] == "crawl":
        assert options.contact
        assert options.crawl.max_seconds
        assert parsed(words).summary


def test_all_calls_use_the_same_crawl_dir() -> None:
    places = {pair for words in commands() for pair in parsed(words).set if pair.startswith("CRAWL_DIR=")}
    assert len(places) == 1


def test_every_cron_line_has_valid_times() -> None:
    for times, command in cron_lines():
        for text, (least, most) in zip(times, FIELDS, strict=True):
            assert text == "*" or least <= int(text) <= most
        assert "%" not in command  # cron turns % into a newline
        assert len(command) < 1_000


def test_the_exit_code_of_a_running_crawl_counts_as_success() -> None:
    assert service()["SuccessExitStatus"] == [str(AlreadyRunning.exit_code)]
    assert f"exits with {AlreadyRunning.exit_code}" in (OPS / "crontab").read_text()


def test_the_service_has_time_to_stop() -> None:
    (wait,) = service()["TimeoutStopSec"]
    assert int(wait) > 20
    assert service()["Type"] == ["oneshot"]


def test_all_logs_that_cron_writes_are_rotated() -> None:
    (pattern,) = re.findall(r"^(\S+) \{$", (OPS / "logrotate").read_text(), re.MULTILINE)
    written = {log for _, command in cron_lines() for log in re.findall(r">> (\S+\.log)", command)}
    assert written
    assert all(Path(log).match(pattern) for log in written)


def test_git_ignores_none_of_the_files_for_operators() -> None:
    ignored = subprocess.run(
        ["git", "check-ignore", "--no-index", *map(str, OPS.iterdir())], cwd=ROOT, capture_output=True, text=True
    )
    assert ignored.stdout == ""


def check(*words: str, **options: Any) -> subprocess.CompletedProcess[str]:
    if shutil.which(words[0]) is None:
        pytest.skip(f"{words[0]} is not on this machine")
    return subprocess.run(words, capture_output=True, text=True, check=False, **options)


def test_systemd_accepts_its_units(tmp_path: Path) -> None:
    """The units are checked with a program and a user that exist on this machine."""
    for path in OPS.glob("orbweaver.*"):
        text = re.sub(r"/opt/orbweaver/\.venv/bin/scrapy", "/bin/true", path.read_text())
        (tmp_path / path.name).write_text(text.replace("User=orbweaver", "User=root"))
    units = [str(path) for path in sorted(tmp_path.iterdir())]
    result = check("systemd-analyze", "verify", *units)
    assert (result.returncode, result.stderr) == (0, "")


def checked_crontab(table: Path) -> subprocess.CompletedProcess[str]:
    """Have cron check a table: with -T if it is cronie, with -n if it is Debian's."""
    result = check("crontab", "-T", str(table))
    return check("crontab", "-n", str(table)) if "invalid option" in result.stderr else result


def test_cron_accepts_its_table(tmp_path: Path) -> None:
    result = checked_crontab(OPS / "crontab")
    assert result.returncode == 0, result.stderr
    (tmp_path / "wrong").write_text("61 * * * * true\n")
    assert checked_crontab(tmp_path / "wrong").returncode != 0


def test_logrotate_accepts_its_file(tmp_path: Path) -> None:
    text = (OPS / "logrotate").read_text().replace("/var/log/orbweaver", str(tmp_path))
    own = re.sub(r"(su|create 0640) orbweaver orbweaver", "", text)
    (tmp_path / "conf").write_text(own)
    result = check("logrotate", "-d", "-s", str(tmp_path / "state"), str(tmp_path / "conf"))
    assert result.returncode == 0, result.stderr
    assert "error" not in result.stderr


def test_the_dashboard_is_json_as_grafana_imports_it() -> None:
    dashboard = json.loads((OPS / "grafana-dashboard.json").read_text())
    assert {"title", "uid", "panels", "templating", "schemaVersion"} <= set(dashboard)

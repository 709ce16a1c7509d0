"""make prove-docs: crawl real documentation sites and compare the server's log with their files."""

from __future__ import annotations

import argparse
import sys
from collections import Counter

from tests.proofs.docs.packages import Unavailable, site_of
from tests.proofs.docs.proof import Findings, prove
from tests.proofs.docs.site import INDEX

PACKAGES = ("python3-doc", "postgresql-doc-15", "debian-handbook")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.proofs.docs", description=__doc__)
    parser.add_argument("packages", nargs="*", metavar="PACKAGE", default=PACKAGES)
    parser.add_argument("-s", dest="settings", action="append", default=[], metavar="NAME=VALUE", help="of the crawl")
    options = parser.parse_args()
    settings = dict(setting.split("=", 1) for setting in options.settings)
    good = True
    for package in options.packages:
        try:
            findings = prove(site_of(package), **settings)
        except Unavailable as reason:
            print(f"{package}: {reason}")
            good = False
            continue
        _report(package, findings)
        good = good and not findings.wrong
    print("Proved" if good else "NOT PROVED")
    return 0 if good else 1


def _report(package: str, findings: Findings) -> None:
    walked = findings.walked
    figures = {
        "pages linked": findings.linked,
        "fetched once": findings.once,
        "fetched twice": len(findings.twice),
        "missing": len(findings.missing),
        "fetched, not linked": len(findings.unlinked),
        "refused": _counted([refusal.reason for refusal in findings.refused]),
        "links to nothing": len(findings.not_found),
        'links to "folder/"': walked.links_ending_in("/"),
        f'links to "folder/{INDEX}"': walked.links_ending_in(INDEX),
        "folders linked both ways": walked.folders_spelled_both_ways,
        "requests": findings.requests,
        "seconds": f"{findings.seconds:.1f}",
        "pages/s": f"{findings.once / findings.seconds:.0f}",
    }
    print(package)
    for name, figure in figures.items():
        print(f"  {name:<30}{figure:>8}")
    for refusal in findings.refused:
        print(f"  refused: {refusal.target} ({refusal.reason})")
    for wrong in findings.wrong[:50]:
        print(f"  WRONG: {wrong}")
    print(flush=True)


def _counted(reasons: list[str]) -> str:
    return ", ".join(f"{count} {reason}" for reason, count in Counter(reasons).items()) or "0"


if __name__ == "__main__":
    sys.exit(main())

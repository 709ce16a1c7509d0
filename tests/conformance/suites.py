"""All suites of URL tests, each with its known kinds of differences."""

from __future__ import annotations

from tests.conformance import crawlers, libraries, standards, trackers
from tests.conformance import kinds as k
from tests.conformance.compare import Suite

SUITES = (
    Suite("wpt_urltestdata", standards.wpt_urltestdata),
    Suite("wpt_toascii", standards.wpt_toascii),
    Suite("wpt_idna_v2_sample", standards.wpt_idna_v2_sample),
    Suite("wpt_percent_encoding", standards.wpt_percent_encoding),
    Suite("wpt_data_urls", standards.wpt_data_urls),
    Suite("psl_test", standards.psl_test),
    Suite("crawler_commons_resolve", crawlers.crawler_commons_resolve),
    Suite(
        "crawler_commons_normalizer",
        crawlers.crawler_commons_normalizer,
        (
            *(k.NO_WEB, k.NO_SCHEME, k.CHARACTERS, k.STRAY_PERCENT, k.EMPTY_VALUE, k.VALUELESS, k.DOTTED_IPV6),
            *(k.OTHER_SCRIPT, k.LONG_LABEL),
        ),
    ),
    Suite(
        "nutch_normalizers",
        crawlers.nutch_normalizers,
        (
            *(k.NO_WEB, k.QUERY_ORDER, k.CHARACTERS, k.STRAY_PERCENT, k.OTHER_SCRIPT, k.INDEX_PAGE, k.SHORT_SESSION),
            *(k.SESSION_IN_VALUE, k.QUERY_IN_FRAGMENT, k.HASH_BANG, k.HOST_TABLE, k.PROTOCOL_TABLE, k.TRAILING_SLASH),
        ),
    ),
    Suite("nutch_urlfilter", crawlers.nutch_urlfilter, (k.NOT_OURS_TO_VISIT, k.PATTERNS_SEE_CANONICAL)),
    Suite(
        "urlcanon",
        crawlers.urlcanon,
        (
            *(k.NO_WEB, k.NO_SCHEME, k.BYTES, k.ESCAPED_HOST, k.DOTS_AS_ADDRESS, k.EMPTY_LABEL, k.BACKSLASH),
            *(k.SPACE_IN_FRAGMENT, k.EMPTY_QUERY, k.FRAGMENT, k.STRAY_PERCENT, k.ESCAPES_REPEATEDLY, k.DECODED),
            *(k.DECODED_REPEATEDLY, k.SORTED_VALUES, k.SECURE, k.WWW, k.TRAILING_SLASH, k.BARE_SESSION),
        ),
    ),
    Suite(
        "urlcanon_parsing",
        crawlers.urlcanon_parsing,
        (
            *(k.WHITE_SPACE, k.SCHEME_CASE, k.NO_HOST, k.BACKSLASH, k.NO_SLASH, k.FILE_SLASHES, k.FILE_USER),
            *(k.OTHER_SCRIPT, k.DEFAULT_PORT),
        ),
    ),
    Suite(
        "webarchive_commons",
        crawlers.webarchive_commons,
        (
            *(k.NO_WEB, k.NO_HOST, k.ESCAPED_HOST, k.LINE_SEPARATORS, k.MERGED_DOTS, k.EMPTY_QUERY),
            *(k.SESSION_PARAMETER, k.WWW, k.LOWER_CASE, k.DECODED, k.DECODED_REPEATEDLY, k.ESCAPES_REPEATEDLY),
        ),
    ),
    Suite(
        "w3lib",
        libraries.w3lib,
        (
            *(k.NO_WEB, k.NOT_OURS_TO_VISIT, k.RELATIVE, k.OTHER_SCRIPT, k.LONG_LABEL, k.FRAGMENT, k.USER_INFO),
            *(k.DEFAULT_PORT, k.NO_SLASH, k.QUERY_ENCODING, k.PATH_ENCODING, k.CHARACTERS, k.STRAY_PERCENT),
            *(k.SPACE_IN_OPAQUE, k.ESCAPES_UNDONE, k.PLUS, k.SORTED_VALUES, k.FIRST_VALUE),
        ),
    ),
    Suite(
        "courlan",
        libraries.courlan,
        (
            *(k.MARKUP, k.ENTITY, k.SECOND_URL, k.SHARING, k.FRAGMENT, k.OTHER_SCRIPT, k.BARE_IPV6, k.NO_SLASH),
            *(k.CAMPAIGNS, k.STRICT, k.SECURE, k.TRAILING_SLASH, k.ODD_HOST, k.OCTAL, k.NAVIGATION, k.SOFTWARE),
            *(k.SCRIPT, k.ADDRESS_AS_DOMAIN, k.SHORT_NAMES, k.SUFFIX_IGNORED),
        ),
    ),
    Suite(
        "tracking_params_global",
        trackers.tracking_params_global,
        (k.WITH_VALUE, k.OPEN_EXPRESSION, k.SHORT_NAME, k.UNLISTED_NAME),
    ),
    Suite("clearurls_providers", trackers.clearurls_providers, (k.UNKNOWN_SITE, k.KNOWN_SITE)),
)

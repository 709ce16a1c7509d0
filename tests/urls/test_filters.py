"""Filters refuse URLs that are no pages and pass every page: a page that is refused wrongly is never noticed."""

from __future__ import annotations

import doctest
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler import settings as project
from crawler.items import Reason
from crawler.urls import filters
from crawler.urls.canonical import canonicalize
from crawler.urls.filters import action_in, api_call, file_type, is_login, may_be_action_or_api, repeated_segment
from tests.defaults import urls_with

SCOPE = urls_with().new_scope([])

# ── Pages ─────────────────────────────────────────────────────────────────────────────────────────────────────────────

PAGES = {
    "documentation": [
        "https://docs.python.org/3/c-api/index.html",
        "https://docs.python.org/3/library/functions.html",
        "https://docs.python.org/3/reference/simple_stmts.html",
        "https://docs.djangoproject.com/en/5.0/topics/auth/default/",
        "https://docs.djangoproject.com/en/5.0/ref/models/querysets/delete",
        "https://requests.readthedocs.io/en/latest/api/",
        "https://example.readthedocs.io/en/latest/api/v2/users/",
        "https://www.sphinx-doc.org/en/master/_modules/sphinx/application.html",
        "https://pandas.pydata.org/docs/reference/api/pandas.DataFrame.drop.html",
        "https://scikit-learn.org/stable/api/index.html",
        "https://developer.mozilla.org/en-US/docs/Web/JavaScript/Reference/Operators/delete",
        "https://developer.mozilla.org/en-US/docs/Web/API/Cache/delete",
        "https://www.postgresql.org/docs/current/sql-delete.html",
        "https://dev.mysql.com/doc/refman/8.0/en/delete.html",
        "https://www.sqlite.org/lang_delete.html",
        "https://www.w3schools.com/sql/sql_delete.asp",
        "https://www.php.net/manual/en/function.session-destroy.php",
        "https://en.cppreference.com/w/cpp/language/delete",
        "https://nodejs.org/api/fs.html",
        "https://nodejs.org/docs/latest/api/http.html",
        "https://docs.oracle.com/javase/8/docs/api/java/util/List.html",
        "https://docs.oracle.com/javase/7/docs/api/index.html?java/util/List.html",
        "https://commons.apache.org/proper/commons-lang/apidocs/index.html",
        "https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.29/",
        "https://boto3.amazonaws.com/v1/documentation/api/latest/index.html",
        "https://boto3.amazonaws.com/v1/documentation/api/latest/",
        "https://docs.github.com/en/rest/repos/repos",
        "https://docs.gitlab.com/ee/api/rest/",
        "https://learn.microsoft.com/en-us/rest/api/azure/",
        "https://cloud.google.com/compute/docs/reference/rest/v1/instances/delete",
        "https://developer.wordpress.org/rest-api/reference/posts/",
        "https://developer.wordpress.org/reference/functions/wp_logout/",
        "https://stripe.com/docs/api/customers/delete",
        "https://laravel.com/docs/10.x/authentication",
        "https://laravel.com/api/5.8/",
        "https://laravel.com/api/5.8/Illuminate/Http/Request.html",
        "https://sequelize.org/api/v6/",
        "https://sequelize.org/api/v6/identifiers.html",
        "https://api.jquery.com/remove/",
        "https://api.drupal.org/api/drupal/10",
        "https://perldoc.perl.org/functions/delete",
        "https://linux.die.net/man/1/edit",
        "https://man7.org/linux/man-pages/man2/unlink.2.html",
        "https://www.unix.com/man-page/linux/1/edit/",
        "https://a.com/docs/api/v2/users",
        "https://a.com/reference/api/v2/users/delete",
        "https://a.com/reference/auth/logout",
        "https://a.com/developers/rest/v1/orders",
        "https://a.com/help/logout",
        "https://a.com/kb/12/delete",
        "https://help.a.com/logout",
        "https://a.com/api/v1/users.html",
        "https://a.com/delete.html",
        "https://a.com/logout.html",
        "https://a.com/api",
        "https://a.com/api/",
        "https://a.com/api/reference",
        "https://a.com/api-docs/v1/",
    ],
    "source code": [
        "https://github.com/scrapy/scrapy",
        "https://github.com/scrapy/scrapy/issues/12",
        "https://github.com/scrapy/scrapy/pull/12/files",
        "https://github.com/scrapy/scrapy/compare/2.10...2.11",
        "https://github.com/scrapy/scrapy/blob/master/README.rst",
        "https://github.com/scrapy/scrapy/commits/master?after=0123456789abcdef0123456789abcdef01234567+34",
        "https://github.com/prometheus/prometheus/blob/main/web/api/v1/api.go",
        "https://github.com/prometheus/prometheus/tree/main/web/api/v1",
        "https://github.com/graphql",
        "https://github.com/graphql/graphql-spec",
        "https://gitlab.com/gitlab-org/gitlab/-/merge_requests/3/diffs",
        "https://gitlab.com/gitlab-org/gitlab/-/blob/master/app/graphql/types/query_type.rb",
        "https://gitlab.com/gitlab-org/gitlab/-/compare/v1.0...v2.0",
        "https://packages.example.org/project/remove/",
        "https://packages.example.org/project/Scrapy/2.11.0/",
        "https://registry.example.org/package/rollback/v/1.0.0",
        "https://registry.example.org/package/graphql",
        "https://packages.debian.org/bookworm/edit",
        "https://tracker.debian.org/pkg/logrotate",
        "https://bugs.debian.org/cgi-bin/bugreport.cgi?bug=123456",
        "https://bugzilla.mozilla.org/show_bug.cgi?id=123456",
        "https://lists.debian.org/debian-user/2024/01/msg00001.html",
        "https://sourceforge.net/projects/a/files/a-1.0.zip/download",
    ],
    "wikis": [
        "https://en.wikipedia.org/wiki/Logout",
        "https://en.wikipedia.org/wiki/Delete",
        "https://en.wikipedia.org/wiki/GraphQL",
        "https://en.wikipedia.org/wiki/File:Example.jpg",
        "https://de.wikipedia.org/wiki/Datei:Example.jpg",
        "https://fr.wikipedia.org/wiki/Fichier:Exemple.png",
        "https://commons.wikimedia.org/wiki/File:Moon.gif",
        "https://commons.wikimedia.org/wiki/File%3AMoon.gif",
        "https://en.wikipedia.org/wiki/Cmd.exe",
        "https://en.wikipedia.org/wiki/.exe",
        "https://en.wikipedia.org/w/index.php?title=Logout&oldid=12",
        "https://en.wikipedia.org/w/index.php?title=Logout&action=history",
        "https://en.wikipedia.org/w/index.php?title=Edit&action=info",
        "https://en.wikipedia.org/wiki/Special:RecentChanges",
        "https://en.wikipedia.org/wiki/Talk:Rollback",
        "https://wiki.debian.org/Edit?action=diff&rev1=1&rev2=2",
        "https://www.dokuwiki.org/syntax?do=revisions",
        "https://a.com/doku.php?id=start&do=show",
        "https://a.com/wiki/Sign_out",
    ],
    "words": [
        "https://www.merriam-webster.com/dictionary/sign-off",
        "https://dictionary.cambridge.org/dictionary/english/log-out",
        "https://dictionary.cambridge.org/dictionary/english/delete?q=delete",
        "https://www.dictionary.com/browse/remove?s=t",
        "https://en.wiktionary.org/wiki/unlike?action=history",
        "https://www.bigcommerce.com/glossary/add-to-cart/",
        "https://stackoverflow.com/questions/tagged/logout",
        "https://stackoverflow.com/questions/tagged/graphql",
        "https://stackoverflow.com/questions/tagged/delete?tab=newest",
        "https://stackoverflow.com/questions/tagged/rollback?page=2",
        "https://github.com/topics/graphql",
        "https://github.com/topics/logout",
        "https://wordpress.org/plugins/tags/logout/",
        "https://www.reddit.com/r/graphql/",
    ],
    "blogs and news": [
        "https://blog.example.com/?p=12",
        "https://blog.example.com/2024/01/31/a-title/",
        "https://blog.example.com/2024/01/31/a-title/comment-page-2/",
        "https://blog.example.com/category/news/page/2/",
        "https://example.com/tag/delete/",
        "https://example.com/2019/05/rollback/",
        "https://example.com/2016/11/04/unsubscribe",
        "https://example.com/2024/01/01/1/1",
        "https://example.com/news/edit-wars",
        "https://example.com/news/12345678/delete",
        "https://example.com/edit/best-dresses-of-2024",
        "https://example.com/editorial/12",
        "https://example.com/deleted-scenes/12",
        "https://example.com/how-to-log-out",
        "https://example.com/logout-page",
        "https://example.com/?s=delete",
        "https://example.com/feed/",
        "https://example.com/comments/feed/",
        "https://example.com/feed.xml",
        "https://example.com/rss?format=xml",
        "https://example.com/trackbacks/",
        "https://www.bbc.com/news/world-europe-12345678",
        "https://www.nytimes.com/2024/01/31/world/a-title.html",
        "https://www.theguardian.com/world/2024/jan/31/a-title",
        "https://www.quora.com/What-is-a-web-crawler?share=1",
    ],
    "shops": [
        "https://shop.example/product/red-table/",
        "https://shop.example/shop/?orderby=price&paged=2",
        "https://shop.example/product-category/tables/?filter_color=red&min_price=10&max_price=20",
        "https://shop.example/cart",
        "https://shop.example/cart/",
        "https://shop.example/basket/12",
        "https://shop.example/compare",
        "https://shop.example/compare/a-vs-b",
        "https://shop.example/wishlist/",
        "https://shop.example/bag/leather",
        "https://shop.example/bags/add-ons",
        "https://shop.example/collections/all?view=list",
        "https://shop.example/p/12345/remover",
        "https://shop.example/watch/12",
        "https://shop.example/catalog?action=view&id=7",
        "https://shop.example/catalog?mode=full",
        "https://shop.example/catalog?type=watch",
        "https://homes.example/list?mode=buy",
        "https://www.ebay.com/itm/123456789012",
        "https://woocommerce.com/document/add-to-cart/",
    ],
    "forums": [
        "https://forum.example/viewtopic.php?f=1&t=2&start=25",
        "https://forum.example/showthread.php?t=12&page=3",
        "https://forum.example/index.php?topic=12.0",
        "https://forum.example/index.php?action=profile&u=1",
        "https://forum.example/threads/how-to-delete.123/page-2",
        "https://forum.example/memberlist.php?mode=viewprofile&u=2",
        "https://forum.example/search.php?do=finduser&u=3",
        "https://meta.discourse.org/t/how-to-delete-a-topic/12345",
        "https://meta.discourse.org/t/how-to-delete-a-topic/12345/7",
        "https://meta.discourse.org/c/support/6?page=2",
        "https://stackoverflow.com/questions/12345/how-to-log-out",
        "https://stackoverflow.com/questions/12345/how-to-log-out?answertab=votes",
        "https://news.ycombinator.com/item?id=1",
    ],
    "everything else": [
        "https://example.com/",
        "https://example.com/en/en/index.html",
        "https://example.com/a/b/a/b/a/b",
        "https://example.com/search?q=delete",
        "https://example.com/search?q=logout&page=2",
        "https://example.com/search?query=add+to+cart",
        "https://example.com/node/12",
        "https://example.com/taxonomy/term/3?page=1",
        "https://example.com/user/1",
        "https://example.com/users/sign_in",
        "https://example.com/login?next=/logout",
        "https://example.com/video?id=3&mode=watch",
        "https://example.com/paper.pdf",
        "https://example.com/report.docx",
        "https://example.com/data.csv",
        "https://arxiv.org/abs/2401.00001",
        "https://arxiv.org/pdf/2401.00001v2",
        "https://doi.org/10.1000/182",
        "https://web.archive.org/web/2020/https://example.com/",
        "https://example.com/v1.zip/contents",
        "https://example.com/jpg",
        "https://example.com/mp3/",
        "https://example.com/node.js",
        "https://example.com/asp.net",
        "https://example.com/download?file=a.zip",
        "https://example.com/calendar?view=month&date=2024-01",
        "https://example.com/topics/graphics/physics",
        "https://example.com/export?format=html",
        "https://example.com/?share",
        "https://example.com/?share=",
        "https://example.com/restaurants/latest",
        "https://example.com/rest/areas",
        "https://example.com/apis/v1",
        "https://example.com/json/v1",
        "https://example.com/xmlrpc",
        "https://example.com/service?singleWsdl",
        "https://example.com/?do=x&op=y&task=z&cmd=a&act=b",
    ],
}


@pytest.mark.parametrize(
    ("kind", "url"), [(kind, url) for kind, urls in PAGES.items() for url in urls], ids=lambda text: text
)
def test_pages_are_visited(kind, url):
    assert str(SCOPE.rejection(canonicalize(url)) or "") == ""


# ── URLs that are no pages ────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("target", "found"),
    [
        # logouts
        ("/logout", "logout"),
        ("/Logout", "logout"),
        ("/logout/", "logout"),
        ("/logout.php", "logout.php"),
        ("/user/logout", "logout"),
        ("/users/sign_out", "sign_out"),
        ("/account/signout/", "signout"),
        ("/account/SignOff.aspx", "signoff.aspx"),
        ("/log-out?next=/", "log-out"),
        ("/wp-login.php?_wpnonce=1&action=logout", "_wpnonce"),
        ("/index.php?action=logout", "action=logout"),
        ("/?logout=1", "logout"),
        # shopping
        ("/add-to-cart/7", "add-to-cart"),
        ("/addToCart?id=7", "addtocart"),
        ("/shop/?add-to-cart=7", "add-to-cart"),
        ("/?addToCart=true", "addtocart"),
        ("/cart/add/7", "cart/add"),
        ("/cart/add?id=7", "cart/add"),
        ("/basket/empty", "basket/empty"),
        ("/wishlist/remove/7", "wishlist/remove"),
        ("/cart/?remove_item=7", "remove_item"),
        ("/product/?add_to_wishlist=23", "add_to_wishlist"),
        # edits
        ("/posts/12/delete", "delete"),
        ("/posts/12/edit/", "edit"),
        ("/node/12/edit?destination=/", "edit"),
        ("/delete/12", "delete"),
        ("/delete.php?id=12", "delete.php"),
        ("/items/0123456789abcdef01234567/remove", "remove"),
        ("/items/3f2504e0-4f89-11d3-9a0c-0305e82c3301/delete", "delete"),
        ("/comments/7/upvote", "upvote"),
        ("/index.php?action=edit&title=A", "action=edit"),
        ("/index.php?action=purge&title=A", "action=purge"),
        ("/posting.php?mode=reply&t=1", "mode=reply"),
        ("/?op=delete&x=1", "op=delete"),
        ("/?Do=Add", "do=add"),
        ("/a/?replytocom=12", "replytocom"),
        ("/a/?share=facebook", "share"),
        ("/a/?share=google-plus-1", "share"),
        ("/a/?_wpnonce=4b9155abcb&like_comment=1", "_wpnonce"),
        ("/a?__EVENTTARGET=b", "__eventtarget"),
        # calendars
        ("/event/1.ics", "calendar export"),
        ("/event/1.ICS", "calendar export"),
        ("/event/?ical=1", "calendar export"),
        ("/event/?outlook-ical=1", "calendar export"),
        ("/event/?format=ics", "calendar export"),
        ("/?feed=iCal", "calendar export"),
        # "docs" in the query does not make it a page about an action
        ("/logout?from=/docs/", "logout"),
    ],
)
def test_actions_are_not_visited(target, found):
    refusal = SCOPE.rejection(canonicalize("http://a.com" + target))
    assert refusal == (Reason.ACTION, found)
    assert urls_with(skip_actions=False).new_scope([]).rejection(canonicalize("http://a.com" + target)) is None


@pytest.mark.parametrize(
    ("target", "found"),
    [
        ("/wp-json/", "wp-json"),
        ("/wp-json/wp/v2/posts/7", "wp-json"),
        ("/xmlrpc.php", "xmlrpc.php"),
        ("/xmlrpc.php?rsd", "xmlrpc.php"),
        ("/w/api.php?action=query&format=json", "api.php"),
        ("/wp-admin/admin-ajax.php?action=x", "admin-ajax.php"),
        ("/services/oembed?url=x", "oembed"),
        ("/2024/01/31/a-title/trackback/", "trackback"),
        ("/sites/a/_api/web/lists", "_api"),
        ("/api/v1/users/3", "api/v1"),
        ("/API/V2/users", "api/v2"),
        ("/api/v1.1/public/comments", "api/v1.1"),
        ("/api/3.0/threads/list", "api/3.0"),
        ("/api/rest_v1/page/html/A", "api/rest_v1"),
        ("/api/rest/users", "api/rest"),
        ("/rest/v1/content/7/data", "rest/v1"),
        ("/service.asmx?wsdl", "wsdl"),
        ("/service.asmx?WSDL", "wsdl"),
        ("/index.php?rest_route=/wp/v2/posts", "rest_route"),
    ],
)
def test_api_calls_are_not_visited(target, found):
    refusal = SCOPE.rejection(canonicalize("http://a.com" + target))
    assert refusal == (Reason.API_CALL, found)
    assert urls_with(skip_apis=False).new_scope([]).rejection(canonicalize("http://a.com" + target)) is None


@pytest.mark.parametrize(
    "about", ["docs", "doc", "wiki", "help", "blog", "manual", "reference", "guides", "developers"]
)
def test_a_page_about_an_action_or_an_api_is_visited(about):
    for target in ("logout", "posts/12/delete", "cart/add", "api/v1/users"):
        assert SCOPE.rejection(f"http://a.com/{target}") is not None
        assert SCOPE.rejection(f"http://a.com/{about}/{target}") is None
        assert SCOPE.rejection(f"http://{about}.a.com/{target}") is None
        assert SCOPE.rejection(f"http://{about}-shop.com/{target}") is not None
    assert SCOPE.rejection(f"http://a.{about}/logout") is not None  # a top-level domain does not count


@pytest.mark.parametrize(
    "url",
    [
        "https://blog.a.com/wp-json/",
        "https://blog.a.com/2024/01/31/a-title/trackback/",
        "https://a.com/blog/wp-json/oembed/1.0/embed?url=x",
        "https://a.com/blog/xmlrpc.php",
        "https://a.com/news/wp-admin/admin-ajax.php",
        "https://wiki.a.com/w/api.php?action=opensearch",
    ],
)
def test_an_api_of_a_blog_or_wiki_is_not_visited(url):
    refusal = SCOPE.rejection(canonicalize(url))
    assert refusal is not None
    assert refusal.reason is Reason.API_CALL


@pytest.mark.parametrize("ending", project.URL_SKIP_TYPES.split(","))
def test_files_without_text_are_not_visited(ending):
    for path in (f"/a.{ending}", f"/a.{ending.upper()}", f"/a.b/c.d.{ending}", f"/a.{ending}?b=c"):
        assert SCOPE.rejection(f"http://a.com{path}") == (Reason.FILE_TYPE, ending)
    for path in (f"/{ending}", f"/a{ending}", f"/a.{ending}/", f"/a.{ending}.html", f"/a.{ending}x", f"/?a.{ending}"):
        assert SCOPE.rejection(f"http://a.com{path}") is None


@pytest.mark.parametrize(
    ("path", "types", "expected"),
    [
        ("/a.zip", {"zip"}, "zip"),
        ("/.zip", {"zip"}, "zip"),
        ("/a.zip", set(), ""),
        ("/a.zip", {"tar"}, ""),
        ("/a.", {"zip", ""}, ""),
        ("/a", {"a", ""}, ""),
        ("/", {"", "/"}, ""),
        ("/a.b/c", {"b", "c"}, ""),
        ("/a.tar.gz", {"gz"}, "gz"),
        ("/a.unitypackage", {"unitypackage"}, "unitypackage"),  # endings may be long
        ("/wiki/File:a.zip", {"zip"}, ""),
        ("/wiki/File%3Aa.zip", {"zip"}, ""),
        ("/a:b/c.zip", {"zip"}, "zip"),
    ],
)
def test_file_type(path, types, expected):
    assert file_type(path, types) == expected


# ── Spider traps ──────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("path", "most", "expected"),
    [
        ("/a/a/a/a", 3, "a"),
        ("/a/a/a", 3, ""),
        ("/a/b/a/b/a/b/a/b", 3, "a"),
        ("/x/a/y/a/z/a/w/a/", 3, "a"),
        ("/a/a", 1, "a"),
        ("/a/b", 1, ""),
        ("/A/a/A/a", 3, ""),
        ("/", 1, ""),
        ("//", 1, ""),
        ("////////", 1, ""),  # empty segments belong to another rule
        ("/en/en/docs/en", 3, ""),
    ],
)
def test_repeated_segments(path, most, expected):
    assert repeated_segment(path, most) == expected


@settings(deadline=None, max_examples=300)
@given(st.lists(st.sampled_from(["a", "b", "c", ""]), max_size=14), st.integers(1, 5))
def test_repeated_segments_are_found_as_by_counting(segments, most):
    counts = Counter(segment for segment in segments if segment)
    found = repeated_segment("/" + "/".join(segments), most)
    assert bool(found) is any(count > most for count in counts.values())
    assert not found or counts[found] > most


# ── Logins ────────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "url",
    [
        "https://a.com/login",
        "https://a.com/login/",
        "https://a.com/LogIn?next=/b",
        "https://a.com/user/login?destination=node/1",
        "https://a.com/accounts/login/?next=/b/",
        "https://a.com/de/sign-in",
        "https://a.com/users/sign_in",
        "https://a.com/signin.php?r=1",
        "https://a.com/login.html",
        "https://a.com/Account/LogOn?ReturnUrl=%2fb",
        "https://a.com/login.aspx",
        "https://a.com/wp-login.php?redirect_to=https%3A%2F%2Fa.com%2Fb&reauth=1",
        "https://accounts.a.com/ServiceLogin?continue=https://b.a.com/",
        "https://a.com:8443/sso/start?next=/b",
        "https://login.a.com/?continue=b",
        "https://login.a.com/common/oauth2?client=1&redirect_uri=https%3A%2F%2Fa.com",
        "https://sso.a.com/adfs/ls?returnUrl=/b",
        "https://cas.a.edu/cas?service=https://a.edu/",
        "https://auth.a.com:8443/u?return_to=/b",
        "https://idp.a.edu/profile/SAML2?goto=x",
    ],
)
def test_login_urls_are_recognized(url):
    assert is_login(url)


@pytest.mark.parametrize(
    "url",
    [
        "https://a.com/",
        "https://a.com/b?next=/login",
        "https://a.com/b?page=login",
        "https://a.com/blog/how-to-login",
        "https://a.com/login-tips",
        "https://a.com/logins",
        "https://a.com/loginov",
        "https://a.com/catalogin",
        "https://a.com/blog/signing",
        "https://a.com/sign-in-and-out.html",
        "https://a.com/ssl",
        "https://a.com/docs/sso",
        "https://a.com/help/login/problems",
        "https://a.com/auth/about",  # only hosts
        "https://login.a.com/",  # has no parameter with the page to return to
        "https://auth.a.com/docs/tokens?page=2",
        "https://auth.a.com/docs?text=/next=1",
        "https://loginov.a.com/?next=/b",
        "https://a.login.com/?next=/b",
        "https://authors.a.com/?next=/b",
        "https://a.com/?next=/b",
        "https://a.com/?service=x&continue=y",
    ],
)
def test_urls_that_only_resemble_logins_are_not_recognized(url):
    assert not is_login(url)


# ── Laws ──────────────────────────────────────────────────────────────────────────────────────────────────────────────

SEGMENTS = [
    *("logout", "cart", "add", "delete", "edit.php", "12", "2024", "01", "api", "rest", "v1", "latest", "graphql"),
    *("docs", "wiki", "File:a.jpg", "a.ICS", "x.html", "wp-json", "a", "", "..", "é", "%", "LOGOUT", "unsubscribe"),
    *("0123456789abcdef", "some-words-of-2024", "compare", "trackback", "index.htm"),
]
PARTS = ["action=edit", "a=1", "id=12", "wsdl", "share=x", "share", "ical=1", "format=ics", "=", "&", "%", "do=Logout"]
TARGETS = st.tuples(
    st.lists(st.sampled_from(SEGMENTS), max_size=7).map("/".join),
    st.lists(st.sampled_from(PARTS), max_size=3).map("&".join),
)


@settings(deadline=None, max_examples=800)
@given(st.sampled_from(["a.com", "docs.a.com", "1.2.3.4", "::1"]), TARGETS)
def test_the_quick_check_passes_every_url_that_a_filter_refuses(host, target):
    path, query = "/" + target[0], target[1]
    if action_in(host, path, query) or api_call(host, path, query):
        assert may_be_action_or_api(path, query)


@settings(deadline=None, max_examples=500)
@given(TARGETS.map("?".join) | st.text(st.characters(codec=None), max_size=30))
def test_no_url_makes_the_filters_fail(target):
    url = canonicalize("http://a.com/" + target)
    refusal = SCOPE.rejection(url)
    assert refusal is None or refusal.reason is not Reason.FILTER_FAILED
    assert SCOPE.rejection(url) == refusal


def test_the_examples_are_true():
    assert doctest.testmod(filters).failed == 0

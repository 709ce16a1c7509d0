"""The learned trees keep what a page is about, and leave out what stands around it, on pages made by hand."""

from __future__ import annotations

import hashlib
from importlib.resources import files
from typing import Any

import numpy as np
import pytest

from crawler.parse.main_text.extractors import EXTRACTORS
from crawler.parse.main_text.learned import FILES, learned, text_of_blocks
from crawler.parse.main_text.outline_arrays import OutlineArrays
from crawler.parse.main_text.weighed import weighed
from tests.parse.main_text.pages import ARTICLE, CONTENT, REST, source_of

# Sentences of three languages, of which pages are made.
WORDS: dict[str, dict[str, Any]] = {
    "en": {
        "title": "How bread rises",
        "text": [
            "Bread rises because yeast eats the sugar in the flour, and breathes out a gas that the dough holds back.",
            "The longer it rests in a cool place, the more taste it gets; a night is enough for most kinds of flour.",
            "In the oven the gas grows once more, until the crust is firm, and the crumb keeps the shape it has then.",
            "Whoever opens the door too early lets the heat out, and the loaf falls together in a moment.",
        ],
        "menu": ["Home", "Recipes", "Shop", "Contact"],
        "ad": "Buy the new mixer of our partner now, and save a third of its price until the end of this month.",
        "cookies": "We use cookies and similar techniques. By going on you agree to that. Accept all or change settings.",
        "related": ["Ten kinds of flour", "What salt does to dough", "The oven of our grandmothers"],
        "comment": "Thank you for this, I have baked it twice now and everybody here liked it very much indeed.",
        "jobs": [
            "Baker for the night shift",
            "Sales assistant",
            "Head of the bakery",
            "Apprentice confectioner",
            "Driver",
            "Accountant",
        ],
        "rights": "© 2024 The Baker. All rights reserved.",
        "product": "The kettle boils a litre of water in two minutes, keeps it warm for an hour, and switches itself off "
        "when it is empty. Its lid opens with one hand.",
        "data": {"Weight": "1.2 kg", "Power": "2200 W", "Volume": "1.7 l", "Material": "Steel", "Colour": "Blue"},
    },
    "de": {
        "title": "Wie Brot aufgeht",
        "text": [
            "Brot geht auf, weil die Hefe den Zucker im Mehl frisst und ein Gas ausatmet, das der Teig zurückhält.",
            "Je länger er an einem kühlen Ort ruht, desto mehr Geschmack bekommt er; für die meisten reicht eine Nacht.",
            "Im Ofen dehnt sich das Gas noch einmal aus, bis die Kruste fest ist und die Krume ihre Form behält.",
            "Wer die Tür zu früh öffnet, lässt die Hitze heraus, und der Laib fällt in einem Augenblick zusammen.",
        ],
        "menu": ["Startseite", "Rezepte", "Laden", "Kontakt"],
        "ad": "Kaufen Sie jetzt den neuen Mixer unseres Partners und sparen Sie ein Drittel bis zum Ende des Monats.",
        "cookies": "Wir verwenden Cookies und ähnliche Techniken. Mit der weiteren Nutzung stimmen Sie dem zu. Annehmen.",
        "related": ["Zehn Sorten Mehl", "Was Salz mit dem Teig macht", "Der Ofen unserer Großmütter"],
        "comment": "Vielen Dank dafür, ich habe es schon zweimal gebacken, und allen hier hat es sehr gut geschmeckt.",
        "jobs": [
            "Bäcker für die Nachtschicht",
            "Verkäuferin",
            "Leitung der Backstube",
            "Auszubildender Konditor",
            "Fahrer",
            "Buchhalterin",
        ],
        "rights": "© 2024 Der Bäcker. Alle Rechte vorbehalten.",
        "product": "Der Kessel bringt einen Liter Wasser in zwei Minuten zum Kochen, hält es eine Stunde lang warm und "
        "schaltet sich ab, wenn er leer ist. Der Deckel lässt sich mit einer Hand öffnen.",
        "data": {"Gewicht": "1,2 kg", "Leistung": "2200 W", "Volumen": "1,7 l", "Material": "Stahl", "Farbe": "Blau"},
    },
    "zh": {
        "title": "面包是怎么发起来的",
        "text": [
            "面包会发起来，是因为酵母吃掉了面粉里的糖，并且呼出一种气体，而面团把这种气体留在了里面，于是越来越大。",
            "面团在凉爽的地方放得越久，味道就越好；对大多数面粉来说，放上一夜就足够了，第二天早上就可以烤。",
            "在烤箱里，气体又一次膨胀，直到外皮变硬，里面的组织保持住那时的形状，这样面包才算真正烤好了。",
            "谁要是过早地打开烤箱的门，热气就会跑掉，面包一下子就会塌下去，再也没有办法让它重新发起来。",
        ],
        "menu": ["首页", "食谱", "商店", "联系我们"],
        "ad": "现在购买我们合作伙伴的新搅拌机，本月底之前可以节省三分之一的价格，数量有限，欲购从速，不要错过。",
        "cookies": "我们使用饼干和类似的技术。继续浏览即表示您同意这一点。您可以接受全部，也可以更改设置。",
        "related": ["十种面粉的区别", "盐对面团有什么作用", "我们祖母的老烤箱"],
        "comment": "非常感谢分享，我已经按照这个方法烤了两次，家里的每个人都非常喜欢，以后还会继续做下去的。",
        "jobs": ["夜班面包师", "销售助理", "烘焙部主管", "学徒糕点师", "送货司机", "会计"],
        "rights": "© 2024 面包师 版权所有",
        "product": "这款水壶两分钟就能烧开一升水，可以保温一个小时，壶里没有水的时候会自动断电，壶盖用一只手就能打开。",
        "data": {"重量": "1.2 公斤", "功率": "2200 瓦", "容量": "1.7 升", "材质": "不锈钢", "颜色": "蓝色"},
    },
}
LANGUAGES = sorted(WORDS)


def page(language: str, main: str, *, before: str = "", after: str = "") -> str:
    words = WORDS[language]
    menu = "".join(f"<li><a href='/{number}'>{word}</a></li>" for number, word in enumerate(words["menu"]))
    return (
        f"<!DOCTYPE html><html lang={language}><head><title>{words['title']}</title></head><body>{before}"
        f"<header class=site-header><nav class=main-nav><ul>{menu}</ul></nav></header>{main}{after}"
        f"<footer class=site-footer><p>{words['rights']}</p></footer></body></html>"
    )


def article(language: str, inside: str = "") -> str:
    words = WORDS[language]
    text = "".join(f"<p>{sentence}</p>" for sentence in words["text"])
    return f"<main><article><h1>{words['title']}</h1><div class=entry-content>{text}</div>{inside}</article></main>"


def read(html: str) -> str:
    return learned(source_of(html)).text


def assert_text_is_kept(language: str, text: str) -> None:
    words = WORDS[language]
    assert [sentence for sentence in words["text"] if sentence not in text] == []
    for word in (*words["menu"], words["rights"]):
        assert word not in text.split("\n")


def test_the_article_is_found_and_nothing_else() -> None:
    found = learned(source_of(ARTICLE))
    assert [piece for piece in CONTENT if piece not in found.text] == []
    assert [piece for piece in REST if piece in found.text] == []
    assert found.is_sure


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("place", ["before", "after"])
def test_advertising_is_left_out(place: str, language: str) -> None:
    ad = f"<div class='ad banner sponsored'><p>{WORDS[language]['ad']}</p><p>{WORDS[language]['ad']}</p></div>"
    text = read(page(language, article(language), **{place: ad}))
    assert_text_is_kept(language, text)
    assert WORDS[language]["ad"] not in text


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    "names", ["id=cookie-consent class='modal' role=dialog", "id=onetrust-banner-sdk", "class=gdpr"]
)
def test_a_cookie_dialog_is_left_out(names: str, language: str) -> None:
    said = WORDS[language]["cookies"]
    dialog = f"<div {names}><p>{said}</p><button>OK</button></div>"
    for text in (
        read(page(language, article(language), before=dialog)),
        read(page(language, article(language), after=dialog)),
    ):
        assert_text_is_kept(language, text)
        assert said not in text


@pytest.mark.parametrize("language", LANGUAGES)
def test_related_posts_are_left_out(language: str) -> None:
    posts = "".join(
        f"<li><a href='/post/{number}'><h3>{title}</h3></a></li>"
        for number, title in enumerate(WORDS[language]["related"])
    )
    text = read(page(language, article(language), after=f"<aside class=related-posts><ul>{posts}</ul></aside>"))
    assert_text_is_kept(language, text)
    assert [title for title in WORDS[language]["related"] if title in text] == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_comments_below_an_article_are_left_out(language: str) -> None:
    said = WORDS[language]["comment"]
    comments = "".join(f"<li class=comment><p class=author>Ann {n}</p><p>{said}</p></li>" for n in range(3))
    text = read(
        page(
            language, article(language), after=f"<section id=comments><ol class=comment-list>{comments}</ol></section>"
        )
    )
    assert_text_is_kept(language, text)
    assert said not in text


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_forum_thread_is_kept(language: str) -> None:
    words = WORDS[language]
    said = [*words["text"], words["comment"]]
    posts = "".join(
        f"<div class=post id=p{number}><div class=author>user{number}</div><div class=message><p>{sentence}</p></div></div>"
        for number, sentence in enumerate(said)
    )
    text = read(page(language, f"<h1>{words['title']}?</h1><div class=thread>{posts}</div>"))
    assert [sentence for sentence in said if sentence not in text] == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_list_of_jobs_is_kept(language: str) -> None:
    jobs = WORDS[language]["jobs"]
    items = "".join(
        f"<li class=job><h3><a href='/jobs/{number}'>{job}</a></h3><p>Berlin · 2024-05-{number:02}</p></li>"
        for number, job in enumerate(jobs, 1)
    )
    text = read(page(language, f"<main><h1>Jobs</h1><ul class=jobs>{items}</ul></main>"))
    assert [job for job in jobs if job not in text] == []


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", ["th", "td"])
def test_a_product_is_kept_with_its_table_of_data(name: str, language: str) -> None:
    words = WORDS[language]
    rows = "".join(f"<tr><{name}>{what}</{name}><td>{value}</td></tr>" for what, value in words["data"].items())
    product = (
        f"<main><div class=product><h1>Kettle 1700</h1><p class=price>39 €</p><div class=description>"
        f"<p>{words['product']}</p></div><table class=specifications>{rows}</table></div></main>"
    )
    text = read(page(language, product))
    assert words["product"] in text
    assert [row for row in (f"{what} {value}" for what, value in words["data"].items()) if row not in text] == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_code_is_kept(language: str) -> None:
    words = WORDS[language]
    code = "def rise(dough):\n    return dough * 2\n"
    body = f"<p>{words['text'][0]}</p><pre><code>{code}</code></pre><p>{words['text'][1]}</p>"
    text = read(page(language, f"<main><h1>{words['title']}</h1>{body}</main>"))
    assert code.strip() in text


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_page_of_one_paragraph_is_kept(language: str) -> None:
    said = WORDS[language]["text"][0]
    assert said in read(page(language, f"<div class=content><p>{said}</p></div>"))


def test_advertising_that_is_all_of_the_content_is_kept() -> None:
    said = "".join(f"<p>{sentence}</p>" for sentence in WORDS["en"]["text"])
    text = read(page("en", f"<div class=ads><h1>Our ads</h1>{said}</div>"))
    assert WORDS["en"]["text"][0] in text


def test_pages_of_very_many_parts_are_read_without_arrays(monkeypatch: pytest.MonkeyPatch) -> None:
    source = source_of(ARTICLE)
    assert learned(source).weights != weighed(source).weights
    monkeypatch.setattr("crawler.parse.main_text.learned._MOST_PARTS", 5)
    assert learned(source).weights == weighed(source).weights


def chosen(html: str, *probabilities: float) -> str:
    parts = source_of(html).parts
    return text_of_blocks(parts, OutlineArrays(parts), np.array(probabilities)).text


def test_the_cells_of_a_short_row_are_kept_or_left_out_together() -> None:
    assert chosen("<table><tr><td>Weight<td>2 kg<tr><td>Power<td>high</table>", 0.9, 0.3, 0.4, 0.1) == "Weight 2 kg"
    article = "An article in a table. " * 20
    assert chosen(f"<table><tr><td>Menu<td>{article}</table>", 0.1, 0.9) == article.strip()


def test_where_nothing_is_likely_all_is_kept_but_what_stands_around() -> None:
    page = (
        "<nav>Menu</nav><header>Site</header><h1>Title</h1><p>Text<aside>More</aside><form>Ask</form><footer>©</footer>"
    )
    assert chosen(page, *[0.3] * 7) == "Title\nText"
    assert chosen("<nav>Menu</nav><footer>©</footer>", 0.1, 0.2) == "Menu\n©"


def test_other_trees_have_another_version() -> None:
    """The version is stored with each page: raise it when other trees are learned, and write their digest here."""
    digest = hashlib.sha256(b"".join((files("crawler.parse.main_text") / name).read_bytes() for name in FILES))
    assert EXTRACTORS["trees"].version == 1
    assert digest.hexdigest() == "62f52cd55258fed43da738d40206ee718024d5ee0eb1876da6bc19e33dee60ab"

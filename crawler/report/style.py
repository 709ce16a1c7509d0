"""The stylesheet of reports: light and dark, wide, narrow and printed.

Colours are those of Okabe and Ito, which colour-blind people can distinguish.
"""

from __future__ import annotations

from typing import Final

CSS: Final = """
:root{--ink:#1b1f24;--soft:#57606a;--page:#fff;--card:#f6f8fa;--rule:#d0d7de;--bad:#b34000;
--s1:#0072b2;--s2:#d55e00;--s3:#009e73;--s4:#cc79a7}
@media (prefers-color-scheme:dark){:root{--ink:#e6edf3;--soft:#9da7b1;--page:#0d1117;--card:#161b22;--rule:#30363d;
--bad:#e69f00;--s1:#56b4e9;--s2:#e69f00;--s3:#009e73;--s4:#cc79a7}}
*{box-sizing:border-box}
html{color-scheme:light dark;-webkit-text-size-adjust:100%}
body{margin:0 auto;padding:1.25rem 1rem 3rem;max-width:86rem;background:var(--page);color:var(--ink);
font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Liberation Sans",sans-serif}
h1{font-size:1.7rem;line-height:1.2;margin:0 0 .25rem;overflow-wrap:anywhere}
h2{font-size:1.25rem;margin:2.5rem 0 .5rem;padding-top:.75rem;border-top:1px solid var(--rule)}
h3{font-size:1rem;margin:1.5rem 0 .5rem}
p,ul,ol,dl{max-width:70ch;margin:.5rem 0}
p,li,bdi{overflow-wrap:anywhere}
.soft{color:var(--soft)}
.bad{color:var(--bad);font-weight:600}
nav ul{display:flex;flex-wrap:wrap;gap:.25rem 1rem;list-style:none;padding:0;max-width:none}
a{color:var(--s1)}
.cards{display:flex;flex-wrap:wrap;gap:.75rem;margin:1rem 0;max-width:none}
.cards div{flex:1 0 9.5rem;max-width:14rem;background:var(--card);border:1px solid var(--rule);border-radius:.5rem;
padding:.6rem .8rem}
.cards dt{color:var(--soft);font-size:.85rem}
.cards dd{margin:0;font-size:1.35rem;font-variant-numeric:tabular-nums;overflow-wrap:anywhere}
.cards small{display:block;color:var(--soft);font-size:.8rem}
.charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,38rem),1fr));gap:1rem 2rem;align-items:start}
figure{margin:1rem 0 0;min-width:0}
figcaption{font-weight:600;margin-bottom:.25rem}
figure>svg{display:block;max-width:100%;height:auto;overflow:hidden}
.narrow{display:none!important}
.legend{display:flex;flex-wrap:wrap;gap:.1rem 1.1rem;list-style:none;padding:0;margin:0 0 .3rem;font-size:.9rem}
.tick,.axis,.name{font-size:12px;fill:var(--soft);font-variant-numeric:tabular-nums}
.name{fill:var(--ink);direction:ltr;unicode-bidi:isolate}
.grid{stroke:var(--rule);stroke-width:1}
.line{fill:none;stroke-width:2.25;stroke-linejoin:round}
.s1{stroke:var(--s1)}.s2{stroke:var(--s2);stroke-dasharray:7 3}
.s3{stroke:var(--s3);stroke-dasharray:2 3}.s4{stroke:var(--s4)}
.bar{stroke:none}.bar.s1{fill:var(--s1)}.bar.s2{fill:var(--s2)}.bar.s3{fill:var(--s3)}.bar.s4{fill:var(--s4)}
.scroll{overflow-x:auto;margin:.5rem 0 1rem}
table{border-collapse:collapse;font-size:.9rem;min-width:min(100%,24rem)}
th,td{text-align:left;vertical-align:top;padding:.3rem .9rem .3rem 0;border-bottom:1px solid var(--rule)}
th{color:var(--soft);font-weight:600;white-space:nowrap}
td{overflow-wrap:anywhere;min-width:5rem}
td code,.whole{white-space:nowrap}
.whole small{white-space:normal}
td details,td .plain{margin:0}
.number{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums;min-width:0}
.url,code,pre{font-family:ui-monospace,"Liberation Mono",Menlo,Consolas,monospace;
font-size:.85em;overflow-wrap:anywhere}
pre{background:var(--card);border:1px solid var(--rule);border-radius:.5rem;padding:.75rem;
white-space:pre-wrap;max-height:24rem;overflow:auto}
.plain{list-style:none;padding:0;margin:0;max-width:none}
details{margin:.4rem 0}
summary{cursor:pointer;color:var(--soft);font-size:.9rem}
footer{margin-top:3rem;border-top:1px solid var(--rule);padding-top:.75rem;color:var(--soft);font-size:.85rem}
@media (max-width:44rem){.wide{display:none!important}.narrow{display:block!important}body{padding:.9rem .8rem 2rem}
h1{font-size:1.4rem}.cards{gap:.5rem}.cards div{flex-basis:8rem}.cards dd{font-size:1.15rem}
td,th{padding-right:.6rem}td.words{min-width:8rem}td .url{display:inline-block;min-width:13rem}}
@media print{:root{--ink:#000;--soft:#444;--page:#fff;--card:#fff;--rule:#bbb;--bad:#b34000;
--s1:#0072b2;--s2:#d55e00;--s3:#009e73;--s4:#cc79a7}
body{max-width:none;padding:0;font-size:10.5pt}nav,summary{display:none}
.wide{display:block!important}.narrow{display:none!important}
h2{break-after:avoid}figure,.cards div,tr{break-inside:avoid}.charts{grid-template-columns:1fr}
.scroll,pre{overflow:visible;max-height:none}}
"""

"""One loop; everything else serves it.

seeds ─▶ FRONTIER ─▶ FETCH ─▶ PARSE ─▶ STORE ─▶ CHANGE FEED ─▶ indexer
           ▲  ▲                 │        │
           │  └─ URL FILTER ◀───┘ links  └ due again at t
           └──────── urls, hosts, clocks ◀┘
"""

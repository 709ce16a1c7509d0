"""A synthetic web generated from a seed and served on loopback addresses, with an access log.

Nothing here imports the crawler: the access log is independent evidence of what a crawl did.

    layout      the hosts, pages, redirects, robots.txt files and failures, computed from the seed
    generate    the links and documents, and an answer to every request
    server      serves them on real sockets and writes the access log
    log         checks an access log: was every page fetched, and every host treated politely?

`chance` makes pseudo-random numbers, `prose` the text, `spelling` the variants of links, `answers` the HTTP answers.

All times in an access log are readings of the system's monotonic clock, in seconds.
"""

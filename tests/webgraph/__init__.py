"""A web made from a number, served on loopback, that remembers how it was visited.

Nothing here knows the crawler: what this package says about a crawl is evidence from the other side of the wire.

    layout      what exists, and where: hosts, pages, redirects, rules, failures; all follows from the seed
    generate    what it says: links, documents, and an answer to every request
    server      serves it for real and writes the access log
    log         judges an access log: was every page fetched, and every host treated politely?

chance, prose, spelling and answers are the dice, the words, the links' disguises and the answers' shapes.

All times in an access log are readings of the system's monotonic clock, in seconds.
"""

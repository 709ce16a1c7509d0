"""Proves from the server's log alone that every host is treated politely, by a crawl that is killed several times.

    world       thousands of hosts on a few addresses: the rest that each demands, and its answers
    server      serves them on real sockets and logs every request
    log         the format of that log
    judge       checks the log against the world and the promises of crawler/frontier/politeness.py
    proof       crawls the world in a process of its own, kills it, restarts it, and has the log judged

Only the settings of `proof` depend on the crawler. Times are seconds since the epoch by a clock that never jumps.
"""

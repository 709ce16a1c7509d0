"""Is every host treated politely? The server's log alone tells, for a crawl that is killed now and then.

    world       thousands of hosts on a few addresses: how long each wants to be left alone, and what it answers
    server      serves them for real, and notes every request
    log         what it noted
    judge       holds the log against the world and the promises of crawler/frontier/politeness.py
    proof       crawls the world in a process of its own, kills it, starts it again, and has the log judged

Nothing but the settings of `proof` knows the crawler. Times are seconds since the epoch by a clock that never jumps.
"""

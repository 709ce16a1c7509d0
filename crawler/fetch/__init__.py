"""Fetching over HTTP under limits: DNS, the address guard, the client, robots.txt rules."""

"""Bytes from the network, under limits: names, addresses, HTTP, robots rules."""

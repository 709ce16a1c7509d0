"""URLs: canonical form, scope and filters, hosts and registered domains, keys."""

"""Proves from the server's log alone that robots.txt, validators and HEAD_POLICY work as promised."""

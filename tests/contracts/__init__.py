"""Tests of the store's contract, by role; every engine must pass them."""

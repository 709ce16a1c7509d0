"""The tests of the crawler, each named by the promise that it checks."""

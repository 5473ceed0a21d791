"""Agents for tests: programs in a real terminal, and how coleo is told about them."""

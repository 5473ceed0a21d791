"""Measures what coleo promises about speed and memory (see ``scripts/bench --help``)."""

"""coleo keeps a team of coding agents at work from plain files."""

__version__ = "0.1.0"

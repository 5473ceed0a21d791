"""What things are: frozen records, transition tables, rules on text.

Imports nothing but the standard library, and of that only what the agents' verbs can afford
(no ``dataclasses``, ``typing``, ``pathlib``: see ``record.py``).
"""

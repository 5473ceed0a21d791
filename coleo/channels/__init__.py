"""People and tools outside: where notifications and other ways to reach an agent will live."""

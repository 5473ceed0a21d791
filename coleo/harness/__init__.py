"""One data file per agent CLI, and the few hooks that data cannot say (DESIGN.md sections 6 and 9).

`load` reads ``<name>.toml`` into a `coleo.model.harness.Harness`; a project's or a user's own file wins over the
built-in one. `receipts` looks into the files that an agent writes. `shell` is an agent of our own.
"""

"""The host: the small process that owns one arm's pseudo-terminal, and the client for it.

For others: `launch` starts a host, `client` talks to it, `protocol` says what lies beside it and goes over its socket,
`attach` gives a person its terminal, `svg` makes a picture of its screen.

Inside: `host` is the arm's life, on `loop`; `server` and `operations` are what clients can ask; `pty` is the terminal
pair, `keyboard` everything that is typed into it, `delivery` and `queue` how prompts get in; `view` is everything that
comes out: `queries` are answered, `screen` keeps it and draws it by `emulator` behind `filter`, `reading` says what it
means, `paint` draws it again for somebody else. `stop` ends everything, `processes` knows who is who.
"""

"""The host: the small process that owns one arm's pseudo-terminal, and the client for it.

`launch` starts a host, `client` talks to it, `attach` gives a person its terminal, `svg` makes a picture of its
screen. Inside the host: `host` is the loop, `pty` the terminal pair, `screen` with `filter` what it shows,
`reading` what that means, `delivery` how a prompt gets in, `stop` how everything ends.
"""

"""What to do: pure functions from facts and the time to effects.

No clock, no random number, no file, no process in here; imports `coleo.model` only. The daemon gathers
`facts.Facts`, calls `decide.decide`, and carries out the effects in the order in which they come.
"""

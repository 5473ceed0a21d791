"""The loop: wait for a hint or the tick, read the files, ask the brain, carry out what it decided."""

"""The shell worker: an agent without a model, for tasks whose description says what to run.

``python -m coleo.harness.shell`` sits in a seat's terminal as any agent CLI does: raw mode, scrolling output, a
status row and a composer at the bottom, bracketed paste. A prompt of coleo's makes it look for work; it claims a
task, runs the fenced ``sh``, ``bash`` and ``python`` blocks of its description, writes what came out into the task's
file, and completes or fails it (DESIGN.md section 10).

What it runs: only blocks of tasks that a person put into the plan or the inbox; tasks that agents made need
``trust: agents`` in the seat's own seat.md. The text of a message is shown, never executed.

Two threads: `worker` owns the terminal and never waits for anything else; `jobs` does the work. They meet in
`control` (stop, interrupt) and in a queue of things to show.
"""

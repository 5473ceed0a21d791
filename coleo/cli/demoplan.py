"""The plan that ``coleo demo`` has worked off: a web site of a few pages, made from text files."""

from __future__ import annotations

import os

SEATS = ("ada", "bo")

#: The plan itself, a file of its own beside this one.
PLAN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "demoplan.md")

#: Dropped into inbox.md while the seats are at work, one after the other.
INBOX = (
    """\
## Write down who did it

This came through the inbox while the others were at work.

```sh
echo "made by ada and bo" >humans.txt; sleep 1; cat humans.txt
```
""",
    """\
- [ ] Say thank you
  ```sh
  echo "thank you" >thanks.txt
  ```
""",
)

#: What the outcome has to be: titles that end done, and the one that cannot.
DONE = (
    "Write the front page",
    "Write the page about arms",
    "Write the page about colours",
    "Draw the logo",
    "Turn the pages into HTML",
    "Link the pages to each other",
    "Count the words",
    "Check every link",
    "Pack the site",
    "Write down who did it",
    "Say thank you",
)
FAILS = "Publish the site"
REASON = "exit 7: upload: no such host"

#: Files that the tasks make.
MADE = ("site/index.html", "site/logo.svg", "words.txt", "links.txt", "site.tar", "humans.txt", "thanks.txt")

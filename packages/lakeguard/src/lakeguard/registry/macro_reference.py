"""The reference of the catalogue: ``python -m lakeguard.registry.macro_reference``.

A test compares it with ``docs/catalogue.md``.
"""

from __future__ import annotations

import sys

from lakeguard.registry.macros import built_in_rules

_INTRODUCTION = """\
# Rules of the catalogue

<!-- Made by: python -m lakeguard.registry.macro_reference > docs/catalogue.md -->

A rule of the catalogue is a name for one or more [rules](rules.md). It is written like any other:

```yaml
columns:
  amount: {type: "decimal(9,2)", rules: [positive, "decimal_places(most=2) fail_if > 0.1%"]}
rules:
  - primary_key(order_id, line)
  - conditional(if=status = 'PAID', then=paid_at is not null)
```

Clauses stand behind it as behind any rule, and go to every rule that it stands for. What is
recorded and judged are those rules; of several, each has the name and a number as its id.

The rules below exist. A file below `definitions/rules` adds others, in the same words:

- `{column}` is the column; a rule with it is repeated for every column that is given.
- `{columns}` is all columns that are given.
- `{name}` is a parameter that must be given, `{, name}` one that may be.
- `{each @ … joined by …}` is the text once for every column, which `@` stands for.
- A semicolon parts several rules.

| rule | says | stands for |
|---|---|---|
"""


def macros_reference() -> str:
    """All of ``docs/catalogue.md``."""
    lines = [
        f"| `{name}` | {rule.description} | {_code(rule.expression)} |"
        for name, rule in sorted(built_in_rules().items())
    ]
    return _INTRODUCTION + "\n".join(lines) + "\n"


def _code(expression: str) -> str:
    """Code in a table: a bar would part its cells."""
    return f"`{expression.replace('|', chr(92) + '|')}`"


if __name__ == "__main__":
    sys.stdout.write(macros_reference())

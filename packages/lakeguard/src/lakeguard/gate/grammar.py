"""The grammar of rules: text in, a rule out, and the other way round.

    rule      = type [ "(" [ arguments ] ")" ] { clause }
    arguments = argument { "," argument }  |  column comparison column { "," name "=" value }
              | columns "->" dataset "(" columns ")"
              | [ column "," ] condition { "," name "=" value }
              | total { "," name "=" value }
    argument  = column  |  name "=" value [ "%" ]  |  value
    columns   = column { "," column }
    clause    = "by" columns  |  "where" condition  |  "warn_if" limit  |  "fail_if" limit
              | "on_fail" ( "block" | "quarantine" )  |  "scope" ( "table" | "batch" )
    limit     = comparison number [ "%" ]
    value     = number | 'text' | date | duration | true | false | "[" value { "," value } "]"
    condition = conjunction { "or" conjunction }
    conjunction = test { "and" test }
    test      = "not" test | "(" condition ")" | scalar "is" [ "not" ] "null"
              | scalar comparison scalar
              | scalar [ "not" ] "in" "(" value { "," value } ")"
              | scalar [ "not" ] "between" scalar "and" scalar
              | scalar [ "not" ] "like" 'text'
              | function "(" scalar { "," scalar } ")"
    scalar    = product { ( "+" | "-" ) product }
    product   = factor { ( "*" | "/" | "%" ) factor }
    factor    = column { "." field } | value | "(" scalar ")"
              | function "(" scalar { "," scalar } ")"
              | "if" "(" condition "," scalar "," scalar ")"
    total     = scalar whose columns stand in aggregates:
                ( "sum" | "min" | "max" | "avg" | "count" ) "(" [ "distinct" ] scalar ")"
              | "count" "(" "*" ")"

Clauses stand in any order, each at most once. Words are read in any case. A column whose name
is not a plain word stands in backticks. The grammar is final: rules are hashed by their text.
"""

from __future__ import annotations

from functools import lru_cache

from lakeguard.gate.grammar_error import GrammarError, Span
from lakeguard.gate.reading import ReadRule
from lakeguard.gate.rule import Rule, rule_text
from lakeguard.gate.rule_parser import RuleParser
from lakeguard.gate.tokens import LONGEST_TEXT

__all__ = ["GrammarError", "parse_rule", "read_rule", "rule_text"]


def parse_rule(text: str, *, column: str | None = None) -> Rule:
    """The rule that a text says; GrammarError, with the place in the text, if it says none.

    ``column`` is the one that the rule stands under: the rule then leaves it out.
    """
    return read_rule(text, column=column).rule


@lru_cache(maxsize=4096)
def read_rule(text: str, *, column: str | None = None) -> ReadRule:
    """The rule and the places of its parts; its canonical text is always readable again."""
    read = RuleParser(text, column).parse()
    canonical = len(rule_text(read.rule))
    if canonical > LONGEST_TEXT:
        raise GrammarError(
            f"too long: {canonical:,} characters when written out, at most {LONGEST_TEXT:,}",
            Span(0, max(1, len(text))),
            kind="syntax",
        )
    return read

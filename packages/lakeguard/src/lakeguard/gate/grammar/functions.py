"""The functions of conditions: what each takes and what it means; whatever else is refused."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from lakeguard_sdk.expressions.conditions import Function, Predicate

ArgumentKind = Literal[
    "text", "number", "exact", "float", "time", "clock", "collection", "any", "word", "whole"
]
KIND_WORDS: dict[ArgumentKind, str] = {
    "text": "a string",
    "number": "a number",
    "exact": "an integer or a decimal",
    "float": "a float or double",
    "time": "a date or timestamp",
    "clock": "a timestamp",
    "collection": "an array or a map",
    "any": "a value",
    "word": "a text in quotes",
    "whole": "a whole number",
}
MOST_ARGUMENTS = 10


@dataclass(frozen=True)
class FunctionSpec:
    """``most`` arguments where the last kind may be repeated; ``predicate`` is TRUE or FALSE."""

    name: str
    takes: tuple[ArgumentKind, ...]
    example: str
    meaning: str
    fewest: int | None = None
    most: int | None = None
    predicate: bool = False

    @property
    def counts(self) -> tuple[int, int]:
        """The fewest and the most arguments."""
        number = len(self.takes)
        return self.fewest or number, self.most or number

    def kind(self, index: int) -> ArgumentKind:
        return self.takes[min(index, len(self.takes) - 1)]


def _predicate(
    name: str, takes: tuple[ArgumentKind, ...], example: str, meaning: str
) -> FunctionSpec:
    return FunctionSpec(name, takes, example, meaning, predicate=True)


_LISTED = (
    FunctionSpec(Function.ABS, ("number",), "abs(amount)", "without its sign"),
    FunctionSpec(
        Function.ROUND, ("exact", "whole"), "round(amount, 1)",
        "to so many digits behind the point, half away from zero; of decimals alone",
    ),
    FunctionSpec(Function.DOUBLE, ("number",), "double(amount)", "the nearest double"),
    FunctionSpec(
        Function.COALESCE, ("any", "any"), "coalesce(amount, 0)", "the first that is not NULL",
        most=MOST_ARGUMENTS,
    ),
    FunctionSpec(
        Function.NULLIF, ("any", "any"), "nullif(amount, 0)", "NULL where both are equal"
    ),
    FunctionSpec("length", ("text",), "length(name)", "characters (code points)"),
    FunctionSpec(
        Function.TRIM, ("text",), "trim(name)",
        "without blanks, tabs, line ends and no-break spaces at both ends",
    ),
    FunctionSpec(Function.LOWER, ("text",), "lower(name)", "A to Z as a to z; other letters stay"),
    FunctionSpec(Function.UPPER, ("text",), "upper(name)", "a to z as A to Z; other letters stay"),
    FunctionSpec(
        Function.SUBSTR, ("text", "whole", "whole"), "substr(name, 1, 3)",
        "from a character, the first being 1, so many characters or up to the end", fewest=2,
    ),
    FunctionSpec(
        Function.CONCAT, ("text", "text"), "concat(name, '-', key)", "one after the other",
        most=MOST_ARGUMENTS,
    ),
    FunctionSpec(Function.YEAR, ("time",), "year(day)", "of a timestamp in UTC"),
    FunctionSpec(Function.MONTH, ("time",), "month(day)", "1 to 12"),
    FunctionSpec(Function.DAY, ("time",), "day(day)", "1 to 31"),
    FunctionSpec(Function.HOUR, ("clock",), "hour(dep)", "0 to 23, in UTC"),
    FunctionSpec(Function.WEEKDAY, ("time",), "weekday(day)", "Monday is 0, Sunday 6"),
    FunctionSpec(
        Function.DAYS_BETWEEN, ("time", "time"), "days_between(dep, arr)",
        "days from the first to the second, in UTC; negative where the second is earlier",
    ),
    FunctionSpec(Function.SIZE, ("collection",), "size(tags)", "elements of an array or a map"),
    _predicate("is_nan", ("float",), "is_nan(delay)", "the value is NaN"),
    _predicate(
        Predicate.IS_FINITE, ("float",), "is_finite(delay)", "neither NaN nor infinite"
    ),
    _predicate(
        Predicate.STARTS_WITH, ("text", "word"), "starts_with(name, 'N')", "the text begins so"
    ),
    _predicate(Predicate.ENDS_WITH, ("text", "word"), "ends_with(name, 'x')", "the text ends so"),
    _predicate(Predicate.CONTAINS, ("text", "word"), "contains(name, '@')", "it stands inside"),
    _predicate(
        "matches", ("text", "word"), "matches(name, '[A-Z]+')",
        "the whole text matches the pattern (see Patterns)",
    ),
    _predicate(
        Predicate.CASTABLE, ("text", "word"), "castable(name, 'integer')",
        "the text is written as a value of the type (see castable)",
    ),
    _predicate(
        Predicate.DATE_FORMAT, ("text", "word"), "date_format(name, 'dd/MM/yyyy')",
        "the text is a day in that format (see date_format)",
    ),
    _predicate(
        Predicate.LUHN, ("text",), "luhn(key)",
        "the text is 2 to 20 digits, the last of them the check digit that cards have",
    ),
    _predicate(
        Predicate.IBAN, ("text",), "iban(key)",
        "the text is written as an IBAN without blanks, and its check digits are right",
    ),
)  # fmt: skip
FUNCTIONS: dict[str, FunctionSpec] = {str(spec.name): spec for spec in _LISTED}
IF = "if"
IF_EXAMPLE = "if(active = true, amount, 0)"
IF_MEANING = "the second where the condition is TRUE, else the third"
EVERY_NAME = (*FUNCTIONS, IF)

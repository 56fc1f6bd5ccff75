"""The functions of conditions: their argument types and meaning. Others are refused."""

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
    """``most`` limits the arguments where the last kind repeats; ``predicate`` functions are
    boolean."""

    name: str
    takes: tuple[ArgumentKind, ...]
    example: str
    meaning: str
    fewest: int | None = None
    most: int | None = None
    predicate: bool = False

    @property
    def counts(self) -> tuple[int, int]:
        """Minimum and maximum number of arguments."""
        number = len(self.takes)
        return self.fewest or number, self.most or number

    def kind(self, index: int) -> ArgumentKind:
        return self.takes[min(index, len(self.takes) - 1)]


def _predicate(
    name: str, takes: tuple[ArgumentKind, ...], example: str, meaning: str
) -> FunctionSpec:
    return FunctionSpec(name, takes, example, meaning, predicate=True)


_LISTED = (
    FunctionSpec(Function.ABS, ("number",), "abs(amount)", "absolute value"),
    FunctionSpec(
        Function.ROUND, ("exact", "whole"), "round(amount, 1)",
        "rounded to that many decimal places, half away from zero; decimals only",
    ),
    FunctionSpec(Function.DOUBLE, ("number",), "double(amount)", "converted to double"),
    FunctionSpec(
        Function.COALESCE, ("any", "any"), "coalesce(amount, 0)", (
            "the first argument that is not NULL"
        ),
        most=MOST_ARGUMENTS,
    ),
    FunctionSpec(
        Function.NULLIF, ("any", "any"), "nullif(amount, 0)", "NULL where both are equal"
    ),
    FunctionSpec("length", ("text",), "length(name)", "length in characters (code points)"),
    FunctionSpec(
        Function.TRIM, ("text",), "trim(name)",
        "without leading and trailing blanks, tabs, line ends and no-break spaces",
    ),
    FunctionSpec(Function.LOWER, ("text",), "lower(name)", (
        "A to Z become a to z; other letters are unchanged"
    )),
    FunctionSpec(Function.UPPER, ("text",), "upper(name)", (
        "a to z become A to Z; other letters are unchanged"
    )),
    FunctionSpec(Function.NFKC, ("text",), "nfkc(name)", (
        "every character in its NFKC form, without invisible ones: full-width digits become digits"
    )),
    FunctionSpec(
        Function.SUBSTR, ("text", "whole", "whole"), "substr(name, 1, 3)",
        "substring from a 1-based position, of that length or to the end", fewest=2,
    ),
    FunctionSpec(
        Function.CONCAT, ("text", "text"), "concat(name, '-', key)", "concatenation",
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
    FunctionSpec(Function.SIZE, ("collection",), "size(tags)", (
        "number of elements of an array or a map"
    )),
    _predicate("is_nan", ("float",), "is_nan(delay)", "whether the value is NaN"),
    _predicate(
        Predicate.IS_FINITE, ("float",), "is_finite(delay)", "neither NaN nor infinite"
    ),
    _predicate(
        Predicate.STARTS_WITH, ("text", "word"), "starts_with(name, 'N')", (
            "whether the text starts with it"
        )
    ),
    _predicate(Predicate.ENDS_WITH, ("text", "word"), "ends_with(name, 'x')", (
        "whether the text ends with it"
    )),
    _predicate(Predicate.CONTAINS, ("text", "word"), "contains(name, '@')", (
        "whether the text contains it"
    )),
    _predicate(
        "matches", ("text", "word"), "matches(name, '[A-Z]+')",
        "the whole text matches the pattern (see Patterns)",
    ),
    _predicate(
        Predicate.CASTABLE, ("text", "word"), "castable(name, 'integer')",
        "the text can be cast to the type (see castable)",
    ),
    _predicate(
        Predicate.DATE_FORMAT, ("text", "word"), "date_format(name, 'dd/MM/yyyy')",
        "the text is a date in that format (see date_format)",
    ),
    _predicate(
        Predicate.LUHN, ("text",), "luhn(key)",
        "2 to 20 digits with a valid Luhn check digit",
    ),
    _predicate(
        Predicate.IBAN, ("text",), "iban(key)",
        "an IBAN without blanks and with valid check digits",
    ),
)  # fmt: skip
FUNCTIONS: dict[str, FunctionSpec] = {str(spec.name): spec for spec in _LISTED}
IF = "if"
IF_EXAMPLE = "if(active = true, amount, 0)"
IF_MEANING = "the second argument where the condition is TRUE, else the third"
EVERY_NAME = (*FUNCTIONS, IF)

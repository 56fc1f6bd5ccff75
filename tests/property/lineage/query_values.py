"""Random expressions over columns, for queries."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

TEXT, LIST, PAIR, MAP = (
    "string",
    "array<string>",
    "struct<email:string,age:string>",
    "map<string,string>",
)

INPUTS = {
    "silver.people": {"id": TEXT, "email": TEXT, "city": TEXT, "tags": LIST, "info": PAIR},
    "silver.orders": {"id": TEXT, "person": TEXT, "email": TEXT, "amount": TEXT, "props": MAP},
    "silver.cities": {"city": TEXT, "name": TEXT, "day": TEXT},
}
"""Names overlap, so that a wrong scope shows another input's column."""

_VARIABLES = ("x", "email", "id", "v")
_ALIASES = ("p", "o", "c", "email", "people")


@dataclass(frozen=True)
class Column:
    name: str
    type: str
    qualifier: str = ""


@dataclass
class Values:
    """Draws values. ``modelled``: whether all of them are followed by our lineage."""

    chance: Random
    modelled: bool = True
    _aliases: int = 0

    # Values

    def _projected(self, scope: list[Column], before: list[Column], depth: int) -> tuple[str, str]:
        kind = self._pick({"text": 12, "same": 2, "window": 2, "lateral alias": 1 if before else 0,
                           "generator": 0, "struct": 1})  # fmt: skip
        match kind:
            case "same":
                column = self.chance.choice(scope)
                return self._reference(column, scope), column.type
            case "window":
                return self._window(scope), TEXT
            case "lateral alias":
                alias = self.chance.choice(before)
                if alias.type == TEXT and alias.name not in {each.name for each in scope}:
                    return f"upper({alias.name})", TEXT
            case "struct":
                return f"struct({self._column(scope)} AS email, {self._column(scope)} AS age)", PAIR
        return self._expression(scope, 2, depth), TEXT

    def _unnamed(self, scope: list[Column], taken: set[str]) -> tuple[str, Column] | None:
        """An item without alias, and the column that Spark makes of it."""
        bare = [each for each in scope if [c.name for c in scope].count(each.name) == 1]
        bare = [each for each in bare if each.type == TEXT and "`" not in each.name]
        pairs = [each for each in scope if each.type == PAIR and each.qualifier]
        if pairs and self._maybe(0.5):
            name = self.chance.choice(("email", "age"))
            pair = self._reference(self.chance.choice(pairs), scope, qualified=True)
            item, column = self._pick_pair(
                {(f"{pair}.{name}", name): 3, (f"({pair}).{name}", name): 1,
                 (f"string({pair}.{name})", f"`{pair.partition('.')[2]}.{name}`"): 1}
            )  # fmt: skip
        elif bare:
            name = self.chance.choice(bare).name
            item, column = self._pick_pair(
                {(name, name): 4, (f"({name})", name): 1, (f"cast({name} AS string)", name): 1,
                 (f"{name}::string", name): 1, (f"string({name})", name): 1,
                 (f"concat({name})", f"`concat({name})`"): 1,
                 (f"concat(+{name})", f"`concat((+ {name}))`"): 1}
            )  # fmt: skip
        else:
            return None
        self.modelled = self.modelled and "`" not in column
        return None if column in taken else (item, Column(column, TEXT))

    def _window(self, scope: list[Column]) -> str:
        over = f"(PARTITION BY {self._column(scope)} ORDER BY {self._column(scope)})"
        call = self._pick(
            {"row_number()": 1, f"max({self._column(scope)})": 2,
             f"lag({self._column(scope)}, 1, {self._column(scope)})": 1,
             f"first_value({self._column(scope)})": 1, "count(*)": 1}
        )  # fmt: skip
        return f"{call} OVER {over}"

    def _aggregate(self, scope: list[Column], grouped: str, depth: int) -> str:
        value = self._column(scope)
        return self._pick(
            {f"max({value})": 3, "count(*)": 1, f"count(DISTINCT {value})": 1,
             f"concat({grouped}, min({value}))": 1, grouped: 1,
             f"max({value}) FILTER (WHERE {self._column(scope)} > 'a')": 1,
             f"max_by({value}, {self._column(scope)})": 1,
             f"array_join(collect_list({value}), ',')": 1,
             f"listagg({value}, ',') WITHIN GROUP (ORDER BY {value})": 1}
        )  # fmt: skip

    def _expression(self, scope: list[Column], size: int, depth: int = 0) -> str:
        if size <= 0 or self._maybe(0.25):
            return self._column(scope) if self._maybe(0.9) else "'k'"

        def part() -> str:
            return self._expression(scope, size - 1, depth)

        makers: list[Callable[[], str]] = [
            lambda: f"concat({part()}, {part()})",
            lambda: f"upper({part()})",
            lambda: f"coalesce({part()}, {part()}, 'k')",
            lambda: f"CASE WHEN {part()} = 'k' THEN {part()} ELSE {part()} END",
            lambda: f"if({part()} > 'a', {part()}, 'k')",
            lambda: f"({part()} || {part()})",
            lambda: f"cast({part()} AS string)",
            lambda: f"{self._column(scope)}::string",
            lambda: f"sha2({part()}, 256)",
            lambda: f"regexp_replace({part()}, 'a', {part()})",
            lambda: f"nvl2({part()}, {part()}, {part()})",
            lambda: f"struct({part()} AS email, {part()} AS q).email",
            lambda: f"named_struct('email', {part()}, 'q', {part()}).q",
            lambda: f"array({part()}, {part()})[0]",
            lambda: f"map('k', {part()})['k']",
            lambda: f"map({part()}, {part()})[{part()}]",
            lambda: f"element_at(split({part()}, ','), 1)",
            lambda: f"array_join({self._list(scope)}, {part()})",
            lambda: f"to_json(struct({part()} AS a))",
            lambda: f"get_json_object({part()}, '$.a')",
            lambda: f"date_format(cast({part()} AS timestamp), 'yyyy')",
            lambda: f"cast(extract(day FROM cast({part()} AS date)) AS string)",
            lambda: f"cast(cast({part()} AS date) + interval 1 day AS string)",
            lambda: f"cast(date_add(cast({part()} AS date), 1) AS string)",
            lambda: (
                f"cast(datediff(day, cast({part()} AS date), cast({part()} AS date)) AS string)"
            ),
            lambda: f"cast(date_trunc('month', cast({part()} AS timestamp)) AS string)",
            lambda: f"substring({part()}, 1, 2)",
            lambda: f"trim(BOTH 'a' FROM {part()})",
            lambda: f"overlay({part()} PLACING {part()} FROM 1)",
            lambda: f"cast(position('a' IN {part()}) AS string)",
            lambda: f"cast({part()} IN ({part()}, 'k') AS string)",
            lambda: f"cast({part()} LIKE {part()} AS string)",
            lambda: f"cast({part()} BETWEEN {part()} AND 'z' AS string)",
            lambda: f"decode({part()}, 'a', {part()}, 'b')",
            lambda: f"greatest({part()}, {part()})",
            lambda: "string(hash(*))" if self._certain(scope) else part(),
            lambda: self._higher_order(scope, size),
            lambda: self._subquery(scope, depth),
            lambda: self._subquery(scope, depth),
            lambda: self._odd(scope, part),
        ]
        return self.chance.choice(makers)()

    def _certain(self, scope: list[Column]) -> bool:
        return all(each.type != MAP for each in scope)

    def _odd(self, scope: list[Column], part: Callable[[], str]) -> str:
        """What the parser loses words of, and what it does not model."""
        self.modelled = False
        made = [
            f"cast(date_trunc({self._column(scope)}, cast({part()} AS timestamp)) AS string)",
            f"cast(trunc(cast({part()} AS date), {self._column(scope)}) AS string)",
            f"to_json(struct({self._column(scope)} = {part()}))",
            f"to_json(struct({self._column(scope)}))",
            f"to_json(named_struct('a', {part()}))",
            f"cast(timestampdiff(DAY, cast({part()} AS timestamp), timestamp '2020-01-01')"
            " AS string)",
            f"array_join(transform(sequence(1, 2), i -> {part()}), ',')",
            f"mask({part()}, 'X')",
            f"concat_ws(',', {part()}, {self._list(scope)})",
        ]
        return self.chance.choice(made)

    def _higher_order(self, scope: list[Column], size: int) -> str:
        one, two = self.chance.sample(_VARIABLES, 2)
        inside = [each for each in scope if each.name not in (one, two)]
        other = self._column(inside) if inside else "'k'"
        items = self._list(scope)
        return self._pick(
            {f"array_join(transform({items}, {one} -> concat({one}, {other})), ',')": 2,
             f"array_join(filter({items}, {one} -> {one} > {other}), ',')": 1,
             f"cast(exists({items}, {one} -> {one} = {other}) AS string)": 1,
             f"reduce({items}, {other}, ({one}, {two}) -> concat({one}, {two}))": 1,
             f"array_join(transform({items}, ({one}, {two}) -> concat({one}, {two})), ',')": 1,
             f"array_join(map_values(transform_values(map('k', {other}), ({one}, {two}) ->"
             f" concat({one}, {two}))), ',')": 1,
             f"array_join(transform({items}, {one} -> array_join(transform({items}, {two} ->"
             f" concat({one}, {two}, {other})), '')), ',')": 1}
        )  # fmt: skip

    def _subquery(self, scope: list[Column], depth: int) -> str:
        name = self.chance.choice(list(INPUTS))
        alias = self._alias()
        columns = self._under([Column(c, t) for c, t in INPUTS[name].items()], alias)
        inner, outer = self._column(columns), self._column(scope, qualified=True)
        where = f" WHERE {self._column(columns, qualified=True)} = {outer}"
        return self._pick(
            {f"(SELECT max({inner}) FROM {name} {alias}{where})": 3,
             f"(SELECT max({inner}) FROM {name} {alias})": 2,
             f"(SELECT max(z) FROM (SELECT {inner} AS z FROM {name} {alias}))": 1,
             f"(SELECT max(amount) FROM silver.orders {self._filtering()})": 1,
             f"cast(EXISTS (SELECT 1 FROM {name} {alias}{where}) AS string)": 1,
             f"cast({outer} IN (SELECT {inner} FROM {name} {alias}) AS string)": 1}
        )  # fmt: skip

    def _filtering(self) -> str:
        return self._pick(
            {"JOIN silver.people USING (id)": 1, "LEFT SEMI JOIN silver.people USING (email)": 1,
             "NATURAL JOIN silver.people": 1}
        )  # fmt: skip

    def _condition(self, scope: list[Column], depth: int) -> str:
        column = self._column(scope)
        return self._pick(
            {f"{column} > 'a'": 3, f"{column} IS NOT NULL": 1,
             f"{column} IN (SELECT city FROM silver.cities)": 1,
             f"EXISTS (SELECT 1 FROM silver.orders z WHERE z.email = {column})": 1}
        )  # fmt: skip

    # Columns

    def _list(self, scope: list[Column]) -> str:
        found = [each for each in scope if each.type == LIST]
        if found and self._maybe(0.6):
            return self._reference(self.chance.choice(found), scope)
        return f"array({self._column(scope)}, 'k')"

    def _text_column(self, scope: list[Column]) -> str | None:
        found = [each for each in scope if each.type == TEXT]
        return self._reference(self.chance.choice(found), scope) if found else None

    def _column(self, scope: list[Column], *, qualified: bool = False) -> str:
        found = [each for each in scope if each.type == TEXT]
        pairs = [each for each in scope if each.type == PAIR and each.qualifier]
        if pairs and self._maybe(0.15):
            pair = self._reference(self.chance.choice(pairs), scope, qualified=True)
            return f"{pair}.{self.chance.choice(('email', 'age'))}"
        if not found:
            return "'k'"
        return self._reference(self.chance.choice(found), scope, qualified=qualified)

    def _reference(self, column: Column, scope: list[Column], *, qualified: bool = False) -> str:
        alone = [each.name for each in scope].count(column.name) == 1
        name = column.name.upper() if self._maybe(0.05) else column.name
        if not column.qualifier or (alone and not qualified and self._maybe(0.6)):
            return name
        return f"({column.qualifier}).{name}" if self._maybe(0.05) else f"{column.qualifier}.{name}"

    def _under(self, columns: list[Column], alias: str) -> list[Column]:
        return [Column(each.name, each.type, alias) for each in columns]

    def _alias(self) -> str:
        self._aliases += 1
        word = self.chance.choice(_ALIASES)
        return f"{word}{self._aliases}" if self._maybe(0.7) else word

    def _maybe(self, share: float) -> bool:
        return self.chance.random() < share

    def _pick_pair(self, weighted: dict[tuple[str, str], int]) -> tuple[str, str]:
        return self.chance.choices(list(weighted), list(weighted.values()))[0]

    def _pick(self, weighted: dict[str, int]) -> str:  # type: ignore[misc]
        words = list(weighted)
        return self.chance.choices(words, [weighted[word] for word in words])[0]

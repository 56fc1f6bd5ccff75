"""Random SELECTs over three inputs, most of them valid for Spark."""

from __future__ import annotations

from dataclasses import dataclass, field

from tests.property.lineage.query_values import INPUTS, MAP, TEXT, Column, Values

_NAMES = ("email", "id", "city", "a", "b", "c", "name", "x", "info")


@dataclass
class Query:
    """A SELECT and the columns that it shows."""

    text: str
    columns: list[Column]


@dataclass
class Queries(Values):
    """Draws queries. ``modelled``: whether the last one uses only what our lineage models."""

    _common: list[tuple[str, list[Column]]] = field(default_factory=list)

    def draw(self) -> str:
        self.modelled, self._common, self._aliases = True, [], 0
        return self._query(self.chance.choice((1, 2, 2, 3))).text

    # Queries

    def _query(self, depth: int) -> Query:
        kind = self._pick({"select": 8, "set": 2, "with": 2 if depth > 1 else 0})
        if kind == "set":
            return self._set_operation(depth - 1)
        if kind == "with":
            return self._with(depth - 1)
        return self._select(depth)

    def _set_operation(self, depth: int) -> Query:
        left = self._select(depth)
        right = self._select(depth, width=len(left.columns))
        if any(column.type != TEXT for column in left.columns + right.columns):
            return left
        word = self._pick({"UNION ALL": 4, "UNION": 2, "INTERSECT": 1, "EXCEPT": 2, "MINUS": 1})
        text = f"{self._wrapped(left.text)} {word} {self._wrapped(right.text)}"
        if self._maybe(0.2) and left.columns:
            text += f" ORDER BY {self.chance.choice(left.columns).name}"
        return Query(text, left.columns)

    def _wrapped(self, text: str) -> str:
        return f"({text})" if self._maybe(0.6) or "ORDER BY" in text else text

    def _with(self, depth: int) -> Query:
        name = self.chance.choice(("t", "u", "people", "orders"))
        made = self._query(depth)
        columns, named = made.columns, ""
        if self._maybe(0.3):
            columns = [Column(f"n{at}", each.type) for at, each in enumerate(made.columns)]
            named = f"({', '.join(each.name for each in columns)})"
        before = list(self._common)
        self._common.append((name, columns))
        body = self._query(max(depth, 1))
        self._common = before
        return Query(f"WITH {name}{named} AS ({made.text}) {body.text}", body.columns)

    def _select(self, depth: int, width: int | None = None) -> Query:
        text, scope = self._from(depth)
        kind = self._pick({"plain": 8, "grouped": 2, "star": 0 if width else 3})
        items: list[str] = []
        columns: list[Column] = []
        if kind == "star":
            star, columns = self._star(scope)
            items.append(star)
        wanted = width if width is not None else self.chance.randint(1, 3)
        grouped = self._text_column(scope) if kind == "grouped" else None
        while len(columns) < wanted or not items:
            taken = {each.name for each in columns}
            name = self.chance.choice([n for n in _NAMES if n not in taken] or ["z"])
            unnamed = self._unnamed(scope, taken) if grouped is None and self._maybe(0.15) else None
            if unnamed is not None:
                value, column = unnamed
                items.append(value)
                columns.append(column)
                continue
            if grouped is not None:
                value, type_ = self._aggregate(scope, grouped, depth), TEXT
            else:
                value, type_ = self._projected(scope, columns, depth)
            items.append(f"{value} AS {name}")
            columns.append(Column(name, type_))
        clauses = self._clauses(scope, grouped, depth, columns)
        distinct = "DISTINCT " if kind == "plain" and self._maybe(0.1) else ""
        return Query(f"SELECT {distinct}{', '.join(items)} FROM {text}{clauses}", columns)

    def _star(self, scope: list[Column]) -> tuple[str, list[Column]]:
        names = [each.name for each in scope]
        if len(set(names)) < len(names):
            qualifier = self.chance.choice(sorted({each.qualifier for each in scope}))
            if not qualifier:
                return f"{self._column(scope)} AS a", [Column("a", TEXT)]
            shown = [each for each in scope if each.qualifier == qualifier]
            return f"{qualifier}.*", [Column(each.name, each.type) for each in shown]
        if self._maybe(0.4) and len(scope) > 1:
            gone = self.chance.choice(scope)
            rest = [Column(each.name, each.type) for each in scope if each is not gone]
            return f"* EXCEPT ({gone.name})", rest
        return "*", [Column(each.name, each.type) for each in scope]

    def _clauses(
        self, scope: list[Column], grouped: str | None, depth: int, columns: list[Column]
    ) -> str:
        text = ""
        if self._maybe(0.3):
            text += f" WHERE {self._condition(scope, depth)}"
        if grouped is not None:
            text += self._pick({f" GROUP BY {grouped}": 4, f" GROUP BY ROLLUP ({grouped})": 1})
            if self._maybe(0.3):
                text += f" HAVING max({self._column(scope)}) > 'a'"
        elif self._maybe(0.15):
            text += f" ORDER BY {self.chance.choice(columns).name if columns else 1}"
        return text

    # Relations

    def _from(self, depth: int) -> tuple[str, list[Column]]:
        text, scope = self._relation(depth)
        joins = self._pick({0: 5, 1: 4, 2: 1})
        for _ in range(joins):
            text, scope = self._join(text, scope, depth)
        if self._maybe(0.15):
            text, scope = self._lateral_view(text, scope)
        return text, scope

    def _relation(self, depth: int) -> tuple[str, list[Column]]:
        kind = self._pick(
            {"input": 8, "derived": 3 if depth > 0 else 0, "common": 4 if self._common else 0,
             "values": 1, "pivot": 1, "unpivot": 2, "function": 2, "joined": 2 if depth > 0 else 0,
             "parentheses": 2 if depth > 0 else 0, "shadow": 1}
        )  # fmt: skip
        if kind == "derived":
            made = self._query(depth - 1)
            return self._derived(made.text, made.columns, listed=self._maybe(0.3))
        if kind == "joined":
            text, columns = self._from(depth - 1)
            return self._derived(f"SELECT * FROM {text}", columns, listed=True)
        if kind == "common":
            name, columns = self.chance.choice(self._common)
            alias = self._alias() if self._maybe(0.5) else ""
            return f"{name} {alias}".strip(), self._under(columns, alias or name)
        if kind == "values":
            return self._inline()
        if kind == "function":
            alias = self._alias() if self._maybe(0.5) else ""
            return f"range(3) {alias}".strip(), self._under([Column("id", TEXT)], alias)
        if kind == "parentheses":
            return self._in_parentheses(depth - 1)
        if kind == "shadow":
            return self._shadow()
        name = self.chance.choice(list(INPUTS))
        columns = [Column(column, type_) for column, type_ in INPUTS[name].items()]
        if kind == "pivot":
            return self._pivot(name, columns)
        if kind == "unpivot":
            return self._unpivot(name, columns)
        if self._maybe(0.3):
            return name, self._under(columns, name.partition(".")[2])
        alias = self._alias()
        if self._maybe(0.15):
            columns = [Column(f"k{at}", each.type) for at, each in enumerate(columns)]
            names = ", ".join(each.name for each in columns)
            return f"{name} AS {alias}({names})", self._under(columns, alias)
        return f"{name} {alias}", self._under(columns, alias)

    def _inline(self) -> tuple[str, list[Column]]:
        alias = self._alias()
        if self._maybe(0.6):
            columns = [Column("a", TEXT), Column("email", TEXT)]
            return f"VALUES ('a', 'b'), ('c', 'd') AS {alias}(a, email)", self._under(
                columns, alias
            )
        self.modelled = False
        row = self.chance.choice(("(('a', 'b'))", "struct('a', 'b')", "(struct('a', 'b'))"))
        columns = [Column("col1", TEXT), Column("col2", TEXT)]
        return f"VALUES {row} AS {alias}", self._under(columns, alias)

    def _in_parentheses(self, depth: int) -> tuple[str, list[Column]]:
        """A join, or one relation; names inside are seen outside."""
        text, scope = self._relation(depth)
        if self._maybe(0.3):
            text = f"({text})"
        if self._maybe(0.7):
            text, scope = self._join(text, scope, depth)
        return f"({text})", scope

    def _shadow(self) -> tuple[str, list[Column]]:
        """A struct that is called like a relation may be, here or further out."""
        name = self.chance.choice(("p", "o", "people", "range", "`as`"))
        self.modelled = self.modelled and name != "`as`"  # a keyword
        field = self.chance.choice(("id", "email", "city"))
        value = self.chance.choice(("email", "city", "'k'"))
        rows = f"SELECT id, named_struct('{field}', {value}) AS {name} FROM silver.people"
        alias = self._alias() if self._maybe(0.7) else ""
        columns = [*self._under([Column("id", TEXT)], alias), Column(f"{name}.{field}", TEXT)]
        return f"({rows}) {alias}".strip(), columns

    def _derived(
        self, text: str, columns: list[Column], *, listed: bool
    ) -> tuple[str, list[Column]]:
        """A subquery; if ``listed``, with new names for its columns, which tell their order."""
        alias, names = self._alias(), ""
        if listed:
            columns = [Column(f"k{at}", each.type) for at, each in enumerate(columns)]
            names = f"({', '.join(each.name for each in columns)})"
        return f"({text}) {alias}{names}", self._under(columns, alias)

    def _pivot(self, name: str, columns: list[Column]) -> tuple[str, list[Column]]:
        texts = [each for each in columns if each.type == TEXT]
        value, key = self.chance.sample(texts, 2)
        rest = [each for each in columns if each not in (value, key)]
        if any(each.type == MAP for each in rest):
            return name, self._under(columns, name.partition(".")[2])
        alias = self._alias()
        if self._maybe(0.6):
            listed, first = self._pick_pair(
                {("'v1'", "v1"): 3, ("01", "`1`"): 1, ("'v' '1'", "v1"): 1}
            )
            self.modelled = self.modelled and " " not in listed
            made = [Column(first, TEXT), Column("w", TEXT)]
            clause = f"max({value.name}) FOR {key.name} IN ({listed}, 'v2' AS w)"
        else:
            made = [Column("v1_m", TEXT), Column("v1_n", TEXT)]
            clause = f"max({value.name}) AS m, count(*) AS n FOR {key.name} IN ('v1')"
        return f"{name} PIVOT ({clause}) {alias}", self._under(rest + made, alias)

    def _unpivot(self, name: str, columns: list[Column]) -> tuple[str, list[Column]]:
        texts = [each for each in columns if each.type == TEXT]
        chosen = self.chance.sample(texts, 2)
        rest = [each for each in columns if each not in chosen]
        alias = self._alias() if self._maybe(0.6) else ""
        nulls = self._pick({"": 2, "INCLUDE NULLS ": 1})
        one, two = (each.name for each in chosen)
        label = " AS one" if self._maybe(0.3) else ""
        clause = f"v FOR n IN ({one}{label}, {two})"
        made = [Column("n", TEXT), Column("v", TEXT)]
        if self._maybe(0.2):
            clause, made = f"(v, w) FOR n IN (({one}, {two}), ({two}, {one}))", [
                Column("n", TEXT), Column("v", TEXT), Column("w", TEXT)
            ]  # fmt: skip
        return f"{name} UNPIVOT {nulls}({clause}) {alias}".strip(), self._under(rest + made, alias)

    def _join(self, text: str, scope: list[Column], depth: int) -> tuple[str, list[Column]]:
        if self._maybe(0.12):
            return self._lateral_join(text, scope, depth)
        right, others = self._relation(depth)
        if "PIVOT" in right:
            right, others = (
                f"silver.cities {(alias := self._alias())}",
                self._under(
                    [Column(name, type_) for name, type_ in INPUTS["silver.cities"].items()], alias
                ),
            )
        side = self._pick({"": 4, "LEFT ": 2, "RIGHT ": 1, "FULL ": 2})
        shared = [
            each.name
            for each in scope
            if each.type == TEXT
            and [c.name for c in scope].count(each.name) == 1
            and [c.name for c in others if c.type == TEXT].count(each.name) == 1
        ]
        kind = self._pick(
            {"on": 5, "using": 4 if shared else 0, "cross": 2, "semi": 2, "natural": 1}
        )
        match kind:
            case "cross":
                word = self._pick({", ": 1, " CROSS JOIN ": 1})
                return f"{text}{word}{right}", scope + others
            case "semi":
                word = self._pick({"LEFT SEMI": 2, "ANTI": 1})
                if shared and self._maybe(0.7):
                    key = self.chance.choice(shared)
                    first = [each for each in scope if each.name == key]
                    rest = [each for each in scope if each.name != key]
                    return f"{text} {word} JOIN {right} USING ({key})", first + rest
                on = f"{self._column(scope)} = {self._column(others)}"
                return f"{text} {word} JOIN {right} ON {on}", scope
            case "natural":
                names, mine = {each.name for each in others}, {each.name for each in scope}
                keys = [Column(each.name, each.type) for each in scope if each.name in names]
                rest = [each for each in scope if each.name not in names]
                rest += [each for each in others if each.name not in mine]
                return f"{text} NATURAL {side}JOIN {right}", keys + rest
            case "using":
                key = self.chance.choice(shared)
                merged = [each for each in scope + others if each.name != key]
                return f"{text} {side}JOIN {right} USING ({key})", [Column(key, TEXT), *merged]
        on = f"{self._column(scope)} = {self._column(others)}"
        return f"{text} {side}JOIN {right} ON {on}", scope + others

    def _lateral_join(self, text: str, scope: list[Column], depth: int) -> tuple[str, list[Column]]:
        alias = self._alias()
        inner = self._expression(scope, 1)
        word = self._pick({", ": 1, " CROSS JOIN ": 1})
        made = [Column("a", TEXT), Column("email", TEXT)]
        kind = self._pick({"alone": 3, "orders": 2, "cities": 2, "field": 2, "hidden": 1})
        match kind:
            case "orders":
                body = f"SELECT {inner} AS a, q.email FROM silver.orders q"
            case "cities":
                body = f"SELECT {inner} AS a, q.name AS email FROM silver.cities q"
            case "field":
                name, made = self._seen_field(), [Column("email", TEXT), Column("a", TEXT)]
                body = f"SELECT {name}, upper(email) AS a FROM (SELECT info FROM silver.people) q"
            case "hidden":
                self.modelled = False
                hiding = (
                    "'k' AS email",
                    "info.*",
                    "explode(array('k')) AS email",
                    "upper(info.age)",
                )
                body = (
                    f"SELECT {self.chance.choice(hiding)}, upper(email) AS z"
                    " FROM (SELECT info FROM silver.people) q"
                )
                body, made = f"SELECT z FROM ({body})", [Column("z", TEXT)]
            case _:
                body = f"SELECT {inner} AS a, 'k' AS email"
        return f"{text}{word}LATERAL ({body}) {alias}", scope + self._under(made, alias)

    def _seen_field(self) -> str:
        return self.chance.choice(("info.email", "q.info.email", "(info).email", "(q.info).email"))

    def _lateral_view(self, text: str, scope: list[Column]) -> tuple[str, list[Column]]:
        alias = self._alias()
        outer = self._pick({"": 2, "OUTER ": 1})
        value = self._expression(scope, 1)
        kind = self._pick({"explode": 3, "posexplode": 1, "inline": 1, "stack": 1, "map": 1,
                           "open": 1})  # fmt: skip
        match kind:
            case "explode":
                call, names = f"explode({self._list(scope)})", ["w"]
            case "posexplode":
                call, names = f"posexplode({self._list(scope)})", ["at", "w"]
            case "inline":
                call, names = f"inline(array(struct({value} AS q, 'k')))", ["w", "b"]
            case "stack":
                call, names = f"stack(2, {value}, 'k', {self._column(scope)}, 'l')", ["w", "b"]
            case "map":
                call, names = f"explode(map({value}, {self._column(scope)}))", ["b", "w"]
            case _:
                self.modelled = False
                call = f"explode({self._list(scope)})"
                made = [Column("col", TEXT, alias)]
                return f"{text} LATERAL VIEW {outer}{call} {alias}", scope + made
        columns = self._under([Column(name, TEXT) for name in names], alias)
        listed = ", ".join(names)
        return f"{text} LATERAL VIEW {outer}{call} {alias} AS {listed}", scope + columns

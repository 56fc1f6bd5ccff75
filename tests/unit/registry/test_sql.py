"""The SQL of a build: one SELECT over declared parents."""

from __future__ import annotations

import pytest

from lakeguard.registry.sql.sql_builds import (
    check_sql,
    check_transform,
    rewrite_tables,
    rewrite_transform,
    unread_parents,
)
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.errors import BadSql

X, Y = DatasetName("bronze.x"), DatasetName("silver.y")
PARENTS = frozenset({X, Y})


@pytest.mark.parametrize(
    "text",
    [
        "select * from bronze.x",
        "SELECT a, b FROM `bronze`.`x` WHERE a > 1;",
        "select * from bronze.x; -- the end",
        "with t as (select * from bronze.x), u as (select * from t) select * from u",
        "with recursive t as (select 1 union all select * from t) select * from t",
        "with T as (select 1) select * from t",
        "with x as (select * from silver.y) select * from x join bronze.x b on true",
        "(select * from bronze.x) union all (select * from silver.y)",
        "from bronze.x select a",
        "select * from bronze.x b lateral view explode(b.items) t as item",
        "select * from bronze.x b, lateral (select b.a)",
        "select * from bronze.x b, lateral explode(b.items)",
        "select * from range(10)",
        "select * from values (1, 'a') as t(id, name)",
        "select 'parquet.`/etc/passwd`' as s from bronze.x -- from silver.y",
        "select a.b.c.d from bronze.x a",
        "select row_number() over (partition by a order by b) as n from bronze.x qualify n = 1",
        "select /*+ BROADCAST(b) */ * from bronze.x a join silver.y b using (id)",
        "select transform(items, i -> i + 1) from bronze.x",
        "select transform(items, i -> i.a), s.b from (select struct(1 as b) as s from bronze.x)",
        "select a, left(a, 2), window(b, '1 day').end from bronze.x where left(a, 1) = 'x'",
        "select a.b from bronze.x as a left outer join silver.y y on a.id = y.id",
        "select * except (a) from bronze.x full outer join silver.y using (a)",
        "select col.x, count(*) filter (where y.a > 0) from bronze.x, silver.y y group by all",
        "select extract(year from d), trim(both 'x' from s) from bronze.x limit 10 offset 5",
        "select a from bronze.x except all select a from silver.y order by a nulls last",
        "select sum(a) over w from bronze.x window w as (partition by b order by c)",
        "select * from bronze.x natural join silver.y",
        "select * from bronze.x left anti join silver.y using (a)",
        "select distinct a from bronze.x distribute by a sort by a",
        "select * from bronze.x lateral view outer explode(items) t as item",
        "select date, type, index from bronze.x where extract(year from current_date) > 2000",
        "select * from bronze.x lateral view posexplode(items) t as pos, item",
        r"select r'\d+' as p, 'it\'s', 'it''s', x'1f' from bronze.x",
        "select * from bronze.x where a in (select a from silver.y)",
        "select * from bronze.x pivot (sum(a) for b in (1, 2))",
        "select 'é🙂' from bronze.x /* 🙂 */ where a = '🙂'",
        "select cast(a as decimal(10, 2)), b::varchar(3), t.current_user from bronze.x t",
        "select count(*) filter (where a > 1) over (partition by b) as current_date from bronze.x",
        "with t (a, b) as (select 1, 2) select * from t u (c, d) where (c) in (1) and not (d > 1)",
        "select a from bronze.x group by (a) order by (a) -- not in ()",
        "select a, sum(b) from bronze.x group by grouping sets ((a), ()) having (sum(b)) > 1",
        "select listagg(a, ',') within group (order by a), try_cast(b as int) from bronze.x",
    ],
)
def test_one_select_over_parents_passes(text: str) -> None:
    assert check_sql(text, PARENTS) == ()


@pytest.mark.parametrize(
    ("text", "marked", "says"),
    [
        ("", "", "no SELECT"),
        ("-- nothing", "-", "no SELECT"),
        ("select 1; select 2", ";", "second statement"),
        ("insert into bronze.x select 1", "insert", "not insert"),
        ("drop table bronze.x", "drop", "not drop"),
        ("describe bronze.x", "describe", "not describe"),
        ("show tables", "show", "not show"),
        ("values (1)", "values", "not values"),
        ("select * into t from bronze.x", "into", "must not write"),
        ("with t as (delete from bronze.x) select 1", "bronze.x", "must not write"),
        ("from bronze.x insert into y select a", "from", "one SELECT"),
        ("select * from bronze.x where", "where", "nothing follows"),
        ("select * from bronze.x where a )", ")", "invalid Spark SQL"),
        ("select map(1) from bronze.x", "select", "invalid Spark SQL"),
        ("select a b c from bronze.x", "c", "invalid Spark SQL"),
        ("select * from silver.z", "silver.z", "not a declared parent"),
        ("select * from flights", "flights", "not a dataset"),
        ("select * from BRONZE.X", "BRONZE.X", "not a dataset"),
        ("select * from main.bronze.x", "main.bronze.x", "not a dataset"),
        ("select * from `bronze.x`", "`bronze.x`", "not a dataset"),
        ("select * from parquet.`/etc/passwd`", "parquet.`/etc/passwd`", "not a dataset"),
        ("select * from delta.`/a/b`", "delta.`/a/b`", "not a dataset"),
        ("select * from 'x.parquet'", "'x.parquet'", "a string is not a table"),
        ('select * from "bronze".x', '"bronze".x', "a string is not a table"),
        ("select * from read_files('x')", "read_files", "not a dataset"),
        ("select * from python_worker_logs()", "python_worker_logs", "not a dataset"),
        ("select * from bronze.x(1)", "x(", "not a dataset"),
        ("select reflect('java.lang.System', 'exit')", "reflect", "may read data outside"),
        ("select `reflect`('a', 'b')", "`reflect`", "may read data outside"),
        ("select system.builtin.java_method('a')", "java_method", "may read data outside"),
        ("select ai_query('x')", "ai_query", "may read data outside"),
        ("select transform(a) using 'cat' from bronze.x", "a", "scripts"),
        ("select input_file_name() f from bronze.x", "input_file_name", "how Spark reads files"),
        ("select current_user() u from bronze.x", "current_user", "depends on the session"),
        ("select current_user u from bronze.x", "current_user", "depends on the session"),
        ("select version() v from bronze.x", "version", "depends on the session"),
        ("select a, rand() r from bronze.x", "rand", "is random"),
        ("select `uuid`() r from bronze.x", "`uuid`", "is random"),
        ("select shuffle(a) r from bronze.x", "shuffle", "is random"),
        ("select xpath(a, 'b') r from bronze.x", "xpath", "XML"),
        ("select mask_email(a) m from bronze.x", "mask_email", "is not a function"),
        ("select uper(a) m from bronze.x", "uper", "did you mean upper?"),
        ("select spark_catalog.default.upper(a) m from bronze.x", "upper", "is not a function"),
        ("select date 'today' d from bronze.x", "date", "use current_timestamp"),
        ("select cast('now' as timestamp) d from bronze.x", "'now'", "use current_timestamp"),
        ("select to_date(' Today') d from bronze.x", "' Today'", "use current_timestamp"),
        ("select 'now UTC'::timestamp d from bronze.x", "'now UTC'", "use current_timestamp"),
        (
            "select current_date d from (select max(b) as current_date from bronze.x)",
            "current_date d",
            "write current_date()",
        ),
        (
            "with t(current_timestamp) as (select b from bronze.x)"
            " select `current_timestamp` from t",
            "`current_timestamp`",
            "may be a column",
        ),
        (
            "select current_t\u0131mestamp from (select b as current_t\u0131mestamp from bronze.x)",
            "current_t",
            "may be a column",
        ),
        (
            "select * from (select * from bronze.x) tablesample (10 percent)",
            "tablesample",
            "TABLESAMPLE is random",
        ),
        ("select :A from bronze.x", "s", "as :name, in lower snake case"),
        ("select ? from bronze.x", "?", "parameters"),
        ("select * from bronze.x@v1", "@", "inputs are pinned to a version; write the name alone"),
        ("select * from bronze.x @v1 b", "@", "pinned to a version"),
        ("select * from bronze.`x@v1`", "bronze.`x@v1`", "pinned to a version"),
        ("select @a from bronze.x", "@", "parameters"),
        ("select {{ a }} from bronze.x", "{", "templates"),
        ("select '${env:HOME}' from bronze.x", "${", "variables"),
        ("select * from bronze.x version as of 3", "bronze.x", "pinned to a version"),
        (
            "select * from bronze.x tablesample (10 percent)",
            "tablesample",
            "TABLESAMPLE is random",
        ),
        (
            "select * from (select * from bronze.x tablesample (5 rows)) tablesample (1 rows)",
            "tablesample (5 rows)",
            "TABLESAMPLE is random",
        ),
        ("select a from bronze.x where b > 1 for update", "for", "locks are not supported"),
        ("select * from stream(bronze.x)", "b", "not a table"),
        ("from bronze.x |> select a", "|>", "pipe syntax"),
        ("select * from identifier('bronze.x')", "identifier", "IDENTIFIER"),
        ("select a from bronze.x IDENTIFIER ('q')", "IDENTIFIER", "write the name itself"),
        ("with identifier('q') as (select 1) select * from q", "identifier", "IDENTIFIER"),
        ("select identifier('a') from bronze.x", "identifier", "IDENTIFIER"),
        ("select \u0131dent\u0131fier('a') from bronze.x", "\u0131dent", "IDENTIFIER"),
        ("select se\u017fsion_user from bronze.x", "se\u017fsion", "depends on the session"),
        ("select \u0131nput_file_name() from bronze.x", "\u0131nput", "how Spark reads files"),
        ("select bronze.x.a from bronze.x", "bronze.x", "cannot qualify"),
        ("select bronze.x.* from bronze.x", "bronze.x", "cannot qualify"),
        ("select /*+ BROADCAST(bronze.x) */ * from bronze.x", "/*+", "use aliases in hints"),
        ("with a as (select * from b), b as (select 1) select * from a", "b", "not a dataset"),
        ("select * from (with t as (select 1) select * from t) join t on true", "t", "not a"),
        ("with t as (select * from t) select * from t", "t", "not a dataset"),
        ("select 'a", "'", "unterminated '"),
        ("select `` from bronze.x", "``", "empty name"),
        ("select * from bronze.x, where struct(a)", ",", "nothing follows"),
        ("select * from bronze.x as", "as", "nothing follows"),
        ("select * from bronze.x limit , parquet.`/x`", "limit", "nothing follows"),
        ("select from bronze.x", "select", "nothing follows"),
        ("select parquet.`/x` from bronze.x", "parquet", "not a table or column"),
        ("select z.a from bronze.x b", "z", "not a table or column"),
        ("select * from bronze.x window where b", "window", "nothing follows"),
        ("select * from bronze.x join values is", "values", "not a dataset"),
        ("select * from bronze.x outer join silver.y on true", "outer", "OUTER must follow"),
        ("select * from bronze.x, tablesample", "tablesample", "not a dataset"),
        ("select * from (select * from bronze.x, index)", "index", "not a dataset"),
        ("select * from lateral right", "lateral", "nothing follows"),
        ("select * from bronze.x, lateral y", "y", "LATERAL needs"),
        ("select 1 /* a", "/*", "unterminated comment"),
        ("select 1 /* a /* b */ */", "/*", "nested comments"),
        ("select 1 -- a \\\nfrom silver.z", "\\", "continues on the next line"),
        ("select 1 \u202e from bronze.x", "\u202e", "not allowed"),
        ("select 1 \x00 from bronze.x", "\x00", "not allowed"),
        ("select " + "(" * 60 + "1" + ")" * 60, "(", "nested deeper"),
        ("select " + "abs(" * 5000 + "1" + ")" * 5000, "(", "nested deeper"),
        ("select " + "case when " * 500 + "1" + " then 1 end" * 500, "case", "nested deeper"),
        ("select " + "not " * 5000 + "true", "not", "nested deeper"),
        ("select " + "1," * 120_000 + "1", "s", "longer than"),
    ],
)
def test_everything_else_is_refused_where_it_stands(text: str, marked: str, says: str) -> None:
    problems = check_sql(text, PARENTS)
    assert problems
    assert says in problems[0].problem + problems[0].hint
    assert text[problems[0].offset :].startswith(marked)


@pytest.mark.parametrize(
    ("made", "marked"),
    [
        ("date_add('today', 1)", "'today'"),
        ("year('today')", "'today'"),
        ("hour('now')", "'now'"),
        ("cast(('today') as date)", "'today'"),
        ("cast(r'today' as date)", "r'today'"),
        ('cast("Tomorrow" as date)', '"Tomorrow"'),
        ("element_at(array(d, 'today'), 2)", "'today'"),
        ("to_timestamp(' Now ')", "' Now '"),
        ("cast('today UTC' as date)", "'today UTC'"),
        ("cast('now+01:00' as timestamp)", "'now+01:00'"),
        ("coalesce(d, 'yesterday Europe/Berlin')", "'yesterday Europe/Berlin'"),
        ("if(true, 'now CET', d)", "'now CET'"),
        ("year('to' 'day')", "'to' 'day'"),
        ("year('to' -- and\n 'day')", "'to' -- and\n 'day'"),
        (r"year('t\u006fday')", r"'t\u006fday'"),
        ("d = 'today'", "'today'"),
    ],
)
def test_a_text_that_is_the_time_of_the_query_is_refused_anywhere(made: str, marked: str) -> None:
    text = f"select {made} as a from bronze.x"
    (problem,) = check_sql(text, PARENTS)
    assert text[problem.offset : problem.offset + problem.length] == marked
    assert "is the time of the query" in problem.problem
    assert problem.hint == "; use current_timestamp() or current_date()"


@pytest.mark.parametrize(
    "made",
    ["'epoch'", "'now or never'", "'today only'", "'know'", "'Now Playing'", "'todays'", "`today`",
     "date 'epoch'", "'not' || 'now open'"],
)  # fmt: skip
def test_other_texts_are_not_the_time_of_the_query(made: str) -> None:
    assert check_sql(f"select {made} as a from bronze.x", PARENTS) == ()


def test_a_near_parent_is_named() -> None:
    (problem,) = check_sql("select * from bronze.xs", PARENTS)
    assert problem.hint == "; did you mean bronze.x?"


def test_parents_that_are_not_read_are_found() -> None:
    assert unread_parents("select 'silver.y' from bronze.x -- silver.y", [X, Y]) == (Y,)
    assert unread_parents("not sql at all (", [X]) == ()


@pytest.mark.parametrize(
    ("text", "rewritten"),
    [
        ("select * from bronze.x", "select * from `v1` AS `x`"),
        ("select * from bronze.x;\n-- end", "select * from `v1` AS `x`\n-- end"),
        ("select q.a from bronze.x as q", "select q.a from `v1` as q"),
        ("select q.a from bronze.x q (a, b)", "select q.a from `v1` q (a, b)"),
        ("select x.a from `bronze`.`x`", "select x.a from `v1` AS `x`"),
        ("select q.a from bronze.x`q`", "select q.a from `v1` `q`"),
        ("select * from bronze . /* ! */ x", "select * from `v1` AS `x`"),
        (
            "select 'bronze.x', \"bronze.x\" from bronze.x -- bronze.x\n/* bronze.x */",
            "select 'bronze.x', \"bronze.x\" from `v1` AS `x` -- bronze.x\n/* bronze.x */",
        ),
        (
            "select * from bronze.x a join bronze.x b using (id) join silver.y using (id)",
            "select * from `v1` a join `v1` b using (id) join `v``2` AS `y` using (id)",
        ),
        (
            "with x as (select * from bronze.x) select '🙂', x.a from x, silver.y",
            "with x as (select * from `v1` AS `x`) select '🙂', x.a from x, `v``2` AS `y`",
        ),
        (
            "select * from bronze.x pivot (sum(a) for b in (1)) as p",
            "select * from `v1` AS `x` pivot (sum(a) for b in (1)) as p",
        ),
        (
            "select 1 from silver.y where exists (select 1 from bronze.x where x.a = y.a)",
            "select 1 from `v``2` AS `y` where exists (select 1 from `v1` AS `x` where x.a = y.a)",
        ),
    ],
)
def test_tables_are_replaced_where_they_stand(text: str, rewritten: str) -> None:
    assert rewrite_tables(text, {X: "v1", Y: "v`2"}) == rewritten


@pytest.mark.parametrize(
    ("text", "rewritten"),
    [
        ("current_timestamp", ":_run_time"),
        ("current_t\u0131mestamp", ":_run_time"),
        ("`current_t\u0130mestamp`", ":_run_time"),
        ("CURRENT_TIMESTAMP ( )", ":_run_time"),
        ("now(/* then */)", ":_run_time"),
        ("`now`()", ":_run_time"),
        ("current_date", "CAST(:_run_time AS DATE)"),
        ("`current_date`", "CAST(:_run_time AS DATE)"),
        ("current_date()", "CAST(:_run_time AS DATE)"),
        ("curdate()", "CAST(:_run_time AS DATE)"),
        ("localtimestamp()", "CAST(:_run_time AS TIMESTAMP_NTZ)"),
        ("unix_timestamp()", "UNIX_SECONDS(:_run_time)"),
        ("unix_timestamp(a)", "unix_timestamp(a)"),
        ("x.current_date", "x.current_date"),
        ("x.a.current_date", "x.a.current_date"),
        ("struct(current_date as day).day", "struct(CAST(:_run_time AS DATE) as day).day"),
        ("'current_date' || \"now()\"", "'current_date' || \"now()\""),
        ("1 as current_date", "1 as current_date"),
        ("current_date as current_date", "CAST(:_run_time AS DATE) as current_date"),
        ("transform(a, now -> now + 1)", "transform(a, now -> now + 1)"),
    ],
)
def test_the_current_time_is_a_parameter(text: str, rewritten: str) -> None:
    assert rewrite_tables(f"select {text} from bronze.x", {X: "v"}) == (
        f"select {rewritten} from `v` AS `x`"
    )


def test_a_column_goes_before_a_word_without_parentheses() -> None:
    """As in Spark."""
    text = "select current_date, current_date(), current_timestamp from bronze.x"
    assert rewrite_tables(text, {X: "v"}, columns=["Current_Date", "a"]) == (
        "select current_date, CAST(:_run_time AS DATE), :_run_time from `v` AS `x`"
    )


def test_a_transform_names_the_current_time_by_a_call() -> None:
    """Its columns are those of the source, which are not known."""
    assert rewrite_transform("select *, now() as at from batch;") == (
        "select *, :_run_time as at from batch"
    )
    (problem,) = check_transform("select *, current_date as day from batch")
    assert (problem.offset, problem.hint.partition(" for")[0]) == (10, "; write current_date()")


@pytest.mark.parametrize(
    "text",
    [
        "select info.email from batch",
        "select info.* from batch",
        "select `info`.address.street as street, b.id from batch b where Info.age > 3",
    ],
)
def test_a_transform_may_name_fields_of_a_struct(text: str) -> None:
    assert check_transform(text) == ()
    (found, *_) = check_transform("select n from batch, info.email")
    assert "info.email is not a dataset" in found.problem


@pytest.mark.parametrize(
    ("name", "read"),
    [
        ("store\u017f", "stores"),
        ("stores", "store\u017f"),
        ("\u212aeys", "keys"),
        ("stra\u00dfe", "strasse"),
    ],
)
def test_a_common_table_is_not_found_by_letters_that_spark_folds_otherwise(
    name: str, read: str
) -> None:
    text = f"WITH `{name}` AS (SELECT 1 AS n) SELECT n FROM `{read}`"
    (found,) = check_sql(text, frozenset())
    assert found.problem == f"{read} is not a dataset; write layer.name"
    exact = f"WITH `{name}` AS (SELECT n FROM bronze.orders) SELECT n FROM `{name}`"
    assert check_sql(exact, frozenset({DatasetName("bronze.orders")})) == ()


@pytest.mark.parametrize(
    "name", ["lg_s\u0131lver_keys", "lg_s\u0130lver_keys", "LG_\u017filver_\u212aeys"]
)
def test_a_common_table_that_spark_may_take_for_a_view_is_refused(name: str) -> None:
    keys = DatasetName("silver.keys")
    text = f"WITH `{name}` AS (SELECT 1 AS n) SELECT n FROM silver.keys"
    with pytest.raises(BadSql, match="is taken; rename the common table expression"):
        rewrite_tables(text, {keys: "lg_silver_keys"})


def test_a_rewrite_refuses_what_a_check_refuses() -> None:
    with pytest.raises(BadSql) as refused:
        rewrite_tables("select 1\nfrom silver.z", {X: "v"}, "sql/z.sql")
    assert str(refused.value.place) == "sql/z.sql:2:6"
    with pytest.raises(BadSql, match="taken"):
        rewrite_tables("with V1 as (select * from bronze.x) select * from v1", {X: "v1"})

"""Wrong arguments of a connection: the error shows the correct call."""

from __future__ import annotations

from lakeguard_sdk.errors import WrongArgument

FRAME, SESSION = "DataFrame", "SparkSession"
_EXAMPLE = "silver.orders"


def check_frame(method: str, name: object, frame: object) -> None:
    """A dataset name, then a Spark DataFrame."""
    call = f'{method}("{_shown(name, frame)}", {_as_frame(frame)})'
    _check(method, name, frame, FRAME, call)


def check_session(method: str, name: object, spark: object, *, name_first: bool = True) -> None:
    """A dataset name and a Spark session, in the order of the method."""
    shown = f'"{_shown(name, spark)}"'
    call = f"{method}({shown}, spark)" if name_first else f"{method}(spark, {shown})"
    _check(method, name, spark, SESSION, call)


def _check(method: str, name: object, thing: object, wanted: str, call: str) -> None:
    if isinstance(thing, str) and not isinstance(name, str):
        given = "its arguments in the wrong order"
    elif not isinstance(name, str):
        given = f"{_kind(name)} instead of a name"
    elif not _is_sparks(thing, wanted):
        given = f"{_kind(thing)} instead of a Spark {wanted}"
    else:
        return
    raise WrongArgument(method=method, given=given, call=call)


def _is_sparks(thing: object, wanted: str) -> bool:
    """By class name, because each kind of Spark has its own class and some cannot be imported."""
    return any(
        kind.__name__ == wanted and kind.__module__.startswith("pyspark.sql.")
        for kind in type(thing).__mro__
    )


def _shown(name: object, other: object) -> str:
    return next((each for each in (name, other) if isinstance(each, str)), _EXAMPLE)[:200]


def _as_frame(frame: object) -> str:
    module = type(frame).__module__
    if module.startswith("pyspark.pandas"):
        return "frame.to_spark()"
    own = module.partition(".")[0] in ("pandas", "pyarrow", "numpy")
    return "spark.createDataFrame(frame)" if own or isinstance(frame, list) else "frame"


def _kind(thing: object) -> str:
    if thing is None:
        return "None"
    home = type(thing).__module__.partition(".")[0]
    name = type(thing).__qualname__
    return f"a {name}" if home == "builtins" else f"a {name} of {home}"

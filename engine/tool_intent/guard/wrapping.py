"""A Python function as a guarded tool: its signature is its schema."""

from __future__ import annotations

import inspect
import types
import typing
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal, Union, get_args, get_origin

from tool_intent.runtime.strip import duplicate

if TYPE_CHECKING:
    from tool_intent.guard.guard import Guard

_SCALARS: dict[Any, str] = {str: "string", int: "integer", float: "number", bool: "boolean"}


class GuardedTool:
    """Stands where a function stood. Call it with the function's arguments and the fields; it
    raises Denied or returns what the function returns (an awaitable, for a coroutine function)."""

    def __init__(self, guard: Guard, function: Callable[..., Any]) -> None:
        self.__name__ = function.__name__
        self.__doc__ = inspect.getdoc(function)
        signature = inspect.signature(function)
        schema = signature_schema(function, signature)
        own = {
            "name": self.__name__,
            "description": self.__doc__ or "",
            "inputSchema": schema,
        }
        #: The tool as a model is to see it: name, description, inputSchema with the fields.
        self.spec: Mapping[str, Any] = guard.extend(own)
        self._run = _runner(guard, function, signature, schema)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._run(args, kwargs)

    def __repr__(self) -> str:
        return f"<guarded tool {self.__name__}>"


def _runner(
    guard: Guard,
    function: Callable[..., Any],
    signature: inspect.Signature,
    schema: Mapping[str, Any],
) -> Callable[[tuple[Any, ...], dict[str, Any]], Any]:
    """The function behind the guard, held by this closure alone."""
    name = function.__name__
    positional = [
        p.name
        for p in signature.parameters.values()
        if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
    ]

    def named(args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        if len(args) > len(positional):
            raise TypeError(f"{name}() takes {len(positional)} positional arguments")
        given = dict(zip(positional, args, strict=False))
        twice = given.keys() & kwargs.keys()
        if twice:
            raise TypeError(f"{name}() got two values for {', '.join(sorted(twice))}")
        return given | kwargs

    def execute(arguments: dict[str, Any]) -> Any:
        bound = signature.bind(**arguments)
        return function(*bound.args, **bound.kwargs)

    def run(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return guard.call(name, named(args, kwargs), execute, schema=schema)

    async def arun(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return await guard.acall(name, named(args, kwargs), execute, schema=schema)

    return arun if inspect.iscoroutinefunction(function) else run


def signature_schema(function: Callable[..., Any], signature: inspect.Signature) -> dict[str, Any]:
    """A JSON Schema of a function's parameters.

    Raises TypeError for `*args`, `**kwargs` and positional-only parameters: a model passes
    arguments by name, and each name has to be known.
    """
    hints = typing.get_type_hints(function)
    properties: dict[str, Any] = {}
    required: list[str] = []
    for parameter in signature.parameters.values():
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise TypeError(
                f"{function.__name__}: a tool's parameters are passed by name;"
                f" `{parameter}` cannot be"
            )
        schema = _schema(hints.get(parameter.name, Any))
        if parameter.default is parameter.empty:
            required.append(parameter.name)
        elif isinstance(parameter.default, str | int | float | bool | list | dict):
            schema["default"] = duplicate(parameter.default)
        properties[parameter.name] = schema
    return {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


def _schema(hint: Any) -> dict[str, Any]:
    if hint in _SCALARS:
        return {"type": _SCALARS[hint]}
    origin, inner = get_origin(hint), get_args(hint)
    if origin is Literal:
        return {"enum": list(inner)}
    if origin in (Union, types.UnionType):
        options = [_schema(i) for i in inner if i is not type(None)]
        if type(None) in inner:
            options.append({"type": "null"})
        return options[0] if len(options) == 1 else {"anyOf": options}
    if hint is list or origin is list:
        return {"type": "array", "items": _schema(inner[0]) if inner else {}}
    if hint is dict or origin is dict or typing.is_typeddict(hint):
        return _mapping(hint, inner)
    return {}


def _mapping(hint: Any, inner: tuple[Any, ...]) -> dict[str, Any]:
    if not typing.is_typeddict(hint):
        values = _schema(inner[1]) if inner else {}
        return {"type": "object"} | ({"additionalProperties": values} if values else {})
    hints = typing.get_type_hints(hint)
    return {
        "type": "object",
        "properties": {name: _schema(h) for name, h in hints.items()},
        "required": sorted(hint.__required_keys__),
    }

"""`Builtin`: compiled functions that Python calls as it calls its own, with objects in and objects out.

What `compiled` makes is called through numba: the types of all arguments are looked at each time, and what
comes back is a number, from which Python makes its lists.  For questions about one small state that
costs more than the answer.  The functions here are called like those written in C, in some forty
nanoseconds, and make their results themselves.

In them an object is its address, and the rules of Python's C API hold, which nobody checks: what is
"new" must be given away or released (`release`), what is "borrowed" must be kept (`keep`) before it is given
away, and 0 means that an exception is set.  Only functions of the stable ABI are called.
The interpreter's lock is held all the time: a call is atomic, and should be short.
"""

from __future__ import annotations

import ctypes
from functools import cached_property
from typing import TYPE_CHECKING, Any

from numba import types
from numba.core.ccallback import CFunc

from herbrand.compiled import keep_code

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "Builtin",
    "Entry",
    "as_number",
    "bytes_at",
    "bytes_length",
    "forget_error",
    "in_list",
    "in_tuple",
    "insert_in_list",
    "keep",
    "list_length",
    "new_bytes",
    "new_dict",
    "new_list",
    "new_number",
    "new_tuple",
    "put_in_dict",
    "put_in_list",
    "put_in_tuple",
    "release",
    "set_error",
    "set_slice",
    "slice_of_list",
    "tuple_length",
    "type_of",
]

_OBJECT = types.intp


def _function(name: str, result: Any, *arguments: Any) -> Any:
    return types.ExternalFunction(name, result(*arguments))


keep = _function("Py_IncRef", types.void, _OBJECT)
release = _function("Py_DecRef", types.void, _OBJECT)
forget_error = _function("PyErr_Clear", types.void)
set_error = _function("PyErr_SetNone", types.void, _OBJECT)
"""Sets an exception of a type, without a message."""
type_of = _function("PyObject_Type", _OBJECT, _OBJECT)
"""New."""
new_number = _function("PyLong_FromSsize_t", _OBJECT, types.intp)
as_number = _function("PyLong_AsSsize_t", types.intp, _OBJECT)
"""-1 and an exception for what is no `int`."""
new_list = _function("PyList_New", _OBJECT, types.intp)
list_length = _function("PyList_Size", types.intp, _OBJECT)
"""-1 and an exception for what is no list."""
in_list = _function("PyList_GetItem", _OBJECT, _OBJECT, types.intp)
"""Borrowed."""
put_in_list = _function("PyList_SetItem", types.int32, _OBJECT, types.intp, _OBJECT)
"""Takes what is put there."""
insert_in_list = _function("PyList_Insert", types.int32, _OBJECT, types.intp, _OBJECT)
"""Takes nothing; -1 and an exception where there is no memory."""
slice_of_list = _function("PyList_GetSlice", _OBJECT, _OBJECT, types.intp, types.intp)
"""New."""
set_slice = _function("PyList_SetSlice", types.int32, _OBJECT, types.intp, types.intp, _OBJECT)
"""Takes nothing; with 0 for the things removes the slice.  -1 and an exception where there is no memory."""
new_tuple = _function("PyTuple_New", _OBJECT, types.intp)
tuple_length = _function("PyTuple_Size", types.intp, _OBJECT)
in_tuple = _function("PyTuple_GetItem", _OBJECT, _OBJECT, types.intp)
"""Borrowed."""
put_in_tuple = _function("PyTuple_SetItem", types.int32, _OBJECT, types.intp, _OBJECT)
"""Takes what is put there."""
new_dict = _function("PyDict_New", _OBJECT)
put_in_dict = _function("PyDict_SetItem", types.int32, _OBJECT, _OBJECT, _OBJECT)
"""Takes nothing."""
new_bytes = _function("PyBytes_FromStringAndSize", _OBJECT, types.intp, types.intp)
bytes_length = _function("PyBytes_Size", types.intp, _OBJECT)
"""-1 and an exception for what is no `bytes`."""
bytes_at = _function("PyBytes_AsString", types.intp, _OBJECT)
"""The address of the first byte."""


class _Definition(ctypes.Structure):
    """`PyMethodDef`."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("code", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


_ONE, _ANY = 0x0008, 0x0080
"""`METH_O` and `METH_FASTCALL`."""
_make = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)(
    ("PyCFunction_NewEx", ctypes.pythonapi)
)


class Entry:
    """A function of integers that is called by its address; compiled when that is asked for, kept on disk."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function

    @cached_property
    def address(self) -> int:
        """Where the machine code is; it stays there while this object lives."""
        count = self.function.__code__.co_argcount
        self._code = CFunc(self.function, ((types.intp,) * count, types.intp), {}, {})
        keep_code(self._code, self.function)
        self._code.compile()
        return int(self._code.address or 0)


class Builtin(Entry):
    """A function of `(me, argument)`, or of `(me, arguments, count)` with the address of the arguments.

    It returns a new reference, or 0 with an exception set.
    """

    @cached_property
    def _definition(self) -> _Definition:
        kind = _ONE if self.function.__code__.co_argcount == 2 else _ANY
        return _Definition(self.function.__name__.encode(), self.address, kind, None)

    def bind(self, me: object) -> Callable[..., Any]:
        """Return a function for Python to call; it keeps `me` alive, whose address comes first."""
        bound: Callable[..., Any] = _make(ctypes.addressof(self._definition), me, None)
        return bound

# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""Elements: what the data of a program is on the wire, and back.

An int is an int64, a float a double, a sequence of them a vector, bytes are bytes. Everything
with the buffer protocol (array, memoryview, NumPy's arrays) is a vector of what it holds; where
it is writable a result of the same length goes into it.
"""
from __future__ import annotations

import array
import numbers
import struct
import sys
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from .layout import ELEMENT_BYTES
from .lists import Operator, Type

SIGNED = {1: Type.INT8, 2: Type.INT16, 4: Type.INT32, 8: Type.INT64}
UNSIGNED = {1: Type.UINT8, 2: Type.UINT16, 4: Type.UINT32, 8: Type.UINT64}
BOOL = "?"
HALF = "e"  # a float16, which memoryview.cast() does not know
FLOATS = {2: Type.FLOAT16, 4: Type.FLOAT, 8: Type.DOUBLE}
OF_FORMAT = {**dict.fromkeys("bhilqn", SIGNED), **dict.fromkeys("BHILQNc" + BOOL, UNSIGNED),
             **dict.fromkeys(HALF + "fd", FLOATS)}
# Of the types that values of Python have
LETTERS = {Type.INT64: "q", Type.DOUBLE: "d", Type.INT64_INT: "qi", Type.DOUBLE_INT: "di"}
LOCATING = (Operator.MINLOC, Operator.MAXLOC)
NATIVE = "@=" + ("<" if sys.byteorder == "little" else ">")


class Elements(NamedTuple):
    """Elements of one rank.

    decode makes a value of a result, in place if it can; fresh always makes a new one.
    """

    type: Type
    number: int
    payload: bytes
    decode: Callable[[bytes], Any]
    fresh: Callable[[bytes], Any]

    def size(self) -> int:
        """How many bytes they have."""
        return self.number * ELEMENT_BYTES[self.type]


def elements(data: Any, op: Operator = Operator.NOP, kind: Type | None = None) -> Elements:
    """The elements of a program's data. kind: what the bytes of a buffer are."""
    if kind is not None:
        return raw_elements(data, kind)
    if is_item(data, op):
        one = vector([data], op)
        item = item_decoder(one.type)
        return Elements(one.type, 1, one.payload, item, item)
    if is_buffer(data):
        return buffer_elements(data, op)
    if isinstance(data, Sequence) and not isinstance(data, str):
        return vector(data, op)
    raise TypeError(f"{type(data).__name__} has no elements that can be sent: use int, float, "
                    "bytes, a sequence of numbers, or a buffer of them")


def is_number(data: Any) -> bool:
    """Is it a number? A NumPy scalar is."""
    return isinstance(data, numbers.Real)


def is_pair(data: Any, op: Operator) -> bool:
    """Is it a value and its index?"""
    return op in LOCATING and isinstance(data, tuple) and len(data) == 2 and is_number(data[0])


def is_item(data: Any, op: Operator) -> bool:
    """Is it one element?"""
    return is_number(data) or is_pair(data, op)


def is_buffer(data: Any) -> bool:
    """Does it have the buffer protocol?"""
    try:
        memoryview(data).release()
    except TypeError:
        return False
    return True


def all_whole(values: Sequence[Any]) -> bool:
    """Are all of them int?"""
    return all(isinstance(value, numbers.Integral) for value in values)


def check_count(count: int) -> None:
    """There is no operation on nothing."""
    if not count:
        raise ValueError("there are no elements")


def list_decoder(kind: Type) -> Callable[[bytes], list[Any]]:
    """Makes a list of a result."""
    form = struct.Struct(f"={LETTERS[kind]}")
    if len(LETTERS[kind]) > 1:
        return lambda result: list(form.iter_unpack(result))
    return lambda result: [value for value, in form.iter_unpack(result)]


def item_decoder(kind: Type) -> Callable[[bytes], Any]:
    """Makes a number or a pair of a result."""
    values = list_decoder(kind)
    return lambda result: values(result)[0]


def vector(values: Sequence[Any], op: Operator) -> Elements:
    """A sequence of numbers; of pairs where the operator locates."""
    check_count(len(values))
    if op in LOCATING:
        kind, payload = pairs(values)
    elif all(map(is_number, values)):
        kind = Type.INT64 if all_whole(values) else Type.DOUBLE
        payload = packed(f"{len(values)}{LETTERS[kind]}", values)
    else:
        raise TypeError("a sequence has int or float only")
    decode = list_decoder(kind)
    return Elements(kind, len(values), payload, decode, decode)


def pairs(values: Sequence[Any]) -> tuple[Type, bytes]:
    """Values and their indices."""
    if not all(isinstance(pair, tuple) and len(pair) == 2 for pair in values):
        raise TypeError("minloc and maxloc are of tuples (value, index)")
    whole = all_whole([value for value, _ in values])
    kind = Type.INT64_INT if whole else Type.DOUBLE_INT
    return kind, b"".join(packed(LETTERS[kind], pair) for pair in values)


def packed(form: str, values: Sequence[Any]) -> bytes:
    """Values as bytes."""
    try:
        return struct.pack(f"={form}", *values)
    except struct.error as error:
        raise OverflowError(f"{error}: an int is sent as int64, an index as int32; other types "
                            "need a buffer, such as an array") from None


def type_of_format(form: str, size: int) -> tuple[Type, str]:
    """What a buffer holds, by its format, and the format's letter."""
    code = form.lstrip(NATIVE)
    found = OF_FORMAT.get(code, {}).get(size)
    if found is None:
        raise TypeError(f"a buffer of format {form!r} has no elements that can be sent; with "
                        "type=, its bytes are taken as they are")
    return found, code


def plain_bytes(data: Any) -> memoryview:
    """The bytes of a buffer."""
    view = memoryview(data)
    if not view.c_contiguous:
        raise ValueError("the buffer is not contiguous: copy it")
    try:
        return view.cast("B")
    except TypeError:
        raise TypeError(f"a buffer of format {view.format!r} cannot be taken as bytes; "
                        "view it as uint8") from None


def fresh_of(data: Any, view: memoryview, code: str) -> Callable[[bytes], Any]:
    """Makes a new value of the kind of a buffer: NumPy has memoryviews, which it reads."""
    if isinstance(data, (bytes, bytearray)):
        return type(data)
    if isinstance(data, array.array):
        return lambda result: array.array(data.typecode, result)
    if code == HALF:
        return bytes
    shape = view.shape or ()
    return lambda result: memoryview(result).cast(code, shape)


def in_place(data: Any, target: memoryview) -> Callable[[bytes], Any]:
    """Writes a result into a buffer, which is the value."""
    def decode(result: bytes) -> Any:
        target[:] = result
        return data
    return decode


def buffer_elements(data: Any, op: Operator) -> Elements:
    """The elements of a buffer; those of bytes are bytes unless they are reduced."""
    view, content = memoryview(data), plain_bytes(data)
    kind, code = type_of_format(view.format, view.itemsize)
    if code == BOOL and op in (Operator.SUM, Operator.PRODUCT):
        raise TypeError("a buffer of bool has no sum or product: use LOGICAL_OR, LOGICAL_AND or "
                        "another operator, or view it as uint8")
    if isinstance(data, (bytes, bytearray)) and op == Operator.NOP:
        kind = Type.BYTE
    check_count(content.nbytes)
    fresh = fresh_of(data, view, code)
    return Elements(kind, content.nbytes // ELEMENT_BYTES[kind], bytes(content),
                    fresh if view.readonly else in_place(data, content), fresh)


def raw_elements(data: Any, kind: Type) -> Elements:
    """The bytes of a buffer as elements of a type."""
    if not is_buffer(data):
        raise TypeError("type= needs a buffer")
    kind, content = Type(kind), plain_bytes(data)
    check_count(content.nbytes)
    if content.nbytes % ELEMENT_BYTES.get(kind, content.nbytes + 1):
        raise ValueError(f"{content.nbytes} bytes are not whole elements of type {kind.name}")
    return Elements(kind, content.nbytes // ELEMENT_BYTES[kind], bytes(content),
                    bytes if content.readonly else in_place(data, content), bytes)


def output(out: Any, need: int) -> Callable[[bytes], Any]:
    """Writes a result of that many bytes into a buffer that the program passes."""
    target = plain_bytes(out)
    if target.readonly or target.nbytes != need:
        raise ValueError(f"out needs to be a writable buffer of {need} bytes, not "
                         f"{'a read-only one of ' * target.readonly}{target.nbytes}")
    return in_place(out, target)


def blocks(data: Any, ranks: int, op: Operator = Operator.NOP,
           kind: Type | None = None) -> Elements:
    """A vector with a block for each rank; number, decode and fresh are those of a block."""
    if is_buffer(data):
        whole = elements(data, op, kind)
        fresh = block_of(data, kind)
    elif kind is None:
        whole = elements(flat(data, ranks, op), op)
        fresh = block_of_items(data[0], op, whole.type)
    else:
        raise TypeError("type= needs a buffer")
    if whole.number % ranks:
        raise ValueError(f"{whole.number} elements are not a block for each of {ranks} ranks")
    return Elements(whole.type, whole.number // ranks, whole.payload, fresh, fresh)


def block_of(data: Any, kind: Type | None) -> Callable[[bytes], Any]:
    """Makes a block like a flat buffer."""
    view = memoryview(data)
    if kind is not None:
        return bytes
    if isinstance(data, (bytes, bytearray, array.array)):
        return fresh_of(data, view, "B")
    code = type_of_format(view.format, view.itemsize)[1]
    if code == HALF:
        return bytes
    return lambda result: memoryview(result).cast(code)


def block_of_items(item: Any, op: Operator, kind: Type) -> Callable[[bytes], Any]:
    """Makes a block like the item of a rank."""
    if is_item(item, op):
        return item_decoder(kind)
    if is_buffer(item):
        return bytes
    return list_decoder(kind)


def flat(items: Any, ranks: int, op: Operator) -> Any:
    """The items of all ranks, one after the other: numbers, bytes, or sequences of a length."""
    if not isinstance(items, Sequence) or isinstance(items, str):
        raise TypeError(f"{type(items).__name__} has no item for each rank")
    if len(items) != ranks:
        raise ValueError(f"{len(items)} items, but {ranks} ranks: each needs one")
    if all(is_item(item, op) for item in items):
        return items
    if any(is_item(item, op) or len(item) != len(items[0]) for item in items):
        raise ValueError("the items of ranks differ in length")
    if all(isinstance(item, (bytes, bytearray)) for item in items):
        return b"".join(items)
    if any(map(is_buffer, items)):
        raise TypeError("buffers for all ranks need to be one buffer, which has a block for each")
    return [value for item in items for value in item]

"""Compiled functions work with and without a place to keep them."""

import herbrand.compiled
from herbrand.compiled import can_cache, compiled


def test_no_folder_to_write_in_is_no_error(monkeypatch) -> None:
    """Where numba finds no folder for its cache, functions are compiled without one."""

    def refuse(*_args: object, **_options: object):
        def decorate(_function: object) -> None:
            raise RuntimeError("cannot cache function: no locator available")

        return decorate

    with monkeypatch.context() as patched:
        patched.setattr(herbrand.compiled, "njit", refuse)
        assert not can_cache()
    monkeypatch.setattr(herbrand.compiled, "_CACHE", False)

    def double(x):
        return 2 * x

    assert compiled(double)(21) == 42

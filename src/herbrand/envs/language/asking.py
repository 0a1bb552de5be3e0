"""Send tasks to a language model behind an address that speaks the chat interface of OpenAI's servers."""

from __future__ import annotations

import json
import threading
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import TYPE_CHECKING, Any, Final

from herbrand.errors import HerbrandError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["ModelUnavailable", "ask_model"]

LONGEST: Final = 4_000_000
"""Bytes of an answer that are read."""
RETRIES: Final = 3
"""For answers 429 and 5xx, and for broken connections."""
FIRST_PAUSE: Final = 1.0
"""Seconds before the first retry; each further pause is twice as long."""


class ModelUnavailable(HerbrandError):
    """The address gave no usable answer."""


def ask_model(
    tasks: Sequence[dict[str, Any]],
    address: str,
    model: str,
    *,
    key: str = "",
    jobs: int = 4,
    timeout: float = 300.0,
    temperature: float | None = None,
) -> Iterator[dict[str, str]]:
    """Yield the replies to tasks, as `{"id": ..., "reply": ...}`, in the order in which they come.

    `address` is that of the interface, such as `http://127.0.0.1:8000/v1`; prompts are posted to its
    `/chat/completions`, `jobs` at once.  `timeout` is in seconds, for each.  Raises `ModelUnavailable` if the
    model does not answer a task; what has come until then was yielded.
    """
    url = address.rstrip("/") + "/chat/completions"
    if not url.startswith(("http://", "https://")):
        raise ModelUnavailable(f"`{address}` is no address; write it as http://HOST:PORT/v1")
    stopped = threading.Event()

    def ask(task: dict[str, Any]) -> dict[str, str]:
        body: dict[str, Any] = {"model": model, "messages": [{"role": "user", "content": task["prompt"]}]}
        if temperature is not None:
            body["temperature"] = temperature
        headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {key}"} if key else {})
        request = urllib.request.Request(url, json.dumps(body).encode(), headers)  # noqa: S310  # checked above
        return {"id": task["id"], "reply": _reply(request, timeout, stopped)}

    with ThreadPoolExecutor(jobs) as threads:
        futures = [threads.submit(ask, task) for task in tasks]
        try:
            for future in as_completed(futures):
                yield future.result()
        finally:
            stopped.set()
            threads.shutdown(cancel_futures=True)


def _reply(request: urllib.request.Request, timeout: float, stopped: threading.Event) -> str:
    """Return the text of an answer; try again where that may help."""
    pause = FIRST_PAUSE
    for attempt in range(RETRIES + 1):
        try:
            with urllib.request.urlopen(request, timeout=timeout) as answer:  # noqa: S310
                return _text(answer.read(LONGEST))
        except urllib.error.HTTPError as error:
            reason, again = f"{error.code} {error.reason}", error.code == 429 or error.code >= 500
        except (OSError, ValueError) as error:
            reason, again = str(error), not isinstance(error, ValueError)
        if not again or attempt == RETRIES or stopped.wait(pause):
            break
        pause *= 2
    raise ModelUnavailable(f"no answer from {request.full_url}: {reason}")


def _text(answer: bytes) -> str:
    """Return the text of the first choice; raise `ValueError` if there is none."""
    try:
        content = json.loads(answer)["choices"][0]["message"]["content"]
    except (KeyError, IndexError, TypeError, RecursionError):
        raise ValueError("the answer has no choices[0].message.content") from None
    return content if isinstance(content, str) else ""

"""A stand-in for a language model: answers tasks of a file, with a set share of wrong replies.

    python examples/stand_in_model.py tasks.jsonl --error-rate 0.2 --port 8000

It speaks the chat interface of OpenAI's servers, to try out `herbrand tasks ask` and `herbrand tasks study`
without a model.  Every task in so many is answered wrongly, so that the rate is exact in each thousand.
"""

from __future__ import annotations

import argparse
import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from herbrand.envs.language import right_reply


def replies(tasks: list[dict[str, Any]], error_rate: float) -> dict[str, str]:
    """Return the replies by prompt, so many of a thousand of them wrong."""
    wrong_in_thousand = round(1000 * error_rate)
    answers = {}
    for number, task in enumerate(tasks):
        is_wrong = number * wrong_in_thousand % 1000 < wrong_in_thousand
        answers[task["prompt"]] = "I do not know." if is_wrong else right_reply(task)
    return answers


def make_server(answers: dict[str, str], port: int = 0) -> ThreadingHTTPServer:
    """Return a server of the replies on a port of 127.0.0.1."""

    class Model(BaseHTTPRequestHandler):
        def do_POST(self) -> None:  # the name is fixed
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            content = answers.get(body["messages"][-1]["content"], "I was not told.")
            answer = json.dumps(
                {"choices": [{"message": {"role": "assistant", "content": content}}]}
            ).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the name is fixed
            """Say nothing."""

    return ThreadingHTTPServer(("127.0.0.1", port), Model)


def main() -> None:
    """Serve until interrupted."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("tasks", type=Path, help="a file that `herbrand tasks make` wrote")
    parser.add_argument("--error-rate", type=float, default=0.2)
    parser.add_argument("--port", type=int, default=8000)
    options = parser.parse_args()
    tasks = [json.loads(line) for line in options.tasks.read_text(encoding="utf-8").splitlines()]
    with make_server(replies(tasks, options.error_rate), options.port) as server:
        print(f"serving http://127.0.0.1:{server.server_port}/v1")
        server.serve_forever()


if __name__ == "__main__":
    main()

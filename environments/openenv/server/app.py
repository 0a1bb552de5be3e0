"""The server of the environment: `uvicorn server.app:app`, or `herbrand tasks serve`."""

from herbrand.oracle.openenv import make_app

app = make_app()


def main() -> None:
    """Serve on port 8000 of all interfaces, as containers do."""
    import uvicorn

    uvicorn.run(app, host="0.0.0.0", port=8000)  # noqa: S104  # the container decides who can connect


if __name__ == "__main__":
    main()

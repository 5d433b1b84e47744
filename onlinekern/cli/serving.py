"""The work of ``onlinekern serve``: opening the socket and running the server (uvicorn)."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import signal
import socket
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import uvicorn

from onlinekern.estimators.validation import no_name_warnings
from onlinekern.evaluate.checkpoint import Period
from onlinekern.reports.console import PLAIN, open_console
from onlinekern.serve.app import application
from onlinekern.serve.models import Models, Watch
from onlinekern.serve.service import Service, Settings
from onlinekern.serve.store import Store

if TYPE_CHECKING:
    from onlinekern.cli.serve import Request

TOKEN = "ONLINEKERN_TOKEN"
LOCAL = ("127.0.0.1", "::1", "localhost")
# Seconds that current requests have to finish after the server is told to end.
GRACE = 5
# Largest number of connections; each may hold a request body in memory.
MOST_CONNECTIONS = 1000
# Largest number of connections that wait to be accepted.
BACKLOG = 2048


class Server(uvicorn.Server):
    """uvicorn with exit code 0 after a signal to end."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Handle SIGINT and SIGTERM; uvicorn would raise them again at its end."""
        before = {s: signal.signal(s, self.handle_exit) for s in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def is_of_the_server(record: logging.LogRecord) -> bool:
    """Return whether a log record of uvicorn is not a traceback caused by a client.

    If several requests arrive at once on a connection that is already closed, uvicorn answers them
    and uvloop raises RuntimeError. Requests that take too long at the end have a line of their own.
    """
    error = record.exc_info and record.exc_info[1]
    has_gone = isinstance(error, RuntimeError) and "the handler is closed" in str(error)
    return not (has_gone or isinstance(error, asyncio.CancelledError))


def serve(request: Request) -> None:
    """Serve a model until SIGINT or SIGTERM.

    Parameters
    ----------
    request : Request
        Its options have been checked.
    """
    console, errors = open_console(), open_console(stderr=True)
    token = token_of(request)
    if token is None and request.uds is None and request.host not in LOCAL:
        text = f"anybody who reaches {request.host} can use this model: set {TOKEN}"
        errors.print(f"onlinekern: warning: {text}", **PLAIN)
    with no_name_warnings():
        service = opened(request, token)
        app = service if isinstance(service, Models) else application(service, token)
        try:
            with listening(request) as (listener, address), Watch(service):
                for line in lines_of(service, request):
                    console.print(line, **PLAIN)
                # The loaded objects stay, so exclude them from garbage collection: a collection of
                # them takes 80 ms, in which no request is answered.
                gc.collect()
                gc.freeze()
                service.start()
                server = Server(configuration(request, app))
                logging.getLogger("uvicorn.error").addFilter(is_of_the_server)
                # A program that reads this line may end the server at once.
                with server.capture_signals():
                    # The socket already listens, so a client that connects now waits only some
                    # milliseconds.
                    console.print(f"serving at {address}", **PLAIN)
                    console.file.flush()
                    server.run(sockets=[listener])
        finally:
            service.close()
    for store in stores_of(service):
        if store.failure is not None:
            text = f"{store.failure}; the journal has the rest"
            errors.print(f"onlinekern: warning: {text}", **PLAIN)
        holds = f"{store.path} holds all up to request {store.snapshot_sequence:,}"
        learnt = holds if os.path.exists(store.path) else "nothing has been learnt"
        console.print(f"stopped; {learnt}", **PLAIN)


def token_of(request: Request) -> str | None:
    """Return the token that clients must send."""
    found = request.token if request.token is not None else os.environ.get(TOKEN)
    if request.token_file is not None:
        found = Path(request.token_file).read_text(encoding="utf-8").strip()
    if found is not None and not (found.isascii() and found.isprintable() and found.strip()):
        raise ValueError("the token must be letters, digits and signs of ASCII, and not empty")
    return found


def settings_of(request: Request) -> Settings:
    """Return the settings of the service, after creating the folder of the state."""
    snapshot = None if request.read_only else request.state_file()
    if snapshot is not None and request.snapshot is None and not request.in_place:
        if os.path.exists(f"{request.model}.journal"):
            raise ValueError(
                f"{request.model}.journal: a server has written {request.model} itself; --in-place "
                "goes on with it, or remove the journal"
            )
        os.makedirs(os.path.dirname(snapshot), exist_ok=True)
    return Settings(
        request.model,
        snapshot,
        Period.of(request.snapshot_every, "--snapshot-every"),
        request.sync,
        request.read_only,
        request.queue,
        request.max_bytes,
        request.max_classes,
    )


def opened(request: Request, token: str | None) -> Service | Models:
    """Return the service of a model file, or of a folder of model files."""
    if not os.path.isdir(request.model):
        return Service(settings_of(request))
    return Models(request.model, lambda path: settings_of(replace(request, model=path)), token)


def stores_of(service: Service | Models) -> list[Store]:
    """Return the stores of the models, which write files."""
    every = service.services.values() if isinstance(service, Models) else [service]
    return [one.store for one in every if one.store is not None]


def lines_of(service: Service | Models, request: Request) -> Iterator[str]:
    """Yield the lines printed at the start, for one model or several."""
    if isinstance(service, Service):
        yield from lines_about(service, request)
        return
    for name, one in service.services.items():
        asked = replace(request, model=one.settings.model)
        for line in lines_about(one, asked):
            yield f"/{name}/ {line}"


def configuration(request: Request, app: Any) -> uvicorn.Config:
    """Return uvicorn's settings."""
    return uvicorn.Config(
        app,
        lifespan="off",
        log_level=request.log_level,
        access_log=request.log_level in ("info", "debug"),
        server_header=False,
        timeout_graceful_shutdown=GRACE,
        limit_concurrency=MOST_CONNECTIONS,
        ws="none",
    )


def lines_about(service: Service, request: Request) -> Iterator[str]:
    """Yield the lines printed at the start."""
    about, found = service.served.description(), service.found
    classes = "" if about["classes"] is None else f", {len(about['classes'])} classes"
    seen = "" if about["n_seen"] is None else f", {about['n_seen']:,} samples learnt"
    yield f"{found.source}: {about['method']}, {about['n_features']:,} features{classes}{seen}"
    store = service.store
    if store is None:
        yield "read-only: serves what is in the file, also when it changes"
        return
    if found.replayed or found.refused:
        yield f"{store.journal_path}: {found.replayed:,} requests after the snapshot learnt again"
    if found.dropped:
        yield f"{store.journal_path}: {found.dropped:,} bytes of an unfinished record dropped"
    yield (
        f"learns; snapshots to {store.path} every {request.snapshot_every}, "
        f"journal {store.journal_path} (--sync {request.sync})"
    )


@contextmanager
def listening(request: Request) -> Iterator[tuple[socket.socket, str]]:
    """Open a listening socket and yield it with its address; OSError names the address."""
    if request.uds is None:
        listener, name = listening_at_port(request.host, request.port)
        with listener:
            yield listener, name
        return
    with listening_at_path(request.uds) as listener:
        yield listener, f"unix:{request.uds}"
    with suppress(FileNotFoundError):
        os.unlink(request.uds)


def listening_at_port(host: str, port: int) -> tuple[socket.socket, str]:
    """Return a listening network socket, and its address as a URL."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError as error:
        raise OSError(error.errno, f"--host: {error.strerror}", host) from error
    family, kind, protocol, _, address = found[0]
    listener = socket.socket(family, kind, protocol)
    with closed_on_error(listener, f"{host}:{port}"):
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(BACKLOG)
    name, port = listener.getsockname()[:2]
    return listener, f"http://[{name}]:{port}" if ":" in name else f"http://{name}:{port}"


def listening_at_path(path: str) -> socket.socket:
    """Return a listening Unix socket; it replaces a socket file on which nobody listens."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    with closed_on_error(listener, path):
        if os.path.lexists(path) and stat.S_ISSOCK(os.lstat(path).st_mode):
            try:
                with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
                    client.connect(path)
            except ConnectionRefusedError:
                os.unlink(path)
        listener.bind(path)
        listener.listen(BACKLOG)
    return listener


@contextmanager
def closed_on_error(listener: socket.socket, name: str) -> Iterator[None]:
    """Close a socket that cannot listen, and name its address in the error."""
    try:
        yield
    except OSError as error:
        listener.close()
        raise OSError(error.errno, error.strerror or str(error), name) from error

"""What ``onlinekern serve`` does: options, the socket, and the life of the process (uvicorn)."""

from __future__ import annotations

import gc
import os
import signal
import socket
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import uvicorn

from onlinekern.estimators.validation import names_are_no_matter, one_of
from onlinekern.evaluate.checkpoint import Interval
from onlinekern.reports.console import PLAIN
from onlinekern.serve.app import application
from onlinekern.serve.journal import SYNCS
from onlinekern.serve.service import Service, Settings
from onlinekern.streams.paths import check_readable

TOKEN = "ONLINEKERN_TOKEN"
LEVELS = ("critical", "error", "warning", "info", "debug")
LOCAL = ("127.0.0.1", "::1", "localhost")
# Seconds that requests under way have when the server is told to end.
GRACE = 5
# Connections; each may hold a body.
MOST_CONNECTIONS = 1000
# Connections that wait to be accepted.
BACKLOG = 2048


@dataclass(frozen=True)
class ServeRequest:
    """The options of ``onlinekern serve``, as given (see its help)."""

    model: str
    host: str
    port: int
    uds: str | None
    token: str | None
    token_file: str | None
    read_only: bool
    snapshot: str | None
    snapshot_every: str
    sync: str
    queue: int
    max_bytes: int
    max_classes: int
    log_level: str

    def check(self) -> None:
        """Raise ValueError or OSError for whatever can be seen to be wrong at once."""
        one_of("--sync", self.sync, SYNCS)
        one_of("--log-level", self.log_level, LEVELS)
        for name, least, most in (
            *(("port", 0, 65535), ("queue", 1, 1 << 30), ("max_bytes", 1, 1 << 40)),
            ("max_classes", 2, 1 << 30),
        ):
            value = getattr(self, name)
            if not least <= value <= most:
                option = name.replace("_", "-")
                raise ValueError(f"--{option} must be from {least} to {most}, got {value}")
        Interval.of(self.snapshot_every, "--snapshot-every")
        if self.token is not None and self.token_file is not None:
            raise ValueError("--token and --token-file exclude each other")
        if self.read_only and self.snapshot is not None:
            raise ValueError("--read-only and --snapshot exclude each other")
        if self.snapshot is None or not Path(self.snapshot).exists():
            check_readable(self.model)

    def known_token(self) -> str | None:
        """The token that clients must send."""
        found = self.token if self.token is not None else os.environ.get(TOKEN)
        if self.token_file is not None:
            found = Path(self.token_file).read_text(encoding="utf-8").strip()
        if found is not None and not (found.isascii() and found.isprintable() and found.strip()):
            raise ValueError("the token must be letters, digits and signs of ASCII, and not empty")
        return found

    def settings(self) -> Settings:
        """What the service needs to know."""
        every = Interval.of(self.snapshot_every, "--snapshot-every")
        return Settings(
            *(self.model, self.snapshot, every, self.sync, self.read_only, self.queue),
            *(self.max_bytes, self.max_classes),
        )


class Server(uvicorn.Server):
    """uvicorn that ends as a success when it is told to end."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Take SIGINT and SIGTERM; uvicorn would raise them again at its end."""
        before = {s: signal.signal(s, self.handle_exit) for s in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def serve(request: ServeRequest, console: Any, errors: Any) -> None:
    """Serve a model until SIGINT or SIGTERM.

    Parameters
    ----------
    request : ServeRequest
    console, errors : rich.console.Console
        Where is said what is served, and where warnings go.
    """
    request.check()
    token = request.known_token()
    if token is None and request.uds is None and request.host not in LOCAL:
        text = f"anybody who reaches {request.host} can use this model: set {TOKEN}"
        errors.print(f"onlinekern: warning: {text}", **PLAIN)
    with names_are_no_matter():
        service = Service(request.settings())
        try:
            with listening(request) as (listener, address):
                for line in lines_about(service, request):
                    console.print(line, **PLAIN)
                # What is loaded stays: to look it through takes 80 ms, in which nobody is answered.
                gc.collect()
                gc.freeze()
                service.start()
                # The socket listens already: who connects now waits for some milliseconds.
                console.print(f"serving at {address}", **PLAIN)
                console.file.flush()
                Server(configuration(request, service, token)).run(sockets=[listener])
        finally:
            service.close()
    store = service.store
    if store is not None:
        if store.failure is not None:
            text = f"{store.failure}; the journal has the rest"
            errors.print(f"onlinekern: warning: {text}", **PLAIN)
        last = f"request {store.snapshot_sequence:,}"
        console.print(f"stopped; {store.path} holds all up to {last}", **PLAIN)


def configuration(request: ServeRequest, service: Service, token: str | None) -> uvicorn.Config:
    """uvicorn's settings."""
    return uvicorn.Config(
        application(service, token),
        lifespan="off",
        log_level=request.log_level,
        access_log=request.log_level in ("info", "debug"),
        server_header=False,
        timeout_graceful_shutdown=GRACE,
        limit_concurrency=MOST_CONNECTIONS,
        ws="none",
    )


def lines_about(service: Service, request: ServeRequest) -> Iterator[str]:
    """What is said at the start."""
    about, found = service.served.description(), service.found
    classes = "" if about["classes"] is None else f", {len(about['classes'])} classes"
    seen = "" if about["n_seen"] is None else f", {about['n_seen']:,} samples learnt"
    yield f"{found.source}: {about['method']}, {about['n_features']:,} features{classes}{seen}"
    store = service.store
    if store is None:
        yield "read-only: what other servers of this file learn is not seen before a restart"
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
def listening(request: ServeRequest) -> Iterator[tuple[socket.socket, str]]:
    """The socket, which listens, and its address; OSError that names it if it cannot be had."""
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
    """A socket of the network, and its address as a link."""
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
    """A Unix socket, which takes the place of one that nobody listens at any more."""
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

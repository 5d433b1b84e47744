"""The HTTP interface of a service (starlette): routes, limits, errors as JSON."""

from __future__ import annotations

import asyncio
import hmac
import time
from typing import Any
from urllib.parse import urlsplit

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from onlinekern.serve.metrics import CONTENT_TYPE
from onlinekern.serve.pages import JSON, is_open, page_routes
from onlinekern.serve.refusal import Refusal
from onlinekern.serve.service import Service

# Seconds within which a body must arrive.
BODY_SECONDS = 30.0
# A body that is too large is read to this many times the limit, so that the client, which is still
# sending, gets to read the answer.
MOST_WASTED = 16
# A probe may ask these without a token.
OPEN_PATHS = ("/health", "/health/ready")
LABELS = (
    "/", "/model", "/predict", "/learn", "/metrics", "/docs", "/openapi.json", "/summary",
    *OPEN_PATHS,
)  # fmt: skip


def application(service: Service, token: str | None = None) -> Starlette:
    """Return the ASGI application of a service.

    Parameters
    ----------
    service : Service
        Its threads are started and ended by the caller.
    token : str, optional
        What clients must send as ``Authorization: Bearer TOKEN``.

    Returns
    -------
    Starlette
    """

    async def predict(request: Request) -> Response:
        body = await read_body(request, service.settings.max_bytes)
        loop = asyncio.get_running_loop()
        return JSON(await service.predict(body, request.query_params, loop.create_future))

    async def learn(request: Request) -> Response:
        body = await read_body(request, service.settings.max_bytes)
        return JSON(await service.learn(body, asyncio.get_running_loop().create_future))

    async def model(request: Request) -> Response:
        return JSON(service.description())

    async def health(request: Request) -> Response:
        return JSON(service.health()[1])

    async def ready(request: Request) -> Response:
        is_ready, content = service.health()
        return JSON(content, 200 if is_ready else 503)

    async def metrics(request: Request) -> Response:
        return Response(service.metrics(), headers={"Content-Type": CONTENT_TYPE})

    return Starlette(
        routes=[
            Route("/predict", predict, methods=["POST"]),
            Route("/learn", learn, methods=["POST"]),
            Route("/model", model),
            *page_routes(service),
            Route("/health", health),
            Route("/health/ready", ready),
            Route("/metrics", metrics),
        ],
        middleware=[Middleware(AccessMiddleware, service=service, token=token)],
        exception_handlers={Refusal: refused, HTTPException: not_served, Exception: failed},
    )


async def read_body(request: Request, most_bytes: int) -> bytes:
    """Read the body of a request; raise Refusal if it is packed, too large, or takes too long."""
    packed = request.headers.get("content-encoding", "identity")
    if packed.lower() != "identity":
        raise Refusal(415, f"Content-Encoding {packed} is not taken: send the body unpacked")
    body = bytearray()
    n_bytes = 0
    try:
        async with asyncio.timeout(BODY_SECONDS):
            async for chunk in request.stream():
                n_bytes += len(chunk)
                if n_bytes <= most_bytes:
                    body += chunk
                elif n_bytes > MOST_WASTED * most_bytes:
                    break
    except TimeoutError:
        raise Refusal(408, f"the body did not come within {BODY_SECONDS:.0f} seconds") from None
    except ClientDisconnect:
        raise Refusal(400, "the client has gone") from None
    except asyncio.CancelledError:
        # The server ends, and has waited for what is under way.
        raise Refusal(503, "the server is shutting down", 5) from None
    if n_bytes > most_bytes:
        raise Refusal(413, f"the body is larger than {most_bytes:,} bytes (--max-bytes)")
    return bytes(body)


async def refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, Refusal)
    return answer_of(error)


def answer_of(error: Refusal) -> Response:
    """Return the answer to a request that is refused."""
    headers = {}
    if error.retry_after is not None:
        headers["Retry-After"] = str(error.retry_after)
    if error.status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    if error.status in (401, 403, 408, 413, 415):
        # There may be a body that nobody has read.
        headers["Connection"] = "close"
    return JSON({"error": error.message}, error.status, headers)


async def not_served(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    texts = {
        404: f"there is no {request.url.path}; there are {', '.join(LABELS)}",
        405: f"{request.url.path} does not take {request.method}",
    }
    content = {"error": texts.get(error.status_code, error.detail)}
    return JSON(content, error.status_code, error.headers)


async def failed(request: Request, error: Exception) -> Response:
    return JSON({"error": f"the server has a fault: {type(error).__name__}"}, 500)


class AccessMiddleware:
    """Middleware that decides who may ask, and measures how long the answers take.

    Parameters
    ----------
    app : ASGI application
    service : Service
    token : str or None
    """

    def __init__(self, app: Any, service: Service, token: str | None) -> None:
        self.app, self.requests = app, service.requests
        self.token = token

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        began, status = time.perf_counter(), 500

        async def noting(message: Any) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        path = scope["path"]
        try:
            refusal = refusal_of(path, dict(scope["headers"]), self.token)
            app = self.app if refusal is None else answer_of(refusal)
            await app(scope, receive, noting)
        finally:
            label = path if path in LABELS else "other"
            self.requests.add(label, status, time.perf_counter() - began)


def refusal_of(path: str, headers: dict[bytes, bytes], token: str | None) -> Refusal | None:
    """Return why a request is not let in; None if it is."""
    if token is None:
        return of_another_site(headers)
    kind, _, given = headers.get(b"authorization", b"").partition(b" ")
    # The comparison takes the same time however much of the token is right.
    right = hmac.compare_digest(given.strip(), token.encode()) and kind.lower() == b"bearer"
    if right or path in OPEN_PATHS or is_open(path, headers):
        return None
    return Refusal(401, "a token is needed: Authorization: Bearer TOKEN")


def of_another_site(headers: dict[bytes, bytes]) -> Refusal | None:
    """Return why a browser's request is not let in: any page may send one to this machine."""
    origin = headers.get(b"origin")
    if origin is None:
        return None
    site = urlsplit(origin.decode("latin-1")).netloc
    if site.encode("latin-1") == headers.get(b"host", b""):
        return None
    return Refusal(403, "requests of other sites' pages are not answered without a token")

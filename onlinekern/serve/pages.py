"""Pages for a person, and JSON: a server's state at /, its interface at /docs. No network."""

from __future__ import annotations

import asyncio
import json
from functools import cache
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, Response
from starlette.routing import Route

from onlinekern.serve.refusal import Refusal
from onlinekern.serve.service import Service


class JSON(Response):
    """Answer in JSON."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        # Labels may be dates.
        return json.dumps(content, allow_nan=False, default=str, separators=(",", ":")).encode()


WANTED = "it needs fastapi and fastapi-offline: pip install 'onlinekern[serve]'"
FILES = ("swagger-ui.css", "swagger-ui-bundle.js")
# A page may ask the server that it comes of, and nobody else.
HEADERS = {
    "Content-Security-Policy": "default-src 'self'; script-src 'self' 'unsafe-inline'; "
    "style-src 'self' 'unsafe-inline'; img-src 'self' data:",
    "X-Content-Type-Options": "nosniff",
}


@cache
def page(name: str) -> str:
    """Return the text of a page."""
    return files("onlinekern.serve").joinpath(name).read_text(encoding="utf-8")


def wants_page(headers: dict[bytes, bytes]) -> bool:
    """Return whether a browser asks for a page."""
    return b"text/html" in headers.get(b"accept", b"")


def is_open(path: str, headers: dict[bytes, bytes]) -> bool:
    """Return whether a path is that of a page, which has no secrets."""
    if path == "/":
        return wants_page(headers)
    return path == "/docs" or (path.startswith("/docs/") and path[6:] in FILES)


def html(name: str) -> Response:
    """Return a page."""
    return HTMLResponse(page(name), headers=HEADERS)


def interface_file(name: str) -> Path:
    """Return the path of a file of the page /docs; raise Refusal if the package is missing."""
    package = find_spec("fastapi_offline")
    if package is None or package.origin is None:
        raise Refusal(501, f"/docs: {WANTED}")
    found = sorted(Path(package.origin).parent.rglob(name))
    if not found:
        raise Refusal(501, f"/docs: fastapi-offline has no {name}")
    return found[0]


def page_routes(service: Service) -> list[Route]:
    """Return the routes of the pages of a service."""

    async def root(request: Request) -> Response:
        if wants_page(dict(request.scope["headers"])):
            return html("page.html")
        return JSON(service.description())

    async def docs(request: Request) -> Response:
        return html("interface.html")

    async def interface(request: Request) -> Response:
        name = request.path_params["name"]
        if name not in FILES:
            raise Refusal(404, f"there is no /docs/{name}")
        return FileResponse(interface_file(name), headers={"Cache-Control": "max-age=86400"})

    async def openapi(request: Request) -> Response:
        try:
            from onlinekern.serve.openapi import document
        except ImportError as error:
            raise Refusal(501, f"/openapi.json: {WANTED}") from error
        found: dict[str, Any] = document(service)
        return JSON({**found, "servers": [{"url": "."}]})

    async def summary(request: Request) -> Response:
        last = service.requests.last.told()
        # Reading the model may wait for a call that learns.
        found = await asyncio.to_thread(service.summary)
        return JSON({**found, "requests": last})

    return [
        Route("/", root),
        Route("/docs", docs),
        Route("/docs/{name}", interface),
        Route("/openapi.json", openapi),
        Route("/summary", summary),
    ]

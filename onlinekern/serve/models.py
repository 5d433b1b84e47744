"""Several models in one server, and model files that are replaced while it runs."""

from __future__ import annotations

import logging
import re
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from onlinekern.serve.app import answer_of, application, refusal_of
from onlinekern.serve.pages import JSON, html, is_open
from onlinekern.serve.refusal import Refusal
from onlinekern.serve.service import Service, Settings

logger = logging.getLogger("onlinekern.serve")

SUFFIX = ".okn"
# A name is a part of an address.
NAME = re.compile(r"[\w.~-]+", re.ASCII)
# Seconds between two checks of the files.
LOOK_EVERY = 1.0


def model_files(folder: str) -> dict[str, str]:
    """Return the model files of a folder by the names of their models.

    Raises
    ------
    ValueError
        If there are none, or a name cannot be a part of an address.
    """
    files = sorted(Path(folder).glob(f"*{SUFFIX}"))
    found = {path.name[: -len(SUFFIX)]: str(path) for path in files}
    if not found:
        raise ValueError(f"{folder} has no model files (*{SUFFIX})")
    for name in found:
        if not NAME.fullmatch(name):
            raise ValueError(
                f"{folder}: {name + SUFFIX!r} cannot be a part of an address: letters, digits and "
                "-._~ can"
            )
    return found


class Models:
    """The ASGI application of several models, each at its name: /NAME/predict, ...

    Parameters
    ----------
    folder : str
        It holds their files.
    settings_of : callable
        Returns the settings of the model of a file.
    token : str, optional
        As in `application`.
    """

    def __init__(
        self, folder: str, settings_of: Callable[[str], Settings], token: str | None = None
    ) -> None:
        self.folder, self.token, self._settings_of = folder, token, settings_of
        self.services: dict[str, Service] = {}
        self.apps: dict[str, Any] = {}
        try:
            for name, path in model_files(self.folder).items():
                self._open(name, path)
        except BaseException:
            self.close()
            raise

    def _open(self, name: str, path: str) -> Service:
        service = Service(self._settings_of(path))
        self.apps[name] = application(service, self.token)
        self.services[name] = service
        return service

    def start(self) -> None:
        """Start the threads of all models."""
        for service in self.services.values():
            service.start()

    def close(self) -> None:
        """Do what waits for all models, and free their files."""
        for service in self.services.values():
            service.close()

    def refresh(self) -> None:
        """Take up files that are new, and those that have changed if nothing is learnt."""
        try:
            files = model_files(self.folder)
        except (OSError, ValueError):
            files = {}
        for name in files.keys() - self.services.keys():
            try:
                self._open(name, files[name]).start()
            except (OSError, ValueError) as error:
                logger.warning("%s is not served: %s", files[name], error)
        for service in list(self.services.values()):
            service.refresh()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return
        _, name, *rest = scope["path"].split("/", 2)
        app = self.apps.get(name)
        if app is not None and rest:
            path = f"/{rest[0]}"
            inner = {**scope, "path": path, "raw_path": path.encode(), "root_path": ""}
            await app(inner, receive, send)
            return
        await self._answer(scope, app is not None, name)(scope, receive, send)

    def _answer(self, scope: Any, known: bool, name: str) -> Any:
        """Return the answer to a request that no model gets."""
        headers = dict(scope["headers"])
        if known:  # Links of a page are relative to its address.
            return JSON({"see": f"/{name}/"}, 307, {"Location": f"/{name}/"})
        if scope["path"] == "/health":
            found = {name: one.health()[1] for name, one in self.services.items()}
            return JSON(found, 200 if all(one["ready"] for one in found.values()) else 503)
        refusal = refusal_of(scope["path"], headers, self.token)
        if scope["path"] == "/" and is_open("/", headers):
            return html("models.html")
        if refusal is not None:
            return answer_of(refusal)
        if scope["path"] in ("/", "/models"):
            return JSON({name: one.description() for name, one in self.services.items()})
        names = ", ".join(self.services)
        return answer_of(Refusal(404, f"there is no {scope['path']}; the models are {names}"))


class Watch:
    """A thread that looks at model files, and lets a server take up what has changed.

    Parameters
    ----------
    served : Service or Models
    """

    def __init__(self, served: Any) -> None:
        self._served, self._ended = served, threading.Event()
        self._thread = threading.Thread(target=self._run, name="watch", daemon=True)

    def __enter__(self) -> Watch:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._ended.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._ended.wait(LOOK_EVERY):
            try:
                self._served.refresh()
            except Exception:  # It looks again.
                logger.exception("the model files cannot be looked at")

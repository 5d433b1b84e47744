"""``onlinekern serve``: its options, and checks at the start."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from onlinekern.cli import options
from onlinekern.cli.arguments import check_unused
from onlinekern.cli.options import argument, option


@dataclass(frozen=True, kw_only=True)
class Request(options.Request):
    """onlinekern serve model.okn

    onlinekern serve folder-of-models

    curl localhost:8000/predict -d '{"rows": [[1, 2, 3]]}'

    curl localhost:8000/learn -d '{"rows": [[1, 2, 3]], "y": ["yes"]}'
    """

    # fmt: off
    model: str = argument(..., "MODEL", "The model file, or a folder of model files.")
    host: str = option("127.0.0.1", None, "The address to listen at.")
    port: int = option(8000, "N", "The port to listen at. With 0, a free one is taken and printed.",
        least=0, most=65535)
    uds: str | None = option(None, "PATH", "Listen at a Unix socket instead.")
    token: str | None = option(None, "TEXT", "What clients must send as Authorization: Bearer "
        "TEXT. Other users see it in the list of processes: the environment variable "
        "ONLINEKERN_TOKEN is better.")
    token_file: str | None = option(None, "FILE", "A file that holds the token.")
    read_only: bool = option(False, None, "Predict only: /learn is refused, and no file is "
        "written.", "--read-only")
    snapshot: str | None = option(None, "FILE", "Where the model goes that has learnt; if the file "
        "is there, it is served in the place of MODEL, so that the same command goes on where the "
        "last one ended. By default, it is in the folder MODEL.state; MODEL stays as it is.")
    in_place: bool = option(False, None, "Write the model that has learnt to MODEL itself.",
        "--in-place")
    snapshot_every: str = option("60s", "N|SECONDSs", "Write the snapshot after N samples, or "
        "after seconds. What comes after it is in the journal, FILE.journal: a kill loses nothing.")
    sync: str = option("always", ("always", "interval", "off"), "Force the journal to "
        "the disk before each answer, once in a second, or never: what a loss of power may cost.")
    queue: int = option(1024, "N", "How many requests may wait; more are refused (503).",
        least=1, most=1 << 30)
    max_bytes: int = option(1 << 20, "N", "How large the body of a request may be.",
        least=1, most=1 << 40)
    max_classes: int = option(100, "N", "To how many classes a classifier that takes up new ones "
        "may grow.", least=2, most=1 << 30)
    log_level: str = option("warning", ("critical", "error", "warning", "info", "debug"),
        "What is logged; info logs each request.")
    # fmt: on

    def carry_out(self) -> None:
        """Serve until a signal ends the process."""
        from onlinekern.cli.serving import serve

        serve(self)

    def check(self) -> None:
        """Raise ValueError or OSError for errors that can be found at once."""
        from onlinekern.evaluate.checkpoint import Period
        from onlinekern.streams.paths import check_readable

        Period.of(self.snapshot_every, "--snapshot-every")
        if self.uds is not None:
            check_unused(self, "is for the network, and --uds listens at a socket", "host", "port")
        if self.read_only:
            names = ("snapshot_every", "sync", "max_classes")
            check_unused(self, "is for a model that learns, and --read-only does not", *names)
        if self.token is not None and self.token_file is not None:
            raise ValueError("--token and --token-file exclude each other")
        chosen = {
            "--read-only": self.read_only, "--snapshot": self.snapshot is not None,
            "--in-place": self.in_place,
        }  # fmt: skip
        given = [name for name, wanted in chosen.items() if wanted]
        if len(given) > 1:
            raise ValueError(f"{' and '.join(given)} exclude each other")
        if Path(self.model).is_dir():
            if self.snapshot is not None:
                raise ValueError("--snapshot is the file of one model, and MODEL is a folder")
        elif self.read_only or not Path(self.state_file()).exists():
            check_readable(self.model)

    def state_file(self) -> str:
        """Return the file in which the learnt model is stored."""
        if self.in_place:
            return self.model
        return self.snapshot or str(Path(f"{self.model}.state", "model.okn"))

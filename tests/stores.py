"""A server that speaks S3, for tests of what lies in stores."""

import urllib.request
from contextlib import contextmanager

import pytest


@contextmanager
def s3_server(monkeypatch):
    """Run the server; yield its endpoint and a store. The environment has the keys."""
    server_module = pytest.importorskip("moto.server", reason="needs moto[server]")
    s3fs = pytest.importorskip("s3fs", reason="needs the extra s3")
    server = server_module.ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    monkeypatch.setenv("AWS_CONFIG_FILE", "/dev/null")
    endpoint = f"http://{host}:{port}"
    try:
        yield endpoint, s3fs.S3FileSystem(endpoint_url=endpoint, skip_instance_cache=True)
    finally:
        s3fs.S3FileSystem.clear_instance_cache()
        # What is in the server's store belongs to the process.
        urllib.request.urlopen(f"{endpoint}/moto-api/reset", b"").close()
        server.stop()

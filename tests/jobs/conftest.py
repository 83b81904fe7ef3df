"""A server on loopback that speaks S3."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fsspec
import pytest

from tests.hdfs import Hdfs
from windrow.io import storage


@pytest.fixture(scope="session")
def endpoint() -> Iterator[str]:
    from moto.server import ThreadedMotoServer  # a second of CPU, which most processes of a run do without

    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture
def s3(endpoint: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Any]:
    """An empty bucket, with the settings where users of S3 have them."""
    for name, value in {
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_ENDPOINT_URL": endpoint,
        "AWS_CONFIG_FILE": str(tmp_path / "none"),
        "AWS_SHARED_CREDENTIALS_FILE": str(tmp_path / "none"),
    }.items():
        monkeypatch.setenv(name, value)
    system = fsspec.filesystem("s3", skip_instance_cache=True)
    if system.exists("bucket"):
        system.rm("bucket", recursive=True)
    system.mkdir("bucket")
    storage._system.cache_clear()
    yield system
    fsspec.get_filesystem_class("s3").clear_instance_cache()


@pytest.fixture(scope="session")
def hdfs() -> Iterator[Hdfs]:
    server = Hdfs()
    yield server
    server.close()

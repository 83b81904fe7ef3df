"""The server that the client tests talk to."""

import shutil
import ssl
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import web


@pytest.fixture(scope="module")
def site() -> Iterator[web.Site]:
    web.packed_bomb("gzip")  # slow to make: not while other tests wait
    with web.serve() as served:
        yield served


@pytest.fixture
def log(site: web.Site) -> list[web.Request]:
    site.log.clear()
    return site.log


@pytest.fixture(scope="module")
def secure(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[web.Site, Path]]:
    """A site with a self-signed certificate for *.site.test, and the certificate."""
    if shutil.which("openssl") is None:
        pytest.skip("needs the openssl command")
    folder = tmp_path_factory.mktemp("tls")
    subject = ["-subj", "/CN=site.test", "-addext", "subjectAltName=DNS:site.test,DNS:*.site.test"]
    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
    files = ["-keyout", str(folder / "key.pem"), "-out", str(folder / "certificate.pem")]
    subprocess.run(["openssl", "req", "-x509", *key, *subject, *files], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "certificate.pem", folder / "key.pem")
    with web.serve(tls=context) as site:
        yield site, folder / "certificate.pem"

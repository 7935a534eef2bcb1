"""A small OpenID Connect provider on localhost, which also lies: about claims, in signatures, and about itself."""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
import threading
import time
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlencode, urlsplit

from joserfc import jwk, jwt
from joserfc.jws import JWSRegistry

CLIENT, SECRET = "captious-client", "captious-secret"


class OpenIDProvider:
    """The provider; everybody who comes is its one user.

    Attributes:
        user: claims of its user.
        changes: claims of ID tokens that are other than they should be; None leaves one out.
        signing: how ID tokens are signed: "RS256", "stranger" (with a key that is not published), "none", "HS256" (with
            the public key as the secret), or "missing" (there is no ID token).
        document: what its document says other than it should.
        asked: the queries with which users came.
        token_requests: the forms with which codes were exchanged.
        large: the path whose answer is 64 MiB.
        moved: the path that leads to the same elsewhere.
        sent: bytes of the large answer that were taken.
    """

    def __init__(self) -> None:
        self.user: dict[str, Any] = {"sub": "u-1", "preferred_username": "zoe", "name": "Zoe"}
        self.changes: dict[str, Any] = {}
        self.document: dict[str, Any] = {}
        self.signing = "RS256"
        self.large = self.moved = ""
        self.sent = 0
        self.asked: list[dict[str, str]] = []
        self.token_requests: list[dict[str, str]] = []
        self._codes: dict[str, dict[str, str]] = {}
        self._key, self._stranger = (jwk.RSAKey.generate_key(2048, {"kid": "one"}) for _ in range(2))
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.url = f"http://localhost:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05})

    def __enter__(self) -> OpenIDProvider:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def reset(self) -> None:
        """Be honest again."""
        self.user = {"sub": "u-1", "preferred_username": "zoe", "name": "Zoe"}
        self.changes, self.document, self.signing = {}, {}, "RS256"
        self.large, self.moved, self.sent = "", "", 0
        self.asked.clear()
        self.token_requests.clear()

    def discovery(self) -> dict[str, Any]:
        return {
            "issuer": self.url,
            "authorization_endpoint": f"{self.url}/authorize",
            "token_endpoint": f"{self.url}/token",
            "jwks_uri": f"{self.url}/keys",
            "id_token_signing_alg_values_supported": ["RS256", "HS256", "none"],
            **self.document,
        }

    def authorized(self, query: dict[str, str]) -> str:
        """Where a user who came with a query is sent."""
        self.asked.append(query)
        code = secrets.token_urlsafe(16)
        self._codes[code] = query
        return query["redirect_uri"] + "?" + urlencode({"code": code, "state": query["state"]})

    def tokens(self, form: dict[str, str], authorization: str) -> tuple[int, dict[str, Any]]:
        self.token_requests.append(form)
        expected = base64.b64encode(f"{CLIENT}:{SECRET}".encode()).decode()
        is_client = authorization == f"Basic {expected}" or form.get("client_secret") == SECRET
        query = self._codes.pop(form.get("code", ""), None)
        if not is_client or query is None or form.get("redirect_uri") != query["redirect_uri"]:
            return 400, {"error": "invalid_grant"}
        verifier = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        if base64.urlsafe_b64encode(verifier).rstrip(b"=").decode() != query["code_challenge"]:
            return 400, {"error": "invalid_grant"}
        tokens = {"access_token": secrets.token_urlsafe(16), "token_type": "Bearer", "expires_in": 60}
        if self.signing != "missing":
            tokens["id_token"] = self._id_token(query)
        return 200, tokens

    def _id_token(self, query: dict[str, str]) -> str:
        now = int(time.time())
        claims = {"iss": self.url, "aud": CLIENT, "iat": now, "exp": now + 60, "nonce": query.get("nonce"), **self.user}
        claims = {name: value for name, value in {**claims, **self.changes}.items() if value is not None}
        if self.signing == "none":
            parts = [{"alg": "none"}, claims]
            texts = [base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=").decode() for part in parts]
            return ".".join([*texts, ""])
        if self.signing == "HS256":
            public = jwk.OctKey.import_key(self._key.as_pem(private=False))
            header = {"alg": "HS256", "kid": "one"}
            return str(jwt.encode(header, claims, public, registry=JWSRegistry(algorithms=["HS256"])))
        key = self._stranger if self.signing == "stranger" else self._key
        return str(jwt.encode({"alg": "RS256", "kid": "one"}, claims, key))

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        provider = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                path, query = urlsplit(self.path).path, dict(parse_qsl(urlsplit(self.path).query))
                path = path.removeprefix("/moved")
                if path == "/.well-known/openid-configuration":
                    self._answer(200, provider.discovery())
                elif path == "/keys":
                    self._answer(200, {"keys": [provider._key.as_dict(private=False)]})
                elif path == "/user":  # as GitHub's
                    name = {"id": 583231, "login": "octocat", "email": "ann@example.org"}
                    self._answer(200 if self.headers["Authorization"].startswith(("Bearer ", "token ")) else 401, name)
                elif path in {"/authorize", "/login/oauth/authorize"}:
                    self.send_response(302)
                    self.send_header("Location", provider.authorized(query))
                    self.send_header("Content-Length", "0")
                    self.end_headers()
                else:
                    self._answer(404, {})

            def do_POST(self) -> None:
                form = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
                sent = {name: values[0] for name, values in form.items()}
                self._answer(*provider.tokens(sent, self.headers.get("Authorization", "")))

            def _answer(self, status: int, values: Any) -> None:
                body = json.dumps(values).encode()
                if self.path == provider.large:
                    return self._answer_at_length(body)
                if self.path == provider.moved:
                    self.send_response(307)
                    self.send_header("Location", f"{provider.url}/moved{self.path}")
                    self.send_header("Content-Length", "0")
                    return self.end_headers()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def _answer_at_length(self, body: bytes) -> None:
                self.send_response(200)
                self.send_header("Content-Length", str(len(body) + (64 << 20)))
                self.end_headers()
                with suppress(OSError):
                    self.wfile.write(body)
                    for _ in range(64):
                        self.wfile.write(b" " * (1 << 20))
                        provider.sent += 1 << 20

            def log_message(self, *_: Any) -> None:
                pass

        return Handler

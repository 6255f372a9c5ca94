"""Serves the comments of one pull request, as GitHub's API does.

github-api.py FILE: prints its port, and keeps the comments in FILE. 120 comments of others exist at
the start, so that a client must read several pages. The token `secret` may write. The token `reader`
may not, and for the token `late`, the conversation is locked.
"""

import json
import re
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.parse import parse_qs, urlsplit

FILE = sys.argv[1]
REFUSALS = {
    "Bearer reader": "Resource not accessible by integration",
    "Bearer late": "Unable to create comment because issue is locked.",
}
comments = [{"id": number, "body": f"comment {number}"} for number in range(1, 121)]


class Api(BaseHTTPRequestHandler):
    def do_GET(self):
        query = parse_qs(urlsplit(self.path).query)
        size, page = int(query["per_page"][0]), int(query["page"][0])
        self.answer(200, comments[(page - 1) * size : page * size])

    def may_write(self):
        if self.headers["Authorization"] == "Bearer secret":
            return True
        self.answer(403, {"message": REFUSALS.get(self.headers["Authorization"])})
        return False

    def do_POST(self):
        if not self.may_write():
            return
        comments.append({"id": 1000 + len(comments), **self.body()})
        self.answer(201, comments[-1])

    def do_PATCH(self):
        if not self.may_write():
            return
        number = int(re.search(r"/issues/comments/(\d+)$", self.path).group(1))
        comment = next(comment for comment in comments if comment["id"] == number)
        comment.update(self.body())
        self.answer(200, comment)

    def body(self):
        return json.loads(self.rfile.read(int(self.headers["Content-Length"])))

    def answer(self, status, value):
        if self.headers["Authorization"] not in ("Bearer secret", *REFUSALS):
            status, value = 401, {"message": "Bad credentials"}
        with open(FILE, "w", encoding="utf-8") as file:
            json.dump(comments, file)
        text = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass


server = HTTPServer(("127.0.0.1", 0), Api)
print(server.server_port, flush=True)
server.serve_forever()

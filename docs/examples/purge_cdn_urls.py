"""Purges pages of a site behind Tidemark; the command fetches them again, too. Python's standard library alone.

TIDEMARK_ENDPOINT is the site's origin, like https://www.example.com; TIDEMARK_TOKEN a token with the scope "purge".
"""

import json
import os
import sys
from urllib.error import HTTPError
from urllib.request import Request, urlopen


def purge_cdn_urls(urls, refresh=False):
    """Paths like /about or whole URLs; at most 50 are refreshed in one call, so more go out in several.

    With refresh the edge answers when it has fetched them, so a view that asks for it may wait for itself.
    """
    endpoint = os.environ["TIDEMARK_ENDPOINT"].rstrip("/") + "/_tidemark/purge"
    fields = {"Authorization": "Bearer " + os.environ["TIDEMARK_TOKEN"], "Content-Type": "application/json"}
    urls = list(urls)
    for start in range(0, len(urls), 50):
        purge = json.dumps({"urls": urls[start : start + 50], "refresh": refresh})
        with urlopen(Request(endpoint, purge.encode(), fields), timeout=60 if refresh else 5) as answer:
            for page in json.load(answer).get("refreshed", []):
                print(page.get("error") or page["xCache"], page["status"], page["url"])


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("usage: purge_cdn_urls.py URL...   (paths like /about, or whole URLs)")
    try:
        purge_cdn_urls(sys.argv[1:], refresh=True)
    except HTTPError as refusal:
        sys.exit(f"the edge refused ({refusal.code}): {refusal.read().decode()}")

"""A person with a browser that knows links, forms and cookies: goes where an app sends it, and signs in at the sandbox's MVPDs."""

import html.parser
import http.cookiejar
import urllib.error
import urllib.parse
import urllib.request


class Forms(html.parser.HTMLParser):
    """The first form of a page: where it goes, and its fields."""

    def __init__(self, page):
        super().__init__()
        self.action, self.fields = None, {}
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        named = dict(attributes)
        if tag == "form" and self.action is None:
            self.action = named.get("action", "")
        elif tag == "input" and self.action is not None and named.get("name"):
            self.fields[named["name"]] = named.get("value", "")


class Stays(urllib.request.HTTPRedirectHandler):
    """Follows nothing: the person looks at each address first."""

    def redirect_request(self, *ignored):
        return None


def goes(url, person, ends):
    """Opens an address and does what the pages ask for; gives the address at which it ends, which begins with `ends` and is not opened."""
    cookies = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar()), Stays())
    request = urllib.request.Request(url)
    for _ in range(20):
        if request.full_url.startswith(ends):
            return request.full_url
        try:
            with cookies.open(request, timeout=10) as answer:
                page, here = answer.read().decode(), answer.url
        except urllib.error.HTTPError as answer:
            assert 300 <= answer.code < 400, f"{request.full_url}: {answer.code} {answer.read()[:300]}"
            request = urllib.request.Request(urllib.parse.urljoin(request.full_url, answer.headers["Location"]))
            continue
        form = Forms(page)
        assert form.action is not None, f"{here} asks for nothing: {page[:300]}"
        fields = dict(form.fields)
        if "password" in fields:
            fields.update(username=person, password=person, action="sign-in")
        request = urllib.request.Request(urllib.parse.urljoin(here, form.action), urllib.parse.urlencode(fields).encode())
    raise AssertionError(f"{url} leads nowhere; last to {request.full_url}")

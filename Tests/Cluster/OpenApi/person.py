"""A person with a browser without scripts, who signs in at the sandbox's MVPD."""

import html.parser
import http.cookiejar
import re
import urllib.error
import urllib.parse
import urllib.request


class Form(html.parser.HTMLParser):
    """The page's first form: its action, method and fields."""

    def __init__(self, page):
        super().__init__()
        self.action, self.method, self.fields = None, "get", {}
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if tag == "form" and self.action is None:
            self.action, self.method = attributes.get("action", ""), attributes.get("method", "get")
        elif self.action is not None and tag in ("input", "button") and attributes.get("name") not in (None, *self.fields):
            self.fields[attributes["name"]] = attributes.get("value", "")


class Stop(urllib.request.HTTPRedirectHandler):
    """Leaves redirects to `sign_in`, which has to see the last one."""

    def redirect_request(self, *ignored):
        return None


def sign_in(url, end, name, posted=None):
    """Follows redirects and presses buttons until the browser is sent to `end`. `posted`: a list that gets the fields of each form that is sent."""
    browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar()), Stop)
    data = None
    for _ in range(12):
        try:
            answer = browser.open(url, data=data, timeout=10)
        except urllib.error.HTTPError as error:
            if error.code not in (302, 303, 307):
                said = " ".join(re.sub(r"<(style|script)\b.*?</\1>|<[^>]*>", " ", error.read(20_000).decode(errors="replace"), flags=re.S).split())
                raise urllib.error.HTTPError(url.split("?")[0], error.code, f"{url.split('?')[0]} answered {error.code}: {said[:500]}", error.headers, None) from error
            url, data = urllib.parse.urljoin(url, error.headers["Location"]), None
            if url.startswith(end):
                return
            continue
        form = Form(answer.read().decode())
        if "password" in form.fields:
            form.fields.update(username=name, password=name)
        if posted is not None:
            posted.append(form.fields)
        url, data = urllib.parse.urljoin(url, form.action), urllib.parse.urlencode(form.fields).encode()
    raise RuntimeError("the sign-in does not end")

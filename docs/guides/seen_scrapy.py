"""Which URLs has the crawler seen? Asks `garner seen serve`; needs Python 3 and nothing else.

In Scrapy's settings.py: DUPEFILTER_CLASS = "seen_scrapy.SeenFilter" and, if need be, GARNER_SEEN = "127.0.0.1:3132".
Anywhere else: Seen().ask(["http://a.example/", "http://b.example/"]) gives ["new", "seen"], or "!" and a reason.
"""
import http.client, json, logging, time

NOT_KNOWN = "!not-known"  # the service did not answer as long as patience lasted: ask again later


class Seen:  # one for each thread
    def __init__(self, place="127.0.0.1:3132", durable=False, timeout=60, patience=120, owed_max=1_000_000):
        self.connection, self.used = http.client.HTTPConnection(place, timeout=timeout), 0
        self.target = "/seen?durable=1" if durable else "/seen"
        self.patience, self.trouble = patience, ""  # seconds for one ask(); what was the matter last
        self.owed, self.owed_max = set(), owed_max  # sent, and never answered

    def ask(self, urls):
        """As many answers as URLs, in their order. Raises only what asking again would not mend."""
        urls = list(urls)
        body, until, pause = json.dumps(urls), time.monotonic() + self.patience, 0.1
        while True:
            answers, wait = self.exchange(urls, body)
            if answers is not None:
                return answers
            wait = max(wait, pause)
            if time.monotonic() + wait >= until:
                return [NOT_KNOWN] * len(urls)
            time.sleep(wait)
            pause = min(2 * pause, 5)

    def exchange(self, urls, body):
        """The answers; or None, and in how many seconds to ask again."""
        sent = False
        try:
            if time.monotonic() - self.used > 30:  # the service ends connections that are idle for a minute
                self.connection.close()
            if self.connection.sock is None:
                self.connection.connect()
            sent = True
            self.connection.request("POST", self.target, body, {"Content-Type": "application/json"})
            answer = self.connection.getresponse()
            status, text, self.used = answer.status, answer.read(), time.monotonic()
            words = json.loads(text) if status == 200 else None
        except (OSError, http.client.HTTPException, ValueError) as trouble:
            self.connection.close()
            if sent:
                self.owe(urls)
            self.trouble = f"{type(trouble).__name__}: {trouble}"
            return None, 0
        if status == 200 and len(words) == len(urls):
            return [self.paid(url, word) for url, word in zip(urls, words)], 0
        self.trouble = f"{status} {text.decode(errors='replace').strip()}"
        if status == 503:  # nothing was taken
            after = answer.getheader("Retry-After", "1")
            return None, int(after) if after.isdigit() else 1
        if status != 200 and status < 500:
            raise RuntimeError(self.trouble)
        self.connection.close()
        self.owe(urls)
        return None, 0

    def owe(self, urls):  # who was told which are new? Rather crawl a page twice than never:
        for url in urls[: max(0, self.owed_max - len(self.owed))]:
            self.owed.add(url)

    def paid(self, url, word):
        if word.startswith("!partition ") or url not in self.owed:
            return word
        self.owed.discard(url)
        return "new" if word == "seen" else word


class SeenFilter:
    def __init__(self, place="127.0.0.1:3132"):
        self.seen = Seen(place)

    @classmethod
    def from_crawler(cls, crawler):
        return cls(crawler.settings.get("GARNER_SEEN", "127.0.0.1:3132"))

    def request_seen(self, request):  # what cannot be asked, or has no answer, is crawled
        if request.method != "GET":
            return False
        word = self.seen.ask([request.url])[0]
        if word == NOT_KNOWN:
            logging.getLogger(__name__).warning("not known whether %s was seen: %s", request.url, self.seen.trouble)
        return word == "seen"

    def open(self):
        pass

    def close(self, reason):
        self.seen.connection.close()

    def log(self, request, spider):
        spider.crawler.stats.inc_value("dupefilter/filtered", spider=spider)

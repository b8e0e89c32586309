"""Which URLs has the crawler seen? Asks `garner seen serve`; needs Python 3 and nothing else.

In Scrapy's settings.py: DUPEFILTER_CLASS = "seen_scrapy.SeenFilter" and, if need be, GARNER_SEEN = "127.0.0.1:3132".
Anywhere else: Seen().ask(["http://a.example/", "http://b.example/"]) gives ["new", "seen"], or "!" and a reason.
"""
import http.client, json, time


class Seen:  # one for each thread
    def __init__(self, place="127.0.0.1:3132", durable=False, timeout=120):
        self.connection, self.used = http.client.HTTPConnection(place, timeout=timeout), 0
        self.target = "/seen?durable=1" if durable else "/seen"

    def ask(self, urls):
        """As many answers as URLs, in their order. Raises what keeps the service from answering."""
        body, lost = json.dumps(list(urls)), False
        while True:
            if time.monotonic() - self.used > 30:  # the service ends connections that are idle for a minute
                self.connection.close()
            try:
                self.connection.request("POST", self.target, body, {"Content-Type": "application/json"})
                answer = self.connection.getresponse()
                status, text, self.used = answer.status, answer.read(), time.monotonic()
            except (ConnectionResetError, BrokenPipeError, http.client.IncompleteRead):
                self.connection.close()
                if lost:
                    raise
                lost = True  # who was told which are new? Rather crawl a page twice than never:
                continue
            if status == 503:  # nothing was taken
                time.sleep(int(answer.getheader("Retry-After", "1")))
            elif status != 200:
                raise RuntimeError(f"{status} {text.decode(errors='replace').strip()}")
            else:
                return ["new" if lost and word == "seen" else word for word in json.loads(text)]


class SeenFilter:
    def __init__(self, place="127.0.0.1:3132"):
        self.seen = Seen(place)

    @classmethod
    def from_crawler(cls, crawler):
        return cls(crawler.settings.get("GARNER_SEEN", "127.0.0.1:3132"))

    def request_seen(self, request):  # what cannot be asked is crawled
        return request.method == "GET" and self.seen.ask([request.url]) == ["seen"]

    def open(self):
        pass

    def close(self, reason):
        self.seen.connection.close()

    def log(self, request, spider):
        spider.crawler.stats.inc_value("dupefilter/filtered", spider=spider)

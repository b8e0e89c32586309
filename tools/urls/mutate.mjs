// Makes invalid, unusual and hostile URLs from real ones. One seed always gives the same URLs.

export function randomFrom(seed) {
    let state = seed >>> 0;
    const next = () => {   // mulberry32
        state = (state + 0x6d2b79f5) >>> 0;
        let t = Math.imul(state ^ (state >>> 15), state | 1);
        t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
        return (t ^ (t >>> 14)) >>> 0;
    };
    return { below: (n) => next() % n, of: (list) => list[next() % list.length] };
}

const bytes = (text) => Buffer.from(text, "utf8");

const pieces = [
    ".", "..", "/", "//", "\\", "/./", "/../", "%2e", "%2E%2e", "?", "#", "@", ":", ":80", ":443", ":21", ":0080", ":65536", ":x",
    "[", "]", "[::1]", "%", "%%", "%2", "%zz", "%00", "%25", "%2f", "%41", "%c3%a9", "%C3", "%ff", " ", "\t", "\r", "\0", "\x1f",
    "\x7f", "'", '"', "<", ">", "`", "{", "}", "|", "^", "~", "!", "$", "&", "=", "+", ",", ";", "*", "(", ")", "_", "-", "--",
    "xn--", "XN--", "\u00e9", "\u00df", "\u4e2d", "\u3002", "\uff0e", "\u00ad", "\u200d", "\u200c", "\u0627", "\u05d0",
    "\u{1f4a9}", "\ufffd", "\ufeff", "\uffff", "\u0301", "\uff21", "\u212a", "\u017f", "\u2260", "0", "1", "9", "0x", "x", "A", "Z",
].map(bytes);

const hosts = [
    "1.2.3.4", "0x7f.1", "127.1", "017700000001", "4294967295", "4294967296", "1.2.3.4.5", "256.1", "1.2.3.", "1..2", "0x", "08",
    "1.0x10000", "999999999999999999999", "0xffffffff", "a.0x1g", "a.1", "[::]", "[1::2]", "[1:2:3:4:5:6:7:8]", "[::1.2.3.4]",
    "[1:2:3:4:5:6:7::]", "[::ffff:0:0]", "[1:0:0:2:0:0:0:3]", "[::01.2.3.4]", "[g::]", "[::1%25a]", "[1:2]", "[12345::]",
    "[::1.2.3]", "[0:0:0:0:0:0:0:0]", "b\u00fccher.de", "FA\u00df.de", "xn--bcher-kva.de", "xn--a.de", "xn--zca", "xn--",
    "\u4f8b\u3048.jp", "\u05d0\u05d1.com", "a\u05d0.com", "1\u05d0.com", "\u0628\u06251.com", "\u0915\u094d\u200d\u0937.in",
    "a\u200db.com", "\u2460.com", "\uff11\uff12\uff17.1", "\u212b.com", "a%c3%bc.de", "%77ww.de", "a_b", "-a-", "a..b", ".a", "a.",
    "ab--cd", "\u00fc--a", "xn--a\u00fc", "\u1e9e.de", "\ua9c1.id", "\u{10ffff}.x", "\u{e0100}a.x", "caf\u0065\u0301.fr", "LOCALHOST",
].map(bytes);

const schemes = [
    "http:", "https:", "HTTP://", "hTTps:/", "ws://", "wss:", "WSS://", "ftp://", "ftp:", "file://", "mailto:", "http:\\\\", "//", "",
    " http://", "http:///", "data:", "h\tttp://", "http//", "://", "blob:http://", "javascript:",
].map(bytes);

const mutations = [
    (url, random) => splice(url, random.below(url.length + 1), 0, random.of(pieces)),
    (url, random) => splice(url, random.below(url.length + 1), 1, random.of(pieces)),
    (url, random) => splice(url, random.below(url.length + 1), random.below(4), Buffer.alloc(0)),
    (url, random) => splice(url, random.below(url.length + 1), 1, Buffer.from([random.below(256)])),
    (url, random) => splice(url, random.below(url.length + 1), 0, bytes(String.fromCodePoint(anyCodePoint(random)))),
    (url, random) => flipCase(url, random),
    (url, random) => escapeOne(url, random),
    (url, random) => inHost(url, random, (host) => splice(host, random.below(host.length + 1), random.below(2), random.of(pieces))),
    (url, random) => inHost(url, random, (host) =>
        splice(host, random.below(host.length + 1), 0, bytes(String.fromCodePoint(anyCodePoint(random))))),
    (url, random) => inHost(url, random, (host) => flipCase(host, random)),
    (url, random) => inHost(url, random, () => random.of(hosts)),
    (url, random) => inHost(url, random, (host) => Buffer.concat([bytes("me:pw@"), host])),
    (url, random) => inHost(url, random, (host) => Buffer.concat([host, random.of([":80", ":443", ":8080", ":", ":7x"].map(bytes))])),
    (url, random) => Buffer.concat([random.of(schemes), url.subarray(placeOfHost(url)[0])]),
    (url, random) => url.subarray(0, random.below(url.length + 1)),
    (url, random, urls) => Buffer.concat([url.subarray(0, random.below(url.length + 1)), random.of(urls)]),
    (url, random) => Buffer.concat([url, random.of(pieces), random.of(pieces), random.of(pieces)]),
];

/// Returns one of the URLs with up to four mutations, without line ends.
export function mutated(urls, random) {
    let url = random.of(urls);
    for (let left = random.below(5); left > 0; --left) url = random.of(mutations)(url, random, urls);
    return url.filter((byte) => byte !== 10);
}

/// Returns the part of a mutated URL after its host, like most links on a page.
export function mutatedReference(urls, random) {
    const url = mutated(urls, random);
    const [, end] = placeOfHost(url);
    return url.subarray(random.below(3) ? end + random.below(2) : random.below(url.length + 1));
}

function splice(url, at, length, piece) {
    return Buffer.concat([url.subarray(0, at), piece, url.subarray(at + length)]);
}

function anyCodePoint(random) {
    const top = random.of([0x180, 0x800, 0x3100, 0xd800, 0x20000]);
    const point = random.below(top);
    return point === 10 ? 11 : point;
}

function flipCase(url, random) {
    return url.map((byte) => (isLetter(byte) && random.below(2) ? byte ^ 0x20 : byte));
}

const isLetter = (byte) => (byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7a;

function escapeOne(url, random) {
    if (url.length === 0) return url;
    const at = random.below(url.length);
    const hex = url[at].toString(16).padStart(2, "0");
    return splice(url, at, 1, bytes("%" + (random.below(2) ? hex : hex.toUpperCase())));
}

/// Begin and end of the authority: after the first //, up to /, \, ? or #.
function placeOfHost(url) {
    const begin = url.indexOf("//") + 2;
    if (begin === 1) return [0, 0];
    let end = begin;
    while (end < url.length && !"/\\?#".includes(String.fromCharCode(url[end]))) ++end;
    return [begin, end];
}

function inHost(url, random, change) {
    const [begin, end] = placeOfHost(url);
    return Buffer.concat([url.subarray(0, begin), change(url.subarray(begin, end)), url.subarray(end)]);
}

// node compare.js PROGRAM COUNT SEED [--all]
// Compares Garner's parser of requests (PROGRAM is request_verdicts) with llhttp, the parser inside Node, on COUNT messages
// with errors. Each difference must have a name in the tables below; docs/results/conformance.md says of each who is right. Prints how many
// there were of each; exit code 1 when one is not known.
'use strict';
process.noDeprecation = true;
const { spawnSync } = require('child_process');
const binding = process.binding('http_parser');
const { HTTPParser } = binding;
const methods = binding.allMethods || binding.methods;

const [program, countText, seedText] = process.argv.slice(2);
const count = Number(countText), showAll = process.argv.includes('--all');
let state = 2n * BigInt(seedText) + 1n;
/** xorshift64*: the same messages for the same seed everywhere. */
function random(below) {
  state ^= (state >> 12n); state = BigInt.asUintN(64, state ^ (state << 25n)); state ^= (state >> 27n);
  return Number(BigInt.asUintN(64, state * 2685821657736338717n) >> 33n) % below;
}
const pick = (list) => list[random(list.length)];

const seeds = [
  'GET / HTTP/1.1\r\nHost: a.example\r\n\r\n',
  'GET http://a.example/x?y=z HTTP/1.1\r\nHost: a.example\r\nAccept: text/html, */*;q=0.1\r\nConnection: keep-alive\r\n\r\n',
  'POST /a HTTP/1.1\r\nHost: a.example\r\nContent-Length: 5\r\n\r\nhelloGET /b HTTP/1.1\r\nHost: a.example\r\n\r\n',
  'POST /a HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\nGET /b HTTP/1.1\r\nHost: a.example\r\n\r\n',
  'POST /a HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding: chunked\r\nTrailer: X\r\n\r\n3;a="b"\r\nabc\r\na\r\n0123456789\r\n0\r\nX: y\r\n\r\nGET / HTTP/1.1\r\nHost: b\r\n\r\n',
  'GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\nGET /2 HTTP/1.0\r\n\r\n',
  'PUT /p HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nExpect: 100-continue\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n',
  'OPTIONS * HTTP/1.1\r\nHost: a\r\nX-Empty:\r\nX-Tab:\tv\t\r\n\r\n',
];
const pieces = ['\r', '\n', '\r\n', ' ', '\t', ':', ',', ';', '"', '\0', '\x0b', '\x7f', '\x80', '\xff', '+', '-', '0', '5', 'a', '0x5',
  'chunked', 'identity', 'Transfer-Encoding: chunked\r\n', 'Transfer-Encoding: gzip, chunked\r\n', 'Transfer-Encoding: identity\r\n',
  'Content-Length: 5\r\n', 'Content-Length: 05\r\n', 'Content-Length: 5, 5\r\n', 'Content-Length: 3\r\n', ' folded\r\n', '\tfolded\r\n',
  'Host: b\r\n', 'HTTP/1.1', 'HTTP/1.0', 'HTTP/2.0', 'HTTP/0.9', 'Connection: close\r\n', 'Connection: upgrade\r\n', 'Upgrade: websocket\r\n',
  'FFFFFFFFFFFFFFFFF', '18446744073709551616', '\r\n\r\n', 'GET / HTTP/1.1\r\n\r\n', '#', '@', '%00', '\\', '|'];

function mutated() {
  let text = pick(seeds);
  for (let changes = 1 + random(3); changes > 0; --changes) {
    const at = random(text.length + 1), piece = pick(pieces);
    const lineEnds = [...text.matchAll(/\r\n/g)].map((match) => match.index + 2);
    const line = lineEnds.length ? pick(lineEnds) : at;
    switch (random(6)) {
      case 0: text = text.slice(0, at) + piece + text.slice(at); break;
      case 1: text = text.slice(0, at) + text.slice(at + 1 + random(3)); break;
      case 2: text = text.slice(0, at) + piece + text.slice(at + piece.length); break;
      case 3: text = text.slice(0, line) + piece + text.slice(line); break;
      case 4: text = text.slice(0, line) + text.slice(line - 2 > 0 ? text.lastIndexOf('\n', line - 3) + 1 : 0); break;
      default: text = text.replace(/\r\n/, pick(['\n', '\r', '\r\r\n', '\r\n'])); break;
    }
  }
  return Buffer.from(text, 'latin1');
}

const hex = (text) => Buffer.from(text, 'latin1').toString('hex');

/** As request_verdicts prints it: the requests that llhttp completes, and why it stops. */
function llhttp(bytes) {
  const parser = new HTTPParser();
  parser.initialize(HTTPParser.REQUEST, {});
  let requests = '', fields = [], head = null, body = '', stop = 'end', closed = false;
  let target = '';
  parser[HTTPParser.kOnHeaders] = (some, url) => { fields.push(...some); target += url; };
  parser[HTTPParser.kOnHeadersComplete] = (major, minor, some, method, url, status, reason, upgrade, keepAlive) => {
    if (some) fields.push(...some);
    head = { method: methods[method], url: url === undefined ? target : url, fields, closes: upgrade || !keepAlive };
    fields = [];   // those of the trailer section come later
    return 0;
  };
  parser[HTTPParser.kOnBody] = (piece) => { body += piece.latin1Slice(); };
  parser[HTTPParser.kOnMessageComplete] = () => {
    if (closed || !head) return;
    let text = '';
    for (let i = 0; i < head.fields.length; i += 2) text += head.fields[i] + ':' + head.fields[i + 1] + '\n';
    requests += `${head.method} ${hex(head.url)} ${hex(text)} ${hex(body)}|`;
    closed = head.closes;
    fields = []; head = null; body = target = '';
  };
  const result = parser.execute(bytes);
  if (closed) stop = 'closes';
  else if (result instanceof Error) stop = result.code;
  else if (head || result < bytes.length) stop = 'incomplete';
  parser.close();
  return { requests, stop };
}

/** Why one of them stops before the other, with the words of docs/results/conformance.md, which says who is right. */
const garnerStops = {
  'closes': 'HTTP/1.0 with keep-alive',
  'no version in request line': 'a request line without a version',
  'malformed version': 'a malformed version',
  'version is not HTTP/1': 'another major version',
  'bare LF in head': 'a bare LF',
  'bare CR in head': 'a bare CR',
  'more than one space in request line': 'several spaces in the request line',
  'bad byte in method': 'an octet before the method',
  'empty request line': 'more than two empty lines before a request',
  'unknown transfer coding': 'another transfer coding than chunked',
  'malformed Transfer-Encoding': 'a malformed Transfer-Encoding',
  'Transfer-Encoding in HTTP/1.0': 'Transfer-Encoding in HTTP/1.0',
};
const llhttpStops = {
  HPE_INVALID_METHOD: 'a method that llhttp does not know',
  HPE_INVALID_CONSTANT: 'a version or method that llhttp does not know',
  HPE_INVALID_VERSION: 'a version that llhttp does not know',
  HPE_INVALID_URL: 'a target that is no URL',
  HPE_STRICT: 'a malformed chunk extension',
  HPE_INVALID_CHUNK_SIZE: 'a malformed chunk extension',
  HPE_INVALID_TRANSFER_ENCODING: 'framing fields in the trailer section',
  HPE_INVALID_CONTENT_LENGTH: 'framing fields in the trailer section',
  HPE_UNEXPECTED_CONTENT_LENGTH: 'framing fields in the trailer section',
  HPE_CLOSED_CONNECTION: 'Connection: close in the trailer section',
};

/** The name of a difference; undefined where both read the same. What is not in the tables is reported. */
function difference(garner, other) {
  if (garner.requests === other.requests) return undefined;
  const ours = garner.requests.split('|'), theirs = other.requests.split('|');
  ours.pop(); theirs.pop();
  const both = Math.min(ours.length, theirs.length);
  const agree = ours.slice(0, both).every((request, i) => request === theirs[i]);
  const shorter = ours.length < theirs.length ? garnerStops[garner.stop] : llhttpStops[other.stop];
  if (agree && ours.length !== theirs.length && shorter) return shorter;
  return `UNKNOWN ${agree ? '' : 'READ DIFFERENTLY '}garner: ${ours.length}, ${garner.stop}; llhttp: ${theirs.length}, ${other.stop}`;
}

function main() {
  const messages = Array.from({ length: count }, mutated);
  const input = Buffer.concat(messages.flatMap((message) => {
    const length = Buffer.alloc(4);
    length.writeUInt32LE(message.length);
    return [length, message];
  }));
  const done = spawnSync(program, { input, maxBuffer: 1 << 30 });
  if (done.status !== 0) { console.error(`${program} ended with ${done.status}: ${done.stderr}`); process.exit(2); }
  const lines = done.stdout.toString('latin1').split('\n');
  const seen = new Map();
  let same = 0;
  messages.forEach((message, i) => {
    const [requests, stop] = lines[i].split('\t');
    const garner = { requests, stop }, other = llhttp(message);
    const name = difference(garner, other);
    if (!name) { ++same; return; }
    const entry = seen.get(name) || { count: 0, example: JSON.stringify(message.toString('latin1')), garner: requests, other: other.requests };
    ++entry.count;
    seen.set(name, entry);
  });
  console.log(`${count} messages, seed ${seedText}, llhttp ${process.versions.llhttp}: ${same} read alike`);
  let unknown = 0;
  for (const [name, entry] of [...seen].sort((a, b) => b[1].count - a[1].count)) {
    const isUnknown = name.startsWith('UNKNOWN');
    unknown += isUnknown ? entry.count : 0;
    console.log(`${String(entry.count).padStart(7)}  ${name}`);
    if (isUnknown || showAll) console.log(`         ${entry.example}\n         garner ${entry.garner}\n         llhttp ${entry.other}`);
  }
  process.exit(unknown ? 1 : 0);
}

main();

// compare.mjs BINARY COUNT SEED < URLS: compares `BINARY seen canon` with the URL class of this Node on mutated URLs.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { causes } from "./causes.mjs";
import { mutated, mutatedReference, randomFrom } from "./mutate.mjs";

const [binary, count, seed] = [process.argv[2], Number(process.argv[3]), Number(process.argv[4])];
const at_once = 100_000, shown = 20;
const ours = new Set(["http:", "https:", "ws:", "wss:", "ftp:"]);
const bases = [undefined, undefined, undefined, "https://me@a.example:8443/b/c;d/e?f=g", "ftp://a.example/b"];

const urls = lines(readFileSync(0));
const random = randomFrom(seed);
const found = new Map(causes.map((cause) => [cause.name, 0]));
let same = 0, refused = 0, unexplained = 0;

for (let done = 0, round = 0; done < count; done += at_once, ++round) {
    const base = bases[round % bases.length];
    const make = base ? mutatedReference : mutated;
    const inputs = Array.from({ length: Math.min(at_once, count - done) }, () => Buffer.from(make(urls, random)));
    const answers = garner(inputs, base);
    inputs.forEach((input, i) => judge(input, base, answers[i]));
}
console.log(`Node ${process.version}, Ada ${process.versions.ada}, seed ${seed}: ${count} URLs, ${same} the same (${refused} refused by both)`);
for (const cause of causes) console.log(`${String(found.get(cause.name)).padStart(8)}  ${cause.name}: ${cause.why}`);
console.log(`${String(unexplained).padStart(8)}  without a listed cause`);
process.exitCode = unexplained ? 1 : 0;

function lines(bytes) {
    const all = [];
    for (let from = 0; from < bytes.length;) {
        let to = bytes.indexOf(10, from);
        if (to < 0) to = bytes.length;
        if (to > from) all.push(bytes.subarray(from, to));
        from = to + 1;
    }
    return all;
}

function garner(inputs, base) {
    const input = Buffer.concat(inputs.flatMap((url) => [url, Buffer.from("\n")]));
    const said = spawnSync(binary, ["seen", "canon", ...(base ? ["--base", base] : [])], { input, maxBuffer: 1 << 30 });
    if (said.status !== 0) throw new Error(`${binary} ended with ${said.status ?? said.error}: ${said.stderr}`);
    const answers = said.stdout.toString("utf8").split("\n");
    if (answers.length !== inputs.length + 1) throw new Error(`${inputs.length} lines asked, ${answers.length - 1} answered`);
    return answers;
}

/// The canonical form by Node, or undefined if it refuses the URL.
function node(text, base) {
    let url;
    try {
        url = new URL(text, base);
    } catch {
        return undefined;
    }
    if (!ours.has(url.protocol)) return undefined;
    const at = url.href.indexOf("#");
    return at < 0 ? url.href : url.href.slice(0, at);
}

function judge(input, base, answer) {
    const text = input.toString("utf8");
    const expected = node(text, base);
    const got = answer.startsWith("!") ? undefined : answer;
    if (got === expected) {
        ++same;
        refused += got === undefined;
        return;
    }
    const cause = causes.find((one) => one.explains({ text, base, expected, got, answer, node }));
    if (cause) return found.set(cause.name, found.get(cause.name) + 1);
    if (++unexplained <= shown) console.log(JSON.stringify({ text, base, node: expected, garner: answer }));
}

// The causes of differences between Garner and Node, each with a test. A difference that no cause explains is an error.
//
// explains({text, base, expected, got, answer, node}): `expected` is Node's canonical form, `got` Garner's (undefined:
// refused), `answer` Garner's line; node(text, base) asks Node once more.

import { domainToUnicode } from "node:url";
import { keepsBidiRule } from "./bidi.mjs";

export const causes = [
    {
        name: "caret",
        why: "the URL Standard encodes ^ in paths now; Ada before 3 leaves it",
        explains: ({ expected, got }) => expected && got && withCaretsEncoded(expected) === got,
    },
    {
        name: "ascii-xn",
        why: "the URL Standard takes ASCII hosts whose xn-- labels UTS #46 refuses; Ada refuses them",
        explains: ({ expected, got, node }) => {
            if (expected || !got || !/xn--/.test(got)) return false;
            const inert = got.replaceAll("xn--", "xx--");
            const again = node(inert);
            return again !== undefined && withCaretsEncoded(again) === inert;
        },
    },
    {
        name: "bidi",
        why: "the host breaks the Bidi rule (RFC 5893); Ada looks only at labels that begin from right to left",
        explains: ({ expected, answer }) =>
            expected && answer === "!bad-idna" && !keepsBidiRule(domainToUnicode(new URL(expected).hostname)),
    },
    {
        name: "mark",
        why: "a label begins with a combining mark that came with Unicode 14 or 15; Ada's list of them is older",
        explains: ({ expected, answer }) =>
            expected && answer === "!bad-idna" && /(^|\.)\p{M}/u.test(domainToUnicode(new URL(expected).hostname)),
    },
    {
        name: "joiner",
        why: "a zero width joiner stands behind what is no virama (RFC 5892, A.2); Ada looks only at the first one",
        explains: ({ expected, answer }) =>
            expected && answer === "!bad-idna" && looseJoiner.test(domainToUnicode(new URL(expected).hostname)),
    },
    {
        name: "ascii-punycode",
        why: "an xn-- label of an international name decodes to ASCII alone (UTS #46 from revision 33 on, ICU before); Ada takes it",
        explains: ({ expected, answer }) =>
            expected && answer === "!bad-idna" && /(^|\.)xn--([^.]*-)?(\.|$)/.test(new URL(expected).hostname),
    },
    {
        name: "dots",
        why: "Ada leaves . and .. in a path in which another segment before them begins with a dot",
        explains: ({ expected, got, node }) => {
            if (!expected || !got) return false;
            const path = expected.indexOf("/", expected.indexOf("//") + 2);
            const resolved = node(expected.slice(0, path) + "/%2e" + expected.slice(path));   // %2e: the slow way
            return resolved !== undefined && withCaretsEncoded(resolved) === got;
        },
    },
];

const looseJoiner =
    /(?<![\u094d\u09cd\u0a4d\u0acd\u0b4d\u0bcd\u0c4d\u0ccd\u0d3b\u0d3c\u0d4d\u0dca\u0e3a\u0eba\u0f84\u1039\u103a\u1714\u1734\u17d2])\u200d/;

function withCaretsEncoded(url) {
    const path = url.indexOf("/", url.indexOf("//") + 2);
    const query = url.indexOf("?", path);
    const end = query < 0 ? url.length : query;
    return url.slice(0, path) + url.slice(path, end).replaceAll("^", "%5E") + url.slice(end);
}

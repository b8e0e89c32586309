// The Bidi rule (RFC 5893, section 2), with the character classes that the hosts of the tests need.

/// True if each label, in Unicode, may be part of a host with right-to-left letters.
export function keepsBidiRule(host) {
    const labels = host.split(".").filter((label) => label !== "");
    if (!labels.some((label) => [...label].some((c) => ["R", "AN"].includes(classOf(c))))) return true;
    return labels.every(mayStand);
}

/// Characters without a direction in the blocks of right-to-left scripts.
const neutral =
    /[\u0606\u0607\u0609\u060a\u060c\u060e\u060f\u066a\u06de\u06e9\u07f6-\u07f9\ufb29\ufd3e-\ufd4f\ufdcf\ufdfd-\ufdff\u{1091f}\u{10b39}-\u{10b3f}]/u;

function classOf(character) {
    const point = character.codePointAt(0);
    if (/\p{Mn}|\p{Me}/u.test(character)) return "NSM";
    if ((point >= 0x660 && point <= 0x669) || point === 0x66b || point === 0x66c || (point >= 0x600 && point <= 0x605) ||
        point === 0x6dd || point === 0x890 || point === 0x891 || point === 0x8e2 || (point >= 0x10d30 && point <= 0x10d39) ||
        (point >= 0x10e60 && point <= 0x10e7e)) return "AN";
    if (/[0-9\u06f0-\u06f9\u00b2\u00b3\u00b9\u2070-\u2079\u2080-\u2089]/.test(character)) return "EN";
    if ((point >= 0x590 && point <= 0x8ff) || (point >= 0xfb1d && point <= 0xfdff) || (point >= 0xfe70 && point <= 0xfeff) ||
        (point >= 0x10800 && point <= 0x10fff) || (point >= 0x1e800 && point <= 0x1efff) || point === 0x200f)
        return neutral.test(character) ? "other" : "R";
    return /\p{L}|\p{Mc}|\p{Nl}/u.test(character) ? "L" : "other";
}

function mayStand(label) {
    const classes = [...label].map(classOf);
    const last = classes.findLast((one) => one !== "NSM");
    if (classes[0] === "R")
        return !classes.includes("L") && ["R", "EN", "AN"].includes(last) && !(classes.includes("EN") && classes.includes("AN"));
    return classes[0] === "L" && !classes.includes("R") && !classes.includes("AN") && ["L", "EN"].includes(last);
}

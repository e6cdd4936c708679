// The documented surface of the vendor's web SDK, version 4, over REST v1 of the service that serves this script. First what it needs of a browser: storage, addresses,
// other windows, the callbacks of the page.
const HOME = new URL(document.currentScript ? document.currentScript.src : location.href).origin;
const PREFIX = "boxoffice.";
// In the address to which a window or a hidden frame comes back: tells the script there that it only has to say so.
const MARK = "boxoffice-return";
// As long as the server's last word on a session counts, in ms.
const FRESH = 60000;
// As long as a call may take, in ms.
const PATIENCE = 30000;
// Between two questions whether the person in the other window has signed in, in ms.
const POLL = 4000;
// As long as a registration code lives, in ms.
const CODE_LIFE = 1800000;
// What a clock may be wrong by before the page is warned, in ms.
const CLOCK = 600000;
const DEGRADED = "95cf93bcd183214a";

const pause = milliseconds => new Promise(resolve => setTimeout(resolve, milliseconds));
// What is thrown here would reach the page as "Script error.": browsers hide errors of other sites' scripts.
const later = error => { if (window.reportError) window.reportError(error); else setTimeout(() => { throw error; }); };
const random = () => Array.from(crypto.getRandomValues(new Uint8Array(16)), octet => octet.toString(16).padStart(2, "0")).join("");
const isFramed = window.top !== window;

// Storage that a browser refuses is replaced by memory, which lasts as long as the page; so is an entry for which there is no room.
const area = (() => {
    try {
        const found = window.localStorage;
        found.setItem(PREFIX + "probe", "1");
        found.removeItem(PREFIX + "probe");
        return found;
    } catch {
        return null;
    }
})();
const memory = new Map();
const kept = {
    read(name) {
        try {
            return JSON.parse(memory.get(name) || area?.getItem(PREFIX + name) || "null");
        } catch {
            return null;
        }
    },
    write(name, value) {
        const text = JSON.stringify(value);
        memory.delete(name);
        try { area.setItem(PREFIX + name, text); } catch { memory.set(name, text); }
    },
    remove(name) {
        memory.delete(name);
        area?.removeItem(PREFIX + name);
    },
};
let ownDevice = null;
// The device: a number of this browser and this site, made at the first sign-in. A page that empties its storage meanwhile changes nothing.
function device() {
    ownDevice = kept.read("device") || ownDevice || random();
    kept.write("device", ownDevice);
    return ownDevice;
}

// Where the page is when it comes back from another site. The server takes printable ASCII of at most 2,048 characters.
function returnAddress(wanted, ticket) {
    const address = new URL(wanted || location.href, location.href);
    if (ticket) address.searchParams.set(MARK, ticket);
    const encode = text => text.replace(/["\\<>^`{|}]/g, encodeURIComponent);
    let to = encode(address.href);
    if (to.length > 2000) to = encode(address.origin + (address.pathname.length < 1900 ? address.pathname : "/") + (ticket ? `?${MARK}=${ticket}` : ""));
    return to;
}
function rememberAddress(to, wanted) {
    try { sessionStorage.setItem(PREFIX + "return", JSON.stringify({ to, from: wanted ? to : location.href })); } catch { /* It comes back as it was sent. */ }
}
function restoreAddress() {
    try {
        const { to, from } = JSON.parse(sessionStorage.getItem(PREFIX + "return") || "{}");
        sessionStorage.removeItem(PREFIX + "return");
        const refused = new URL(location.href);
        refused.searchParams.delete("error");
        if (from && from !== location.href && (location.href === to || refused.href === to)) history.replaceState(history.state, "", from);
    } catch { /* The address stays. */ }
}

// What the other window, or the hidden frame, says when it is back.
const tickets = new Map();
const heard = message => message && tickets.has(message.ticket) && tickets.get(message.ticket)();
let channel = null;
try {
    channel = new BroadcastChannel(PREFIX + "return");
    channel.onmessage = event => heard(event.data);
} catch { /* The other window has its opener to tell, and the server is asked in any case. */ }
window.addEventListener("message", event => event.origin === location.origin && event.data && heard(event.data[MARK]));

const system = [[/Android/, "Android"], [/iPhone|iPad/, "iOS"], [/Windows/, "Windows"], [/CrOS/, "Chrome OS"], [/Macintosh/, "Mac OS"], [/Linux/, "Linux"]]
    .find(([mark]) => mark.test(navigator.userAgent))?.[1] || "Unknown";
const kindOfDevice = [[/PlayStation|Xbox|Nintendo/, "gameconsole"], [/iPad|Tablet|Android(?!.*Mobile)/, "tablet"], [/Mobi/, "mobile"],
    [/Windows|Macintosh|Linux|CrOS/, "computer"]].find(([mark]) => mark.test(navigator.userAgent))?.[1] || "unknown";

// The function of a global name; dots lead into objects.
function named(name) {
    let found = window[name];
    if (found === undefined && name.includes(".")) {
        found = name.split(".").reduce((object, part) => (object === undefined || object === null ? undefined : object[part]), window);
    }
    return typeof found === "function" ? found : null;
}
// A callback that fails is the page's own matter: its error reaches `window.onerror`, and the script goes on.
function tell(name, ...values) {
    try { named(name)?.(...values); } catch (error) { later(error); }
}

// `entitlementLoaded` comes when the page is read. Where it made no instance it comes again with the first one. No other callback comes before it.
let announce = null, isAnnounced = false, hasInstance = false, isInert = false;
const announced = new Promise(resolve => { announce = resolve; });
function ready() {
    if (isInert || isAnnounced) return;
    tell("entitlementLoaded");
    if (!hasInstance) return;
    isAnnounced = true;
    announce();
}
function start() {
    if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", () => setTimeout(ready)); else setTimeout(ready);
}

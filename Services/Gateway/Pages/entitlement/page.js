// What happens when the script is loaded: a window that is back says so, a page begins.
// The provider's logout, out of sight. It ends when it comes back, when the page's content policy stops it, or after half a minute.
async function visitHidden(address, ticket) {
    const frame = element("iframe", { display: "none" }, { src: address, title: "" });
    let stopped = null;
    const back = new Promise(resolve => {
        tickets.set(ticket, resolve);
        stopped = event => { if (/^(frame|child|default)-src/.test(event.effectiveDirective)) resolve(); };
    });
    document.addEventListener("securitypolicyviolation", stopped);
    document.body.append(frame);
    await Promise.race([back, pause(PATIENCE)]);
    document.removeEventListener("securitypolicyviolation", stopped);
    tickets.delete(ticket);
    frame.remove();
}

const ticket = new URLSearchParams(location.search).get(MARK);
if (ticket) {
    // The page that waits goes on; this one is only how the browser came back.
    isInert = true;
    channel?.postMessage({ ticket });
    for (const other of [window.opener, isFramed ? window.parent : null]) other?.postMessage({ [MARK]: { ticket } }, location.origin);
    if (!isFramed) {
        window.close();
        setTimeout(() => {
            const address = new URL(location.href);
            address.searchParams.delete(MARK);
            history.replaceState(history.state, "", address.href);
            isInert = false;
            start();
        }, 1000);
    }
} else {
    restoreAddress();
    start();
}

window.AccessEnabler = { AccessEnabler, models: { PreauthorizeRequest } };

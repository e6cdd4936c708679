// A page with one video and no picker of its own: the default one opens. It stays where it is; the sign-in has a window.
"use strict";
// The two changed values; the channel's id stays.
const ENDPOINT = "https://tv.example/adobe-services";
const SOFTWARE_STATEMENT = "SOFTWARE-STATEMENT";

window.entitlementLoaded = () => {
    const accessEnabler = new window.AccessEnabler.AccessEnabler(SOFTWARE_STATEMENT), watch = document.getElementById("watch");
    accessEnabler.setRequestor("ACME1", [ENDPOINT], { backgroundLogin: true, backgroundLogout: true });
    accessEnabler.checkAuthentication();
    watch.disabled = false;
    watch.addEventListener("click", () => accessEnabler.getAuthorization("ACME1-NEWS"));
};

window.setAuthenticationStatus = isAuthenticated => {
    document.getElementById("status").textContent = isAuthenticated ? "You are signed in." : "Your TV provider may have this.";
};

window.setToken = (resource, token) => {
    const screen = document.getElementById("screen");
    screen.dataset.token = token;
    screen.textContent = `Playing ${resource}`;
};

window.tokenRequestFailed = (resource, code, details) => {
    document.getElementById("screen").textContent = details || `${resource}: ${code}`;
};

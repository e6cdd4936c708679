// A player page with a picker of its own, as pages of the vendor's web SDK are written: global callbacks, one instance.
"use strict";
// The two changed values; the channel's id stays.
const ENDPOINT = "https://tv.example/adobe-services";
const SOFTWARE_STATEMENT = "SOFTWARE-STATEMENT";
const REQUESTOR = "ACME1";

let accessEnabler = null;
const part = id => document.getElementById(id);
const show = (id, isShown) => { part(id).hidden = !isShown; };

function entitlementLoaded() {
    accessEnabler = new window.AccessEnabler.AccessEnabler(SOFTWARE_STATEMENT);
    accessEnabler.bind("errorEvent", "showProblem");
    accessEnabler.setRequestor(REQUESTOR, [ENDPOINT], { backgroundLogin: false, backgroundLogout: false });
    accessEnabler.checkAuthentication();
    part("sign-in").addEventListener("click", () => accessEnabler.getAuthentication());
    part("sign-out").addEventListener("click", () => accessEnabler.logout());
    part("cancel").addEventListener("click", () => {
        show("picker", false);
        accessEnabler.setSelectedProvider(null);
    });
    for (const button of document.querySelectorAll("[data-resource]")) {
        button.addEventListener("click", () => accessEnabler.checkAuthorization(button.dataset.resource));
    }
}

function setAuthenticationStatus(isAuthenticated, code) {
    show("sign-in", !isAuthenticated);
    show("sign-out", isAuthenticated);
    part("provider").textContent = isAuthenticated ? "Signed in." : "Not signed in.";
    if (!isAuthenticated) return;
    accessEnabler.getSelectedProvider();
    accessEnabler.getMetadata("householdID");
    const request = new window.AccessEnabler.models.PreauthorizeRequest.getBuilder().setResources(["ACME1-NEWS", "ACME1-SPORT", "ACME1-KIDS"]).build();
    accessEnabler.preauthorize(request, { onResponse: showRights, onFailure: showRights });
}

function selectedProvider({ MVPD }) {
    part("provider").textContent = `Courtesy of ${MVPD}`;
}

function setMetadataStatus(key, isEncrypted, value) {
    document.body.dataset[key] = isEncrypted ? "encrypted" : value || "";
}

function showRights({ decisions }) {
    for (const { id, authorized } of decisions) document.querySelector(`[data-resource="${id}"]`).dataset.locked = String(!authorized);
}

function displayProviderDialog(providers) {
    part("providers").replaceChildren(...providers.filter(provider => !provider.tempPass).map(provider => {
        const entry = document.createElement("li"), button = document.createElement("button");
        button.type = "button";
        button.textContent = provider.displayName;
        button.addEventListener("click", () => accessEnabler.setSelectedProvider(provider.ID));
        entry.append(button);
        return entry;
    }));
    show("picker", true);
}

function setToken(resource, token) {
    part("screen").dataset.token = token;
    part("screen").textContent = `Playing ${resource}`;
}

function tokenRequestFailed(resource, code, details) {
    part("screen").textContent = details || `${resource}: ${code}`;
}

function showProblem({ errorId, level }) {
    if (level === "error") part("screen").dataset.problem = errorId;
}

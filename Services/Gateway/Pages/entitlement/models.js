// Requests, answers and texts of the documented surface.
// Status of the preauthorize API; what an answer does not say is null, as documented.
const status = fields => ({ status: 0, code: null, message: null, details: null, helpUrl: null, trace: null, action: null, ...fields });
const NOT_CONFIGURED = { code: "requestor_not_configured", message: "setRequestor has not been answered yet.", action: "retry" };
const NO_LIST = { status: 400, code: "internal_error", message: "setResources was not called.", action: "none" };
const EMPTY_LIST = { status: 412, code: "missing_resource", message: "The list of resources is empty.", action: "none" };
const NOT_SIGNED_IN = { code: "authentication_session_missing", message: "Nobody is signed in.", action: "authentication" };

class PreauthorizeRequest {
    constructor(resources, features) {
        this.resources = resources;
        this.features = features;
    }
}
class PreauthorizeRequestBuilder {
    setResources(resources) {
        this.resources = resources;
        return this;
    }
    disableFeatures(...features) {
        this.features = features;
        return this;
    }
    build() { return new PreauthorizeRequest(this.resources && [...this.resources], [...(this.features || [])]); }
}
// The documented sample writes `new PreauthorizeRequest.getBuilder()`.
PreauthorizeRequest.getBuilder = function getBuilder() { return new PreauthorizeRequestBuilder(); };

const NAME = /^[0-9a-zA-Z][-._a-zA-Z0-9]{0,1023}$/;
const SIGNED_OUT = "User Not Authenticated Error", NOT_SELECTED = "Provider not Selected Error", NONE = "Provider not Available Error";
const GENERIC = "Generic Authentication Error", INTERNAL = "Internal Authentication Error", BUSY = "Multiple Authentication Requests Error";
const NO_RIGHT = "User Not Authorized Error", BROKEN = "Internal Authorization Error";

const encoded = value => btoa(String.fromCharCode(...new TextEncoder().encode(JSON.stringify(value))));

// The address of a service provider as pages write it: with or without a scheme, with the path of the vendor's calls. A page by HTTPS may not call by HTTP.
function endpointOrigin(text) {
    try {
        const address = new URL(/^https?:\/\//i.test(text) ? text : `https://${text}`);
        const isLocal = /^(localhost|127\.[0-9.]+|\[::1\])$/.test(address.hostname);
        if (location.protocol === "https:" && !isLocal) address.protocol = "https:";
        return address.origin;
    } catch {
        return null;
    }
}

// The reference form in clear, as the vendor's SDK gave it. A JWS stays as it is.
function clear(token) {
    try {
        const text = new TextDecoder().decode(Uint8Array.from(atob(token), octet => octet.charCodeAt(0)));
        return text.startsWith("<") ? text : token;
    } catch {
        return token;
    }
}

// The calls to the servers: registration, tokens, and a requestor with its providers and its session.
// Why a call has no answer that counts: an error code of the documented table, and words for the page's engineers.
class Trouble extends Error {
    constructor(errorId, message) {
        super(message);
        this.errorId = errorId;
    }
}

// One request. "Too many" and "not now" are asked again, as late as the server says, twice.
async function ask(method, address, headers = {}, body = undefined) {
    for (let attempt = 0; ; attempt += 1) {
        const giveUp = new AbortController(), timer = setTimeout(() => giveUp.abort(), PATIENCE);
        let answer = null, text = "";
        try {
            answer = await fetch(address, { method, headers, body, credentials: "omit", cache: "no-store", signal: giveUp.signal });
            text = await answer.text();
        } catch (error) {
            throw new Trouble("CFG404", `${new URL(address).origin} does not answer (${error.message})`);
        } finally {
            clearTimeout(timer);
        }
        if ((answer.status === 429 || answer.status === 503) && attempt < 2) {
            const seconds = Number(answer.headers.get("Retry-After")) || 1;
            await pause(Math.min(Math.max(seconds, 1), 10) * 1000 + Math.random() * 250);
            continue;
        }
        let json = {};
        try { json = JSON.parse(text) || {}; } catch { /* XML, or nothing. */ }
        return { status: answer.status, text, json };
    }
}

// The page's registration at one server, and its calls there.
class Link {
    constructor(origin, owner) {
        this.origin = origin;
        this.owner = owner;
        this.key = `client.${origin}.${owner.statement.slice(-40)}`;
        this.working = null;
    }

    async client() {
        const known = kept.read(this.key);
        if (known?.id) return known;
        const answer = await ask(
            "POST", `${this.origin}/o/client/register`, { "Content-Type": "application/json", Accept: "application/json" },
            JSON.stringify({ software_statement: this.owner.statement }));
        if (answer.status !== 201) throw new Trouble(answer.status === 400 ? "R400" : "R401", answer.json.error_description || `registration: ${answer.status}`);
        const client = { id: answer.json.client_id, secret: answer.json.client_secret };
        kept.write(this.key, client);
        return client;
    }

    // Two calls at once need one token.
    bearer() {
        this.working ??= this.token().finally(() => { this.working = null; });
        return this.working;
    }

    async token(isAgain = false) {
        const client = await this.client();
        // By this clock alone, however wrong it is: a clock that jumps costs one refused call.
        if (client.token && Date.now() < client.until) return client.token;
        const form = new URLSearchParams({ client_id: client.id, client_secret: client.secret, grant_type: "client_credentials" });
        const answer = await ask("POST", `${this.origin}/o/client/token`, {}, form);
        const { json } = answer;
        if (json.error === "invalid_client" && !isAgain) {
            kept.remove(this.key);
            return this.token(true);
        }
        if (!json.access_token) throw new Trouble("R401", json.error_description || json.error || `access token: ${answer.status}`);
        if (json.created_at && Math.abs(json.created_at - Date.now()) > CLOCK) {
            this.owner.report("CFG100", "warning", { message: `this device's clock is off by ${Math.round((Date.now() - json.created_at) / 60000)} minutes` });
        }
        kept.write(this.key, { ...client, token: json.access_token, until: Date.now() + Math.max(json.expires_in - 60, 30) * 1000 });
        return json.access_token;
    }

    // After a 401 with a new token, and then as a new client.
    async call(method, path, query = {}, form = null) {
        for (let attempt = 0; ; attempt += 1) {
            const headers = { Authorization: `Bearer ${await this.bearer()}`, Accept: "application/json", ...this.owner.headers };
            const parameters = new URLSearchParams({ ...query, ...this.owner.visitor });
            const answer = await ask(method, `${this.origin}${path}?${parameters}`, headers, form ? new URLSearchParams(form) : undefined);
            const isRefused = answer.status === 401 || (answer.status === 403 && answer.json.error === "invalid_client");
            if (isRefused && attempt < 2) {
                const client = kept.read(this.key);
                if (answer.status === 401 && attempt === 0 && client) kept.write(this.key, { id: client.id, secret: client.secret }); else kept.remove(this.key);
                continue;
            }
            if (isRefused || answer.json.error === "insufficient_scope") {
                throw new Trouble("R401", `the software statement's application may not call this: ${answer.json.error_description || answer.json.error}`);
            }
            return answer;
        }
    }
}

// A requestor as its servers describe it.
class Site {
    constructor(id, origins, owner) {
        this.id = id;
        this.owner = owner;
        this.links = new Map(origins.map(origin => [origin, new Link(origin, owner)]));
        this.providers = new Map();
        this.domain = "adobe.com";
        this.known = null;
        this.permits = new Set();
        this.decisions = new Map();
        this.metadata = null;
    }

    // The list of every server that answers; a provider belongs to the one that names it first.
    async load() {
        const documents = [], troubles = [];
        await Promise.all([...this.links.values()].map(async link => {
            try {
                documents.push(await this.list(link));
            } catch (error) {
                troubles.push(error);
            }
        }));
        if (!documents.length) throw troubles[0] || new Trouble("CFG404", "no endpoint is an address of a server");
        if (documents.length === 1) return documents[0].text;
        const [first, ...others] = documents.map(found => found.tree);
        const known = new Set(Array.from(first.querySelectorAll("mvpd > id"), id => id.textContent));
        for (const entry of others.flatMap(tree => [...tree.querySelectorAll("mvpd")])) {
            const id = entry.querySelector("id").textContent;
            if (!known.has(id)) first.querySelector("mvpds").append(first.importNode(entry, true));
            known.add(id);
        }
        return new XMLSerializer().serializeToString(first);
    }

    async list(link) {
        const address = `${link.origin}/api/v1/config/${encodeURIComponent(this.id)}?${new URLSearchParams({ format: "xml", ...this.owner.visitor })}`;
        let answer = null;
        try {
            answer = await ask("GET", address);
        } catch (error) {
            // An answer that comes and that this page may not read: its address is at none of the requestor's domains.
            const comes = await fetch(address, { mode: "no-cors", credentials: "omit" }).then(() => true, () => false);
            throw comes ? new Trouble("SEC403", `${location.origin} is no registered domain of ${this.id} at ${link.origin}`) : error;
        }
        if (answer.status !== 200) throw new Trouble(`CFG${answer.status}`, `the configuration of ${this.id} at ${link.origin}: status ${answer.status}`);
        const tree = new DOMParser().parseFromString(answer.text, "application/xml");
        const read = (entry, name) => entry.querySelector(`:scope > ${name}`)?.textContent || "";
        for (const entry of tree.querySelectorAll("mvpd")) {
            const id = read(entry, "id");
            if (this.providers.has(id)) continue;
            const wanted = this.owner.options.mvpdConfig?.[id] || {};
            this.providers.set(id, {
                id, link, name: read(entry, "displayName") || id, logo: read(entry, "logoUrl"), isTempPass: read(entry, "isTempPass") === "true",
                hasFrame: wanted.iFrameRequired ?? read(entry, "iFrameRequired") === "true",
                width: Number(wanted.iFrameWidth || read(entry, "iFrameWidth")) || 600,
                height: Number(wanted.iFrameHeight || read(entry, "iFrameHeight")) || 600,
            });
        }
        const domain = tree.querySelector("domain > name");
        if (domain) this.domain = domain.textContent;
        return { text: answer.text, tree };
    }

    // What this browser remembers of a sign-in: where it was begun, and whether it has succeeded. Other tabs read and write it too.
    get mark() { return kept.read(`session.${this.id}`); }
    set mark(value) {
        if (value) kept.write(`session.${this.id}`, value); else kept.remove(`session.${this.id}`);
    }

    link(mark) { return this.links.get(mark.origin) || this.links.values().next().value; }
    of(more) { return { requestor: this.id, deviceId: device(), ...more }; }
    forget() {
        this.known = this.metadata = null;
        this.permits.clear();
        this.decisions.clear();
    }

    // Who is signed in. The server says so, and its word counts for a minute; what it cannot say now stays as it was.
    async session(age = FRESH) {
        const { mark } = this;
        if (!mark || mark.state === "out") {
            this.forget();
            return null;
        }
        if (this.known && this.known.stamp === mark.stamp && performance.now() - this.known.at < age) return this.known;
        const answer = await this.link(mark).call("GET", "/api/v1/tokens/authn", this.of()).catch(error => ({ status: 0, error }));
        if (answer.status === 200) {
            const { mvpd, userId, expires } = answer.json;
            if (this.known && this.known.stamp !== mark.stamp) this.forget();
            this.known = { mvpd, user: userId || "", expires, at: performance.now(), stamp: mark.stamp };
            if (mark.state !== "in" && this.mark?.stamp === mark.stamp) this.mark = { ...mark, mvpd, state: "in" };
            return this.known;
        }
        if (![400, 403, 404, 410].includes(answer.status)) {
            const trouble = answer.error || new Trouble(`CFG${answer.status}`, `who is signed in: status ${answer.status}`);
            if (mark.state !== "in") throw trouble;
            this.owner.report(trouble.errorId, "error", { message: trouble.message });
            return this.known || { mvpd: mark.mvpd, user: "", expires: "", at: 0, stamp: mark.stamp };
        }
        this.forget();
        // A sign-in that is under way elsewhere may still end well.
        if (mark.state === "in" || Date.now() - mark.made > CODE_LIFE) {
            if (this.mark?.stamp === mark.stamp) this.mark = null;
            if (answer.status === 410 && this.providers.get(mark.mvpd)?.isTempPass) this.owner.report("N111", "warning");
        }
        return null;
    }

    // A logout that the browser did not bring to its end.
    async finishLogout() {
        const { mark } = this;
        if (mark?.state !== "out") return;
        await this.link(mark).call("DELETE", "/api/v1/logout", this.of());
        if (this.mark?.stamp === mark.stamp) this.mark = null;
    }
}

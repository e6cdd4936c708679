// The calls of the documented surface, and the sign-in that they share.
class AccessEnabler {
    #site = null;
    // The same once its list is there.
    #ready = null;
    #flow = null;
    #chosen = null;
    #handlers = [];

    constructor(softwareStatement) {
        this.statement = String(softwareStatement || "");
        this.options = {};
        this.visitor = this.headers = {};
        hasInstance = true;
        // Back from the cache of the browser: the sign-in that left this page is given up.
        window.addEventListener("pageshow", event => { if (event.persisted) this.#flow = null; });
        start();
    }

    setRequestor(id, endpoints, options) {
        const isList = Array.isArray(endpoints) || typeof endpoints === "string";
        this.options = options || (isList ? null : endpoints) || {};
        const { visitorID, applicationId } = this.options;
        this.visitor = visitorID ? { ap_vi: String(visitorID) } : {};
        this.headers = applicationId ? { "X-Device-Info": encoded({ model: "Web", osName: system, applicationId: String(applicationId) }) } : {};
        this.#abandon();
        this.#ready = this.#chosen = null;
        const origins = isList && endpoints.length ? [endpoints].flat().map(endpointOrigin).filter(Boolean) : [HOME];
        const site = new Site(String(id || ""), [...new Set(origins)], this);
        const attempt = this.#configure(site);
        this.#site = attempt;
        attempt.then(text => {
            if (this.#site === attempt && this.options.callSetConfig !== false) tell("setConfig", text);
        }, error => this.#complain(error));
        // Every call that was made meanwhile waits for this, and comes after it.
        attempt.site = site;
    }

    async #configure(site) {
        if (isInert) await announced;
        if (!site.id) throw new Trouble("CFG400", "setRequestor needs the id of a requestor");
        const { mark } = site;
        const work = mark?.state === "out" ? site.finishLogout() : site.session();
        const [text] = await Promise.all([site.load(), work.catch(() => null)]);
        await announced;
        if (this.#site?.site === site) this.#ready = site;
        if (!area) this.report("LS011", "warning", { message: "this browser keeps nothing: a sign-in lasts as long as the page" });
        return text;
    }

    checkAuthentication() {
        this.#run(async site => {
            const session = await site.session();
            if (session) this.#signedIn(site, session, true); else this.#signedOut(site, SIGNED_OUT, true);
        }, code => tell("setAuthenticationStatus", 0, code || INTERNAL));
    }

    getAuthentication(redirectUrl) {
        this.#run(async site => {
            const session = await site.session();
            if (session) this.#signedIn(site, session, true); else this.#begin(site, { redirectUrl });
        }, code => tell("setAuthenticationStatus", 0, code || INTERNAL));
    }

    checkAuthorization(resource) {
        this.#run(async site => {
            const session = await site.session(Infinity);
            if (session) await this.#authorize(site, session, resource); else this.#refused(site, null, resource, SIGNED_OUT, "");
        }, code => tell("tokenRequestFailed", resource, code || BROKEN, ""));
    }

    getAuthorization(resource, redirectUrl) {
        this.#run(async site => {
            const session = await site.session(Infinity);
            if (session) await this.#authorize(site, session, resource); else this.#begin(site, { redirectUrl, resource });
        }, code => tell("tokenRequestFailed", resource, code || BROKEN, ""));
    }

    checkPreauthorizedResources(resources, cache = true) {
        this.#run(async site => {
            const decisions = (await site.session(Infinity)) ? await this.#decide(site, [...resources], cache) : [];
            if (decisions.problem) this.report("P100", "error", { message: decisions.problem.message || "" });
            tell("preauthorizedResources", decisions.filter(decision => decision.authorized).map(decision => decision.id));
        }, () => {
            this.report("P100", "error");
            tell("preauthorizedResources", []);
        });
    }

    preauthorize(request, callback) {
        const answer = (name, problem, decisions = []) => {
            try { callback?.[name]?.({ status: problem ? status(problem) : null, decisions }); } catch (error) { later(error); }
        };
        if (!this.#ready) return void announced.then(() => answer("onFailure", NOT_CONFIGURED));
        this.#run(async site => {
            const { resources, features = [] } = request || {};
            if (!(await site.session(Infinity))) return answer("onFailure", NOT_SIGNED_IN);
            if (!resources) return answer("onResponse", NO_LIST);
            if (!resources.length) return answer("onResponse", EMPTY_LIST);
            const decisions = await this.#decide(site, resources, !features.includes("LOCAL_CACHE"));
            if (!decisions.problem) return answer("onResponse", null, decisions.map(found => ({ ...found, error: found.error ? status(found.error) : null })));
            answer(decisions.problem.status ? "onResponse" : "onFailure", decisions.problem);
        }, (code, error) => answer("onFailure", {
            code: /^R40/.test(error?.errorId) ? "access_token_unavailable" : "network_error", message: error?.message || null, action: "none",
        }));
    }

    getMetadata(key, parameters) {
        this.#run(async site => {
            const session = await site.session();
            const give = (value, isEncrypted = false) => tell("setMetadataStatus", key, isEncrypted, value);
            if (key === "DEVICEID") return give("");
            if (key === "TTL_AUTHN") return give(session ? session.expires : "");
            if (!session) return give(key === "TTL_AUTHZ" ? "" : null);
            const link = site.link(site.mark);
            if (key === "TTL_AUTHZ") {
                const answer = await link.call("GET", "/api/v1/tokens/authz", site.of({ resource: [parameters].flat()[0] || "" }));
                return give(answer.status === 200 ? String(answer.json.expires) : "");
            }
            // Several keys are asked for at once, and one answer has them all.
            if (!site.metadata || performance.now() - site.metadata.at > 5000) {
                site.metadata = { at: performance.now(), answer: link.call("GET", "/api/v1/tokens/usermetadata", site.of()) };
            }
            const { data = {}, encrypted = [] } = (await site.metadata.answer).json;
            give(data[key] ?? null, encrypted.includes(key));
        }, () => tell("setMetadataStatus", key, false, null));
    }

    setSelectedProvider(id) {
        if (id === null || id === undefined || id === "") return this.#cancel();
        const site = this.#ready, provider = site?.providers.get(id);
        // A window opens while the click counts, or is blocked.
        const wanted = provider && this.#flow?.stage === "choosing" && this.#wantsWindow(provider) ? this.#openWindow(provider) : null;
        this.#run(found => this.#select(found, id, wanted), code => tell("setAuthenticationStatus", 0, code || INTERNAL));
    }

    getSelectedProvider() {
        const give = (MVPD, AE_State) => tell("selectedProvider", { MVPD, AE_State });
        this.#run(async site => {
            const session = await site.session(), last = kept.read(`mvpd.${site.id}`);
            if (session) give(session.mvpd, "User Authenticated"); else give(last, last ? "User Not Authenticated" : "New User");
        }, () => give(null, "User Not Authenticated"));
    }

    logout() {
        // From then on no tab has a session, whatever becomes of this one.
        const end = site => { if (site?.mark) site.mark = { ...site.mark, state: "out", stamp: random() }; };
        const configured = this.#site?.site;
        this.#run(async site => {
            this.#abandon();
            const { mark } = site;
            if (!mark) return this.#signedOut(site, SIGNED_OUT);
            const session = await site.session(Infinity).catch(() => null);
            end(site);
            const link = site.link(mark);
            const hasPage = session && !site.providers.get(session.mvpd)?.isTempPass && !session.user.startsWith(DEGRADED);
            if (hasPage) {
                const isHidden = this.options.backgroundLogout || isFramed, ticket = isHidden ? random() : "";
                const to = returnAddress(null, ticket);
                const address = `${link.origin}/api/v1/logout?${new URLSearchParams(site.of({ redirect_url: to, access_token: await link.bearer() }))}`;
                if (!isHidden) {
                    rememberAddress(to);
                    return location.assign(address);
                }
                await visitHidden(address, ticket);
            }
            // Where the server does not hear of it now, the next page tells it. Here nobody is signed in any more.
            await site.finishLogout().catch(error => this.#complain(error));
            site.forget();
            this.#signedOut(site, SIGNED_OUT);
        }, code => {
            end(configured);
            tell("setAuthenticationStatus", 0, code || SIGNED_OUT);
        });
    }

    bind(eventType, handlerName) {
        if (!NAME.test(eventType) || !NAME.test(handlerName)) {
            return void console.error("AccessEnabler.bind needs 'errorEvent' and the name of a global function");
        }
        if (eventType === "errorEvent") this.#handlers.push(handlerName);
    }

    unbind(eventType, handlerName = null) {
        if (eventType === "errorEvent") this.#handlers = handlerName === null ? [] : this.#handlers.filter(name => name !== handlerName);
    }

    // Advanced error reporting: an id and a level of the documented table.
    report(errorId, level, more = {}) {
        for (const name of this.#handlers) tell(name, { errorId, level, ...more });
    }

    #complain(error) {
        if (!(error instanceof Trouble)) {
            later(error);
            error = new Trouble("500", String(error));
        }
        this.report(error.errorId, "error", { message: error.message });
    }

    // Does a call's work once the requestor is there; where it never is, or the work fails, the page hears the call's own failure.
    async #run(work, fail) {
        const attempt = this.#site;
        await announced;
        if (!attempt) {
            this.report("500", "error", { message: "setRequestor comes before every other call" });
            return fail("Internal Error");
        }
        try {
            await attempt;
        } catch (error) {
            return fail("", error);
        }
        try {
            await work(attempt.site);
        } catch (error) {
            this.#complain(error);
            fail("", error);
        }
    }

    #track(type, ...values) { tell("sendTrackingData", type, [...values, kindOfDevice, "html5", system]); }

    #signedIn(site, session, isCached) {
        this.#track("authenticationDetection", true, session.mvpd, session.user, isCached);
        if (session.user.startsWith(DEGRADED)) this.report("N010", "warning");
        if (site.providers.get(session.mvpd)?.isTempPass) this.report("N011", "info");
        tell("setAuthenticationStatus", 1, "");
    }

    #signedOut(site, code, isCheck = false) {
        this.#track("authenticationDetection", false, "", "", false);
        if (isCheck) this.report("N000", "info");
        tell("setAuthenticationStatus", 0, code);
    }

    // The provider's choice, by the page's own dialog or the default one.
    #begin(site, wish) {
        if (this.#flow && !this.#flow.popup?.closed && !this.options.backgroundLogin) return tell("setAuthenticationStatus", 0, BUSY);
        this.#abandon();
        const providers = [...site.providers.values()].map(provider => ({
            ID: provider.id, displayName: provider.name, logoURL: provider.logo, tempPass: provider.isTempPass, iFrameRequired: false,
        }));
        if (!providers.length) return this.#signedOut(site, NONE);
        this.#flow = { ...wish, site, stage: "choosing" };
        if (this.#chosen) return this.setSelectedProvider(this.#chosen);
        if (named("displayProviderDialog")) return tell("displayProviderDialog", providers);
        this.#flow.close = openPicker(providers, id => this.setSelectedProvider(id));
    }

    #abandon() {
        const flow = this.#flow;
        this.#flow = null;
        if (!flow) return;
        flow.close?.();
        flow.popup?.close();
        tickets.delete(flow.ticket);
        if (flow.stamp && flow.site.mark?.stamp === flow.stamp && flow.site.mark.state === "pending") flow.site.mark = null;
    }

    #cancel() {
        const flow = this.#flow;
        this.#chosen = null;
        if (!flow) return;
        this.#abandon();
        this.#run(async site => {
            this.report("N005", "info");
            this.#signedOut(site, NOT_SELECTED);
        }, () => {});
    }

    // No sign-in is framed: a provider that wants a frame has a window. So has a page that does not leave, or whose address does not lead back to it.
    #wantsWindow(provider) { return !provider.isTempPass && (this.options.backgroundLogin || provider.hasFrame || isFramed || !area); }

    // The page's own window, where it has opened one by the documented name.
    #openWindow(provider) {
        const size = provider.hasFrame ? `width=${provider.width},height=${provider.height}` : "";
        for (const name of provider.hasFrame ? ["mvpdframe", "mvpdwindow"] : ["mvpdwindow"]) {
            const found = window.open("", name, size);
            let isFrame = false;
            try { isFrame = Boolean(found) && found.parent !== found; } catch { /* Another site's page has it by now. */ }
            if (!isFrame) return found;
        }
        return null;
    }

    async #select(site, id, popup) {
        const flow = this.#flow;
        // Without a question it is the answer to the next one. A second answer to the same question is none.
        if (!flow) this.#chosen = id;
        if (flow?.stage !== "choosing") return;
        const provider = site.providers.get(id);
        this.#chosen = null;
        flow.close?.();
        if (!provider) return this.#fail(flow, NONE);
        this.#track("mvpdSelection", id);
        kept.write(`mvpd.${site.id}`, id);
        Object.assign(flow, { stage: "leaving", popup, stamp: random(), mvpd: id, ticket: random() });
        site.forget();
        site.mark = { origin: provider.link.origin, mvpd: id, state: "pending", made: Date.now(), stamp: flow.stamp };
        try {
            if (provider.isTempPass) await this.#tryOut(site, provider, flow); else await this.#leave(site, provider, flow);
        } catch (error) {
            this.#complain(error);
            this.#fail(flow, INTERNAL);
        }
    }

    // A free preview needs no page.
    async #tryOut(site, provider, flow) {
        const form = { requestor_id: site.id, deviceId: device(), mso_id: provider.id, domain_name: site.domain };
        const answer = await provider.link.call("POST", "/api/v1/authenticate/freepreview", {}, form);
        if (this.#flow !== flow) return;
        if (answer.status === 204) return this.#finish(site, flow);
        if (answer.status === 400) this.report("N111", "warning", { message: answer.json.message || "" });
        this.#fail(flow, answer.status === 400 ? SIGNED_OUT : INTERNAL);
    }

    async #leave(site, provider, flow) {
        const { link } = provider, hasWindow = Boolean(flow.popup) && !flow.popup.closed;
        const answer = await link.call("POST", `/reggie/v1/${encodeURIComponent(site.id)}/regcode`, {}, { deviceId: device(), mvpd: provider.id });
        if (this.#flow !== flow) return;
        if (answer.status !== 201) throw new Trouble("REG500", answer.json.message || `registration code: status ${answer.status}`);
        if (!hasWindow && (isFramed || !area)) {
            throw new Trouble("500", "the browser has blocked the window of the sign-in, and this page cannot leave for it");
        }
        const to = returnAddress(flow.redirectUrl, hasWindow ? flow.ticket : "");
        const login = new URLSearchParams({
            reg_code: answer.json.code, requestor_id: site.id, mso_id: provider.id, domain_name: site.domain, noflash: "true", no_iframe: "true",
            redirect_url: to,
        });
        const address = `${link.origin}/api/v1/authenticate?${login}`;
        if (hasWindow) {
            flow.popup.location.replace(address);
            flow.popup.focus();
            return this.#watch(site, flow);
        }
        rememberAddress(to, flow.redirectUrl);
        location.assign(address);
        // A person who was asked whether to leave, and stayed, may begin again.
        setTimeout(() => { if (this.#flow === flow) this.#flow = null; }, 15000);
    }

    // Until the window is back, or closed. A window that seems closed may be one that another site has cut off: it can still come back.
    async #watch(site, flow) {
        let isBack = false, wake = () => {};
        tickets.set(flow.ticket, () => {
            isBack = true;
            wake();
        });
        const end = performance.now() + CODE_LIFE;
        while (this.#flow === flow && performance.now() < end) {
            const wasBack = isBack, wasClosed = flow.popup.closed;
            const session = flow.isLeft && !wasBack ? null : await site.session(0).catch(() => null);
            if (this.#flow !== flow) return;
            if (session) return this.#finish(site, flow);
            if (wasBack) return this.#fail(flow, GENERIC);
            flow.isLeft = wasClosed;
            await Promise.race([new Promise(resolve => { wake = resolve; if (isBack) resolve(); }), pause(POLL)]);
        }
        if (this.#flow === flow) this.#abandon();
    }

    async #finish(site, flow) {
        const session = await site.session(0);
        if (this.#flow !== flow) return;
        if (!session) return this.#fail(flow, GENERIC);
        this.#flow = null;
        tickets.delete(flow.ticket);
        const hadWindow = Boolean(flow.popup);
        flow.popup?.close();
        // As documented: without `backgroundLogin` the page begins anew after a login in a window.
        if (hadWindow && !this.options.backgroundLogin && area && !isFramed) {
            if (flow.redirectUrl) location.assign(flow.redirectUrl); else location.reload();
            return;
        }
        if (flow.resource === undefined) this.#signedIn(site, session, false); else await this.#authorize(site, session, flow.resource);
    }

    #fail(flow, code) {
        if (this.#flow !== flow) return;
        this.#abandon();
        this.#signedOut(flow.site, code);
    }

    async #authorize(site, session, resource) {
        const link = site.link(site.mark || {}), query = site.of({ resource: String(resource) }), isCached = site.permits.has(resource);
        let answer = await link.call("GET", "/api/v1/authorize", query);
        if (answer.status === 200) answer = await link.call("GET", "/api/v1/mediatoken", query);
        site.metadata = null;
        if (answer.status === 200) {
            site.permits.add(resource);
            if (session.user.startsWith(DEGRADED)) this.report("Z010", "warning", { resource });
            if (site.providers.get(session.mvpd)?.isTempPass) this.report("Z011", "info", { resource });
            this.#track("authorizationDetection", true, session.mvpd, session.user, isCached, "", "");
            return tell("setToken", resource, clear(answer.json.serializedToken));
        }
        const { code = "", details = "", message = "" } = answer.json, text = details || "";
        site.permits.delete(resource);
        if (answer.status !== 403 && answer.status !== 400) {
            this.report("Z500", "error", { resource, message: message || `status ${answer.status}` });
            return this.#refused(site, session, resource, BROKEN, text);
        }
        // Without enhanced errors only another question tells whether the session is over.
        const isOver = code ? /session|identity_not_recognized|hba_policies/.test(code) : !text && !(await site.session(0).catch(() => session));
        if (isOver) {
            await site.session(0).catch(() => null);
            return this.#refused(site, session, resource, SIGNED_OUT, text);
        }
        const isMalformed = code === "malformed_authz_request" || (!code && answer.status === 400);
        const errorId = isMalformed ? "Z130" : code.includes("degradation") ? "Z169" : /network|execution_time/.test(code) ? "Z120" : "Z100";
        this.report(errorId, "error", { resource, message: text || message });
        this.#refused(site, session, resource, NO_RIGHT, text || (errorId === "Z120" ? message : ""));
    }

    #refused(site, session, resource, code, text) {
        this.#track("authorizationDetection", false, session?.mvpd || "", session?.user || "", false, code, text);
        if (code === SIGNED_OUT) this.report("N000", "info");
        tell("tokenRequestFailed", resource, code, text);
    }

    // Decisions in the order of the resources. `problem`: the status of an answer that has none.
    async #decide(site, resources, mayKeep) {
        const wanted = resources.map(String), missing = [...new Set(mayKeep ? wanted.filter(id => !site.decisions.has(id)) : wanted)];
        if (missing.length) {
            const answer = await site.link(site.mark || {}).call("POST", "/api/v1/preauthorize", {}, site.of({ resource: missing.join(",") }));
            const { code, message } = answer.json, isOver = answer.status === 412 && code !== "missing_resource";
            if (isOver) await site.session(0).catch(() => null);
            if (answer.status !== 200) {
                const named = code || (answer.status === 403 ? "too_many_resources" : "internal_error");
                const problem = isOver ? NOT_SIGNED_IN : { message, ...answer.json, status: answer.status, code: named };
                return Object.assign([], { problem });
            }
            for (const { id, authorized, error } of answer.json.resources || []) site.decisions.set(id, { id, authorized, error });
        }
        return wanted.map(id => site.decisions.get(id) || { id, authorized: false });
    }
}

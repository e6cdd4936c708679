package boxoffice.client;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** REST v2: a session is a profile of the device, the channel and the app's registration. */
final class RestV2 implements Api {
    private final Link link;
    private final String root, domain;
    private final Map<String, String> headers;

    /** @param domain any text; the servers only want one */
    RestV2(Link link, String requestor, String device, String domain) {
        this.link = link;
        this.domain = domain;
        root = "/api/v2/" + Link.encode(requestor);
        headers = Link.pairs("Accept", "application/json", "AP-Device-Identifier", "fingerprint " + Base64.encode(device));
    }

    @Override
    public List<Provider> providers() throws IOException {
        Map<String, Object> found = Json.map(Json.object(good(link.get(root + "/configuration", Link.pairs(), headers)).text), "requestor");
        List<Provider> providers = new ArrayList<>();
        for (Map<String, Object> entry : Json.maps(found, "mvpds")) providers.add(new Provider(entry));
        return providers;
    }

    @Override
    public SignIn begin(Provider provider, String returnUrl) throws IOException {
        Map<String, String> form = Link.pairs("mvpd", provider.id, "domainName", domain, "redirectUrl", returnUrl);
        Map<String, Object> session = Json.object(good(link.postForm(root + "/sessions", form, headers)).text);
        if ("authorize".equals(Json.text(session, "actionName"))) return new SignIn(provider.id, null, null, 0);
        if (!"authenticate".equals(Json.text(session, "actionName"))) {
            throw new EntitlementException("incomplete_session", 200, "the server misses " + Link.texts(session.get("missingParameters")));
        }
        return new SignIn(provider.id, Json.text(session, "code"), link.server + Json.text(session, "url"), Json.number(session, "notAfter"));
    }

    @Override
    public Session session(String mvpd) throws IOException {
        Map<String, Object> profile = profile(mvpd);
        return profile.isEmpty() ? null : new Session(mvpd, Json.number(profile, "notAfter"));
    }

    /** Empty where there is none. A provider that was not chosen here has none. */
    private Map<String, Object> profile(String mvpd) throws IOException {
        if (mvpd == null) return new LinkedHashMap<>();
        Transport.Answer answer = link.get(root + "/profiles/" + Link.encode(mvpd), Link.pairs(), headers);
        // A free preview that is used up.
        if (answer.status == 403) return new LinkedHashMap<>();
        return Json.map(Json.map(Json.object(good(answer).text), "profiles"), mvpd);
    }

    @Override
    public Decision authorize(String mvpd, String resource) throws IOException {
        Decision decision = decide("authorize", mvpd, Collections.singletonList(resource)).get(0);
        if (decision.code.startsWith("authenticated_profile_")) throw EntitlementClient.notSignedIn();
        return decision;
    }

    @Override
    public List<Decision> preauthorize(String mvpd, List<String> resources) throws IOException {
        List<Decision> decisions = decide("preauthorize", mvpd, resources);
        if (!decisions.isEmpty() && decisions.get(0).code.startsWith("authenticated_profile_")) throw EntitlementClient.notSignedIn();
        return decisions;
    }

    private List<Decision> decide(String kind, String mvpd, List<String> resources) throws IOException {
        if (mvpd == null) throw EntitlementClient.notSignedIn();
        String path = root + "/decisions/" + kind + "/" + Link.encode(mvpd);
        Map<String, Object> found = Json.object(good(link.postJson(path, "{\"resources\":" + Json.list(resources) + "}", headers)).text);
        List<Decision> decisions = new ArrayList<>();
        for (Map<String, Object> entry : Json.maps(found, "decisions")) {
            String token = Json.text(Json.map(entry, "token"), "serializedToken");
            decisions.add(new Decision(Json.text(entry, "resource"), Json.flag(entry, "authorized"), token, Json.map(entry, "error")));
        }
        if (decisions.isEmpty()) throw new EntitlementException("no_decision", 200, "the server has decided nothing");
        return decisions;
    }

    @Override
    public Map<String, Object> metadata(String mvpd) throws IOException {
        Map<String, Object> profile = profile(mvpd), values = new LinkedHashMap<>();
        if (profile.isEmpty()) throw EntitlementClient.notSignedIn();
        for (Map.Entry<String, Object> attribute : Json.map(profile, "attributes").entrySet()) {
            if (attribute.getValue() instanceof Map) values.put(attribute.getKey(), ((Map<?, ?>) attribute.getValue()).get("value"));
        }
        return values;
    }

    @Override
    public String logout(String mvpd, String returnUrl) throws IOException {
        if (mvpd == null) return null;
        Map<String, String> query = Link.pairs("redirectUrl", returnUrl != null ? returnUrl : "https://" + domain + "/");
        Map<String, Object> found = Json.object(good(link.get(root + "/logout/" + Link.encode(mvpd), query, headers)).text);
        return Json.text(Json.map(Json.map(found, "logouts"), mvpd), "url");
    }

    private static Transport.Answer good(Transport.Answer answer) throws IOException {
        if (answer.status < 200 || answer.status > 299) throw Link.problem(answer);
        return answer;
    }
}

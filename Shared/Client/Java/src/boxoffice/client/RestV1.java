package boxoffice.client;

import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** REST v1: a session belongs to the device and the channel. */
final class RestV1 implements Api {
    private static final Map<String, String> JSON = Link.pairs("Accept", "application/json");

    private final Link link;
    private final String requestor, device;
    /** Of the channel, once its list was read. */
    private volatile String domain = "adobe.com";

    RestV1(Link link, String requestor, String device) {
        this.link = link;
        this.requestor = requestor;
        this.device = device;
    }

    @Override
    public List<Provider> providers() throws IOException {
        Map<String, Object> found = Json.map(Json.object(good(link.get("/api/v1/config/" + Link.encode(requestor), Link.pairs(), JSON)).text), "requestor");
        List<Map<String, Object>> domains = Json.maps(found, "domains");
        if (!domains.isEmpty() && Json.text(domains.get(0), "name") != null) domain = Json.text(domains.get(0), "name");
        List<Provider> providers = new ArrayList<>();
        for (Map<String, Object> entry : Json.maps(found, "mvpds")) providers.add(new Provider(entry));
        return providers;
    }

    @Override
    public SignIn begin(Provider provider, String returnUrl) throws IOException {
        if (provider.isTempPass) {
            good(link.postForm(
                "/api/v1/authenticate/freepreview",
                Link.pairs("requestor_id", requestor, "deviceId", device, "mso_id", provider.id, "domain_name", domain), JSON));
            return new SignIn(provider.id, null, null, 0);
        }
        String path = "/reggie/v1/" + Link.encode(requestor) + "/regcode";
        Map<String, Object> made = Json.object(good(link.postForm(path, Link.pairs("deviceId", device, "mvpd", provider.id), JSON)).text);
        String code = Json.text(made, "code");
        String query = Link.form(Link.pairs(
            "reg_code", code, "requestor_id", requestor, "mso_id", provider.id, "domain_name", domain, "noflash", "true", "no_iframe", "true",
            "redirect_url", returnUrl));
        return new SignIn(provider.id, code, link.server + "/api/v1/authenticate?" + query, Json.number(made, "expires"));
    }

    @Override
    public Session session(String mvpd) throws IOException {
        Transport.Answer answer = link.get("/api/v1/tokens/authn", device(null), JSON);
        if (answer.status == 404 || answer.status == 410) return null;
        Map<String, Object> found = Json.object(good(answer).text);
        return new Session(Json.text(found, "mvpd"), Json.number(found, "expires"));
    }

    @Override
    public Decision authorize(String mvpd, String resource) throws IOException {
        Transport.Answer answer = link.get("/api/v1/authorize", device(resource), JSON);
        if (answer.status == 200) answer = link.get("/api/v1/mediatoken", device(resource), JSON);
        if (answer.status != 403) return new Decision(resource, true, Json.text(Json.object(good(answer).text), "serializedToken"), Link.EMPTY);
        // A refusal has the provider's words. Without these, only another question tells whether the session is over.
        Map<String, Object> error = Json.object(answer.text);
        if (Json.text(error, "details") == null && session(mvpd) == null) throw EntitlementClient.notSignedIn();
        return new Decision(resource, false, null, error);
    }

    @Override
    public List<Decision> preauthorize(String mvpd, List<String> resources) throws IOException {
        StringBuilder list = new StringBuilder();
        for (String resource : resources) list.append(list.length() > 0 ? "," : "").append(resource);
        Transport.Answer answer = link.postForm("/api/v1/preauthorize", device(list.toString()), JSON);
        if (answer.status == 412) throw EntitlementClient.notSignedIn();
        List<Decision> decisions = new ArrayList<>();
        for (Map<String, Object> entry : Json.maps(Json.object(good(answer).text), "resources")) {
            decisions.add(new Decision(Json.text(entry, "id"), Json.flag(entry, "authorized"), null, Json.map(entry, "error")));
        }
        return decisions;
    }

    @Override
    public Map<String, Object> metadata(String mvpd) throws IOException {
        Transport.Answer answer = link.get("/api/v1/tokens/usermetadata", device(null), JSON);
        if (answer.status == 412) throw EntitlementClient.notSignedIn();
        return answer.status == 404 ? new LinkedHashMap<String, Object>() : Json.map(Json.object(good(answer).text), "data");
    }

    @Override
    public String logout(String mvpd, String returnUrl) throws IOException {
        if (returnUrl == null) {
            good(link.call("DELETE", "/api/v1/logout", device(null), JSON, null, null));
            return null;
        }
        // A browser cannot send a header.
        Map<String, String> query = device(null);
        query.put("redirect_url", returnUrl);
        query.put("access_token", link.bearer(false));
        return link.server + "/api/v1/logout?" + Link.form(query);
    }

    private Map<String, String> device(String resource) {
        return Link.pairs("requestor", requestor, "deviceId", device, "resource", resource);
    }

    private static Transport.Answer good(Transport.Answer answer) throws IOException {
        if (answer.status < 200 || answer.status > 299) throw Link.problem(answer);
        return answer;
    }
}
